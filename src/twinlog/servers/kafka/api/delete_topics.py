"""20 DeleteTopics: by name, from v6 also by id; v5 messages.

The topic is gone for every request once the record is durable; its files go afterwards.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from twinlog.base import Refused
from twinlog.cluster import Outcome, Topic
from twinlog.kafka.rights import Operation, Resource
from twinlog.servers.kafka.admin_ports import AdminBroker, Context
from twinlog.servers.kafka.later import Later
from twinlog.servers.kafka.mutations import Mutations
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.message import ZERO_UUID, Message
from twinlog.wire.kafka.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)

KEY: Final = 20
VERSIONS: Final = (1, 6)
RIGHTS: Final = (("topic", "delete"), ("topic", "describe"))

IDS_FROM: Final = 6
DISABLED_CODE_FROM: Final = 3
QUOTA_CODE_FROM: Final = 5


def handle(broker: AdminBroker, request: DeleteTopicsRequest, context: Context) -> Message | None:
    asked = request.topics
    if context.version < IDS_FROM:
        asked = [DeleteTopicState(name=name) for name in request.topic_names]
    if not broker.configs.broker(broker.image, "delete.topic.enable"):
        code = ErrorCode.TOPIC_DELETION_DISABLED
        if context.version < DISABLED_CODE_FROM:
            code = ErrorCode.INVALID_REQUEST
        return DeleteTopicsResponse(responses=[_result(each, code) for each in asked])
    results: list[DeletableTopicResult] = []
    deleting: dict[bytes, DeletableTopicResult] = {}
    named = Counter((each.name, each.topic_id) for each in asked)
    for each in {(each.name, each.topic_id): each for each in asked}.values():
        if named[each.name, each.topic_id] > 1:
            results.append(_result(each, ErrorCode.INVALID_REQUEST, "the topic is named more than once"))
            continue
        topic = _find(broker, each, context)
        if isinstance(topic, DeletableTopicResult):
            results.append(topic)
        elif topic.topic_id in deleting:
            results.append(_result(each, ErrorCode.INVALID_REQUEST, "the topic is named more than once"))
        else:
            result = _result(each, ErrorCode.REQUEST_TIMED_OUT)  # until we know better
            result.name, result.topic_id = topic.name, topic.topic_id
            results.append(result)
            deleting[topic.topic_id] = result

    def response() -> DeleteTopicsResponse:
        return DeleteTopicsResponse(responses=results)

    def on_deleted(outcomes: list[Outcome[Topic]]) -> None:
        for result, outcome in zip(deleting.values(), outcomes, strict=True):
            result.error_code = outcome.code if isinstance(outcome, Refused) else ErrorCode.NONE
            result.error_message = outcome.message if isinstance(outcome, Refused) else None
        later.give(response())

    later = Later(context, response)
    permit = Mutations(broker, context, QUOTA_CODE_FROM).permit
    broker.controller.delete_topics(list(deleting), on_deleted, permit=permit)
    return later.response_or_wait(request.timeout_ms)


def _find(broker: AdminBroker, asked: DeleteTopicState, context: Context) -> Topic | DeletableTopicResult:
    """The topic, or why it cannot be deleted. Nobody learns of topics that he may not describe."""
    image = broker.controller.image
    if asked.topic_id == ZERO_UUID:
        if asked.name is None:
            return _result(asked, ErrorCode.INVALID_REQUEST, "neither a name nor an id was given")
        if not broker.rights.allows(context, Operation.DELETE, Resource.TOPIC, asked.name):
            return _result(asked, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        topic = image.topics_by_name.get(asked.name)
        return topic if topic is not None else _result(asked, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if asked.name is not None:
        return _result(asked, ErrorCode.INVALID_REQUEST, "a topic is deleted by its name or by its id, not by both")
    topic = image.topics_by_id.get(asked.topic_id)
    if topic is None or not broker.rights.allows(context, Operation.DESCRIBE, Resource.TOPIC, topic.name):
        return _result(asked, ErrorCode.UNKNOWN_TOPIC_ID)
    if not broker.rights.allows(context, Operation.DELETE, Resource.TOPIC, topic.name):
        result = _result(asked, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        result.name = topic.name
        return result
    return topic


def _result(asked: DeleteTopicState, code: ErrorCode, message: str | None = None) -> DeletableTopicResult:
    return DeletableTopicResult(
        name=asked.name,
        topic_id=asked.topic_id,
        error_code=code,
        error_message=message or (code.message if code else None),
    )
