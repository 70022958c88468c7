"""Members of the consumer protocol: they keep what they own while the group moves, and give up what they have to."""

from __future__ import annotations

from typing import Final

from twinlog.host import Host
from twinlog.sim.chance import SimChance
from twinlog.sim.clients.link import Link
from twinlog.sim.clients.members import FENCED, RETRIABLE, Member
from twinlog.sim.stage.history import Broken
from twinlog.sim.stage.plan import MemberPlan
from twinlog.sim.stage.stage import Stage
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatRequestTopicPartitions,
    ConsumerGroupHeartbeatResponse,
)

REBALANCE_MS: Final = 2_000
LEAVES, LEAVES_FOR_NOW = -1, -2


class ConsumerMember(Member):
    """See above."""

    def __init__(
        self, stage: Stage, host: Host, chance: SimChance, name: str, plan: MemberPlan, before: Member | None
    ) -> None:
        super().__init__(stage, host, chance, name, plan, before)
        settings = stage.plan.settings.groups
        self.member_id = self._new_id()
        self.generation = 0
        self.is_mixed = plan.is_mixed
        self.goes = plan.goes
        self.is_gone = False
        # It is put out when it is silent for a session, or does not give up in time what it was told to.
        self._lease_ms = min(settings.consumer_session_timeout_ms, REBALANCE_MS)

    def _new_id(self) -> str:
        return f"{self.name}-{self.chance.below(1 << 40):x}"

    async def live(self, link: Link) -> None:
        is_first = True
        while link.is_open:
            if self.goes and not self.stage.is_unsafe:
                await self._go(link)
                return
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
        for topic, partition in self.places:
            owned.setdefault(ids[topic], []).append(partition)
        return [
            ConsumerGroupHeartbeatRequestTopicPartitions(topic_id=topic_id, partitions=sorted(partitions))
            for topic_id, partitions in owned.items()
        ]

    async def _beat(self, link: Link, *, whole: bool) -> bool:
        joins = self.generation == 0
        if joins:
            self.give_up()
        standing = self.history.epoch_standing(self.group)
        sent_us = self.stage.world.loop.now_us
        whole = whole or joins
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group,
            member_id=self.member_id,
            instance_id=self.instance_id,
            member_epoch=self.generation,
            rebalance_timeout_ms=REBALANCE_MS if whole else -1,
            subscribed_topic_names=self.topics if whole else None,
            topic_partitions=self._owned(),
        )
        heard = (await link.call(request)).message
        assert isinstance(heard, ConsumerGroupHeartbeatResponse)
        if heard.error_code:
            await self._refused(heard.error_code)
            return False
        if self.is_mixed:
            self.stage.note_form(self.group, "consumer")
        elif joins:
            self.history.check_epoch(self.group, heard.member_epoch, standing)
        if heard.member_epoch < self.generation:
            raise Broken("epoch back", f"{self.name}: epoch {heard.member_epoch} after {self.generation}")
        self.history.note_epoch(self.group, heard.member_epoch)
        self.generation = heard.member_epoch
        places = self.places
        if heard.assignment is not None:
            self.history.rebalances += 1
            names = {topic_id: name for name, topic_id in self.stage.topic_ids.items()}
            places = [
                (names[topic.topic_id], partition)
                for topic in heard.assignment.topic_partitions
                for partition in topic.partitions
            ]
        self.own(places, sent_us, self._lease_ms)
        self.is_settled = True
        return True

    async def _refused(self, code: int) -> None:
        self.is_settled = False
        if code in FENCED:
            self.stage.mark("member was put out")
            self.give_up()
            self.generation = 0
        elif code == ErrorCode.UNRELEASED_INSTANCE_ID:
            self.stage.mark("static name still held")
        elif code not in RETRIABLE:
            raise Broken("wrong refusal", f"{self.name} in {self.group}: answered with {code}")
        await self.rest()

    async def _go(self, link: Link) -> None:
        """For good, whether or not it is still a member."""
        self.give_up()
        if not self.is_gone:
            request = ConsumerGroupHeartbeatRequest(
                group_id=self.group, member_id=self.member_id, instance_id=self.instance_id, member_epoch=LEAVES
            )
            answer = (await link.call(request)).message
            assert isinstance(answer, ConsumerGroupHeartbeatResponse)
            self.is_gone = answer.error_code not in RETRIABLE
        self.is_settled = self.is_gone
        await self.rest(1_000)

    async def _leave(self, link: Link) -> None:
        """A static member says that it comes back, under another id then."""
        self.give_up()
        self.is_settled = False
        epoch = LEAVES if self.instance_id is None else LEAVES_FOR_NOW
        await link.call(
            ConsumerGroupHeartbeatRequest(
                group_id=self.group, member_id=self.member_id, instance_id=self.instance_id, member_epoch=epoch
            )
        )
        self.generation = 0
        if self.instance_id is not None:
            self.member_id = self._new_id()
        await self.rest(1_000)
