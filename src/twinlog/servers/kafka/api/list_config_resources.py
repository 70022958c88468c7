"""74 ListConfigResources: names of everything that has configs. v0 knew client metrics only; v1 asks by type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twinlog.kafka.rights import CLUSTER_NAME, Operation, Resource
from twinlog.servers.kafka.admin_ports import AdminBroker, Context
from twinlog.servers.kafka.config_requests import ConfigResourceType
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

KEY: Final = 74
VERSIONS: Final = (0, 1)
RIGHTS: Final = (("cluster", "describe_configs"),)


def handle(broker: AdminBroker, request: ListConfigResourcesRequest, context: Context) -> ListConfigResourcesResponse:
    if not broker.rights.allows(context, Operation.DESCRIBE_CONFIGS, Resource.CLUSTER, CLUSTER_NAME):
        return ListConfigResourcesResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    types = {ConfigResourceType.CLIENT_METRICS} if context.version == 0 else set(request.resource_types)
    if any(each not in list(ConfigResourceType) for each in types):
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    return ListConfigResourcesResponse(
        config_resources=[
            ConfigResource(resource_name=name, resource_type=kind)
            for kind, name in _resources(broker)
            if not types or kind in types
        ]
    )


def _resources(broker: AdminBroker) -> Iterator[tuple[ConfigResourceType, str]]:
    for name in broker.image.topics_by_name:
        yield ConfigResourceType.TOPIC, name
    for node_id in broker.image.brokers:
        yield ConfigResourceType.BROKER, str(node_id)
    for kind, name in broker.image.configs.by_resource:
        if kind == "group":
            yield ConfigResourceType.GROUP, name
