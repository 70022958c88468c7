"""kafka-python as a member of a group."""

from __future__ import annotations

import time
from typing import Any

from kafka import KafkaConsumer
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.errors import KafkaError

from tests.compat.drivers import lines

STRATEGIES = {"range": RangePartitionAssignor, "cooperative": CooperativeStickyAssignor}


class Member:
    """The group commands of ``lines``. Heartbeats come from a thread of the library."""

    bootstrap: str
    consumer: KafkaConsumer | None = None

    def subscribe(
        self, group: str, topic: str, protocol: str = "classic", assignor: str = "range", instance: str | None = None
    ) -> None:
        if protocol != "classic":
            raise lines.Unsupported("the library has no key 68")
        self.consumer = KafkaConsumer(
            topic,
            bootstrap_servers=self.bootstrap,
            group_id=group,
            group_instance_id=instance,
            partition_assignment_strategy=[STRATEGIES[assignor]],
            session_timeout_ms=lines.SESSION_MS,
            heartbeat_interval_ms=lines.HEARTBEAT_MS,
            max_poll_interval_ms=30_000,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            fetch_max_wait_ms=100,
            reconnect_backoff_max_ms=500,
            metadata_max_age_ms=1000,
        )

    def poll_group(self, ms: int) -> dict[str, Any]:
        assert self.consumer is not None
        found = []
        deadline = time.monotonic() + ms / 1000
        while time.monotonic() < deadline:
            for records in self.consumer.poll(50).values():
                found += [[record.partition, record.offset, lines.to_text(record.value)] for record in records]
        return {"owned": sorted(place.partition for place in self.consumer.assignment()), "records": found}

    def commit_group(self) -> None:
        assert self.consumer is not None
        try:
            self.consumer.commit()
        except KafkaError as error:
            raise lines.ClientError(getattr(error, "errno", -1000), str(error)) from None

    def leave_group(self) -> None:
        assert self.consumer is not None
        self.consumer.close(autocommit=False)
        self.consumer = None
