"""aiokafka as a member of a group. It is alive only while the driver's loop runs: poll it often."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Coroutine
from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.errors import KafkaError

from tests.compat.drivers import lines


class Member:
    """The group commands of ``lines``."""

    bootstrap: str
    loop: asyncio.AbstractEventLoop
    member: AIOKafkaConsumer | None = None

    def in_loop(self, work: Coroutine[Any, Any, Any]) -> Any:
        try:
            return self.loop.run_until_complete(asyncio.wait_for(work, lines.CALL_TIMEOUT_S + 10))
        except KafkaError as error:
            raise lines.ClientError(getattr(error, "errno", -1000), str(error)) from None

    def subscribe(
        self, group: str, topic: str, protocol: str = "classic", assignor: str = "range", instance: str | None = None
    ) -> None:
        if protocol != "classic" or assignor != "range":
            raise lines.Unsupported("the library knows the classic protocol with eager assignors")

        async def work() -> None:
            self.member = AIOKafkaConsumer(
                bootstrap_servers=self.bootstrap,
                group_id=group,
                group_instance_id=instance,
                partition_assignment_strategy=(RangePartitionAssignor,),
                session_timeout_ms=lines.SESSION_MS,
                heartbeat_interval_ms=lines.HEARTBEAT_MS,
                rebalance_timeout_ms=30_000,
                enable_auto_commit=False,
                auto_offset_reset="earliest",
                fetch_max_wait_ms=100,
                metadata_max_age_ms=1000,
            )
            await self.member.start()
            self.member.subscribe([topic])  # told to the constructor, the start would wait for the whole group

        self.in_loop(work())

    def poll_group(self, ms: int) -> dict[str, Any]:
        async def work() -> dict[str, Any]:
            assert self.member is not None
            found = []
            deadline = time.monotonic() + ms / 1000
            while (rest := deadline - time.monotonic()) > 0:
                # Without an assignment it waits for ever, and meanwhile nobody asks the others of its group.
                with contextlib.suppress(asyncio.TimeoutError):
                    for records in (await asyncio.wait_for(self.member.getmany(timeout_ms=50), rest)).values():
                        found += [[record.partition, record.offset, lines.to_text(record.value)] for record in records]
            return {"owned": sorted(place.partition for place in self.member.assignment()), "records": found}

        return dict(self.in_loop(work()))

    def commit_group(self) -> None:
        assert self.member is not None
        self.in_loop(self.member.commit())

    def leave_group(self) -> None:
        assert self.member is not None
        self.in_loop(self.member.stop())
        self.member = None
