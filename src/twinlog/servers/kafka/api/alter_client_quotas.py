"""49 AlterClientQuotas: sets and removes what users, clients and addresses may use. v1 is v0 in another form."""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.cluster import Outcome, QuotaWanted
from twinlog.kafka.quota_rules import check_value, checked_entity
from twinlog.kafka.rights import CLUSTER_NAME, Operation, Resource
from twinlog.servers.kafka.admin_ports import AdminBroker, Context
from twinlog.servers.kafka.config_requests import ALTER_TIMEOUT_MS
from twinlog.servers.kafka.later import Later
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.message import Message
from twinlog.wire.kafka.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    AlterClientQuotasResponse,
    AlterClientQuotasResponseEntityData,
    AlterClientQuotasResponseEntryData,
)

KEY: Final = 49
VERSIONS: Final = (0, 1)
RIGHTS: Final = (("cluster", "alter_configs"),)


def handle(broker: AdminBroker, request: AlterClientQuotasRequest, context: Context) -> Message | None:
    results = [_result(entry) for entry in request.entries]
    if not broker.rights.allows(context, Operation.ALTER_CONFIGS, Resource.CLUSTER, CLUSTER_NAME):
        for result in results:
            _fail(result, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ErrorCode.CLUSTER_AUTHORIZATION_FAILED.message)
        return AlterClientQuotasResponse(entries=results)
    altering: list[tuple[QuotaWanted, AlterClientQuotasResponseEntryData]] = []
    for entry, result in zip(request.entries, results, strict=True):
        try:
            altering.append((_wanted(entry), result))
        except Refused as refused:
            _fail(result, refused.code, refused.message)
            continue
        _fail(result, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.REQUEST_TIMED_OUT.message)  # until we know better

    def on_decided(outcomes: list[Outcome[None]]) -> None:
        for (_, result), outcome in zip(altering, outcomes, strict=True):
            result.error_code = outcome.code if isinstance(outcome, Refused) else ErrorCode.NONE
            result.error_message = outcome.message if isinstance(outcome, Refused) else None
        later.give(AlterClientQuotasResponse(entries=results))

    later = Later(context, lambda: AlterClientQuotasResponse(entries=results))
    broker.controller.alter_quotas([each for each, _ in altering], on_decided, validate_only=request.validate_only)
    return later.response_or_wait(ALTER_TIMEOUT_MS)


def _wanted(entry: AlterClientQuotasRequestEntryData) -> QuotaWanted:
    entity = checked_entity([(each.entity_type, each.entity_name) for each in entry.entity])
    names = [operation.key for operation in entry.ops]
    if len(set(names)) != len(names):
        raise Refused(ErrorCode.INVALID_REQUEST, "a quota is named twice")
    for operation in entry.ops:
        check_value(entity, operation.key, 1 if operation.remove else operation.value)
    return QuotaWanted(
        entity,
        {operation.key: operation.value for operation in entry.ops if not operation.remove},
        tuple(operation.key for operation in entry.ops if operation.remove),
    )


def _result(entry: AlterClientQuotasRequestEntryData) -> AlterClientQuotasResponseEntryData:
    entity = [
        AlterClientQuotasResponseEntityData(entity_type=each.entity_type, entity_name=each.entity_name)
        for each in entry.entity
    ]
    return AlterClientQuotasResponseEntryData(error_message=None, entity=entity)


def _fail(result: AlterClientQuotasResponseEntryData, code: int, message: str | None) -> None:
    result.error_code, result.error_message = code, message
