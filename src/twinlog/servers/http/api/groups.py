"""Consumer groups: members, assignments, lag; offsets set by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from twinlog.base import ProtocolViolation, Refused
from twinlog.kafka.groups import GroupMachine, Wish
from twinlog.kafka.groups.classic import ClassicGroup
from twinlog.kafka.groups.consumer import ConsumerGroup
from twinlog.kafka.offsets import EARLIEST, LATEST, led_partition, offset_at
from twinlog.kafka.rights import Operation, Resource
from twinlog.servers.http.api.topics import kafka_refusal
from twinlog.servers.http.bodies import body_of, number, text
from twinlog.servers.http.listing import QUERY, listed
from twinlog.servers.http.message import HttpError, Request, Response, bad_request, no_content, not_found, ok
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import ADMINISTRATOR, USER, Routes
from twinlog.servers.http.waiting import outcome_of
from twinlog.wire.kafka.records import decode_assignment

routes = Routes("groups")

OFFSET_MAX: Final = 2**62


def check(managed: Managed, request: Request, operation: Operation, group: str) -> None:
    assert request.asker is not None
    if not managed.broker.rights.allows(request.asker, operation, Resource.GROUP, group):
        raise HttpError(401, "not_authorized", f"{operation.name.lower()} on group {group} is refused")


def machines(managed: Managed) -> Iterator[GroupMachine]:
    for shard in managed.broker.groups.topic.runtime.active_shards():
        yield shard.machine


def shard_of(managed: Managed, group: str) -> Any:
    try:
        return managed.broker.groups.shard(group)
    except Refused as refused:
        raise kafka_refusal(refused) from None


@routes.get("/api/groups", USER, "Consumer groups.", query=QUERY)
async def groups(managed: Managed, request: Request) -> Response:
    assert request.asker is not None
    rights = managed.broker.rights
    found = [
        (machine, row)
        for machine in machines(managed)
        for row in machine.overview()
        if rights.allows(request.asker, Operation.DESCRIBE, Resource.GROUP, row[0])
    ]
    found.sort(key=lambda each: each[1][0])
    return await listed(managed.tasks, request, found, lambda each: each[1][0], lambda each: group_row(managed, *each))


def group_row(managed: Managed, machine: GroupMachine, row: tuple[str, str, str, str]) -> dict[str, Any]:
    name, protocol_type, state, kind = row
    group = machine.groups.get(name)
    places = offsets_view(managed, machine, name)
    return {
        "name": name,
        "state": state,
        "protocol_type": protocol_type,
        "kind": kind,
        "members": len(group.members) if group is not None else 0,
        "topics": sorted({each["topic"] for each in places}),
        "lag": sum(each["lag"] for each in places if each["lag"] is not None),
    }


def offsets_view(managed: Managed, machine: GroupMachine, group: str) -> list[dict[str, Any]]:
    views = []
    for (topic, index), committed in sorted(machine.offsets.by_group.get(group, {}).items()):
        partition = managed.broker.partitions.get(topic, index)
        end = partition.high_watermark if partition is not None else None
        views.append(
            {
                "topic": topic,
                "partition": index,
                "offset": committed.offset,
                "high_watermark": end,
                "lag": max(0, end - committed.offset) if end is not None else None,
                "metadata": committed.metadata,
                "committed_ms": committed.commit_timestamp,
            }
        )
    return views


@routes.get("/api/groups/{group}", USER, "One group: members, what each reads, committed offsets and lag.")
def group(managed: Managed, request: Request) -> Response:
    name = request.parameters["group"]
    check(managed, request, Operation.DESCRIBE, name)
    machine: GroupMachine = shard_of(managed, name).machine
    row = next((each for each in machine.overview() if each[0] == name), None)
    if row is None:
        raise not_found("there is no such group")
    known = machine.groups.get(name)
    members: list[dict[str, Any]] = []
    if isinstance(known, ClassicGroup):
        members = [classic_member(known, member) for member in known.members.values()]
    elif isinstance(known, ConsumerGroup):
        members = [consumer_member(managed, member) for member in known.members.values()]
    owners = {
        (place["topic"], index): member["id"]
        for member in members
        for place in member["assignment"]
        for index in place["partitions"]
    }
    offsets = offsets_view(managed, machine, name)
    for each in offsets:
        each["member"] = owners.get((each["topic"], each["partition"]))
    return ok(group_row(managed, machine, row) | {"members": members, "offsets": offsets})


@routes.get("/api/groups/{group}/figures", USER, "The group's lag, and how far it has come, over time.")
def group_figures(managed: Managed, request: Request) -> Response:
    name = request.parameters["group"]
    check(managed, request, Operation.DESCRIBE, name)
    machine: GroupMachine = shard_of(managed, name).machine
    if name not in machine.offsets.by_group and name not in machine.groups:
        raise not_found("there is no such group")
    return ok(managed.figures.watch(("group", name)).view())


def classic_member(known: ClassicGroup, member: Any) -> dict[str, Any]:
    assignment: list[dict[str, Any]] = []
    if known.protocol_type == "consumer" and member.assignment:
        try:
            decoded = decode_assignment(member.assignment)
            assignment = [
                {"topic": each.topic, "partitions": sorted(each.partitions)} for each in decoded.assigned_partitions
            ]
        except ProtocolViolation:
            assignment = []  # a client's own bytes
    return {
        "id": member.id,
        "instance_id": member.instance_id,
        "client_id": member.caller.client_id,
        "client_host": member.caller.client_host,
        "assignment": assignment,
    }


def consumer_member(managed: Managed, member: Any) -> dict[str, Any]:
    about = member.subscription
    names = managed.broker.groups.topics
    return {
        "id": member.id,
        "instance_id": about.instance_id,
        "client_id": about.caller.client_id,
        "client_host": about.caller.client_host,
        "assignment": [
            {"topic": names.name_of(topic_id) or topic_id.hex(), "partitions": sorted(partitions)}
            for topic_id, partitions in member.current.assigned.items()
        ],
    }


@routes.delete("/api/groups/{group}", ADMINISTRATOR, "Forgets a group without members, and its offsets.")
async def delete_group(managed: Managed, request: Request) -> Response:
    name = request.parameters["group"]
    check(managed, request, Operation.DELETE, name)
    await written(managed, shard_of(managed, name), lambda machine, now_ms: machine.delete_group(name))
    return no_content()


async def written(managed: Managed, shard: Any, decide: Any) -> Any:
    try:
        return await outcome_of(
            managed.tasks,
            lambda done: shard.write(decide, lambda reply, fault: done(fault if fault is not None else reply)),
        )
    except Refused as refused:
        raise kafka_refusal(refused) from None


@routes.post(
    "/api/groups/{group}/offsets",
    ADMINISTRATOR,
    "Sets committed offsets of a group without members. Answers what they were set to.",
    body=(
        ("topic", "name"),
        ("partition", "number; none: all"),
        ("to", "earliest, latest, an offset, or {time: milliseconds}"),
        ("shift", "instead of to: so many forward, or back"),
        ("dry_run", "true: only answer what it would be"),
    ),
)
async def reset(managed: Managed, request: Request) -> Response:
    body = body_of(request)
    name, topic = request.parameters["group"], text(body, "topic")
    check(managed, request, Operation.READ, name)
    shard = shard_of(managed, name)
    machine: GroupMachine = shard.machine
    known = machine.groups.get(name)
    if known is not None and known.members:
        raise HttpError(409, "non_empty_group", "the group has members, who would go on from where they are: stop them")
    partitions = managed.broker.partitions.of_topic(topic)
    if partitions is None:
        raise not_found("there is no such topic")
    chosen = range(len(partitions))
    if body.get("partition") is not None:
        index = number(body, "partition", 0, 0, len(partitions) - 1)
        chosen = range(index, index + 1)
    committed = machine.offsets.by_group.get(name, {})
    wishes = []
    for index in chosen:
        before = committed.get((topic, index))
        offset = wanted_offset(managed, topic, index, body, before.offset if before else None)
        wishes.append(Wish(topic, partitions[index].topic_id, index, offset, -1, None))
    if body.get("dry_run") is not True:
        await written(managed, shard, lambda machine, now_ms: machine.commit(name, wishes, now_ms))
    return ok([{"topic": topic, "partition": each.partition, "offset": each.offset} for each in wishes])


def wanted_offset(managed: Managed, topic: str, index: int, body: dict[str, Any], before: int | None) -> int:
    try:
        partition = led_partition(managed.broker.partitions, topic, index)
    except Refused as refused:
        raise kafka_refusal(refused) from None
    start, end = partition.log.offset_start, partition.high_watermark
    if "shift" in body:
        shift = number(body, "shift", 0, -OFFSET_MAX, OFFSET_MAX)
        return max(start, min(end, (before if before is not None else start) + shift))
    to = body.get("to")
    if to == "earliest":
        return offset_at(partition, EARLIEST, committed=False).offset
    if to == "latest":
        return offset_at(partition, LATEST, committed=False).offset
    if isinstance(to, dict):
        at = offset_at(partition, number(to, "time", 0, 0, OFFSET_MAX), committed=False)
        return at.offset if at.offset >= 0 else end
    if isinstance(to, bool) or not isinstance(to, int):
        raise bad_request("to must be earliest, latest, an offset, or {time: milliseconds}")
    return max(start, min(end, to))


@routes.delete(
    "/api/groups/{group}/offsets",
    ADMINISTRATOR,
    "Forgets a group's offsets in a topic that no member reads.",
    query=(("topic", "name"),),
)
async def delete_offsets(managed: Managed, request: Request) -> Response:
    name, topic = request.parameters["group"], request.query.get("topic", "")
    check(managed, request, Operation.DELETE, name)
    shard = shard_of(managed, name)
    places = [place for place in shard.machine.offsets.by_group.get(name, {}) if place[0] == topic]
    if not places:
        raise not_found("the group has no offsets there")
    codes = await written(managed, shard, lambda machine, now_ms: machine.delete_offsets(name, places))
    if any(codes):
        raise HttpError(409, "group_subscribed_to_topic", "a member reads that topic")
    return no_content()
