"""61 DescribeProducers: who writes to a partition, and which of them have a transaction open there."""

from __future__ import annotations

from typing import Final

from twinlog.base import HostFault, Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.offsets import led_partition
from twinlog.kafka.rights import Operation, Resource
from twinlog.servers.kafka.context import RequestContext
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)

KEY: Final = 61
VERSIONS: Final = (0, 0)
RIGHTS: Final = (("topic", "read"),)


def handle(broker: Broker, request: DescribeProducersRequest, context: RequestContext) -> DescribeProducersResponse:
    response = DescribeProducersResponse()
    for topic in request.topics:
        may = broker.rights.allows(context, Operation.READ, Resource.TOPIC, topic.name)
        answer = TopicResponse(name=topic.name)
        response.topics.append(answer)
        for index in topic.partition_indexes:
            part = PartitionResponse(partition_index=index)
            answer.partitions.append(part)
            try:
                if not may:
                    raise Refused(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
                part.active_producers = _producers(broker, topic.name, index)
            except Refused as refused:
                part.error_code = refused.code
                part.error_message = refused.message or None
            except HostFault:
                part.error_code = ErrorCode.KAFKA_STORAGE_ERROR
    return response


def _producers(broker: Broker, topic: str, index: int) -> list[ProducerState]:
    return [
        ProducerState(
            producer_id=producer_id,
            producer_epoch=producer.epoch,
            last_sequence=producer.batches[-1].sequence_last if producer.batches else -1,
            last_timestamp=producer.last_ms,
            coordinator_epoch=producer.coordinator_epoch,
            current_txn_start_offset=producer.transaction_offset,
        )
        for producer_id, producer in led_partition(broker.partitions, topic, index).log.producers.by_id.items()
    ]
