"""37 CreatePartitions: more partitions for topics, and one result a topic. All versions mean the same."""

from __future__ import annotations

from collections import Counter
from typing import Final

from twinlog.base import Refused
from twinlog.cluster import Outcome, PartitionsWanted, Topic, no_limit
from twinlog.kafka.rights import Operation, Resource
from twinlog.servers.kafka.admin_ports import AdminBroker, Context
from twinlog.servers.kafka.later import Later
from twinlog.servers.kafka.mutations import Mutations
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.message import Message
from twinlog.wire.kafka.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)

KEY: Final = 37
VERSIONS: Final = (0, 3)
QUOTA_CODE_FROM: Final = 3
RIGHTS: Final = (("topic", "alter"),)


def handle(broker: AdminBroker, request: CreatePartitionsRequest, context: Context) -> Message | None:
    results: dict[str, CreatePartitionsTopicResult] = {}
    wanted: list[PartitionsWanted] = []
    named = Counter(each.name for each in request.topics)
    for each in request.topics:
        if named[each.name] > 1:
            results[each.name] = _result(each.name, ErrorCode.INVALID_REQUEST, "the topic is named more than once")
        elif not broker.rights.allows(context, Operation.ALTER, Resource.TOPIC, each.name):
            results[each.name] = _result(each.name, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        else:
            results[each.name] = _result(each.name, ErrorCode.REQUEST_TIMED_OUT)  # until we know better
            # null leaves the placement to us; an empty list is an assignment that is too short.
            assignments = None if each.assignments is None else [one.broker_ids for one in each.assignments]
            wanted.append(PartitionsWanted(each.name, each.count, assignments))

    def response() -> CreatePartitionsResponse:
        return CreatePartitionsResponse(results=list(results.values()))

    def on_decided(outcomes: list[Outcome[Topic]]) -> None:
        for each, outcome in zip(wanted, outcomes, strict=True):
            if isinstance(outcome, Refused):
                results[each.name] = _result(each.name, outcome.code, outcome.message)
            else:
                results[each.name] = _result(each.name, ErrorCode.NONE)
        later.give(response())

    later = Later(context, response)
    permit = no_limit if request.validate_only else Mutations(broker, context, QUOTA_CODE_FROM).permit
    broker.controller.create_partitions(wanted, on_decided, validate_only=request.validate_only, permit=permit)
    return later.response_or_wait(request.timeout_ms)


def _result(name: str, code: int, message: str | None = None) -> CreatePartitionsTopicResult:
    return CreatePartitionsTopicResult(name=name, error_code=code, error_message=message)
