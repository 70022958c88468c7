"""33 AlterConfigs: the older way, which forgets every value that is not given. v1 and v2 are v0 in another form."""

from __future__ import annotations

from typing import Final

from twinlog.cluster import ConfigOp, ConfigOperation
from twinlog.servers.kafka.admin_ports import AdminBroker, Context
from twinlog.servers.kafka.config_requests import alter
from twinlog.wire.kafka.message import Message
from twinlog.wire.kafka.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsRequestResource,
    AlterConfigsResponse,
    AlterConfigsResponseResource,
)

KEY: Final = 33
VERSIONS: Final = (0, 2)
RIGHTS: Final = (
    ("topic", "alter_configs"),
    ("cluster", "alter_configs"),
    ("group", "alter_configs"),
)


def handle(broker: AdminBroker, request: AlterConfigsRequest, context: Context) -> Message | None:
    return alter(
        broker,
        context,
        request.resources,
        _operations,
        lambda each: AlterConfigsResponseResource(
            resource_type=each.resource_type, resource_name=each.resource_name, error_message=None
        ),
        lambda results: AlterConfigsResponse(responses=results),
        replace=True,
        validate_only=request.validate_only,
    )


def _operations(resource: AlterConfigsRequestResource) -> list[ConfigOp]:
    return [ConfigOp(one.name, ConfigOperation.SET, one.value) for one in resource.configs]
