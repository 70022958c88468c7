"""A produce request within a transaction: its partitions have to be part of it before anything is written.

Usually they are, and the request goes on at once. Otherwise it waits, as a copy (the read buffer is needed again),
until the coordinator has let them in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from twinlog.kafka.broker import Broker
from twinlog.kafka.partition import AppendResult, TransactionalResult
from twinlog.kafka.produce import ParsedTopics
from twinlog.kafka.rights import Operation, Resource
from twinlog.kafka.transactions import Place, ProducerKey
from twinlog.servers.kafka.context import RequestContext
from twinlog.servers.kafka.transaction_codes import at_partition
from twinlog.storage import Batch
from twinlog.wire.kafka.errors import ErrorCode

ABORTABLE_FROM: Final = 11
IMPLICIT_FROM: Final = 12
TRANSACTIONAL: Final = 0x10


class TransactionalProduce:
    """``join`` asks for the partitions; ``result`` says for each batch whether it may be written."""

    def __init__(self, broker: Broker, transactional_id: str, topics: ParsedTopics, context: RequestContext) -> None:
        self._broker = broker
        self._id = transactional_id
        self._version = context.version
        self._code: int = ErrorCode.NONE
        self._producer: ProducerKey | None = None
        self._places: list[Place] = []
        allowed = broker.rights.allows(context, Operation.WRITE, Resource.TRANSACTIONAL_ID, transactional_id)
        if not allowed:
            self._code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        for name, batches in topics:
            topic = self._name(name)
            of_topic = broker.partitions.of_topic(name)
            if topic is None or of_topic is None:
                continue
            for index, _, _, _, _, batch in batches:
                if batch is not None and batch[5] & TRANSACTIONAL and 0 <= index < len(of_topic):
                    if self._producer is None:
                        self._producer = ProducerKey(batch[8], batch[9])
                    self._places.append((topic, index))

    def join(self, done: Callable[[], None]) -> bool:
        """True: go on. False: ``done`` is called when it may."""
        if self._code or self._producer is None:
            return True
        if self._broker.joining.is_full:
            self._code = ErrorCode.NOT_ENOUGH_REPLICAS
            return True
        waiting = settled = False

        def joined(code: ErrorCode) -> None:
            nonlocal settled
            settled = True
            self._code = code
            if waiting:
                done()

        code = self._broker.joining.join(
            self._id, self._producer, self._places, joined, implicit=self._version >= IMPLICIT_FROM
        )
        if code is not None:
            joined(code)
        waiting = True
        return settled

    def result(self, name: str | bytes, index: int, batch: Batch | None) -> AppendResult:
        """Asked for each batch in the turn in which it is written: what was true while it waited may have changed."""
        if batch is None or not batch[5] & TRANSACTIONAL:
            return AppendResult(index)
        code: int = self._code
        topic = self._name(name)
        if not code and topic is not None:
            code = self._broker.transactions.verify(self._id, ProducerKey(batch[8], batch[9]), (topic, index))
        result = TransactionalResult(index)
        if code and topic is not None:
            result.fail(at_partition(code, self._version >= ABORTABLE_FROM))
        return result

    def _name(self, name: str | bytes) -> str | None:
        if isinstance(name, str):
            return name
        topic = self._broker.image.topics_by_id.get(name)
        return topic.name if topic is not None else None
