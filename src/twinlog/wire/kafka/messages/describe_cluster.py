"""API 60, DescribeCluster.

Made from spec/kafka/describe_cluster.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class DescribeClusterRequest(Message):
    __slots__ = (
        "endpoint_type",
        "include_cluster_authorized_operations",
        "include_fenced_brokers",
    )
    KEY = 60
    VERSIONS = (0, 2)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("include_cluster_authorized_operations", "bool", None, 0, 2, 0, -1, -1, False, False),
        ("endpoint_type", "int8", None, 1, 2, 0, -1, -1, False, 1),
        ("include_fenced_brokers", "bool", None, 2, 2, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        include_cluster_authorized_operations: bool = False,
        endpoint_type: int = 1,
        include_fenced_brokers: bool = False,
    ) -> None:
        self.include_cluster_authorized_operations: bool = include_cluster_authorized_operations
        self.endpoint_type: int = endpoint_type
        self.include_fenced_brokers: bool = include_fenced_brokers


class DescribeClusterBroker(Struct):
    __slots__ = (
        "broker_id",
        "host",
        "is_fenced",
        "port",
        "rack",
    )
    LAYOUT = (
        ("broker_id", "int32", None, 0, 2, 0, -1, -1, False, 0),
        ("host", "string", None, 0, 2, 0, -1, -1, False, ""),
        ("port", "int32", None, 0, 2, 0, -1, -1, False, 0),
        ("rack", "string", None, 0, 2, 0, 2, -1, False, None),
        ("is_fenced", "bool", None, 2, 2, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        broker_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
        is_fenced: bool = False,
    ) -> None:
        self.broker_id: int = broker_id
        self.host: str = host
        self.port: int = port
        self.rack: str | None = rack
        self.is_fenced: bool = is_fenced


class DescribeClusterResponse(Message):
    __slots__ = (
        "brokers",
        "cluster_authorized_operations",
        "cluster_id",
        "controller_id",
        "endpoint_type",
        "error_code",
        "error_message",
        "throttle_time_ms",
    )
    KEY = 60
    VERSIONS = (0, 2)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 2, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 2, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 2, 0, 2, -1, False, None),
        ("endpoint_type", "int8", None, 1, 2, 0, -1, -1, False, 1),
        ("cluster_id", "string", None, 0, 2, 0, -1, -1, False, ""),
        ("controller_id", "int32", None, 0, 2, 0, -1, -1, False, -1),
        ("brokers", "[]struct", DescribeClusterBroker, 0, 2, 0, -1, -1, False, FRESH),
        ("cluster_authorized_operations", "int32", None, 0, 2, 0, -1, -1, False, -2147483648),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        endpoint_type: int = 1,
        cluster_id: str = "",
        controller_id: int = -1,
        brokers: list[DescribeClusterBroker] = FRESH,
        cluster_authorized_operations: int = -2147483648,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.endpoint_type: int = endpoint_type
        self.cluster_id: str = cluster_id
        self.controller_id: int = controller_id
        self.brokers: list[DescribeClusterBroker] = [] if brokers is FRESH else brokers
        self.cluster_authorized_operations: int = cluster_authorized_operations
