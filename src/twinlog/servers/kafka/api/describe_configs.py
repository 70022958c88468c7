"""32 DescribeConfigs: every config of a topic, broker or group, with the value that counts and where it comes from.

v1 oldest served (sources and synonyms); v3 types and, on request, documentation. Null or no keys mean all; keys that
do not exist are left out. A broker without a name is "what was set for all brokers".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from twinlog.base import Refused
from twinlog.kafka import names
from twinlog.kafka.config_values import ConfigEntry
from twinlog.kafka.rights import Operation
from twinlog.servers.kafka.admin_ports import AdminBroker, Context
from twinlog.servers.kafka.config_requests import ConfigResourceType, not_served, rights_fault
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)

KEY: Final = 32
VERSIONS: Final = (1, 4)
RIGHTS: Final = (
    ("topic", "describe_configs"),
    ("cluster", "describe_configs"),
    ("group", "describe_configs"),
)


def handle(broker: AdminBroker, request: DescribeConfigsRequest, context: Context) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(results=[_describe(broker, request, context, each) for each in request.resources])


def _describe(
    broker: AdminBroker, request: DescribeConfigsRequest, context: Context, asked: DescribeConfigsResource
) -> DescribeConfigsResult:
    result = DescribeConfigsResult(
        resource_type=asked.resource_type, resource_name=asked.resource_name, error_message=None
    )
    try:
        entries = _entries(broker, context, asked)
    except Refused as refused:
        result.error_code = refused.code
        result.error_message = str(refused)
        return result
    result.configs = [_config(entry, request) for entry in entries]
    return result


def _entries(broker: AdminBroker, context: Context, asked: DescribeConfigsResource) -> Iterable[ConfigEntry]:
    image, kind, name = broker.image, asked.resource_type, asked.resource_name
    fault = rights_fault(broker, context, Operation.DESCRIBE_CONFIGS, kind, name)
    if fault is not None:
        raise Refused(fault, fault.message)
    only = frozenset(asked.configuration_keys) if asked.configuration_keys else None
    if kind == ConfigResourceType.TOPIC:
        why = names.topic_name_fault(name)
        if why is not None:
            raise Refused(ErrorCode.INVALID_TOPIC_EXCEPTION, why)
        if name not in image.topics_by_name:
            raise Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic '{name}'")
        return broker.configs.topic_entries(image, name, only)
    if kind == ConfigResourceType.BROKER:
        if not name:
            return broker.configs.all_broker_entries(image, only)
        if name != str(broker.node_id):
            raise Refused(
                ErrorCode.INVALID_REQUEST, f"this is broker {broker.node_id}; '{name}' has to be asked itself"
            )
        return broker.configs.broker_entries(image, only)
    if kind == ConfigResourceType.GROUP:
        if not name:
            raise Refused(ErrorCode.INVALID_REQUEST, "a group has a name")
        return broker.configs.group_entries(image, name, only)
    raise Refused(ErrorCode.INVALID_REQUEST, not_served(kind))


def _config(entry: ConfigEntry, request: DescribeConfigsRequest) -> DescribeConfigsResourceResult:
    definition = entry.definition
    result = DescribeConfigsResourceResult(
        name=definition.name,
        value=None if definition.sensitive else entry.value,
        read_only=entry.read_only,
        config_source=entry.source,
        is_sensitive=definition.sensitive,
        config_type=definition.type,
        documentation=definition.doc if request.include_documentation else None,
    )
    if request.include_synonyms:
        result.synonyms = [
            DescribeConfigsSynonym(
                name=each.name, value=None if definition.sensitive else each.value, source=each.source
            )
            for each in entry.synonyms
        ]
    return result
