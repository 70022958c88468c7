"""10 FindCoordinator: which node answers for a group or a transactional id.

v1 asks by type of key; v4 asks for several keys at once; v6 knows share groups (not served: INVALID_REQUEST).
"""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.rights import Operation, Resource
from twinlog.servers.kafka.context import RequestContext
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse

KEY: Final = 10
VERSIONS: Final = (0, 6)
RIGHTS: Final = (("group", "describe"), ("transactional_id", "describe"))

GROUP: Final = 0
TRANSACTION: Final = 1
BATCHED_FROM: Final = 4
KEYS_MAX: Final = 10_000


def handle(broker: Broker, request: FindCoordinatorRequest, context: RequestContext) -> FindCoordinatorResponse:
    if context.version >= BATCHED_FROM:
        keys = dict.fromkeys(request.coordinator_keys[:KEYS_MAX])
        return FindCoordinatorResponse(coordinators=[_find(broker, request.key_type, key, context) for key in keys])
    found = _find(broker, request.key_type, request.key, context)
    return FindCoordinatorResponse(
        error_code=found.error_code,
        error_message=found.error_message,
        node_id=found.node_id,
        host=found.host,
        port=found.port,
    )


def _find(broker: Broker, key_type: int, key: str, context: RequestContext) -> Coordinator:
    try:
        node_id = _leader(broker, key_type, key, context)
    except Refused as refused:
        return Coordinator(
            key=key, node_id=-1, host="", port=-1, error_code=refused.code, error_message=str(refused) or None
        )
    info = broker.image.brokers.get(node_id)
    endpoint = info.endpoint(context.listener, context.came_to) if info is not None else None
    if endpoint is None:
        code = ErrorCode.COORDINATOR_NOT_AVAILABLE
        return Coordinator(key=key, node_id=-1, host="", port=-1, error_code=code, error_message=code.message)
    return Coordinator(key=key, node_id=node_id, host=endpoint.host, port=endpoint.port, error_message=None)


def _leader(broker: Broker, key_type: int, key: str, context: RequestContext) -> int:
    if key_type == GROUP:
        if not broker.rights.allows(context, Operation.DESCRIBE, Resource.GROUP, key):
            raise Refused(ErrorCode.GROUP_AUTHORIZATION_FAILED)
        return broker.groups.topic.leader_of(broker.image, key)
    if key_type == TRANSACTION:
        if not broker.rights.allows(context, Operation.DESCRIBE, Resource.TRANSACTIONAL_ID, key):
            raise Refused(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        return broker.transactions.topic.leader_of(broker.image, key)
    raise Refused(ErrorCode.INVALID_REQUEST, f"there is no coordinator for keys of type {key_type} here")
