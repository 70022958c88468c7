"""Members of the classic protocol: eager ones, which give everything up before they join again, and cooperative ones,
which keep what they own and give up what they are not dealt any more.

Their group may be one of the consumer protocol for a while: then nobody leads, and the coordinator deals.
"""

from __future__ import annotations

import asyncio
from typing import Final

from twinlog.host import Host
from twinlog.sim.chance import SimChance
from twinlog.sim.clients import assignments
from twinlog.sim.clients.link import Link
from twinlog.sim.clients.members import FENCED, RETRIABLE, Member
from twinlog.sim.stage.history import Broken
from twinlog.sim.stage.plan import COOPERATIVE, MemberPlan
from twinlog.sim.stage.stage import Stage
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    LeaveGroupRequest,
    MemberIdentity,
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)

REBALANCE_MS: Final = 1_000


class ClassicMember(Member):
    """See above."""

    def __init__(
        self, stage: Stage, host: Host, chance: SimChance, name: str, plan: MemberPlan, before: Member | None
    ) -> None:
        super().__init__(stage, host, chance, name, plan, before)
        self.session_ms = chance.pick([600, 1500, 4000])
        self.keeps = plan.kind == COOPERATIVE
        self.is_mixed = plan.is_mixed

    @property
    def _lease_ms(self) -> int:
        """It is put out when it is silent for a session, or does not join in time when the others do."""
        return min(self.session_ms, REBALANCE_MS)

    @property
    def _key(self) -> str:
        """By which a leader's deal is known: a static member that comes back gets the share of its life before."""
        return self.instance_id or self.member_id

    async def live(self, link: Link) -> None:
        self.is_settled = False
        if not self.keeps:
            self.give_up()
        if await self._join(link):
            while link.is_open and await self._beat(link):
                self.is_settled = True
                if not await self.work(link):
                    break
                await self.rest()
        self.is_settled = False

    async def work(self, link: Link) -> bool:
        """One thing that a member does between two heartbeats; False when it has to join again."""
        doing = self.chance.below(12) if self.stage.is_unsafe else 1
        if doing == 0:
            await self.pose(link)
        elif doing < 6 and await self.commit(link) in (*FENCED, ErrorCode.REBALANCE_IN_PROGRESS):
            return False
        elif doing == 11 and self.chance.one_in(4):
            await self._leave(link)
            return False
        return True

    async def _join(self, link: Link) -> bool:
        standing = self.history.standing(self.group)
        owned = self.places if self.keeps else None
        request = JoinGroupRequest(
            group_id=self.group,
            session_timeout_ms=self.session_ms,
            rebalance_timeout_ms=REBALANCE_MS,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocols=[
                JoinGroupRequestProtocol(
                    name=self._protocol, metadata=assignments.subscription(self.topics, owned, self.generation)
                )
            ],
        )
        joined = (await link.call(request)).message
        assert isinstance(joined, JoinGroupResponse)
        code = joined.error_code
        if code == ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = joined.member_id
            return False
        if code:
            await self._refused(code)
            return False
        self.member_id, self.generation = joined.member_id, joined.generation_id
        if not self.is_mixed:
            self.history.note_joined(self.group, self.generation, self.member_id, standing)
        else:
            self.stage.note_form(self.group, "classic" if joined.leader else "consumer")
        shares = []
        if joined.leader == self.member_id and not joined.skip_assignment:
            members = {each.member_id: each.metadata for each in joined.members}
            if self.member_id not in members:
                raise Broken("wrong refusal", f"{self.name}: the leader is not among the members")
            keys = {each.member_id: each.group_instance_id or each.member_id for each in joined.members}
            shares = self._deal(members, keys)
        if self.stage.is_unsafe and self.chance.one_in(3):
            await asyncio.sleep(self.chance.below(150) / 1000)  # whoever deals may take a while
        return await self._sync(link, shares)

    @property
    def _protocol(self) -> str:
        return "cooperative-sticky" if self.keeps else "range"

    def _deal(self, members: dict[str, bytes], keys: dict[str, str]) -> list[SyncGroupRequestAssignment]:
        places = [place for place in self.stage.history.places() if place[0] in self.topics]
        dealt = []
        for member, share in assignments.deal(members, places).items():
            text = assignments.write_places(share, self.chance.below(1 << 30))
            self.history.leader_assigns(self.group, self.generation, keys[member], text)
            dealt.append(SyncGroupRequestAssignment(member_id=member, assignment=text))
        return dealt

    async def _sync(self, link: Link, shares: list[SyncGroupRequestAssignment]) -> bool:
        sent_us = self.stage.world.loop.now_us
        request = SyncGroupRequest(
            group_id=self.group,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocol_name=self._protocol,
            assignments=shares,
        )
        synced = (await link.call(request)).message
        assert isinstance(synced, SyncGroupResponse)
        if synced.error_code:
            await self._refused(synced.error_code)
            return False
        places = assignments.read_places(synced.assignment)
        if not self.is_mixed:
            self.history.note_synced(self.group, self.generation, self.member_id, synced.assignment, places, self._key)
        revoked = [place for place in self.places if place not in places]
        self.own(places, sent_us, self._lease_ms)
        if revoked:
            self.stage.mark("gave up what another one gets")
        return not revoked

    async def _beat(self, link: Link) -> bool:
        sent_us = self.stage.world.loop.now_us
        request = HeartbeatRequest(
            group_id=self.group,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
        )
        answer = (await link.call(request)).message
        assert isinstance(answer, HeartbeatResponse)
        code = answer.error_code
        if code == 0:
            self.still_own(sent_us, self._lease_ms)
            return True
        await self._refused(code)
        return False

    async def _refused(self, code: int) -> None:
        if code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
            self.stage.mark("member was put out")
            self.give_up()
            self.member_id = ""
            self.generation = -1
        elif code == ErrorCode.ILLEGAL_GENERATION:
            self.give_up()  # the group went on without it
            self.generation = -1
        elif code in RETRIABLE:
            await self.rest()
        elif code != ErrorCode.REBALANCE_IN_PROGRESS:
            raise Broken("wrong refusal", f"{self.name} in {self.group}: answered with {code}")

    async def _leave(self, link: Link) -> None:
        """A static member does not say so, it just goes; what it had waits for it until its session ends."""
        self.is_settled = False
        if self.instance_id is None:
            self.give_up()
            leaver = MemberIdentity(member_id=self.member_id)
            await link.call(LeaveGroupRequest(group_id=self.group, members=[leaver]))
            self.member_id = ""
            self.generation = -1
        await self.rest(1_000)
