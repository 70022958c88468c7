"""API 51, AlterUserScramCredentials.

Made from spec/kafka/alter_user_scram_credentials.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class ScramCredentialDeletion(Struct):
    __slots__ = (
        "mechanism",
        "name",
    )
    LAYOUT = (
        ("name", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("mechanism", "int8", None, 0, 0, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
    ) -> None:
        self.name: str = name
        self.mechanism: int = mechanism


class ScramCredentialUpsertion(Struct):
    __slots__ = (
        "iterations",
        "mechanism",
        "name",
        "salt",
        "salted_password",
    )
    LAYOUT = (
        ("name", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("mechanism", "int8", None, 0, 0, 0, -1, -1, False, 0),
        ("iterations", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("salt", "bytes", None, 0, 0, 0, -1, -1, False, b""),
        ("salted_password", "bytes", None, 0, 0, 0, -1, -1, False, b""),
    )

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
        iterations: int = 0,
        salt: bytes = b"",
        salted_password: bytes = b"",
    ) -> None:
        self.name: str = name
        self.mechanism: int = mechanism
        self.iterations: int = iterations
        self.salt: bytes = salt
        self.salted_password: bytes = salted_password


class AlterUserScramCredentialsRequest(Message):
    __slots__ = (
        "deletions",
        "upsertions",
    )
    KEY = 51
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("deletions", "[]struct", ScramCredentialDeletion, 0, 0, 0, -1, -1, False, FRESH),
        ("upsertions", "[]struct", ScramCredentialUpsertion, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        deletions: list[ScramCredentialDeletion] = FRESH,
        upsertions: list[ScramCredentialUpsertion] = FRESH,
    ) -> None:
        self.deletions: list[ScramCredentialDeletion] = [] if deletions is FRESH else deletions
        self.upsertions: list[ScramCredentialUpsertion] = [] if upsertions is FRESH else upsertions


class AlterUserScramCredentialsResult(Struct):
    __slots__ = (
        "error_code",
        "error_message",
        "user",
    )
    LAYOUT = (
        ("user", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("error_code", "int16", None, 0, 0, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 0, 0, 0, -1, False, ""),
    )

    def __init__(
        self,
        *,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.user: str = user
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class AlterUserScramCredentialsResponse(Message):
    __slots__ = (
        "results",
        "throttle_time_ms",
    )
    KEY = 51
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("results", "[]struct", AlterUserScramCredentialsResult, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: list[AlterUserScramCredentialsResult] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.results: list[AlterUserScramCredentialsResult] = [] if results is FRESH else results
