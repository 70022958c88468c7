"""48 DescribeClientQuotas: the quotas that were set, as a filter asks for them. v1 is v0 in another form."""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.cluster.kinds.quotas import QUOTAS, Entity
from twinlog.kafka.quota_rules import ADDRESS, CLIENT, USER
from twinlog.kafka.rights import CLUSTER_NAME, Operation, Resource
from twinlog.servers.kafka.admin_ports import AdminBroker, Context
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    DescribeClientQuotasResponseEntityData,
    DescribeClientQuotasResponseEntryData,
    ValueData,
)

KEY: Final = 48
VERSIONS: Final = (0, 1)
RIGHTS: Final = (("cluster", "describe_configs"),)

EXACTLY, DEFAULT, ANY = range(3)


def handle(broker: AdminBroker, request: DescribeClientQuotasRequest, context: Context) -> DescribeClientQuotasResponse:
    if not broker.rights.allows(context, Operation.DESCRIBE_CONFIGS, Resource.CLUSTER, CLUSTER_NAME):
        code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        return DescribeClientQuotasResponse(error_code=code, error_message=code.message, entries=None)
    try:
        wanted = _wanted(request.components)
    except Refused as refused:
        return DescribeClientQuotasResponse(error_code=refused.code, error_message=refused.message, entries=None)
    entries = [
        DescribeClientQuotasResponseEntryData(
            entity=[
                DescribeClientQuotasResponseEntityData(entity_type=kind, entity_name=name) for kind, name in entity
            ],
            values=[ValueData(key=name, value=value) for name, value in quota.values.items()],
        )
        for entity, quota in broker.image.part(QUOTAS).items()
        if _matches(entity, wanted, strict=request.strict)
    ]
    return DescribeClientQuotasResponse(error_message=None, entries=entries)


def _wanted(components: list[ComponentData]) -> dict[str, ComponentData]:
    wanted: dict[str, ComponentData] = {}
    for each in components:
        if each.entity_type not in (USER, CLIENT, ADDRESS):
            raise Refused(ErrorCode.INVALID_REQUEST, f"there are no quotas of {each.entity_type[:50]!r}")
        if each.entity_type in wanted:
            raise Refused(ErrorCode.INVALID_REQUEST, f"{each.entity_type} is named twice")
        if each.match_type not in (EXACTLY, DEFAULT, ANY) or (each.match_type == EXACTLY) != (each.match is not None):
            raise Refused(ErrorCode.INVALID_REQUEST, f"match type {each.match_type} is not served so")
        wanted[each.entity_type] = each
    return wanted


def _matches(entity: Entity, wanted: dict[str, ComponentData], *, strict: bool) -> bool:
    names = dict(entity)
    if strict and names.keys() != wanted.keys():
        return False
    for kind, component in wanted.items():
        if kind not in names:
            return False
        if component.match_type == EXACTLY and names[kind] != component.match:
            return False
        if component.match_type == DEFAULT and names[kind] is not None:
            return False
    return True
