"""API 80, AddRaftVoter.

Made from spec/kafka/add_raft_voter.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, ZERO_UUID, Message, Struct


class AddRaftVoterRequestListener(Struct):
    __slots__ = (
        "host",
        "name",
        "port",
    )
    LAYOUT = (
        ("name", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("host", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("port", "uint16", None, 0, 1, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        name: str = "",
        host: str = "",
        port: int = 0,
    ) -> None:
        self.name: str = name
        self.host: str = host
        self.port: int = port


class AddRaftVoterRequest(Message):
    __slots__ = (
        "ack_when_committed",
        "cluster_id",
        "listeners",
        "timeout_ms",
        "voter_directory_id",
        "voter_id",
    )
    KEY = 80
    VERSIONS = (0, 1)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("cluster_id", "string", None, 0, 1, 0, 1, -1, False, ""),
        ("timeout_ms", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("voter_id", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("voter_directory_id", "uuid", None, 0, 1, 0, -1, -1, False, ZERO_UUID),
        ("listeners", "[]struct", AddRaftVoterRequestListener, 0, 1, 0, -1, -1, False, FRESH),
        ("ack_when_committed", "bool", None, 1, 1, 0, -1, -1, False, True),
    )

    def __init__(
        self,
        *,
        cluster_id: str | None = "",
        timeout_ms: int = 0,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        listeners: list[AddRaftVoterRequestListener] = FRESH,
        ack_when_committed: bool = True,
    ) -> None:
        self.cluster_id: str | None = cluster_id
        self.timeout_ms: int = timeout_ms
        self.voter_id: int = voter_id
        self.voter_directory_id: bytes = voter_directory_id
        self.listeners: list[AddRaftVoterRequestListener] = [] if listeners is FRESH else listeners
        self.ack_when_committed: bool = ack_when_committed


class AddRaftVoterResponse(Message):
    __slots__ = (
        "error_code",
        "error_message",
        "throttle_time_ms",
    )
    KEY = 80
    VERSIONS = (0, 1)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 1, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 1, 0, 1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
