"""A thousand members join one group over a thousand partitions: how long until every one of them has its share."""

from __future__ import annotations

import selectors
import struct
import time
import uuid
from collections.abc import Iterator
from typing import Any, Final

from benchmarks.macro.workloads.metering import (
    PATIENCE_S,
    Meter,
    call,
    connect,
    frame,
    new_topic,
    wait_for_coordinator,
)
from twinlog.wire.kafka import decode_response
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.message import Message
from twinlog.wire.kafka.messages import (
    consumer_group_describe,
    consumer_group_heartbeat,
    heartbeat,
    join_group,
    sync_group,
)

MEMBERS: Final = 1000
PARTITIONS: Final = 1000
JOIN, HEARTBEAT, SYNC, CONSUMER_HEARTBEAT = 11, 12, 14, 68
VERSIONS: Final = {JOIN: 9, HEARTBEAT: 4, SYNC: 5, CONSUMER_HEARTBEAT: 1}
CLASSIC_BEAT_S: Final = 3.0

# What a member does next: a request whose answer it waits for, or a number of seconds to wait before it goes on.
Life = Iterator[Message | float]


class Member:
    """One connection and what its member does; ``answer`` is the last one."""

    def __init__(self, bootstrap: str, number: int, group: str, topic: str) -> None:
        self.socket = connect(bootstrap, number)
        self.group, self.topic = group, topic
        self.life: Any = None
        self.asked = 0
        self.buffer = b""
        self.resumes_at: float | None = None
        self.settled = False

    def go_on(self, answer: Any = None) -> None:
        step = self.life.send(answer)
        if isinstance(step, float):
            self.resumes_at = time.monotonic() + step
        else:
            self.resumes_at = None
            self.asked = step.KEY
            self.socket.sendall(frame(step, VERSIONS[self.asked]))

    def on_readable(self) -> None:
        self.buffer += self.socket.recv(1 << 20)
        size = struct.unpack_from(">i", self.buffer)[0] + 4 if len(self.buffer) >= 4 else 1 << 31
        if len(self.buffer) >= size:
            data, self.buffer = self.buffer[4:size], self.buffer[size:]
            self.go_on(decode_response(self.asked, VERSIONS[self.asked], data)[1])


def classic(member: Member) -> Any:
    """Joins, assigns if it leads, syncs, and joins again whenever a heartbeat says so."""
    member_id = ""
    while True:
        answer = yield join_group.JoinGroupRequest(
            group_id=member.group,
            session_timeout_ms=60_000,
            rebalance_timeout_ms=60_000,
            member_id=member_id,
            protocol_type="consumer",
            protocols=[join_group.JoinGroupRequestProtocol(name="range", metadata=b"\0\0\0\0\0\0\0\0\0\0")],
        )
        member_id = answer.member_id or member_id
        if answer.error_code:
            continue
        shares = []
        if answer.leader == member_id:
            shares = [
                sync_group.SyncGroupRequestAssignment(member_id=each.member_id, assignment=bytes(40))
                for each in answer.members
            ]
        generation = answer.generation_id
        answer = yield sync_group.SyncGroupRequest(
            group_id=member.group, generation_id=generation, member_id=member_id, assignments=shares
        )
        code = answer.error_code
        while not code:
            member.settled = True
            yield CLASSIC_BEAT_S
            answer = yield heartbeat.HeartbeatRequest(
                group_id=member.group, generation_id=generation, member_id=member_id
            )
            code = answer.error_code
        member.settled = False


def consumer(member: Member) -> Any:
    """Reports as often as it is told to, and at once when its share changed. The server's clock does the rest."""
    member_id, epoch = str(uuid.uuid4()), 0
    owned: list[Any] = []
    while True:
        joins = epoch == 0
        answer = yield consumer_group_heartbeat.ConsumerGroupHeartbeatRequest(
            group_id=member.group,
            member_id=member_id,
            member_epoch=epoch,
            rebalance_timeout_ms=60_000 if joins else -1,
            subscribed_topic_names=[member.topic] if joins else None,
            topic_partitions=[] if joins else owned,
        )
        assert not answer.error_code, ErrorCode(answer.error_code)
        epoch = answer.member_epoch
        if answer.assignment is None:
            member.settled = sum(len(each.partitions) for each in owned) == PARTITIONS // MEMBERS
            yield answer.heartbeat_interval_ms / 1000
            continue
        owned = [
            consumer_group_heartbeat.ConsumerGroupHeartbeatRequestTopicPartitions(
                topic_id=each.topic_id, partitions=list(each.partitions)
            )
            for each in answer.assignment.topic_partitions
        ]
        member.settled = False


def state_of(bootstrap: str, group: str) -> str:
    with connect(bootstrap) as to:
        asked = consumer_group_describe.ConsumerGroupDescribeRequest(group_ids=[group])
        return str(call(to, asked, 1).groups[0].group_state)


def settle(bootstrap: str, server_pid: int, live: Any, kind: str) -> dict[str, Any]:
    topic = new_topic(bootstrap, PARTITIONS)
    group = f"{topic}-{kind}"
    with connect(bootstrap) as first:
        wait_for_coordinator(first, group)
    members = [Member(bootstrap, number, group, topic) for number in range(MEMBERS)]
    started = time.monotonic()
    with selectors.DefaultSelector() as selector, Meter(server_pid) as meter:
        for member in members:
            member.life = live(member)
            selector.register(member.socket, selectors.EVENT_READ, member)
            member.go_on()
        while not (
            all(member.settled for member in members) and (kind == "classic" or state_of(bootstrap, group) == "Stable")
        ):
            assert time.monotonic() - started < PATIENCE_S, sum(member.settled for member in members)
            for key, _ in selector.select(0.05):
                key.data.on_readable()
            now = time.monotonic()
            for member in members:
                if member.resumes_at is not None and member.resumes_at <= now:
                    member.go_on()
    for member in members:
        member.socket.close()
    return {f"{kind}_stable_s": round(meter.wall_s, 2), f"{kind}_server_cpu_s": round(meter.server_cpu_s, 2)}


def run(bootstrap: str, server_pid: int) -> dict[str, Any]:
    return {
        "members": MEMBERS,
        "partitions": PARTITIONS,
        **settle(bootstrap, server_pid, classic, "classic"),
        **settle(bootstrap, server_pid, consumer, "consumer"),
    }
