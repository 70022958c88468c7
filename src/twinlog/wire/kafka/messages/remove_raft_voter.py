"""API 81, RemoveRaftVoter.

Made from spec/kafka/remove_raft_voter.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import ZERO_UUID, Message


class RemoveRaftVoterRequest(Message):
    __slots__ = (
        "cluster_id",
        "voter_directory_id",
        "voter_id",
    )
    KEY = 81
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("cluster_id", "string", None, 0, 0, 0, 0, -1, False, ""),
        ("voter_id", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("voter_directory_id", "uuid", None, 0, 0, 0, -1, -1, False, ZERO_UUID),
    )

    def __init__(
        self,
        *,
        cluster_id: str | None = "",
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
    ) -> None:
        self.cluster_id: str | None = cluster_id
        self.voter_id: int = voter_id
        self.voter_directory_id: bytes = voter_directory_id


class RemoveRaftVoterResponse(Message):
    __slots__ = (
        "error_code",
        "error_message",
        "throttle_time_ms",
    )
    KEY = 81
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 0, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 0, 0, 0, -1, False, ""),
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
