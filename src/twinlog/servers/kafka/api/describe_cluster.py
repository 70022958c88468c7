"""60 DescribeCluster: the nodes and the cluster's id. v1 asks brokers or controllers; v2 shows fenced brokers."""

from __future__ import annotations

from typing import Final

from twinlog.kafka.rights import CLUSTER_NAME, Operation, Resource, allowed_operations
from twinlog.servers.kafka.admin_ports import AdminBroker, Context
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

KEY: Final = 60
VERSIONS: Final = (0, 2)
RIGHTS: Final = (("cluster", "describe"),)  # for the authorized operations only, as in Kafka

BROKERS: Final = 1
CONTROLLERS: Final = 2


def handle(broker: AdminBroker, request: DescribeClusterRequest, context: Context) -> DescribeClusterResponse:
    if request.endpoint_type == CONTROLLERS:
        # A client that was given controller addresses must not take brokers for them.
        return _refusal(ErrorCode.MISMATCHED_ENDPOINT_TYPE)
    if request.endpoint_type != BROKERS:
        return _refusal(ErrorCode.UNSUPPORTED_ENDPOINT_TYPE)
    image = broker.image
    response = DescribeClusterResponse(cluster_id=image.cluster_id, controller_id=broker.node_id)
    for node_id, info in sorted(image.brokers.items()):
        endpoint = info.endpoint(context.listener, context.came_to)
        if endpoint is not None:
            response.brokers.append(
                DescribeClusterBroker(broker_id=node_id, host=endpoint.host, port=endpoint.port, rack=info.rack)
            )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = (
            allowed_operations(broker.rights, context, Resource.CLUSTER, CLUSTER_NAME)
            if broker.rights.allows(context, Operation.DESCRIBE, Resource.CLUSTER, CLUSTER_NAME)
            else 0
        )
    return response


def _refusal(code: ErrorCode) -> DescribeClusterResponse:
    return DescribeClusterResponse(error_code=code, error_message=code.message)
