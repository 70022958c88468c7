"""API 50, DescribeUserScramCredentials.

Made from spec/kafka/describe_user_scram_credentials.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class UserName(Struct):
    __slots__ = ("name",)
    LAYOUT = (("name", "string", None, 0, 0, 0, -1, -1, False, ""),)

    def __init__(
        self,
        *,
        name: str = "",
    ) -> None:
        self.name: str = name


class DescribeUserScramCredentialsRequest(Message):
    __slots__ = ("users",)
    KEY = 50
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (("users", "[]struct", UserName, 0, 0, 0, 0, -1, False, FRESH),)

    def __init__(
        self,
        *,
        users: list[UserName] | None = FRESH,
    ) -> None:
        self.users: list[UserName] | None = [] if users is FRESH else users


class CredentialInfo(Struct):
    __slots__ = (
        "iterations",
        "mechanism",
    )
    LAYOUT = (
        ("mechanism", "int8", None, 0, 0, 0, -1, -1, False, 0),
        ("iterations", "int32", None, 0, 0, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        mechanism: int = 0,
        iterations: int = 0,
    ) -> None:
        self.mechanism: int = mechanism
        self.iterations: int = iterations


class DescribeUserScramCredentialsResult(Struct):
    __slots__ = (
        "credential_infos",
        "error_code",
        "error_message",
        "user",
    )
    LAYOUT = (
        ("user", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("error_code", "int16", None, 0, 0, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 0, 0, 0, -1, False, ""),
        ("credential_infos", "[]struct", CredentialInfo, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
        credential_infos: list[CredentialInfo] = FRESH,
    ) -> None:
        self.user: str = user
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.credential_infos: list[CredentialInfo] = [] if credential_infos is FRESH else credential_infos


class DescribeUserScramCredentialsResponse(Message):
    __slots__ = (
        "error_code",
        "error_message",
        "results",
        "throttle_time_ms",
    )
    KEY = 50
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 0, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 0, 0, 0, -1, False, ""),
        ("results", "[]struct", DescribeUserScramCredentialsResult, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: list[DescribeUserScramCredentialsResult] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.results: list[DescribeUserScramCredentialsResult] = [] if results is FRESH else results
