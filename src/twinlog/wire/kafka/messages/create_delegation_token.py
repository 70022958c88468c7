"""API 38, CreateDelegationToken.

Made from spec/kafka/create_delegation_token.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class CreatableRenewers(Struct):
    __slots__ = (
        "principal_name",
        "principal_type",
    )
    LAYOUT = (
        ("principal_type", "string", None, 1, 3, 0, -1, -1, False, ""),
        ("principal_name", "string", None, 1, 3, 0, -1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        principal_type: str = "",
        principal_name: str = "",
    ) -> None:
        self.principal_type: str = principal_type
        self.principal_name: str = principal_name


class CreateDelegationTokenRequest(Message):
    __slots__ = (
        "max_lifetime_ms",
        "owner_principal_name",
        "owner_principal_type",
        "renewers",
    )
    KEY = 38
    VERSIONS = (1, 3)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("owner_principal_type", "string", None, 3, 3, 3, 3, -1, False, ""),
        ("owner_principal_name", "string", None, 3, 3, 3, 3, -1, False, ""),
        ("renewers", "[]struct", CreatableRenewers, 1, 3, 0, -1, -1, False, FRESH),
        ("max_lifetime_ms", "int64", None, 1, 3, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        owner_principal_type: str | None = "",
        owner_principal_name: str | None = "",
        renewers: list[CreatableRenewers] = FRESH,
        max_lifetime_ms: int = 0,
    ) -> None:
        self.owner_principal_type: str | None = owner_principal_type
        self.owner_principal_name: str | None = owner_principal_name
        self.renewers: list[CreatableRenewers] = [] if renewers is FRESH else renewers
        self.max_lifetime_ms: int = max_lifetime_ms


class CreateDelegationTokenResponse(Message):
    __slots__ = (
        "error_code",
        "expiry_timestamp_ms",
        "hmac",
        "issue_timestamp_ms",
        "max_timestamp_ms",
        "principal_name",
        "principal_type",
        "throttle_time_ms",
        "token_id",
        "token_requester_principal_name",
        "token_requester_principal_type",
    )
    KEY = 38
    VERSIONS = (1, 3)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("error_code", "int16", None, 1, 3, 0, -1, -1, False, 0),
        ("principal_type", "string", None, 1, 3, 0, -1, -1, False, ""),
        ("principal_name", "string", None, 1, 3, 0, -1, -1, False, ""),
        ("token_requester_principal_type", "string", None, 3, 3, 0, -1, -1, False, ""),
        ("token_requester_principal_name", "string", None, 3, 3, 0, -1, -1, False, ""),
        ("issue_timestamp_ms", "int64", None, 1, 3, 0, -1, -1, False, 0),
        ("expiry_timestamp_ms", "int64", None, 1, 3, 0, -1, -1, False, 0),
        ("max_timestamp_ms", "int64", None, 1, 3, 0, -1, -1, False, 0),
        ("token_id", "string", None, 1, 3, 0, -1, -1, False, ""),
        ("hmac", "bytes", None, 1, 3, 0, -1, -1, False, b""),
        ("throttle_time_ms", "int32", None, 1, 3, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp_ms: int = 0,
        expiry_timestamp_ms: int = 0,
        max_timestamp_ms: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code: int = error_code
        self.principal_type: str = principal_type
        self.principal_name: str = principal_name
        self.token_requester_principal_type: str = token_requester_principal_type
        self.token_requester_principal_name: str = token_requester_principal_name
        self.issue_timestamp_ms: int = issue_timestamp_ms
        self.expiry_timestamp_ms: int = expiry_timestamp_ms
        self.max_timestamp_ms: int = max_timestamp_ms
        self.token_id: str = token_id
        self.hmac: bytes = hmac
        self.throttle_time_ms: int = throttle_time_ms
