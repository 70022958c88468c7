"""API 57, UpdateFeatures.

Made from spec/kafka/update_features.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class FeatureUpdateKey(Struct):
    __slots__ = (
        "allow_downgrade",
        "feature",
        "max_version_level",
        "upgrade_type",
    )
    LAYOUT = (
        ("feature", "string", None, 0, 2, 0, -1, -1, False, ""),
        ("max_version_level", "int16", None, 0, 2, 0, -1, -1, False, 0),
        ("allow_downgrade", "bool", None, 0, 0, 0, -1, -1, False, False),
        ("upgrade_type", "int8", None, 1, 2, 0, -1, -1, False, 1),
    )

    def __init__(
        self,
        *,
        feature: str = "",
        max_version_level: int = 0,
        allow_downgrade: bool = False,
        upgrade_type: int = 1,
    ) -> None:
        self.feature: str = feature
        self.max_version_level: int = max_version_level
        self.allow_downgrade: bool = allow_downgrade
        self.upgrade_type: int = upgrade_type


class UpdateFeaturesRequest(Message):
    __slots__ = (
        "feature_updates",
        "timeout_ms",
        "validate_only",
    )
    KEY = 57
    VERSIONS = (0, 2)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("timeout_ms", "int32", None, 0, 2, 0, -1, -1, False, 60000),
        ("feature_updates", "[]struct", FeatureUpdateKey, 0, 2, 0, -1, -1, False, FRESH),
        ("validate_only", "bool", None, 1, 2, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        feature_updates: list[FeatureUpdateKey] = FRESH,
        validate_only: bool = False,
    ) -> None:
        self.timeout_ms: int = timeout_ms
        self.feature_updates: list[FeatureUpdateKey] = [] if feature_updates is FRESH else feature_updates
        self.validate_only: bool = validate_only


class UpdatableFeatureResult(Struct):
    __slots__ = (
        "error_code",
        "error_message",
        "feature",
    )
    LAYOUT = (
        ("feature", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("error_code", "int16", None, 0, 1, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 1, 0, 1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        feature: str = "",
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.feature: str = feature
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class UpdateFeaturesResponse(Message):
    __slots__ = (
        "error_code",
        "error_message",
        "results",
        "throttle_time_ms",
    )
    KEY = 57
    VERSIONS = (0, 2)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 2, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 2, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 2, 0, 2, -1, False, ""),
        ("results", "[]struct", UpdatableFeatureResult, 0, 1, 0, -1, -1, True, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: list[UpdatableFeatureResult] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.results: list[UpdatableFeatureResult] = [] if results is FRESH else results
