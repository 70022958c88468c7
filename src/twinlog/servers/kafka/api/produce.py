"""Produce: batches are checked and written where they lie in the read buffer."""

from __future__ import annotations

from typing import Final

from twinlog._kernel import Malformed, parse_produce
from twinlog.base import ProtocolViolation
from twinlog.kafka.broker import Broker
from twinlog.kafka.produce import Production
from twinlog.servers.kafka.context import Parts, RequestContext
from twinlog.wire.kafka.api import encode_response
from twinlog.wire.kafka.messages.produce import ProduceRequest

KEY: Final = ProduceRequest.KEY
VERSIONS: Final = (3, 13)
ADVERTISED_MIN: Final = 0
RIGHTS: Final = (("topic", "write"),)

NO_ANSWER: Final[Parts] = ()


def handle_bytes(broker: Broker, buffer: bytearray, body: int, end: int, context: RequestContext) -> Parts | None:
    version = context.version
    try:
        _, acks, timeout_ms, topics = parse_produce(
            buffer, body, end, version, broker.settings.batch_inflated_max_bytes
        )
    except Malformed as broken:
        raise ProtocolViolation(str(broken)) from None
    now_ms = context.now_ms
    throttle_ms = broker.quotas.charge_produce(context.principal, context.client_id, end - body, now_ms)
    if throttle_ms:
        context.connection.mute(throttle_ms)
    reply = ProduceReply(context, throttle_ms)
    production = reply.production
    done = production.append(broker.partitions, topics, buffer, acks, now_ms)
    if acks == 0:
        production.abandon()
        if production.failed_any:
            # The only way to tell a producer that listens to no answers.
            context.connection.break_off("a produce request with acks=0 was refused")
        return NO_ANSWER
    if done:
        return reply.parts()
    context.park(production, timeout_ms)
    return None


class ProduceReply:
    """Where the answer of a produce request goes."""

    __slots__ = ("context", "production", "throttle_ms")

    def __init__(self, context: RequestContext, throttle_ms: int) -> None:
        self.context = context
        self.throttle_ms = throttle_ms
        self.production = Production(self.on_done)

    def on_done(self, production: Production) -> None:
        self.context.reply_parts(self.parts())

    def parts(self) -> Parts:
        context = self.context
        response = self.production.response
        response.throttle_time_ms = self.throttle_ms
        return [encode_response(KEY, context.version, context.correlation_id, response)]
