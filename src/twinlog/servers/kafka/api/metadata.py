"""3 Metadata: brokers, and topics with their partitions and leaders.

v1 null topics = all (v0: empty = all) and the controller; v2 cluster id; v4 the client may forbid creation;
v5 offline replicas; v7 leader epochs; v8 authorized operations (for the cluster until v10); v10 topic ids;
v12 topics asked for by id; v13 a code for the whole answer.

A topic that is created by asking is durable before the answer names it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twinlog.base import Refused
from twinlog.cluster import Outcome, Topic
from twinlog.kafka import names
from twinlog.kafka.auto_creation import topic_wanted
from twinlog.kafka.rights import CLUSTER_NAME, NOT_ASKED, Operation, Resource, allowed_operations
from twinlog.servers.kafka.admin_ports import AdminBroker, Context
from twinlog.servers.kafka.later import Later
from twinlog.servers.kafka.partition_states import partition_states
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.message import ZERO_UUID, Message
from twinlog.wire.kafka.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

KEY: Final = 3
VERSIONS: Final = (0, 13)
RIGHTS: Final = (
    ("topic", "describe"),
    ("topic", "create"),
    ("cluster", "create"),
)

IDS_FROM: Final = 12
CREATION_TIMEOUT_MS: Final = 30_000


def handle(broker: AdminBroker, request: MetadataRequest, context: Context) -> Message | None:
    answer = _Answer(broker, request, context)
    missing = answer.names_to_create()
    if not missing:
        return answer.response({})
    later = Later(context, lambda: answer.response(dict.fromkeys(missing, ErrorCode.LEADER_NOT_AVAILABLE)))

    def on_created(outcomes: list[Outcome[Topic]]) -> None:
        refusals = {
            name: outcome.code
            for name, outcome in zip(missing, outcomes, strict=True)
            if isinstance(outcome, Refused) and outcome.code != ErrorCode.TOPIC_ALREADY_EXISTS
        }
        later.give(answer.response(refusals))

    wanted = [topic_wanted(broker.configs, broker.image, name) for name in missing]
    broker.controller.create_topics(wanted, on_created)
    return later.response_or_wait(CREATION_TIMEOUT_MS)


class _Answer:
    """One request's answer. It looks at the image when it is asked, because creation changes it."""

    def __init__(self, broker: AdminBroker, request: MetadataRequest, context: Context) -> None:
        self.broker = broker
        self.request = request
        self.context = context
        topics = request.topics
        self.wants_all = topics is None or (context.version == 0 and not topics)
        # A topic that is named twice is described once.
        self.wanted: dict[tuple[str | None, bytes], MetadataRequestTopic] = {}
        if not self.wants_all:
            assert topics is not None
            self.wanted = {(each.name, each.topic_id): each for each in topics}

    def names_to_create(self) -> list[str]:
        broker = self.broker
        if not self.request.allow_auto_topic_creation or not broker.configs.broker(
            broker.image, "auto.create.topics.enable"
        ):
            return []
        return [
            name
            for name, topic_id in self.wanted
            if name is not None
            and topic_id == ZERO_UUID
            and name not in broker.image.topics_by_name
            and names.topic_name_fault(name) is None
            and name != names.CLUSTER_METADATA
            and self._allowed(Operation.DESCRIBE, name)
            and self._may_create(name)
        ]

    def response(self, refusals: dict[str, int]) -> MetadataResponse:
        broker, context = self.broker, self.context
        response = MetadataResponse(
            brokers=list(self._brokers()),
            cluster_id=broker.image.cluster_id,
            controller_id=broker.node_id,
            topics=list(self._all_topics() if self.wants_all else self._wanted_topics(refusals)),
        )
        if self.request.include_cluster_authorized_operations:
            response.cluster_authorized_operations = allowed_operations(
                broker.rights, context, Resource.CLUSTER, CLUSTER_NAME
            )
        return response

    def _brokers(self) -> Iterator[MetadataResponseBroker]:
        for node_id, info in sorted(self.broker.image.brokers.items()):
            endpoint = info.endpoint(self.context.listener, self.context.came_to)
            if endpoint is not None:
                yield MetadataResponseBroker(node_id=node_id, host=endpoint.host, port=endpoint.port, rack=info.rack)

    def _all_topics(self) -> Iterator[MetadataResponseTopic]:
        for name, topic in self.broker.image.topics_by_name.items():
            if self._allowed(Operation.DESCRIBE, name):
                yield self._topic(topic)

    def _wanted_topics(self, refusals: dict[str, int]) -> Iterator[MetadataResponseTopic]:
        for (name, topic_id), each in self.wanted.items():
            if topic_id != ZERO_UUID or name is None:
                yield self._by_id(each)
            else:
                yield self._by_name(name, refusals)

    def _by_name(self, name: str, refusals: dict[str, int]) -> MetadataResponseTopic:
        if not self._allowed(Operation.DESCRIBE, name):
            return self._refused(name, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        topic = self.broker.image.topics_by_name.get(name)
        if topic is not None:
            return self._topic(topic)
        if names.topic_name_fault(name) is not None:
            return self._refused(name, ErrorCode.INVALID_TOPIC_EXCEPTION)
        return self._refused(name, refusals.get(name, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))

    def _by_id(self, wanted: MetadataRequestTopic) -> MetadataResponseTopic:
        if self.context.version < IDS_FROM or wanted.topic_id == ZERO_UUID:
            # v10 and v11 carry ids but are not for asking by them; and neither name nor id is no question at all.
            name = wanted.name if self.context.version >= IDS_FROM else wanted.name or ""
            return MetadataResponseTopic(
                error_code=ErrorCode.INVALID_REQUEST, name=name, topic_id=wanted.topic_id, is_internal=False
            )
        topic = self.broker.image.topics_by_id.get(wanted.topic_id)
        # Somebody without the right must not learn which ids exist.
        if topic is None or not self._allowed(Operation.DESCRIBE, topic.name):
            return MetadataResponseTopic(
                error_code=ErrorCode.UNKNOWN_TOPIC_ID, name=None, topic_id=wanted.topic_id, is_internal=False
            )
        return self._topic(topic)

    def _refused(self, name: str, code: int) -> MetadataResponseTopic:
        return MetadataResponseTopic(error_code=code, name=name, is_internal=names.is_internal(name))

    def _topic(self, topic: Topic) -> MetadataResponseTopic:
        operations = NOT_ASKED
        if self.request.include_topic_authorized_operations:
            operations = allowed_operations(self.broker.rights, self.context, Resource.TOPIC, topic.name)
        return MetadataResponseTopic(
            name=topic.name,
            topic_id=topic.topic_id,
            is_internal=names.is_internal(topic.name),
            topic_authorized_operations=operations,
            partitions=[
                MetadataResponsePartition(
                    error_code=state.error,
                    partition_index=state.partition,
                    leader_id=state.leader,
                    leader_epoch=state.leader_epoch,
                    replica_nodes=state.replicas,
                    isr_nodes=state.isr,
                    offline_replicas=state.offline,
                )
                for state in partition_states(self.broker, topic)
            ],
        )

    def _allowed(self, operation: Operation, name: str) -> bool:
        return self.broker.rights.allows(self.context, operation, Resource.TOPIC, name)

    def _may_create(self, name: str) -> bool:
        rights = self.broker.rights
        return self._allowed(Operation.CREATE, name) or rights.allows(
            self.context, Operation.CREATE, Resource.CLUSTER, CLUSTER_NAME
        )
