"""27 WriteTxnMarkers: ends transactions in partitions without asking their coordinator. For administrators who free a
partition from a transaction that hangs, and between brokers.

v2 says by which version of transactions it was decided.
"""

from __future__ import annotations

from typing import Final

from twinlog.base import HostFault, Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.groups.coordinator import OFFSETS_TOPIC
from twinlog.kafka.offsets import led_partition
from twinlog.kafka.rights import CLUSTER_NAME, Operation, Resource
from twinlog.servers.kafka.context import RequestContext
from twinlog.servers.kafka.waiting import Waiting
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

KEY: Final = 27
VERSIONS: Final = (1, 2)
RIGHTS: Final = (("cluster", "cluster_action"), ("cluster", "alter"))


def handle(broker: Broker, request: WriteTxnMarkersRequest, context: RequestContext) -> WriteTxnMarkersResponse | None:
    may = any(
        broker.rights.allows(context, operation, Resource.CLUSTER, CLUSTER_NAME)
        for operation in (Operation.ALTER, Operation.CLUSTER_ACTION)
    )
    markers = Markers(broker, context)
    for marker in request.markers:
        markers.write(marker, refusal=ErrorCode.NONE if may else ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    if not markers.waiting:
        return markers.response
    return markers.answer.park()


class Markers:
    """All markers of one request, and who waits for them to be stable."""

    def __init__(self, broker: Broker, context: RequestContext) -> None:
        self._broker = broker
        self.waiting = 0  # counted by the partitions
        self.response = WriteTxnMarkersResponse()
        self.answer: Waiting[WriteTxnMarkersResponse] = Waiting(context, lambda: self.response)

    def write(self, marker: WritableTxnMarker, refusal: int) -> None:
        result = WritableTxnMarkerResult(producer_id=marker.producer_id)
        self.response.markers.append(result)
        for topic in marker.topics:
            topic_result = WritableTxnMarkerTopicResult(name=topic.name)
            result.topics.append(topic_result)
            for index in topic.partition_indexes:
                # Until it is stable it is reported as not.
                place = WritableTxnMarkerPartitionResult(partition_index=index, error_code=ErrorCode.REQUEST_TIMED_OUT)
                topic_result.partitions.append(place)
                try:
                    if refusal:
                        raise Refused(refusal)
                    self._write(marker, topic.name, place)
                except Refused as refused:
                    place.error_code = refused.code
                except HostFault:
                    place.error_code = ErrorCode.KAFKA_STORAGE_ERROR

    def _write(self, marker: WritableTxnMarker, topic: str, place: WritableTxnMarkerPartitionResult) -> None:
        if marker.producer_id < 0 or marker.producer_epoch < 0:
            raise Refused(ErrorCode.INVALID_REQUEST)
        partition = led_partition(self._broker.partitions, topic, place.partition_index)

        def append() -> None:
            partition.append_marker(
                marker.producer_id,
                marker.producer_epoch,
                marker.coordinator_epoch,
                self._broker.now_ms(),
                commit=marker.transaction_result,
                waiter=self,
                token=place,
            )

        if topic == OFFSETS_TOPIC:
            self._broker.groups.end_transaction(
                place.partition_index,
                marker.producer_id,
                marker.producer_epoch,
                append,
                commit=marker.transaction_result,
            )
        else:
            append()

    def stored(self, token: object) -> None:
        self._settle(token, ErrorCode.NONE)

    def failed(self, token: object, code: int) -> None:
        self._settle(token, code)

    def _settle(self, token: object, code: int) -> None:
        assert isinstance(token, WritableTxnMarkerPartitionResult)
        token.error_code = code
        self.waiting -= 1
        if not self.waiting:
            self.answer.answer(self.response)
