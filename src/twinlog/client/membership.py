"""A member of a consumer group, for callers that may wait: the broker assigns, heartbeats go out between polls.

Whoever polls must come back within the group's session timeout; who is late has lost its partitions and starts again
from what was committed.
"""

from __future__ import annotations

from typing import Final

from twinlog.client.blocking import EARLIEST, LATEST, PAUSE_MS, Client, Consumer
from twinlog.client.coordinated import PASSING
from twinlog.client.errors import BrokerError, ConnectionLost
from twinlog.client.groups import Groups, Place
from twinlog.client.reader import Record
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatRequestTopicPartitions,
    ConsumerGroupHeartbeatResponse,
)

JOIN_EPOCH: Final = 0
LEAVE_EPOCH: Final = -1
REBALANCE_TIMEOUT_MS: Final = 60_000
# We were thought dead, or answered too late: everything is given up, and we come in anew.
OUT: Final = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH})
# A commit that came too late: others read on from the last one.
TOO_LATE: Final = OUT | {
    ErrorCode.STALE_MEMBER_EPOCH,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.GROUP_ID_NOT_FOUND,
}


class Membership:
    """Reads its share of a topic. ``done`` says which records may be committed."""

    def __init__(
        self,
        client: Client,
        group: str,
        topic: str,
        member_id: str,
        *,
        start: int = EARLIEST,
        committed_only: bool = False,
    ) -> None:
        self.owned: dict[int, int] = {}  # partition -> its end when it was assigned
        self.is_assigned = False
        self._client = client
        self._groups = Groups(client)
        self._group, self._topic, self._member_id = group, topic, member_id
        self._start = start
        self._consumer = Consumer(client, wait_ms=200, committed_only=committed_only)
        self._topic_id = client.topic(topic).topic_id
        self._epoch = JOIN_EPOCH
        self._beat_at_ms = 0
        self._done: dict[Place, int] = {}
        self._coordinator: int | None = None
        self._lost_at_ms: int | None = None

    def poll(self) -> list[Record]:
        if self._client.door.monotonic_ms() >= self._beat_at_ms:
            self._beat()
        if not self._consumer.positions:
            self._client.door.pause(PAUSE_MS)
            return []
        return self._consumer.poll()

    def done(self, record: Record) -> None:
        self._done[record.topic, record.partition] = record.offset + 1

    @property
    def is_at_end(self) -> bool:
        """Has everything been read that was there when its partitions came?"""
        if not self.is_assigned or not self.owned:
            return False
        positions = self._consumer.positions
        return all(positions[self._topic, partition] >= end for partition, end in self.owned.items())

    def commit(self) -> bool:
        """True: what is done is durable. False: the broker is away; poll on, and commit again."""
        try:
            self._commit({place for place in self._done if place[1] in self.owned})
        except ConnectionLost:
            self._client.close()
            self._beat_at_ms = 0
            return False
        return True

    def leave(self) -> None:
        """Commits, and hands the partitions on at once. Also for who was interrupted in the middle of a poll."""
        self._client.close()  # an answer that nobody waits for any more may be on its way
        self._commit({place for place in self._done if place[1] in self.owned})
        if self._epoch != JOIN_EPOCH:
            self._send(LEAVE_EPOCH, None)

    def _commit(self, places: set[Place]) -> None:
        offsets = {place: self._done[place] for place in sorted(places) if place in self._done}
        if not offsets:
            return
        try:
            self._groups.commit(self._group, offsets, self._member_id, self._epoch)
        except BrokerError as refused:
            if refused.code not in TOO_LATE:
                raise
            self._beat_at_ms = 0  # the next heartbeat says where we stand
        for place in offsets:
            del self._done[place]

    def _beat(self) -> None:
        now_ms = self._client.door.monotonic_ms()
        try:
            owned = None if self._epoch == JOIN_EPOCH else self.owned
            answer = self._send(self._epoch, owned)
        except ConnectionLost:
            self._client.close()
            self._try_again(now_ms)
            return
        code = answer.error_code
        if code in PASSING:
            self._try_again(now_ms)
            return
        self._lost_at_ms = None
        if code in OUT:
            self._take({})
            self._epoch, self.is_assigned, self._beat_at_ms = JOIN_EPOCH, False, 0
            return
        if code:
            raise BrokerError(code, f"joining group {self._group}", answer.error_message)
        self._epoch = answer.member_epoch
        self._beat_at_ms = now_ms + answer.heartbeat_interval_ms
        if answer.assignment is not None:
            mine = [p for t in answer.assignment.topic_partitions if t.topic_id == self._topic_id for p in t.partitions]
            self.is_assigned = True
            if set(mine) != set(self.owned):
                self._take(dict.fromkeys(mine, 0))
                self._beat_at_ms = 0  # the others wait for what we gave up

    def _try_again(self, now_ms: int) -> None:
        """The coordinator moves, loads or restarts."""
        self._coordinator = None
        if self._lost_at_ms is None:
            self._lost_at_ms = now_ms
        elif now_ms - self._lost_at_ms > self._client.timeout_ms:
            raise ConnectionLost(f"the coordinator of group {self._group} did not come back")
        self._client.door.pause(PAUSE_MS)

    def _send(self, epoch: int, owned: dict[int, int] | None) -> ConsumerGroupHeartbeatResponse:
        if self._coordinator is None:
            self._coordinator = self._groups.coordinator(self._group)
        joins = epoch == JOIN_EPOCH
        mine = sorted(owned or {})
        partitions = ConsumerGroupHeartbeatRequestTopicPartitions(topic_id=self._topic_id, partitions=mine)
        request = ConsumerGroupHeartbeatRequest(
            group_id=self._group,
            member_id=self._member_id,
            member_epoch=epoch,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS if joins else -1,
            subscribed_topic_names=[self._topic] if joins else None,
            topic_partitions=[partitions] if mine else [],
        )
        return self._client.call(request, ConsumerGroupHeartbeatResponse, self._coordinator)

    def _take(self, target: dict[int, int]) -> None:
        """Gives up what is not in the target, and goes on where the group stands with what is new in it."""
        gone = [partition for partition in self.owned if partition not in target]
        self._commit({(self._topic, partition) for partition in gone})
        for partition in gone:
            del self.owned[partition]
            self._consumer.stop(self._topic, partition)
        fresh = [partition for partition in target if partition not in self.owned]
        if not fresh:
            return
        self._client.refresh([self._topic])
        committed = self._groups.offsets(self._group)
        starts = self._client.offsets(self._topic, fresh, self._start)
        starts |= {p: committed[self._topic, p].offset for p in fresh if (self._topic, p) in committed}
        self._consumer.assign(self._topic, starts)
        self.owned |= self._client.offsets(self._topic, fresh, LATEST)
