"""From API key to handler: decode, call, encode. What is served is what stands in ``api.HANDLERS``."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final, TypeAlias

from twinlog.kafka.broker import Broker
from twinlog.servers.kafka.api import ADVERTISED, HANDLERS
from twinlog.servers.kafka.context import Parts, RequestContext
from twinlog.wire.kafka import api as wire
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.api_versions import ApiVersion, ApiVersionsResponse

PRODUCE: Final = 0
API_VERSIONS: Final = 18

# (broker, buffer, body's start, body's end, context) -> what to send, or None when it is parked.
Start: TypeAlias = Callable[[Broker, bytearray, int, int, RequestContext], "Parts | None"]


class Route:
    """How one API key is served."""

    __slots__ = ("api_key", "start", "version_max", "version_min")

    def __init__(self, api_key: int, module: ModuleType) -> None:
        self.api_key = api_key
        self.version_min, self.version_max = module.VERSIONS
        self.start: Start = getattr(module, "handle_bytes", None) or _decoded(api_key, module.handle)


def _decoded(api_key: int, handle: Callable[[Broker, Any, RequestContext], Any]) -> Start:
    decode, encode = wire.decode_request, wire.encode_response

    def start(broker: Broker, buffer: bytearray, body: int, end: int, context: RequestContext) -> Parts | None:
        version = context.version
        response = handle(broker, decode(api_key, version, buffer, body, end), context)
        if response is None:
            return None
        if context.started_us or context.throttle_ms:
            context.tell_throttle(response)
        return [encode(api_key, version, context.correlation_id, response)]

    return start


ROUTES: Final = {key: Route(key, module) for key, module in HANDLERS.items()}


def unsupported_api_versions(correlation_id: int) -> bytes:
    """The answer to an ApiVersions of a version that we do not know: the oldest form, with what we do know."""
    low, high = ADVERTISED[API_VERSIONS]
    response = ApiVersionsResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION,
        api_keys=[ApiVersion(api_key=API_VERSIONS, min_version=low, max_version=high)],
    )
    return wire.encode_response(API_VERSIONS, 0, correlation_id, response)
