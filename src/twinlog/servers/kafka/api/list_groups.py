"""16 ListGroups: every group that this node coordinates. v4 filters by state, v5 by type."""

from __future__ import annotations

from typing import Final

from twinlog.kafka.broker import Broker
from twinlog.kafka.rights import CLUSTER_NAME, Operation, Resource
from twinlog.servers.kafka.context import RequestContext
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse

KEY: Final = 16
VERSIONS: Final = (0, 5)
RIGHTS: Final = (("cluster", "describe"), ("group", "describe"))


def handle(broker: Broker, request: ListGroupsRequest, context: RequestContext) -> ListGroupsResponse:
    runtime = broker.groups.topic.runtime
    if runtime.is_loading():
        return ListGroupsResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    everywhere = broker.rights.allows(context, Operation.DESCRIBE, Resource.CLUSTER, CLUSTER_NAME)
    states = {state.lower() for state in request.states_filter}
    types = {kind.lower() for kind in request.types_filter}
    response = ListGroupsResponse()
    for shard in runtime.active_shards():
        for group_id, protocol_type, state, kind in shard.machine.overview():
            if (states and state.lower() not in states) or (types and kind.lower() not in types):
                continue
            if everywhere or broker.rights.allows(context, Operation.DESCRIBE, Resource.GROUP, group_id):
                response.groups.append(
                    ListedGroup(group_id=group_id, protocol_type=protocol_type, group_state=state, group_type=kind)
                )
    return response
