"""44 IncrementalAlterConfigs: sets, deletes, appends to and subtracts from single configs. v1 is v0 in another form."""

from __future__ import annotations

from typing import Final

from twinlog.cluster import ConfigOp
from twinlog.servers.kafka.admin_ports import AdminBroker, Context
from twinlog.servers.kafka.config_requests import alter
from twinlog.wire.kafka.message import Message
from twinlog.wire.kafka.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsRequestResource,
    IncrementalAlterConfigsResponse,
    IncrementalAlterConfigsResponseResource,
)

KEY: Final = 44
VERSIONS: Final = (0, 1)
RIGHTS: Final = (
    ("topic", "alter_configs"),
    ("cluster", "alter_configs"),
    ("group", "alter_configs"),
)


def handle(broker: AdminBroker, request: IncrementalAlterConfigsRequest, context: Context) -> Message | None:
    return alter(
        broker,
        context,
        request.resources,
        _operations,
        lambda each: IncrementalAlterConfigsResponseResource(
            resource_type=each.resource_type, resource_name=each.resource_name, error_message=None
        ),
        lambda results: IncrementalAlterConfigsResponse(responses=results),
        replace=False,
        validate_only=request.validate_only,
    )


def _operations(resource: IncrementalAlterConfigsRequestResource) -> list[ConfigOp]:
    return [ConfigOp(one.name, one.config_operation, one.value) for one in resource.configs]
