"""35 DescribeLogDirs: data directories with their logs and sizes.

Null topics mean all. v3 a code for the whole answer; v4 total and usable bytes; v5 cordoned directories (we have none).
"""

from __future__ import annotations

from typing import Final

from twinlog.kafka.rights import CLUSTER_NAME, Operation, Resource
from twinlog.servers.kafka.admin_ports import AdminBroker, Context
from twinlog.storage.types import DirectoryFacts
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)

KEY: Final = 35
VERSIONS: Final = (1, 5)
RIGHTS: Final = (("cluster", "describe"),)


def handle(broker: AdminBroker, request: DescribeLogDirsRequest, context: Context) -> DescribeLogDirsResponse:
    if not broker.rights.allows(context, Operation.DESCRIBE, Resource.CLUSTER, CLUSTER_NAME):
        return DescribeLogDirsResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    wanted: set[tuple[str, int]] | None = None
    if request.topics is not None:
        wanted = {(each.topic, index) for each in request.topics for index in each.partitions}
    return DescribeLogDirsResponse(results=[_directory(broker, facts, wanted) for facts in broker.store.describe()])


def _directory(
    broker: AdminBroker, facts: DirectoryFacts, wanted: set[tuple[str, int]] | None
) -> DescribeLogDirsResult:
    result = DescribeLogDirsResult(log_dir=facts.path, total_bytes=facts.total_bytes, usable_bytes=facts.usable_bytes)
    if facts.fault is not None:
        result.error_code = ErrorCode.KAFKA_STORAGE_ERROR
        return result
    by_topic: dict[str, DescribeLogDirsTopic] = {}
    for log in facts.logs:
        topic = broker.image.topics_by_id.get(log.topic_id)
        if topic is None or (wanted is not None and (topic.name, log.partition) not in wanted):
            continue
        shown = by_topic.setdefault(topic.name, DescribeLogDirsTopic(name=topic.name))
        shown.partitions.append(DescribeLogDirsPartition(partition_index=log.partition, partition_size=log.size_bytes))
    result.topics = list(by_topic.values())
    return result
