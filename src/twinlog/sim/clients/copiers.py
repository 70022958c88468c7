"""Copiers: members of a group that read, write for each record one that stands for it, and commit how far they came,
all in one transaction. Who was put out of the group meanwhile, or replaced, has copied nothing.

The values go round: what one group writes the other one reads, so that a transaction could read what another one wrote
that read what it wrote itself. That must never be seen.
"""

from __future__ import annotations

import asyncio
from typing import Final

from twinlog.base import HostFault
from twinlog.client.reader import Reader
from twinlog.host import Host
from twinlog.sim.chance import SimChance
from twinlog.sim.clients.classic_members import ClassicMember
from twinlog.sim.clients.link import Link, LinkLost
from twinlog.sim.clients.members import FENCED, Member
from twinlog.sim.clients.transactions import RETRIABLE, Over, TransactionalProducer, give_up, read_some
from twinlog.sim.stage.history import Broken
from twinlog.sim.stage.plan import MemberPlan
from twinlog.sim.stage.stage import Stage
from twinlog.sim.stage.transaction_history import Transaction
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)
from twinlog.wire.kafka.messages.txn_offset_commit import TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic

FIRST, SECOND, LAST = "ping", "pong", "done"
HOPS: Final = 4
# What each group reads, and where the last hop goes.
WAYS: Final = {"right": FIRST, "left": SECOND}


def first_values(chains: int) -> list[bytes]:
    return [f"{chain} 0 filled".encode() for chain in range(chains)]


def chains_done(values: list[bytes] | dict[bytes, int]) -> set[int]:
    """Which chains came to their end."""
    ends = (value.split()[:2] for value in values if value[:1].isdigit())
    return {int(chain) for chain, hop in ends if int(hop) == HOPS}


class Stale(Exception):
    """The group went on without this member."""


class Copier(ClassicMember):
    """One member of a group that copies, with a transactional id of its own."""

    varies = False

    def __init__(
        self, stage: Stage, host: Host, chance: SimChance, name: str, plan: MemberPlan, before: Member | None
    ) -> None:
        super().__init__(stage, host, chance, name, plan, before)
        client = name.rpartition(".")[0]
        self.topics = [WAYS[plan.group]]
        self.producer = TransactionalProducer(stage, host, chance.fork("producer"), name, client)
        self._reader = Reader(wait_ms=0, partition_bytes_max=300, committed_only=True)
        self._began_on: Link | None = None
        self._count = 0
        stage.transactions.abandon(client)

    @property
    def version_caps(self) -> dict[int, int]:
        return self.producer.version_caps

    async def live(self, link: Link) -> None:
        try:
            if self._began_on is not link:
                await self.producer.init(link)
                self._began_on = link
            await super().live(link)
        except Over as over:
            self.stage.mark("copy ended by somebody else")
            self._began_on = None
            self._reader.positions.clear()
            if over.replaced and self.stage.is_unsafe:
                await self.producer.haunt(link, self.stage.history.places()[0])

    async def _join(self, link: Link) -> bool:
        self._reader.positions.clear()  # somebody else may have had its places meanwhile
        return await super()._join(link)

    async def work(self, link: Link) -> bool:
        if not self.places:
            return True
        if not self._reader.positions and not await self._find_positions(link):
            return True
        try:
            await self._copy(link)
        except Stale:
            self._reader.positions.clear()
            return False
        return True

    async def rest(self, most_ms: int = 60) -> None:
        await super().rest(most_ms)

    async def _find_positions(self, link: Link) -> bool:
        """Where the group is, once no transaction may still change that."""
        asked = [
            OffsetFetchRequestTopics(name=self.topics[0], partition_indexes=[partition for _, partition in self.places])
        ]
        request = OffsetFetchRequest(
            groups=[OffsetFetchRequestGroup(group_id=self.group, topics=asked)], require_stable=True
        )
        answer = (await link.call(request)).message
        assert isinstance(answer, OffsetFetchResponse)
        (told,) = answer.groups
        codes = [told.error_code, *(each.error_code for topic in told.topics for each in topic.partitions)]
        for code in codes:
            if code and code not in RETRIABLE:
                raise Broken("wrong refusal", f"{self.name}: offsets of {self.group} were answered with {code}")
        if any(codes):
            return False
        for topic in told.topics:
            for each in topic.partitions:
                self._reader.seek(topic.name, each.partition_index, max(each.committed_offset, 0))
        return True

    async def _copy(self, link: Link) -> None:
        transaction = self.stage.transactions.begin(self.name)
        try:
            for _ in range(self.chance.between(1, 3)):
                for value in (await read_some(link, self._reader, self.name))[0]:
                    self.stage.transactions.note_consumed(transaction, value)
                    await self._write(link, transaction, value)
                await asyncio.sleep(self.chance.below(30) / 1000)
            if not transaction.consumed:
                give_up(transaction)
                return
            await self._stall()
            await self._send_offsets(link)
            await self._stall()
            commits = not self.stage.is_unsafe or not self.chance.one_in(6)
            await self.producer.end(link, transaction, commits=commits)
            if not commits:
                self._reader.positions.clear()
        except Stale:
            give_up(transaction)
            self.stage.mark("copy of a stale member refused")
            await self.producer.end(link, transaction, commits=False)
            raise
        except (Over, HostFault, LinkLost):
            give_up(transaction)
            self._reader.positions.clear()
            raise

    async def _stall(self) -> None:
        """Busy with something else: perhaps for so long that the group goes on without it."""
        if self.stage.is_unsafe and self.chance.one_in(8):
            await asyncio.sleep(self.chance.pick([0.2, 1.0, 2.5]))

    async def _write(self, link: Link, transaction: Transaction, value: bytes) -> None:
        chain, hop = (int(part) for part in value.split()[:2])
        self._count += 1
        topic = LAST if hop + 1 == HOPS else SECOND if self.topics == [FIRST] else FIRST
        place = (topic, self.chance.below(self.stage.history.partitions[topic]))
        following = f"{chain} {hop + 1} {self.name} {self._count}".encode()
        await self.producer.write(link, transaction, place, following)

    async def _send_offsets(self, link: Link) -> None:
        if self.producer.announces:
            await self._announce_offsets(link)
        producer_id, epoch = self.producer.key
        said = [
            TxnOffsetCommitRequestPartition(partition_index=partition, committed_offset=offset)
            for (_, partition), offset in self._reader.positions.items()
        ]
        request = TxnOffsetCommitRequest(
            transactional_id=self.producer.id,
            group_id=self.group,
            producer_id=producer_id,
            producer_epoch=epoch,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            topics=[TxnOffsetCommitRequestTopic(name=self.topics[0], partitions=said)],
        )
        while True:
            answer = (await link.call(request)).message
            assert isinstance(answer, TxnOffsetCommitResponse)
            codes = [each.error_code for topic in answer.topics for each in topic.partitions]
            if not any(codes):
                return
            code = next(code for code in codes if code)
            if code in FENCED:
                raise Stale
            self.producer.check(code, "offsets")
            await self.rest()

    async def _announce_offsets(self, link: Link) -> None:
        producer_id, epoch = self.producer.key
        request = AddOffsetsToTxnRequest(
            transactional_id=self.producer.id, producer_id=producer_id, producer_epoch=epoch, group_id=self.group
        )
        while True:
            answer = (await link.call(request)).message
            assert isinstance(answer, AddOffsetsToTxnResponse)
            if answer.error_code == ErrorCode.NONE:
                return
            self.producer.check(answer.error_code, "announcing offsets")
            await self.rest()
