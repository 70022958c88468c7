"""Topics of Kafka: partitions, configs, logs. Their twins on the AMQP side are told with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twinlog.base import Refused
from twinlog.cluster import ConfigOp, ConfigOperation, ConfigsWanted, PartitionsWanted, Topic, TopicWanted
from twinlog.cluster.streams import place_of
from twinlog.kafka.config_values import ConfigEntry, Source
from twinlog.kafka.names import is_internal
from twinlog.kafka.partition import Partition
from twinlog.kafka.rights import CLUSTER_NAME, Operation, Resource
from twinlog.servers.http.bodies import body_of, number, table
from twinlog.servers.http.listing import QUERY, listed
from twinlog.servers.http.message import HttpError, Request, Response, bad_request, no_content, not_found, ok
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import ADMINISTRATOR, MONITOR, USER, Routes
from twinlog.servers.http.views import rate
from twinlog.servers.http.waiting import outcome_of
from twinlog.wire.kafka.errors import ErrorCode

routes = Routes("topics")

PARTITIONS_MAX = 100_000
CONFIGS_BODY = (("configs", "object of config names; null takes a value back to its default"),)


def check(managed: Managed, request: Request, operation: Operation, name: str) -> None:
    """The same question as on the Kafka port, by the user's principal."""
    assert request.asker is not None
    if not managed.broker.rights.allows(request.asker, operation, Resource.TOPIC, name):
        raise HttpError(401, "not_authorized", f"{operation.name.lower()} on topic {name} is refused")


def is_own(name: str) -> bool:
    """Made by the broker, or by our pipelines for it: shown only when asked."""
    return is_internal(name) or name.startswith("__twinlog_")


def may_see(managed: Managed, request: Request, name: str) -> bool:
    assert request.asker is not None
    return managed.broker.rights.allows(request.asker, Operation.DESCRIBE, Resource.TOPIC, name)


def known_topic(managed: Managed, request: Request) -> Topic:
    topic = managed.image.topics_by_name.get(request.parameters["topic"])
    if topic is None or not may_see(managed, request, topic.name):
        raise not_found("there is no such topic")
    return topic


def kafka_refusal(refused: Refused) -> HttpError:
    code = refused.code
    name = next((known.name for known in ErrorCode if known == code), str(code))
    status = {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: 404,
        ErrorCode.UNKNOWN_TOPIC_ID: 404,
        ErrorCode.GROUP_ID_NOT_FOUND: 404,
        ErrorCode.TOPIC_ALREADY_EXISTS: 409,
        ErrorCode.NON_EMPTY_GROUP: 409,
        ErrorCode.KAFKA_STORAGE_ERROR: 503,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: 503,
        ErrorCode.COORDINATOR_NOT_AVAILABLE: 503,
    }
    return HttpError(
        next((each for known, each in status.items() if known == code), 400), name.lower(), str(refused) or name
    )


async def asked(managed: Managed, begin: Any) -> Any:
    """One item asked of the controller: its outcome, or the refusal in HTTP's words."""
    outcomes = await outcome_of(managed.tasks, begin)
    outcome = outcomes[0]
    if isinstance(outcome, Refused):
        raise kafka_refusal(outcome)
    return outcome


# ---- views ----------------------------------------------------------------------------------------------------------


def topic_view(managed: Managed, topic: Topic) -> dict[str, Any]:
    partitions = managed.broker.partitions.of_topic(topic.name) or ()
    rates = managed.figures.rates_of(("topic", topic.name))
    return {
        "name": topic.name,
        "topic_id": topic.topic_id.hex(),
        "internal": is_own(topic.name),
        "partitions": len(topic.partitions),
        "replication_factor": len(topic.partitions[0].replicas) if topic.partitions else 0,
        "records": sum(each.high_watermark - each.log.offset_start for each in partitions),
        "size_bytes": sum(each.log.size_bytes for each in partitions),
        "records_details": rate(rates.get("records", 0.0)),
        "bytes_details": rate(rates.get("bytes", 0.0)),
        "offline": sum(1 for each in topic.partitions if each.leader < 0),
        "configs": dict(managed.image.configs.of("topic", topic.name)),
        "twins": twins_of(managed, topic),
    }


def twins_of(managed: Managed, topic: Topic) -> list[dict[str, str]]:
    """The stream on the AMQP side that is this topic, or the super stream."""
    vhost, name = place_of(topic.name)
    if len(topic.partitions) > 1:
        exchange = managed.topology.find_exchange(vhost, name)
        is_shown = exchange is not None and exchange.twin == topic.name
        return [{"vhost": vhost, "super_stream": name}] if is_shown else []
    info = managed.topology.find_queue(vhost, name)
    is_shown = info is not None and info.twin is not None and info.twin.topic_id == topic.topic_id
    return [{"vhost": vhost, "stream": name}] if is_shown else []


def partition_view(managed: Managed, partition: Partition, topic: Topic) -> dict[str, Any]:
    info = topic.partitions[partition.index]
    log = partition.log
    return {
        "partition": partition.index,
        "leader": info.leader,
        "leader_epoch": info.leader_epoch,
        "replicas": list(info.replicas),
        "isr": list(info.isr),
        "offset_start": log.offset_start,
        "high_watermark": partition.high_watermark,
        "stable_offset": partition.stable_offset,
        "offset_end": log.offset_end,
        "offset_synced": log.offset_synced,
        "size_bytes": log.size_bytes,
        "segments": len(log.segment_facts()),
        "directory": log.directory,
        "offline": str(log.offline) if log.offline is not None else None,
    }


def config_view(entry: ConfigEntry) -> dict[str, Any]:
    definition = entry.definition
    return {
        "name": definition.name,
        "value": None if definition.sensitive else entry.value,
        "default": entry.source == Source.DEFAULT,
        "source": entry.source.name.lower(),
        "read_only": entry.read_only,
        "doc": definition.doc,
    }


# ---- looking --------------------------------------------------------------------------------------------------------


@routes.get("/api/topics", USER, "Topics.", query=(*QUERY, ("internal", "true: also the broker's own")))
async def topics(managed: Managed, request: Request) -> Response:
    managed.figures.look()
    inner = request.flag("internal")
    found = [
        topic
        for topic in managed.image.topics_by_name.values()
        if (inner or not is_own(topic.name)) and may_see(managed, request, topic.name)
    ]
    return await listed(
        managed.tasks, request, found, lambda topic: topic.name, lambda topic: topic_view(managed, topic)
    )


@routes.get("/api/topics/{topic}", USER, "One topic.")
def topic(managed: Managed, request: Request) -> Response:
    managed.figures.look()
    return ok(topic_view(managed, known_topic(managed, request)))


@routes.get("/api/topics/{topic}/partitions", USER, "Partitions of a topic.", query=QUERY)
async def partitions(managed: Managed, request: Request) -> Response:
    known = known_topic(managed, request)
    found = managed.broker.partitions.of_topic(known.name) or ()
    return await listed(
        managed.tasks,
        request,
        list(found),
        lambda partition: str(partition.index),
        lambda partition: partition_view(managed, partition, known),
    )


@routes.get("/api/topics/{topic}/figures", USER, "The topic's size over time, kept while it is asked for.")
def topic_figures(managed: Managed, request: Request) -> Response:
    return ok(managed.figures.watch(("topic", known_topic(managed, request).name)).view())


@routes.get("/api/topics/{topic}/configs", USER, "Every config of a topic with its value and where that comes from.")
def configs(managed: Managed, request: Request) -> Response:
    known = known_topic(managed, request)
    check(managed, request, Operation.DESCRIBE_CONFIGS, known.name)
    return ok([config_view(entry) for entry in managed.broker.configs.topic_entries(managed.image, known.name)])


@routes.get("/api/topics/{topic}/groups", USER, "Groups that have committed offsets in the topic.")
def groups_of_topic(managed: Managed, request: Request) -> Response:
    name = known_topic(managed, request).name
    found = []
    for shard in managed.broker.groups.topic.runtime.active_shards():
        for group_id, places in shard.machine.offsets.by_group.items():
            if any(place[0] == name for place in places):
                found.append(group_id)
    return ok(sorted(found))


# ---- changing -------------------------------------------------------------------------------------------------------


def config_values(body: dict[str, Any]) -> dict[str, str | None]:
    values: dict[str, str | None] = {}
    for name, value in table(body, "configs").items():
        if value is not None and not isinstance(value, (str, int, float, bool)):
            raise bad_request(f"the value of {name} must be text, a number, or null")
        values[name] = None if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return values


@routes.put(
    "/api/topics/{topic}",
    ADMINISTRATOR,
    "Creates a topic.",
    body=(("partitions", "how many"), ("replication_factor", "how many copies"), *CONFIGS_BODY),
    answers=201,
)
async def create_topic(managed: Managed, request: Request) -> Response:
    assert request.asker is not None
    body = body_of(request)
    name = request.parameters["topic"]
    rights = managed.broker.rights
    if not rights.allows(request.asker, Operation.CREATE, Resource.CLUSTER, CLUSTER_NAME):
        check(managed, request, Operation.CREATE, name)
    wanted = TopicWanted(
        name,
        number(body, "partitions", -1, -1, PARTITIONS_MAX),
        number(body, "replication_factor", -1, -1, 1000),
        None,
        {key: value for key, value in config_values(body).items() if value is not None},
    )
    made: Topic = await asked(managed, lambda done: managed.broker.controller.create_topics([wanted], done))
    return ok(topic_view(managed, made), 201)


@routes.delete("/api/topics/{topic}", ADMINISTRATOR, "Deletes a topic and its records.")
async def delete_topic(managed: Managed, request: Request) -> Response:
    known = known_topic(managed, request)
    check(managed, request, Operation.DELETE, known.name)
    if is_internal(known.name):
        raise bad_request("the broker's own topics are not deleted")
    await asked(managed, lambda done: managed.broker.controller.delete_topics([known.topic_id], done))
    return no_content()


@routes.put(
    "/api/topics/{topic}/partitions",
    ADMINISTRATOR,
    "Adds partitions. Keys that were in one partition may then be in another.",
    body=(("count", "partitions afterwards"),),
)
async def add_partitions(managed: Managed, request: Request) -> Response:
    known = known_topic(managed, request)
    check(managed, request, Operation.ALTER, known.name)
    count = number(body_of(request), "count", 0, 1, PARTITIONS_MAX)
    wanted = PartitionsWanted(known.name, count)
    await asked(managed, lambda done: managed.broker.controller.create_partitions([wanted], done))
    return no_content()


@routes.put("/api/topics/{topic}/configs", ADMINISTRATOR, "Changes the named configs.", body=CONFIGS_BODY)
async def put_configs(managed: Managed, request: Request) -> Response:
    known = known_topic(managed, request)
    check(managed, request, Operation.ALTER_CONFIGS, known.name)
    await alter(managed, "topic", known.name, config_values(body_of(request)))
    return no_content()


async def alter(managed: Managed, kind: str, name: str, values: Mapping[str, str | None]) -> None:
    operations = [
        ConfigOp(config, ConfigOperation.DELETE if value is None else ConfigOperation.SET, value)
        for config, value in values.items()
    ]
    wanted = ConfigsWanted(kind, name, operations)
    await asked(managed, lambda done: managed.broker.controller.alter_configs([wanted], done))


@routes.delete(
    "/api/topics/{topic}/records",
    ADMINISTRATOR,
    "Deletes records of one partition below an offset.",
    query=(("partition", "number"), ("before", "the first offset that stays; -1: all go")),
)
async def delete_records(managed: Managed, request: Request) -> Response:
    known = known_topic(managed, request)
    check(managed, request, Operation.DELETE, known.name)
    partition = managed.broker.partitions.get(known.name, request.number("partition", -1, 0, PARTITIONS_MAX))
    if partition is None:
        raise not_found("there is no such partition")
    before = request.number("before", -1, -1, 2**63 - 1)
    offset = partition.high_watermark if before < 0 else before
    try:
        await outcome_of(managed.tasks, lambda done: partition.delete_before(offset, done))
    except Refused as refused:
        raise kafka_refusal(refused) from None
    return no_content()


# ---- the node's own side --------------------------------------------------------------------------------------------


@routes.get("/api/logs", MONITOR, "Data directories, and the logs in each.")
def logs(managed: Managed, request: Request) -> Response:
    names = {topic.topic_id: topic.name for topic in managed.image.topics_by_name.values()}
    return ok(
        [
            {
                "path": facts.path,
                "fault": facts.fault,
                "total_bytes": facts.total_bytes,
                "free_bytes": facts.usable_bytes,
                "logs": [
                    {
                        "topic": names.get(each.topic_id, each.topic_id.hex()),
                        "partition": each.partition,
                        "size_bytes": each.size_bytes,
                    }
                    for each in facts.logs
                ],
            }
            for facts in managed.broker.store.describe()
        ]
    )


@routes.get("/api/broker-configs", MONITOR, "Kafka's broker configs as this node has them.")
def broker_configs(managed: Managed, request: Request) -> Response:
    return ok([config_view(entry) for entry in managed.broker.configs.broker_entries(managed.image)])


@routes.put("/api/broker-configs", ADMINISTRATOR, "Changes broker configs for all nodes.", body=CONFIGS_BODY)
async def put_broker_configs(managed: Managed, request: Request) -> Response:
    await alter(managed, "broker", "", config_values(body_of(request)))
    return no_content()
