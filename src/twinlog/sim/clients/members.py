"""What members of consumer groups share, whatever protocol they speak: connections, commits, and posing as others."""

from __future__ import annotations

import asyncio
from typing import Final

from twinlog.base import HostFault
from twinlog.host import Host
from twinlog.sim.chance import SimChance
from twinlog.sim.clients.link import Link, LinkLost
from twinlog.sim.stage.group_history import Claim, GroupHistory
from twinlog.sim.stage.history import Broken, Place
from twinlog.sim.stage.plan import MemberPlan
from twinlog.sim.stage.stage import Stage
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
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
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.GROUP_ID_NOT_FOUND,
    )
)
BEAT_MS: Final = (50, 300)


class Member:
    """``before``: the life that this client had, if it had one."""

    varies = True  # speaks older versions as well

    def __init__(
        self, stage: Stage, host: Host, chance: SimChance, name: str, plan: MemberPlan, before: Member | None
    ) -> None:
        self.stage = stage
        self.host = host
        self.chance = chance
        self.name = name
        self.group = plan.group
        self.instance_id = plan.instance_id
        self.timeout_ms = chance.pick([1000, 4000])
        self.topics = list(stage.history.partitions)
        self.places: list[Place] = []
        self.member_id = ""
        self.generation = -1
        self.is_settled = False  # it has its share, and was heard since
        self._commits_rest = False  # a commit's fate is unknown: the next one could be overtaken by it
        self._claim = Claim("")
        self._ghost = before if self.instance_id is not None else None
        if before is not None:
            self.history.give_up(self.group, before.member_id)  # it died, and uses nothing any more

    @property
    def is_done(self) -> bool:
        return self.is_settled

    @property
    def version_caps(self) -> dict[int, int]:
        return {}

    @property
    def history(self) -> GroupHistory:
        return self.stage.groups

    async def run(self) -> None:
        while True:
            chance = self.chance.fork(f"link {self.host.clock.monotonic_us()}")
            link = Link(self.host, self.name, chance, self.timeout_ms, varied=self.varies, caps=self.version_caps)
            try:
                await link.open()
                while link.is_open:
                    self._commits_rest = False
                    await self.live(link)
            except (HostFault, LinkLost):
                self.is_settled = False
                await asyncio.sleep(self.chance.between(5, 100) / 1000)
            link.abort()

    async def live(self, link: Link) -> None:
        raise NotImplementedError

    async def rest(self, most_ms: int = BEAT_MS[1]) -> None:
        await asyncio.sleep(self.chance.between(BEAT_MS[0], most_ms) / 1000)

    # What it believes to own.

    def own(self, places: list[Place], heard_us: int, lease_ms: int) -> None:
        self._claim.member = self.member_id
        self._claim.places = dict.fromkeys(places)
        self._claim.heard_us, self._claim.lease_ms = heard_us, lease_ms
        self.places = list(places)
        self.history.note_alive(self.group, self.member_id, heard_us, lease_ms)
        self.history.claim(self.group, self._claim)

    def still_own(self, heard_us: int, lease_ms: int) -> None:
        self.own(self.places, heard_us, lease_ms)

    def give_up(self) -> None:
        self._claim.places = {}
        self.places = []
        self.history.give_up(self.group, self.member_id)

    # Commits.

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
        ghost = self._ghost
        if ghost is not None and ghost.member_id not in ("", self.member_id):
            said, member_id, generation = "of its life before", ghost.member_id, self.generation
        elif self.chance.one_in(2):
            said, member_id, generation = "of the generation before", self.member_id, self.generation - 1
        else:
            said, member_id, generation = "of a stranger", "a-stranger", self.generation
        place = self.chance.pick(self.places)
        offset = self.history.next_commit(self.group, place)
        code = await self._commit(link, place, offset, member_id, generation)
        if code == 0:
            raise Broken("stale commit taken", f"{self.name}: a commit {said} in {self.group} was taken")
        if code not in RETRIABLE:
            self.history.commit_refused(self.group, place, offset)
            self.stage.mark(f"commit {said} refused")

    async def _commit(self, link: Link, place: Place, offset: int, member_id: str, generation: int) -> int:
        partition = OffsetCommitRequestPartition(partition_index=place[1], committed_offset=offset)
        request = OffsetCommitRequest(
            group_id=self.group,
            member_id=member_id,
            group_instance_id=self.instance_id,
            generation_id_or_member_epoch=generation,
            topics=[OffsetCommitRequestTopic(name=place[0], partitions=[partition])],
        )
        answer = await link.call(request)
        assert isinstance(answer.message, OffsetCommitResponse)
        return answer.message.topics[0].partitions[0].error_code
