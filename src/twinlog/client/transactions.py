"""Transactions from outside: which there are, what is in them, and how to end one that nobody ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from twinlog.client.blocking import Client
from twinlog.client.coordinated import Coordinated
from twinlog.client.errors import BrokerError, check
from twinlog.client.groups import Place
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    DescribeProducersRequest,
    DescribeProducersRequestTopic,
    DescribeProducersResponse,
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    ListTransactionsRequest,
    ListTransactionsResponse,
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

TRANSACTION: Final = 1  # the kind of key whose coordinator is asked for
RUNNING: Final = ("Ongoing", "PrepareCommit", "PrepareAbort")
FENCE_TIMEOUT_MS: Final = 60_000


class TransactionLine(NamedTuple):
    """A transactional id in a list."""

    name: str
    state: str
    producer_id: int


class TransactionView(NamedTuple):
    """A transactional id with what is open under it. ``started_ms`` is -1 while nothing is."""

    name: str
    state: str
    producer_id: int
    epoch: int
    timeout_ms: int
    started_ms: int
    places: tuple[Place, ...]
    coordinator: int


class OpenTransaction(NamedTuple):
    """What a partition waits for: a producer's transaction that began at ``start_offset``."""

    topic: str
    partition: int
    producer_id: int
    epoch: int
    coordinator_epoch: int
    start_offset: int
    last_ms: int  # when the producer wrote there last


class Transactions(Coordinated):
    """Requests about transactions, sent to their coordinators and to the leaders of partitions."""

    def __init__(self, client: Client) -> None:
        super().__init__(client, TRANSACTION, "transactional id")

    def listed(
        self,
        *,
        states: Sequence[str] = (),
        producer_ids: Sequence[int] = (),
        running_ms: int = -1,
        pattern: str | None = None,
    ) -> list[TransactionLine]:
        """The transactional ids of every broker, by name. ``running_ms``: only what runs for longer."""
        found: list[TransactionLine] = []
        request = ListTransactionsRequest(
            state_filters=[*states],
            producer_id_filters=[*producer_ids],
            duration_filter=running_ms,
            transactional_id_pattern=pattern,
        )
        for node in sorted(self._client.refresh([]).brokers):
            answer = self._patiently(
                lambda node=node: self._client.call(request, ListTransactionsResponse, node),  # type: ignore[misc]
                lambda response: response.error_code,
            )
            check(answer.error_code, "listing transactions")
            if answer.unknown_state_filters:
                raise BrokerError(
                    ErrorCode.INVALID_REQUEST, "listing transactions", f"no state {answer.unknown_state_filters[0]}"
                )
            found += [
                TransactionLine(each.transactional_id, each.transaction_state, each.producer_id)
                for each in answer.transaction_states
            ]
        return sorted(found)

    def describe(self, name: str) -> TransactionView:
        found = self._ask(
            name,
            lambda: DescribeTransactionsRequest(transactional_ids=[name]),
            DescribeTransactionsResponse,
            lambda response: response.transaction_states[0].error_code,
        ).transaction_states[0]
        check(found.error_code, f"describing transactional id {name}")
        return TransactionView(
            name,
            found.transaction_state,
            found.producer_id,
            found.producer_epoch,
            found.transaction_timeout_ms,
            found.transaction_start_time_ms,
            tuple(sorted((topic.topic, partition) for topic in found.topics for partition in topic.partitions)),
            self.coordinator(name),
        )

    def open_in(self, topics: Iterable[str] | None = None) -> list[OpenTransaction]:
        """What is open in the partitions of these topics, or of all."""
        view = self._client.refresh(topics)
        found: list[OpenTransaction] = []
        for name, topic in sorted(view.topics.items()):
            check(topic.error, f"looking up topic {name}")
            for partition in topic.partitions:
                if partition.leader >= 0:
                    found += self._open_at(name, partition.index, partition.leader)
        return found

    def _open_at(self, topic: str, partition: int, leader: int) -> list[OpenTransaction]:
        request = DescribeProducersRequest(
            topics=[DescribeProducersRequestTopic(name=topic, partition_indexes=[partition])]
        )
        answer = self._client.call(request, DescribeProducersResponse, leader).topics[0].partitions[0]
        check(answer.error_code, f"looking at the producers of {topic}-{partition}", answer.error_message)
        return [
            OpenTransaction(
                topic,
                partition,
                each.producer_id,
                each.producer_epoch,
                each.coordinator_epoch,
                each.current_txn_start_offset,
                each.last_timestamp,
            )
            for each in answer.active_producers
            if each.current_txn_start_offset >= 0
        ]

    def hanging(self, topics: Iterable[str] | None = None) -> list[OpenTransaction]:
        """What is open in partitions although no coordinator knows of it, so that nothing will ever end it."""
        suspects = [each for each in self.open_in(topics) if not self.is_known(each)]
        # Those that ended between the two questions are not there any more.
        still = set(self.open_in({each.topic for each in suspects})) if suspects else set()
        return [each for each in suspects if each in still and not self.is_known(each)]

    def is_known(self, open_one: OpenTransaction) -> bool:
        """Whether some transactional id will end it."""
        for line in self.listed(producer_ids=[open_one.producer_id]):
            if line.state in RUNNING and (open_one.topic, open_one.partition) in self.describe(line.name).places:
                return True
        return False

    def abort(self, name: str) -> None:
        """Ends what is open under the id, and fences its producer."""
        answer = self._ask(
            name,
            lambda: InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=FENCE_TIMEOUT_MS),
            InitProducerIdResponse,
            lambda response: response.error_code,
        )
        check(answer.error_code, f"aborting the transaction of {name}")

    def abort_in_partition(self, open_one: OpenTransaction) -> None:
        """Writes the marker that no coordinator will write."""
        leader = self._client.refresh([open_one.topic]).leader(open_one.topic, open_one.partition)
        marker = WritableTxnMarker(
            producer_id=open_one.producer_id,
            producer_epoch=open_one.epoch,
            transaction_result=False,
            coordinator_epoch=max(0, open_one.coordinator_epoch),
            topics=[WritableTxnMarkerTopic(name=open_one.topic, partition_indexes=[open_one.partition])],
        )
        answer = self._client.call(WriteTxnMarkersRequest(markers=[marker]), WriteTxnMarkersResponse, leader)
        code = answer.markers[0].topics[0].partitions[0].error_code
        check(code, f"aborting in {open_one.topic}-{open_one.partition}")
