"""ApiVersions: what this broker serves. Derived from the handlers, so it cannot promise more than there is."""

from __future__ import annotations

import re
from typing import Final

from twinlog.cluster.core.nodes import FEATURES
from twinlog.kafka.broker import Broker
from twinlog.servers.kafka.context import RequestContext
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

KEY: Final = 18
VERSIONS: Final = (0, 4)
RIGHTS: Final = ()

NAMED_FROM: Final = 3  # the version from which clients name their software
SOFTWARE: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9.\-]*[a-zA-Z0-9])?")


def handle(broker: Broker, request: ApiVersionsRequest, context: RequestContext) -> ApiVersionsResponse:
    from twinlog.servers.kafka.api import ADVERTISED  # the table holds this module too

    if context.version >= NAMED_FROM and not (
        SOFTWARE.fullmatch(request.client_software_name) and SOFTWARE.fullmatch(request.client_software_version)
    ):
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
    image = broker.image
    return ApiVersionsResponse(
        api_keys=[
            ApiVersion(api_key=key, min_version=low, max_version=high) for key, (low, high) in ADVERTISED.items()
        ],
        supported_features=[
            SupportedFeatureKey(name=name, min_version=low, max_version=high)
            for name, (low, high) in sorted(FEATURES.items())
            if high > 0
        ],
        finalized_features_epoch=max(image.offset, 0),
        finalized_features=[
            FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
            for name, level in sorted(image.features.levels.items())
        ],
    )
