"""Encoded batches on their way to the leaders: in order, a few requests ahead, and again if need be."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from twinlog.client.errors import BrokerError, ConnectionLost, NoAnswer, is_retriable
from twinlog.client.outbox import Batch, outcomes
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import ProduceRequest, ProduceResponse

if TYPE_CHECKING:
    from twinlog.client.blocking import Client

PAUSE_MS: Final = 50
IN_FLIGHT_MAX: Final = 5  # a broker remembers that many batches of a producer


class Delivery:
    """Sends what it is given; ``settle`` returns when a broker has taken all of it.

    While a batch has to be sent again, nothing behind it overtakes. ``topics`` are those that the client's view is to
    keep; ``request`` turns batches of one broker into a request. ``version_max`` caps the version of that request.
    """

    def __init__(
        self,
        client: Client,
        request: Callable[[Iterable[Batch]], ProduceRequest],
        topics: Iterable[str],
        *,
        acks: int = -1,
        version_max: int | None = None,
    ) -> None:
        self.confirmed_records = 0
        self.confirmed_bytes = 0
        self._client = client
        self._request = request
        self._topics = topics
        self._acks = acks
        self._version_max = version_max
        self._sent: deque[tuple[int, list[Batch]]] = deque()  # (node, batches) in order of sending

    @property
    def under_way(self) -> bool:
        return bool(self._sent)

    def send(self, node: int, batches: list[Batch]) -> None:
        """To the leader of all of them, at most one batch a partition."""
        while len(self._sent) >= IN_FLIGHT_MAX:
            self._settle_one()
        self._sent.append((node, batches))
        try:
            self._client.link(node).send(
                self._request(batches), answered=self._acks != 0, version_max=self._version_max
            )
        except ConnectionLost:
            self._retry_all()
        if self._acks == 0 and self._sent:
            self._confirm(self._sent.pop()[1])

    def settle(self) -> None:
        while self._sent:
            self._settle_one()

    def _settle_one(self) -> None:
        """Waits for the oldest request; on trouble waits out the others too and puts what failed back in order."""
        node, batches = self._sent.popleft()
        failed = self._failed_of(node, batches)
        if failed is None:
            self._sent.appendleft((node, batches))
            self._retry_all()
        elif failed:
            while self._sent:
                node, batches = self._sent.popleft()
                more = self._failed_of(node, batches)
                failed += batches if more is None else more
            self._again(failed)

    def _failed_of(self, node: int, batches: list[Batch]) -> list[Batch] | None:
        """The batches to send again; None when the connection is gone and nobody knows."""
        try:
            answer = self._client.link(node).take().message
        except (ConnectionLost, NoAnswer):
            self._client.drop(node)
            return None
        assert isinstance(answer, ProduceResponse)
        failed = []
        for outcome in outcomes(batches, answer):
            if outcome.error in (0, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
                self._confirm([outcome.batch])
            elif is_retriable(outcome.error) or outcome.error == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
                failed.append(outcome.batch)
            else:
                place = f"writing to {outcome.batch.topic}-{outcome.batch.partition}"
                raise BrokerError(outcome.error, place, outcome.message)
        return failed

    def _retry_all(self) -> None:
        unknown = [batch for _, batches in self._sent for batch in batches]
        for node, _ in self._sent:
            self._client.drop(node)
        self._sent.clear()
        self._again(unknown)

    def _again(self, batches: list[Batch]) -> None:
        """Sends batches once more, one request at a time, until they are through or the time is over."""
        deadline_ms = self._client.door.monotonic_ms() + self._client.timeout_ms
        waiting = deque(batches)
        while waiting:
            batch = waiting[0]
            try:
                self._client.refresh(self._topics)
                node = self._client.view.leader(batch.topic, batch.partition)
                if node >= 0:
                    self._client.link(node).send(self._request([batch]), version_max=self._version_max)
                    if self._failed_of(node, [batch]) == []:
                        waiting.popleft()
                        continue
            except (ConnectionLost, NoAnswer):
                self._client.close()
            if self._client.door.monotonic_ms() > deadline_ms:
                raise NoAnswer(f"{len(waiting)} batches could not be written within {self._client.timeout_ms} ms")
            self._client.door.pause(PAUSE_MS)

    def _confirm(self, batches: Iterable[Batch]) -> None:
        for batch in batches:
            self.confirmed_records += batch.count
            self.confirmed_bytes += batch.size
