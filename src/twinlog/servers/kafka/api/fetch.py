"""Fetch: records go from file to socket; only the words around them are made here."""

from __future__ import annotations

from typing import Final

from twinlog.host import FileSlice
from twinlog.kafka.broker import Broker
from twinlog.kafka.fetch import Fetch, FetchedRecords
from twinlog.servers.kafka.context import Parts, RequestContext
from twinlog.wire.kafka.api import decode_request, encode_response_parts
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    FetchResponsePartitionData,
)

KEY: Final = FetchRequest.KEY
VERSIONS: Final = (4, 18)
RIGHTS: Final = (("topic", "read"),)

SESSIONS_FROM: Final = 7  # and with them an error of the whole request
IDS_FROM: Final = 13


def handle_bytes(broker: Broker, buffer: bytearray, body: int, end: int, context: RequestContext) -> Parts | None:
    version = context.version
    request: FetchRequest = decode_request(KEY, version, buffer, body, end)
    if request.replica_id >= 0 or (request.replica_state is not None and request.replica_state.replica_id >= 0):
        return _parts(context, _refused(request, version, ErrorCode.CLUSTER_AUTHORIZATION_FAILED))
    bytes_max = broker.quotas.fetch_bytes_max(context.principal, context.client_id, context.now_ms)
    if 0 < bytes_max < request.max_bytes:
        request.max_bytes = bytes_max
    fetch = broker.fetches.begin(request, uses_ids=version >= IDS_FROM, now_ms=context.now_ms)
    if fetch.ready_now(wait=request.max_wait_ms > 0):
        return _answer(broker, context, fetch)

    def on_done(fetch: Fetch) -> None:
        context.reply_parts(_answer(broker, context, fetch))

    fetch.park(on_done)
    context.park(fetch, request.max_wait_ms)
    return None


def _answer(broker: Broker, context: RequestContext, fetch: Fetch) -> Parts:
    response = fetch.response()
    throttle_ms = broker.quotas.charge_fetch(context.principal, context.client_id, fetch.size_bytes, broker.now_ms())
    if throttle_ms:
        context.connection.mute(throttle_ms)
    response.throttle_time_ms = max(throttle_ms, context.charge_time())
    return _parts(context, response)


def _parts(context: RequestContext, response: FetchResponse) -> Parts:
    parts: list[bytes | FileSlice] = []
    for part in encode_response_parts(KEY, context.version, context.correlation_id, response):
        if type(part) is FetchedRecords:
            parts += part.parts
        else:
            parts.append(part)
    return parts


def _refused(request: FetchRequest, version: int, code: ErrorCode) -> FetchResponse:
    if version >= SESSIONS_FROM:
        return FetchResponse(error_code=code)
    return FetchResponse(
        responses=[
            FetchableTopicResponse(
                topic=topic.topic,
                partitions=[
                    FetchResponsePartitionData(
                        partition_index=each.partition,
                        error_code=code,
                        high_watermark=-1,
                        aborted_transactions=None,
                        records=b"",
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
