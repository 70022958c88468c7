"""Members of consumer groups, of the classic and of the consumer protocol, and one who observes their offsets."""

from __future__ import annotations

import asyncio
from struct import pack
from typing import Final

from twinlog.base import HostFault
from twinlog.host import Host
from twinlog.sim.chance import SimChance
from twinlog.sim.clients.link import Link, LinkLost
from twinlog.sim.stage.group_history import Claim, GroupHistory
from twinlog.sim.stage.history import Broken, Place
from twinlog.sim.stage.stage import Stage
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatRequestTopicPartitions,
    ConsumerGroupHeartbeatResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    LeaveGroupRequest,
    MemberIdentity,
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)

RETRIABLE: Final = frozenset(
    (
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.REQUEST_TIMED_OUT,
    )
)
FENCED: Final = frozenset(
    (
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.FENCED_MEMBER_EPOCH,
        ErrorCode.STALE_MEMBER_EPOCH,
        ErrorCode.GROUP_ID_NOT_FOUND,
    )
)
BEAT_MS: Final = (50, 300)
REBALANCE_MS: Final = 2_000
CLASSIC_REBALANCE_MS: Final = 1_000


class Member:
    """What both kinds share: connections, commits, and the end."""

    def __init__(self, stage: Stage, host: Host, chance: SimChance, name: str, group: str) -> None:
        self.stage = stage
        self.host = host
        self.chance = chance
        self.name = name
        self.group = group
        self.timeout_ms = chance.pick([1000, 4000])
        self.session_ms = chance.pick([600, 1500, 4000])
        self.topics = list(stage.history.partitions)
        self.places: list[Place] = []
        self.member_id = ""
        self.generation = -1
        self.is_settled = False  # it has its share, and was heard since
        self._commits_rest = False  # a commit's fate is unknown: the next one could be overtaken by it

    @property
    def history(self) -> GroupHistory:
        return self.stage.groups

    async def run(self) -> None:
        while True:
            chance = self.chance.fork(f"link {self.host.clock.monotonic_us()}")
            link = Link(self.host, self.name, chance, self.timeout_ms)
            try:
                await link.open()
                while link.is_open:
                    await self.live(link)
            except (HostFault, LinkLost):
                self.is_settled = False
                await asyncio.sleep(self.chance.between(5, 100) / 1000)
            link.abort()

    async def live(self, link: Link) -> None:
        raise NotImplementedError

    async def rest(self, most_ms: int = BEAT_MS[1]) -> None:
        await asyncio.sleep(self.chance.between(BEAT_MS[0], most_ms) / 1000)

    async def commit(self, link: Link) -> int:
        """Commits the next offset of one place; the code, 0 when nothing was to commit."""
        if not self.places or self._commits_rest:
            return 0
        place = self.chance.pick(self.places)
        offset = self.history.next_commit(self.group, place)
        self._commits_rest = True
        code = await self._commit(link, place, offset, self.member_id, self.generation)
        self._commits_rest = False
        if code == 0:
            self.history.commit_confirmed(self.group, place, offset)
        elif code in RETRIABLE or code in FENCED or code == ErrorCode.REBALANCE_IN_PROGRESS:
            if code not in RETRIABLE:  # what may be tried again may also have been written
                self.history.commit_refused(self.group, place, offset)
        else:
            raise Broken("wrong refusal", f"{self.name}: a commit was answered with {code}")
        return code

    async def pose(self, link: Link) -> None:
        """A commit by somebody who is not, or no longer, a member has to be refused."""
        if not self.places or self.generation < 1:
            return
        stale = self.chance.one_in(2)
        generation = self.generation - 1 if stale else self.generation
        member_id = self.member_id if stale else "a-stranger"
        place = self.chance.pick(self.places)
        offset = self.history.next_commit(self.group, place)
        code = await self._commit(link, place, offset, member_id, generation)
        if code == 0:
            what = f"of generation {generation} instead of {self.generation}" if stale else "of a stranger"
            raise Broken("stale commit taken", f"{self.name}: a commit {what} in {self.group} was taken")
        if code not in RETRIABLE:
            self.history.commit_refused(self.group, place, offset)
            self.stage.mark("stale commit refused")

    async def _commit(self, link: Link, place: Place, offset: int, member_id: str, generation: int) -> int:
        partition = OffsetCommitRequestPartition(partition_index=place[1], committed_offset=offset)
        request = OffsetCommitRequest(
            group_id=self.group,
            member_id=member_id,
            generation_id_or_member_epoch=generation,
            topics=[OffsetCommitRequestTopic(name=place[0], partitions=[partition])],
        )
        answer = await link.call(request)
        assert isinstance(answer.message, OffsetCommitResponse)
        return answer.message.topics[0].partitions[0].error_code


class ClassicMember(Member):
    """Eager: gives everything up before it joins again. The leader deals the partitions out in turn."""

    @property
    def _lease_ms(self) -> int:
        """It is put out when it is silent for a session, or does not join in time when the others do."""
        return min(self.session_ms, CLASSIC_REBALANCE_MS)

    async def live(self, link: Link) -> None:
        self._commits_rest = False
        self.places = []
        self.is_settled = False
        if await self._join(link):
            while link.is_open and await self._beat(link):
                self.is_settled = True
                doing = self.chance.below(12) if self.stage.is_unsafe else 1
                if doing == 0:
                    await self.pose(link)
                elif doing < 6 and await self.commit(link) in (*FENCED, ErrorCode.REBALANCE_IN_PROGRESS):
                    break
                elif doing == 11 and self.chance.one_in(4):
                    await self._leave(link)
                    return
                await self.rest()
        self.is_settled = False

    async def _join(self, link: Link) -> bool:
        standing = self.history.standing(self.group)
        request = JoinGroupRequest(
            group_id=self.group,
            session_timeout_ms=self.session_ms,
            rebalance_timeout_ms=CLASSIC_REBALANCE_MS,
            member_id=self.member_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=subscription(self.topics))],
        )
        answer = await link.call(request)
        joined = answer.message
        assert isinstance(joined, JoinGroupResponse)
        code = joined.error_code
        if code == ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = joined.member_id
            return False
        if code:
            await self._refused(code)
            return False
        self.member_id, self.generation = joined.member_id, joined.generation_id
        self.history.note_joined(self.group, self.generation, self.member_id, standing)
        assignments = []
        if joined.leader == self.member_id:
            if not any(each.member_id == self.member_id for each in joined.members):
                raise Broken("wrong refusal", f"{self.name}: the leader is not among the members")
            assignments = self._deal([each.member_id for each in joined.members])
        sent_us = self.stage.world.loop.now_us
        synced_answer = await link.call(
            SyncGroupRequest(
                group_id=self.group,
                generation_id=self.generation,
                member_id=self.member_id,
                protocol_type="consumer",
                protocol_name="range",
                assignments=assignments,
            )
        )
        sync = synced_answer.message
        assert isinstance(sync, SyncGroupResponse)
        if sync.error_code:
            await self._refused(sync.error_code)
            return False
        self.history.note_alive(self.group, self.member_id, sent_us, self._lease_ms)
        self.places = read_places(sync.assignment)
        self.history.note_synced(self.group, self.generation, self.member_id, sync.assignment, self.places)
        return True

    def _deal(self, members: list[str]) -> list[SyncGroupRequestAssignment]:
        shares: dict[str, list[Place]] = {member: [] for member in sorted(members)}
        names = list(shares)
        for number, place in enumerate(self.stage.history.places()):
            shares[names[number % len(names)]].append(place)
        dealt = []
        for member, places in shares.items():
            text = write_places(places, self.chance.below(1 << 30))
            self.history.leader_assigns(self.group, self.generation, member, text)
            dealt.append(SyncGroupRequestAssignment(member_id=member, assignment=text))
        return dealt

    async def _beat(self, link: Link) -> bool:
        sent_us = self.stage.world.loop.now_us
        request = HeartbeatRequest(group_id=self.group, generation_id=self.generation, member_id=self.member_id)
        answer = await link.call(request)
        assert isinstance(answer.message, HeartbeatResponse)
        code = answer.message.error_code
        if code == 0:
            self.history.note_alive(self.group, self.member_id, sent_us, self._lease_ms)
            return True
        await self._refused(code)
        return False

    async def _refused(self, code: int) -> None:
        if code == ErrorCode.UNKNOWN_MEMBER_ID:
            self.stage.mark("member was put out")
            self.history.note_gone(self.group, self.member_id)
            self.member_id = ""
        elif code in RETRIABLE:
            await self.rest()
        elif code not in (ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION):
            raise Broken("wrong refusal", f"{self.name} in {self.group}: answered with {code}")

    async def _leave(self, link: Link) -> None:
        self.history.note_gone(self.group, self.member_id)
        await link.call(LeaveGroupRequest(group_id=self.group, members=[MemberIdentity(member_id=self.member_id)]))
        self.member_id = ""
        self.places = []
        self.is_settled = False
        await self.rest(1_000)


class ConsumerMember(Member):
    """Keeps what it owns while the group moves, and gives up what it is told to."""

    def __init__(self, stage: Stage, host: Host, chance: SimChance, name: str, group: str) -> None:
        super().__init__(stage, host, chance, name, group)
        settings = stage.plan.settings.groups
        self.member_id = f"{name}-{chance.below(1 << 40):x}"
        self.generation = 0
        self._claim = Claim(self.member_id)
        # It is put out when it is silent for a session, or does not give up in time what it was told to.
        self._lease_ms = min(settings.consumer_session_timeout_ms, REBALANCE_MS)

    async def live(self, link: Link) -> None:
        self._commits_rest = False
        is_first = True
        while link.is_open:
            if not await self._beat(link, whole=is_first or self.chance.one_in(5)):
                return
            is_first = False
            doing = self.chance.below(12) if self.stage.is_unsafe else 1
            if doing == 0:
                await self.pose(link)
            elif doing < 6:
                await self.commit(link)
            elif doing == 11 and self.chance.one_in(4):
                await self._leave(link)
                return
            await self.rest()

    def _owned(self) -> list[ConsumerGroupHeartbeatRequestTopicPartitions]:
        ids = self.stage.topic_ids
        owned: dict[bytes, list[int]] = {}
        for topic, partition in self._claim.places:
            owned.setdefault(ids[topic], []).append(partition)
        return [
            ConsumerGroupHeartbeatRequestTopicPartitions(topic_id=topic_id, partitions=sorted(partitions))
            for topic_id, partitions in owned.items()
        ]

    async def _beat(self, link: Link, *, whole: bool) -> bool:
        joins = self.generation == 0
        if joins:
            self._give_up()
        told = self.history.epoch_told.get(self.group, 0)
        sent_us = self.stage.world.loop.now_us
        whole = whole or joins
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group,
            member_id=self.member_id,
            member_epoch=self.generation,
            rebalance_timeout_ms=REBALANCE_MS if whole else -1,
            subscribed_topic_names=self.topics if whole else None,
            topic_partitions=self._owned(),
        )
        answer = await link.call(request)
        heard = answer.message
        assert isinstance(heard, ConsumerGroupHeartbeatResponse)
        code = heard.error_code
        if code:
            self.is_settled = False
            if code in FENCED:
                self.stage.mark("member was put out")
                self.generation = 0
                self._give_up()
            elif code not in RETRIABLE:
                raise Broken("wrong refusal", f"{self.name} in {self.group}: answered with {code}")
            await self.rest()
            return False
        if joins:
            self.history.check_epoch(self.group, heard.member_epoch, told)
        elif heard.member_epoch < self.generation:
            raise Broken("epoch back", f"{self.name}: epoch {heard.member_epoch} after {self.generation}")
        self.history.note_epoch(self.group, heard.member_epoch)
        self.generation = heard.member_epoch
        self._claim.heard_us = sent_us
        self.history.note_alive(self.group, self.member_id, sent_us, self._lease_ms)
        if heard.assignment is not None:
            self.history.rebalances += 1
            names = {topic_id: name for name, topic_id in self.stage.topic_ids.items()}
            given = [
                (names[topic.topic_id], partition)
                for topic in heard.assignment.topic_partitions
                for partition in topic.partitions
            ]
            self._claim.places = dict.fromkeys(given)
            self.places = list(given)
        self.history.claim(self.group, self._claim, self._lease_ms)
        self.is_settled = True
        return True

    def _give_up(self) -> None:
        self._claim.places = {}
        self.places = []
        self.history.give_up(self.group, self.member_id)

    async def _leave(self, link: Link) -> None:
        self._give_up()
        self.is_settled = False
        await link.call(ConsumerGroupHeartbeatRequest(group_id=self.group, member_id=self.member_id, member_epoch=-1))
        self.generation = 0
        await self.rest(1_000)


class Observer:
    """Reads committed offsets, as tools and starting members do."""

    def __init__(self, stage: Stage, host: Host, chance: SimChance, name: str, groups: list[str]) -> None:
        self.stage = stage
        self.host = host
        self.chance = chance
        self.name = name
        self.groups = groups

    async def run(self) -> None:
        while True:
            chance = self.chance.fork(f"link {self.host.clock.monotonic_us()}")
            link = Link(self.host, self.name, chance, 2_000)
            try:
                await link.open()
                while link.is_open:
                    for group in self.groups:
                        await self.look(link, group)
                    await asyncio.sleep(self.chance.between(20, 300) / 1000)
            except (HostFault, LinkLost):
                await asyncio.sleep(self.chance.between(5, 100) / 1000)
            link.abort()

    async def look(self, link: Link, group: str) -> bool:
        """Whether the coordinator answered."""
        history = self.stage.groups
        before = dict(history.committed)
        topics = [
            OffsetFetchRequestTopics(name=topic, partition_indexes=list(range(count)))
            for topic, count in self.stage.history.partitions.items()
        ]
        answer = await link.call(OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=topics)]))
        assert isinstance(answer.message, OffsetFetchResponse)
        (told,) = answer.message.groups
        if told.error_code:
            if told.error_code not in RETRIABLE:
                raise Broken("wrong refusal", f"{self.name}: offsets of {group} were answered with {told.error_code}")
            return False
        for topic in told.topics:
            for partition in topic.partitions:
                place = (topic.name, partition.partition_index)
                history.check_committed(
                    self.name, group, place, partition.committed_offset, before.get((group, place), -1)
                )
        return True


def subscription(topics: list[str]) -> bytes:
    """Version 0 of what classic consumers say about themselves."""
    named = b"".join(pack(">h", len(topic)) + topic.encode() for topic in topics)
    return pack(">hi", 0, len(topics)) + named + pack(">i", -1)


def write_places(places: list[Place], number: int) -> bytes:
    """The number makes each assignment one of its own."""
    return "\n".join([str(number), *(f"{topic} {partition}" for topic, partition in places)]).encode()


def read_places(assignment: bytes) -> list[Place]:
    places = []
    for line in assignment.decode().split("\n")[1:]:
        topic, _, partition = line.rpartition(" ")
        places.append((topic, int(partition)))
    return places
