"""API 41, DescribeDelegationToken.

Made from spec/kafka/describe_delegation_token.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class DescribeDelegationTokenOwner(Struct):
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


class DescribeDelegationTokenRequest(Message):
    __slots__ = ("owners",)
    KEY = 41
    VERSIONS = (1, 3)
    FLEXIBLE_FROM = 2
    LAYOUT = (("owners", "[]struct", DescribeDelegationTokenOwner, 1, 3, 1, 3, -1, False, FRESH),)

    def __init__(
        self,
        *,
        owners: list[DescribeDelegationTokenOwner] | None = FRESH,
    ) -> None:
        self.owners: list[DescribeDelegationTokenOwner] | None = [] if owners is FRESH else owners


class DescribedDelegationTokenRenewer(Struct):
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


class DescribedDelegationToken(Struct):
    __slots__ = (
        "expiry_timestamp",
        "hmac",
        "issue_timestamp",
        "max_timestamp",
        "principal_name",
        "principal_type",
        "renewers",
        "token_id",
        "token_requester_principal_name",
        "token_requester_principal_type",
    )
    LAYOUT = (
        ("principal_type", "string", None, 1, 3, 0, -1, -1, False, ""),
        ("principal_name", "string", None, 1, 3, 0, -1, -1, False, ""),
        ("token_requester_principal_type", "string", None, 3, 3, 0, -1, -1, False, ""),
        ("token_requester_principal_name", "string", None, 3, 3, 0, -1, -1, False, ""),
        ("issue_timestamp", "int64", None, 1, 3, 0, -1, -1, False, 0),
        ("expiry_timestamp", "int64", None, 1, 3, 0, -1, -1, False, 0),
        ("max_timestamp", "int64", None, 1, 3, 0, -1, -1, False, 0),
        ("token_id", "string", None, 1, 3, 0, -1, -1, False, ""),
        ("hmac", "bytes", None, 1, 3, 0, -1, -1, False, b""),
        ("renewers", "[]struct", DescribedDelegationTokenRenewer, 1, 3, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp: int = 0,
        expiry_timestamp: int = 0,
        max_timestamp: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        renewers: list[DescribedDelegationTokenRenewer] = FRESH,
    ) -> None:
        self.principal_type: str = principal_type
        self.principal_name: str = principal_name
        self.token_requester_principal_type: str = token_requester_principal_type
        self.token_requester_principal_name: str = token_requester_principal_name
        self.issue_timestamp: int = issue_timestamp
        self.expiry_timestamp: int = expiry_timestamp
        self.max_timestamp: int = max_timestamp
        self.token_id: str = token_id
        self.hmac: bytes = hmac
        self.renewers: list[DescribedDelegationTokenRenewer] = [] if renewers is FRESH else renewers


class DescribeDelegationTokenResponse(Message):
    __slots__ = (
        "error_code",
        "throttle_time_ms",
        "tokens",
    )
    KEY = 41
    VERSIONS = (1, 3)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("error_code", "int16", None, 1, 3, 0, -1, -1, False, 0),
        ("tokens", "[]struct", DescribedDelegationToken, 1, 3, 0, -1, -1, False, FRESH),
        ("throttle_time_ms", "int32", None, 1, 3, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        tokens: list[DescribedDelegationToken] = FRESH,
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code: int = error_code
        self.tokens: list[DescribedDelegationToken] = [] if tokens is FRESH else tokens
        self.throttle_time_ms: int = throttle_time_ms
