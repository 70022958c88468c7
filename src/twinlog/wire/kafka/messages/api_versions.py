"""API 18, ApiVersions.

Made from spec/kafka/api_versions.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class ApiVersionsRequest(Message):
    __slots__ = (
        "client_software_name",
        "client_software_version",
    )
    KEY = 18
    VERSIONS = (0, 4)
    FLEXIBLE_FROM = 3
    LAYOUT = (
        ("client_software_name", "string", None, 3, 4, 0, -1, -1, True, ""),
        ("client_software_version", "string", None, 3, 4, 0, -1, -1, True, ""),
    )

    def __init__(
        self,
        *,
        client_software_name: str = "",
        client_software_version: str = "",
    ) -> None:
        self.client_software_name: str = client_software_name
        self.client_software_version: str = client_software_version


class ApiVersion(Struct):
    __slots__ = (
        "api_key",
        "max_version",
        "min_version",
    )
    LAYOUT = (
        ("api_key", "int16", None, 0, 4, 0, -1, -1, False, 0),
        ("min_version", "int16", None, 0, 4, 0, -1, -1, False, 0),
        ("max_version", "int16", None, 0, 4, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        api_key: int = 0,
        min_version: int = 0,
        max_version: int = 0,
    ) -> None:
        self.api_key: int = api_key
        self.min_version: int = min_version
        self.max_version: int = max_version


class SupportedFeatureKey(Struct):
    __slots__ = (
        "max_version",
        "min_version",
        "name",
    )
    LAYOUT = (
        ("name", "string", None, 3, 4, 0, -1, -1, False, ""),
        ("min_version", "int16", None, 3, 4, 0, -1, -1, False, 0),
        ("max_version", "int16", None, 3, 4, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        name: str = "",
        min_version: int = 0,
        max_version: int = 0,
    ) -> None:
        self.name: str = name
        self.min_version: int = min_version
        self.max_version: int = max_version


class FinalizedFeatureKey(Struct):
    __slots__ = (
        "max_version_level",
        "min_version_level",
        "name",
    )
    LAYOUT = (
        ("name", "string", None, 3, 4, 0, -1, -1, False, ""),
        ("max_version_level", "int16", None, 3, 4, 0, -1, -1, False, 0),
        ("min_version_level", "int16", None, 3, 4, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        name: str = "",
        max_version_level: int = 0,
        min_version_level: int = 0,
    ) -> None:
        self.name: str = name
        self.max_version_level: int = max_version_level
        self.min_version_level: int = min_version_level


class ApiVersionsResponse(Message):
    __slots__ = (
        "api_keys",
        "error_code",
        "finalized_features",
        "finalized_features_epoch",
        "supported_features",
        "throttle_time_ms",
        "zk_migration_ready",
    )
    KEY = 18
    VERSIONS = (0, 4)
    FLEXIBLE_FROM = 3
    LAYOUT = (
        ("error_code", "int16", None, 0, 4, 0, -1, -1, False, 0),
        ("api_keys", "[]struct", ApiVersion, 0, 4, 0, -1, -1, False, FRESH),
        ("throttle_time_ms", "int32", None, 1, 4, 0, -1, -1, True, 0),
        ("supported_features", "[]struct", SupportedFeatureKey, 3, 4, 0, -1, 0, True, FRESH),
        ("finalized_features_epoch", "int64", None, 3, 4, 0, -1, 1, True, -1),
        ("finalized_features", "[]struct", FinalizedFeatureKey, 3, 4, 0, -1, 2, True, FRESH),
        ("zk_migration_ready", "bool", None, 3, 4, 0, -1, 3, True, False),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        api_keys: list[ApiVersion] = FRESH,
        throttle_time_ms: int = 0,
        supported_features: list[SupportedFeatureKey] = FRESH,
        finalized_features_epoch: int = -1,
        finalized_features: list[FinalizedFeatureKey] = FRESH,
        zk_migration_ready: bool = False,
    ) -> None:
        self.error_code: int = error_code
        self.api_keys: list[ApiVersion] = [] if api_keys is FRESH else api_keys
        self.throttle_time_ms: int = throttle_time_ms
        self.supported_features: list[SupportedFeatureKey] = [] if supported_features is FRESH else supported_features
        self.finalized_features_epoch: int = finalized_features_epoch
        self.finalized_features: list[FinalizedFeatureKey] = [] if finalized_features is FRESH else finalized_features
        self.zk_migration_ready: bool = zk_migration_ready
