"""Produce: batches are checked and written where they lie in the read buffer."""

from __future__ import annotations

from typing import Final

from twinlog._kernel import Malformed, parse_produce
from twinlog.base import ProtocolViolation
from twinlog.kafka.broker import Broker
from twinlog.kafka.produce import ParsedTopics, Production
from twinlog.servers.kafka.context import Parts, RequestContext
from twinlog.servers.kafka.transactional_produce import TransactionalProduce
from twinlog.wire.kafka.api import encode_response
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.produce import ProduceRequest

KEY: Final = ProduceRequest.KEY
VERSIONS: Final = (3, 13)
ADVERTISED_MIN: Final = 0
RIGHTS: Final = (("topic", "write"),)

SHORT_MEMORY_WAIT_MS: Final = 200
NO_ANSWER: Final[Parts] = ()


def handle_bytes(broker: Broker, buffer: bytearray, body: int, end: int, context: RequestContext) -> Parts | None:
    version = context.version
    try:
        transactional_id, acks, timeout_ms, topics = parse_produce(
            buffer, body, end, version, broker.settings.batch_inflated_max_bytes
        )
    except Malformed as broken:
        raise ProtocolViolation(str(broken)) from None
    connection = context.connection
    now_ms = connection.now_ms
    throttle_ms = broker.quotas.charge_produce(connection.principal, context.client_id, end - body, now_ms)
    if broker.memory_is_short and throttle_ms < SHORT_MEMORY_WAIT_MS:
        throttle_ms = SHORT_MEMORY_WAIT_MS
        broker.metrics.memory_delays += 1
    if throttle_ms:
        connection.mute(throttle_ms)
    production = Production()
    result_of = None
    if transactional_id is not None and acks != 0:
        transactional = TransactionalProduce(broker, transactional_id, topics, context)
        held = HeldProduce(broker, ProduceReply(context, throttle_ms), transactional, topics, acks)
        if not transactional.join(held.go_on):
            held.keep(buffer, body, end)
            context.park(held, timeout_ms)
            return None
        result_of = transactional.result
    done = production.append(broker.partitions, topics, buffer, acks, now_ms, result_of)
    if acks == 0:
        production.abandon()
        if production.failed_any:
            # The only way to tell a producer that listens to no answers.
            connection.break_off("a produce request with acks=0 was refused")
        return NO_ANSWER
    reply = ProduceReply(context, throttle_ms)
    if done:
        return reply.parts(production)
    production.wait(reply.on_done)
    context.park(production, timeout_ms)
    return None


class ProduceReply:
    """Where the answer of a produce request goes."""

    __slots__ = ("context", "throttle_ms")

    def __init__(self, context: RequestContext, throttle_ms: int) -> None:
        self.context = context
        self.throttle_ms = throttle_ms

    def on_done(self, production: Production) -> None:
        self.context.reply_parts(self.parts(production))

    def parts(self, production: Production) -> Parts:
        context = self.context
        response = production.response
        throttle_ms = context.charge_time() if context.started_us else context.throttle_ms
        response.throttle_time_ms = throttle_ms if throttle_ms > self.throttle_ms else self.throttle_ms
        return [encode_response(KEY, context.version, context.correlation_id, response)]


class HeldProduce:
    """A request that waits to be let into its transaction, and then goes on like any other."""

    __slots__ = ("_acks", "_broker", "_copy", "_over", "_reply", "_topics", "_transactional")

    def __init__(
        self,
        broker: Broker,
        reply: ProduceReply,
        transactional: TransactionalProduce,
        topics: ParsedTopics,
        acks: int,
    ) -> None:
        self._broker = broker
        self._reply = reply
        self._transactional = transactional
        self._topics = topics
        self._acks = acks
        self._copy = bytearray()
        self._over = False

    def keep(self, buffer: bytearray, body: int, end: int) -> None:
        """The read buffer is needed for the next requests."""
        with memoryview(buffer) as view:
            self._copy += view[body:end]
        self._broker.joining.held_bytes += len(self._copy)
        self._reply.context.connection.keep(len(self._copy))

    def _let_go(self) -> bytearray:
        copy, self._copy = self._copy, bytearray()
        self._broker.joining.held_bytes -= len(copy)
        self._reply.context.connection.keep(-len(copy))
        return copy

    def go_on(self) -> None:
        if self._over:
            return
        broker, context, copy = self._broker, self._reply.context, self._let_go()
        inflated_max_bytes = broker.settings.batch_inflated_max_bytes
        _, _, _, topics = parse_produce(copy, 0, len(copy), context.version, inflated_max_bytes)
        production = Production()
        if production.append(broker.partitions, topics, copy, self._acks, broker.now_ms(), self._transactional.result):
            self._reply.on_done(production)
        else:
            production.wait(self._reply.on_done)
            context.parked = production

    def expire(self) -> None:
        self._over = True
        self._let_go()
        production = Production()
        production.refuse(self._topics, ErrorCode.REQUEST_TIMED_OUT)
        self._reply.on_done(production)

    def abandon(self) -> None:
        self._over = True
        self._let_go()
