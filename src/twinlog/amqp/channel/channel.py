"""One channel: what a client says on it becomes calls of the topology and the queues, and their answers frames.

Whatever has to wait (a declaration for the metadata log, a commit for the disk) makes the channel wait as a whole: what
the client sent after it is put off by the connection, so that everything is answered in the order it was asked.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from twinlog._kernel import AMQP_ACK, AMQP_ACK_MULTIPLE, AMQP_RUN
from twinlog.amqp.channel.confirms import Confirms
from twinlog.amqp.channel.consumer import ChannelConsumer, ReplyConsumer
from twinlog.amqp.channel.methods import ANSWERS
from twinlog.amqp.channel.outstanding import Outstanding, Taken
from twinlog.amqp.channel.publishing import Publisher, Run
from twinlog.amqp.channel.transaction import Transaction
from twinlog.amqp.codes import COMMAND_INVALID, PRECONDITION_FAILED, SYNTAX_ERROR, refuse
from twinlog.amqp.counts import Traffic
from twinlog.amqp.ports import Queue
from twinlog.base import HostFault, ProtocolViolation, Refused
from twinlog.wire.amqp import Method, decode_method, encode_method
from twinlog.wire.amqp.methods import BasicCancel, BasicNack, BasicReject

if TYPE_CHECKING:
    from twinlog.amqp.channel.ports import Peer

TAG_AND_BITS: Final = struct.Struct(">QB")
NACK: Final = (BasicNack.CLASS_ID, BasicNack.METHOD_ID)
REJECT: Final = (BasicReject.CLASS_ID, BasicReject.METHOD_ID)
MULTIPLE: Final = 1
REQUEUE: Final = 2

Answer = Callable[[Any], None]


class Channel:
    """Made when a client opens it; ``end`` gives everything back that it holds."""

    def __init__(self, peer: Peer, number: int) -> None:
        self.peer = peer
        self.number = number
        self.broker = peer.broker
        self.frame_max = peer.frame_max
        self.is_waiting = False
        self.is_over = False
        self.tag_next = 1
        self.outstanding = Outstanding()
        self.unacked = 0  # of consumers: what basic.get took does not count against a prefetch
        self.prefetch = 0  # of the whole channel; 0 is none
        self.consumer_prefetch = 0  # of the consumers to come
        self.consumers: dict[str, ChannelConsumer] = {}
        self.served_last: ChannelConsumer | None = None
        self.reply_consumer: ReplyConsumer | None = None
        self.queue_last: str | None = None  # what an empty queue name stands for
        self.transaction: Transaction | None = None
        self.confirms = Confirms(number, peer.send, peer.hold_unsynced)
        self.traffic = Traffic()
        self.confirms.counts = self.broker.counts
        self.confirms.traffic = self.traffic
        self.publisher = Publisher(self)

    @property
    def reply_name(self) -> str | None:
        return self.reply_consumer.name if self.reply_consumer else None

    # ---- what the client says ---------------------------------------------------------------------------------

    def take(self, event: tuple[Any, ...]) -> None:
        """One event of the parser. ``Refused`` and ``HostFault`` are the connection's to tell."""
        kind = event[0]
        if kind == AMQP_RUN:
            self._publish(*event[2:])
        elif kind == AMQP_ACK:
            self._settle(*self.outstanding.take(event[2], event[3]))
        elif kind == AMQP_ACK_MULTIPLE:
            self._settle(*self.outstanding.take_up_to(event[2]))
        else:
            self._method(event[2], event[3], event[4])

    def _method(self, class_id: int, method_id: int, arguments: bytes) -> None:
        if (class_id, method_id) == NACK and len(arguments) == TAG_AND_BITS.size:
            tag, bits = TAG_AND_BITS.unpack(arguments)
            self._give_back(tag, bits & MULTIPLE, bits & REQUEUE)
            return
        if (class_id, method_id) == REJECT and len(arguments) == TAG_AND_BITS.size:
            tag, bits = TAG_AND_BITS.unpack(arguments)
            self._give_back(tag, 0, bits & 1)
            return
        try:
            method = decode_method(class_id, method_id, arguments)
        except ProtocolViolation as broken:
            raise Refused(SYNTAX_ERROR, str(broken)) from None
        answer = ANSWERS.get(type(method))
        if method is None or answer is None:
            refuse(COMMAND_INVALID, f"unexpected or unknown method {class_id}.{method_id}")
        answer(self, method)

    # ---- publishing -------------------------------------------------------------------------------------------

    def _publish(self, exchange: str, key: str, flags: int, count: int, blob: bytes, concerns: Any) -> None:
        run = self.publisher.check(exchange, key, flags, count, blob, concerns)
        if self.transaction is not None:
            self.transaction.publish(run)
            return
        self.publisher.put(run)
        self.peer.turn_ends(self.number)

    def put(self, run: Run) -> None:
        self.publisher.put(run)

    def on_turn_end(self) -> None:
        self.confirms.end_turn(self.broker.messages.when_durable)

    # ---- acknowledging ----------------------------------------------------------------------------------------

    def _settle(self, taken: list[Taken], missing: int | None) -> None:
        if self.transaction is not None:
            self.transaction.settle(taken)
        else:
            self.settle(taken)
        if missing is not None:
            refuse(PRECONDITION_FAILED, f"unknown delivery tag {missing}")

    def settle(self, taken: list[Taken]) -> None:
        for each in taken:
            consumer = each.consumer
            if consumer is None or not consumer.is_gone:
                each.queue.settle(each.low, each.high)
                count = each.high - each.low + 1
                self.broker.counts.ack += count
                self.traffic.ack += count
                each.queue.info.traffic.ack += count
        self.count_answered(taken)

    def _give_back(self, tag: int, multiple: int, requeue: int) -> None:
        taken, missing = self.outstanding.take_up_to(tag) if multiple else self.outstanding.take(tag, tag)
        if missing is not None:
            refuse(PRECONDITION_FAILED, f"unknown delivery tag {missing}")
        if self.transaction is not None:
            self.transaction.give_back(taken, requeue=bool(requeue))
        else:
            self.give_back(taken, requeue=bool(requeue))

    def give_back(self, taken: list[Taken], *, requeue: bool) -> None:
        for each in taken:
            consumer = each.consumer
            if consumer is None or not consumer.is_gone:
                if requeue:
                    each.queue.requeue(each.low, each.high)
                else:
                    each.queue.reject(each.low, each.high)
        self.count_answered(taken)

    def count_answered(self, taken: list[Taken]) -> None:
        """The prefetch limits have room again, and who waited for it hears of that."""
        for each in taken:
            if each.consumer is not None:
                each.consumer.answered(each.high - each.low + 1)
        if self.prefetch and taken:
            self.resume_starved()

    # ---- consumers --------------------------------------------------------------------------------------------

    def on_cancelled(self, consumer: ChannelConsumer) -> None:
        """Its queue is gone."""
        if self.consumers.get(consumer.tag) is not consumer:
            return
        del self.consumers[consumer.tag]
        if self.peer.hears_cancels and not self.is_over:
            # Who deleted the queue hears first that it is deleted.
            self.peer.soon(lambda: self._tell_cancelled(consumer.tag))

    def _tell_cancelled(self, tag: str) -> None:
        if not self.is_over:
            self.send(BasicCancel(consumer_tag=tag, no_wait=True))

    def resume_starved(self) -> None:
        """Beginning with the one behind who was served last: the next may take all there is again."""
        consumers = list(self.consumers.values())
        if self.served_last in consumers:
            behind = consumers.index(self.served_last) + 1
            consumers = consumers[behind:] + consumers[:behind]
        for consumer in consumers:
            if consumer.is_starved:
                consumer.resume()

    on_writable = resume_starved

    # ---- answering --------------------------------------------------------------------------------------------

    def send(self, method: Method) -> None:
        self.peer.send(encode_method(self.number, method))

    def reply(self, method: Method, answer: Method) -> None:
        """Unless the client asked for none."""
        if not getattr(method, "no_wait", False):
            self.send(answer)

    def ask(self, method: Method, call: Callable[[Answer], None], answer: Answer) -> None:
        """Makes a call that answers at once or later; until then the channel waits."""
        self.is_waiting = True
        is_asking = True

        def done(outcome: Any) -> None:
            if self.is_over:
                return
            self.is_waiting = False
            failure = outcome if isinstance(outcome, Refused | HostFault) else None
            if failure is None:
                try:
                    answer(outcome)
                except (Refused, HostFault) as found:
                    failure = found
            if failure is not None:
                self.peer.fail(self.number, failure, method.CLASS_ID, method.METHOD_ID)
            elif not is_asking:
                self.peer.go_on(self.number)

        try:
            call(done)
        finally:
            is_asking = False

    # ---- queues -----------------------------------------------------------------------------------------------

    def named(self, queue: str) -> str:
        """The name that the client means: an empty one stands for the queue declared last."""
        if queue:
            return queue
        if self.queue_last is None:
            refuse(404, "no previously declared queue")
        return self.queue_last

    def oldest_delivery_ms(self) -> int | None:
        return self.outstanding.oldest_ms()

    def take_tag(self, queue: Queue, number: int, *, no_ack: bool) -> int:
        """The tag of one message that was taken by ``basic.get``."""
        tag = self.tag_next
        self.tag_next = tag + 1
        if not no_ack:
            self.outstanding.add(queue, None, tag, number, 1, self.broker.now_ms())
        return tag

    # ---- the end ----------------------------------------------------------------------------------------------

    def end(self) -> None:
        """Nothing is sent any more; what was delivered and not acknowledged goes back to its places."""
        if self.is_over:
            return
        self.is_over = True
        self.is_waiting = False
        if self.reply_consumer is not None:
            self.broker.replies.remove(self.reply_consumer.name)
        consumers, self.consumers = self.consumers, {}
        if self.transaction is not None:
            self.transaction.rollback(self.outstanding)
        self.confirms.end_turn(self.broker.messages.when_durable)
        self.confirms.forget()
        taken = self.outstanding.take_all()
        # First the consumers, or what is given back would come to them again.
        for consumer in consumers.values():
            consumer.is_cancelled = True
            consumer.queue.cancel(consumer)
        for each in taken:
            if each.consumer is None or not each.consumer.is_gone:
                each.queue.requeue(each.low, each.high)
