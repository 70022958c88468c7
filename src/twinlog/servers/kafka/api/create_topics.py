"""19 CreateTopics: makes topics, each for itself; the answer comes when they are durable.

v2 oldest served; v4 partitions and replication factor may be -1 with an assignment or for "as usual here";
v5 the answer shows partitions, replicas and every config; v7 the new topic's id.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from twinlog.base import Refused
from twinlog.cluster import Outcome, Topic, TopicWanted, no_limit
from twinlog.kafka.config_values import ConfigEntry
from twinlog.kafka.rights import CLUSTER_NAME, Operation, Resource
from twinlog.servers.kafka.admin_ports import AdminBroker, Context
from twinlog.servers.kafka.later import Later
from twinlog.servers.kafka.mutations import Mutations
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.message import ZERO_UUID, Message
from twinlog.wire.kafka.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

KEY: Final = 19
VERSIONS: Final = (2, 7)
QUOTA_CODE_FROM: Final = 6
RIGHTS: Final = (
    ("topic", "create"),
    ("cluster", "create"),
    ("topic", "describe_configs"),
)

TOPICS_A_REQUEST_MAX: Final = 5_000  # all are decided in one turn of the loop, which others wait for


def handle(broker: AdminBroker, request: CreateTopicsRequest, context: Context) -> Message | None:
    results: dict[str, CreatableTopicResult] = {}  # in the order of the request, each name once
    wanted: list[TopicWanted] = []
    named = Counter(each.name for each in request.topics)
    everywhere = broker.rights.allows(context, Operation.CREATE, Resource.CLUSTER, CLUSTER_NAME)
    for each in request.topics:
        if len(request.topics) > TOPICS_A_REQUEST_MAX:
            results[each.name] = _refusal(
                each.name, ErrorCode.INVALID_REQUEST, f"make at most {TOPICS_A_REQUEST_MAX} topics by one request"
            )
        elif named[each.name] > 1:
            results[each.name] = _refusal(each.name, ErrorCode.INVALID_REQUEST, "the topic is named more than once")
        elif not everywhere and not broker.rights.allows(context, Operation.CREATE, Resource.TOPIC, each.name):
            results[each.name] = _refusal(each.name, ErrorCode.TOPIC_AUTHORIZATION_FAILED, None)
        elif len({one.partition_index for one in each.assignments}) != len(each.assignments):
            results[each.name] = _refusal(
                each.name, ErrorCode.INVALID_REPLICA_ASSIGNMENT, "a partition is assigned more than once"
            )
        else:
            results[each.name] = _refusal(each.name, ErrorCode.REQUEST_TIMED_OUT, None)  # until we know better
            wanted.append(_wanted(each))

    def response() -> CreateTopicsResponse:
        return CreateTopicsResponse(topics=list(results.values()))

    def on_decided(outcomes: list[Outcome[Topic]]) -> None:
        for each, outcome in zip(wanted, outcomes, strict=True):
            if isinstance(outcome, Refused):
                results[each.name] = _refusal(each.name, outcome.code, outcome.message)
            else:
                results[each.name] = _success(broker, request, context, each, outcome)
        later.give(response())

    later = Later(context, response)
    permit = no_limit if request.validate_only else Mutations(broker, context, QUOTA_CODE_FROM).permit
    broker.controller.create_topics(wanted, on_decided, validate_only=request.validate_only, permit=permit)
    return later.response_or_wait(request.timeout_ms)


def _wanted(topic: CreatableTopic) -> TopicWanted:
    return TopicWanted(
        topic.name,
        topic.num_partitions,
        topic.replication_factor,
        {one.partition_index: one.broker_ids for one in topic.assignments} or None,
        {one.name: one.value for one in topic.configs},
    )


def _refusal(name: str, code: int, message: str | None) -> CreatableTopicResult:
    return CreatableTopicResult(name=name, error_code=code, error_message=message)


def _success(
    broker: AdminBroker, request: CreateTopicsRequest, context: Context, wanted: TopicWanted, topic: Topic
) -> CreatableTopicResult:
    result = CreatableTopicResult(name=topic.name, error_message=None)
    if not request.validate_only:
        result.topic_id = topic.topic_id
    else:
        assert result.topic_id == ZERO_UUID  # an id that was drawn and thrown away means nothing
    if context.version < 5:
        return result
    if not broker.rights.allows(context, Operation.DESCRIBE_CONFIGS, Resource.TOPIC, topic.name):
        result.topic_config_error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        return result
    result.num_partitions = len(topic.partitions)
    result.replication_factor = len(topic.partitions[0].replicas)
    # Not from the image: a topic that was only checked is not there.
    own = {name: value for name, value in wanted.configs.items() if value is not None}
    result.configs = [_config(entry) for entry in broker.configs.entries_of_topic_with(broker.image, own)]
    return result


def _config(entry: ConfigEntry) -> CreatableTopicConfigs:
    return CreatableTopicConfigs(
        name=entry.definition.name,
        value=None if entry.definition.sensitive else entry.value,
        read_only=entry.read_only,
        config_source=entry.source,
        is_sensitive=entry.definition.sensitive,
    )
