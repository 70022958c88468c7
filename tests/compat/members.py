"""Drivers as members of groups: each a process of its own, so that one can die."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.compat.clients import Client, decoded, record, start_client

ROUND_MS = 250
PATIENCE_S = 40.0


class Member:
    """One client in a group; ``owned`` and ``read`` are as of its last poll."""

    def __init__(self, client: Client, group: str, topic: str, **more: Any) -> None:
        self.client = client
        self.owned: list[int] = []
        self.read: list[tuple[int, int, bytes | None]] = []
        client.subscribe(group=group, topic=topic, **more)

    def commit(self) -> None:
        self.client.commit_group()

    def leave(self) -> None:
        self.client.leave_group()
        self.client.close()

    def crash(self) -> None:
        self.client.close()


class Members:
    """All members of a test's group, polled side by side as programs of their own would."""

    def __init__(self, bootstrap: str, group: str, topic: str, home: Path) -> None:
        self.bootstrap, self.group, self.topic, self.home = bootstrap, group, topic, home
        self.live: list[Member] = []

    def join(self, name: str, **more: Any) -> Member:
        """Starts the client; the group learns of it while the others are polled."""
        client = start_client(name, self.bootstrap, self.home / f"{name}-member.errors")
        member = Member(client, self.group, self.topic, **more)
        self.live.append(member)
        return member

    def part(self, member: Member, *, crash: bool = False) -> None:
        self.live.remove(member)
        member.crash() if crash else member.leave()

    def poll(self) -> None:
        for member in self.live:
            member.client.ask("poll_group", ms=ROUND_MS)
        for member in self.live:
            answer = member.client.hear("poll_group")
            member.owned = answer["owned"]
            member.read += [(partition, offset, decoded(value)) for partition, offset, value in answer["records"]]

    def until(self, holds: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < deadline, f"{what}: {[(m.client.name, m.owned) for m in self.live]}"
            self.poll()

    def until_shared(self, *sizes: int, partitions: int) -> None:
        """Every partition has one owner, and the shares have these sizes."""

        def shared() -> bool:
            owned = sorted(partition for member in self.live for partition in member.owned)
            return owned == list(range(partitions)) and sorted(len(m.owned) for m in self.live) == sorted(sizes)

        self.until(shared, f"partitions are not shared as {sizes}")

    def values(self) -> list[bytes | None]:
        return sorted((value for member in self.live for _, _, value in member.read), key=lambda value: value or b"")

    def close(self) -> None:
        for member in self.live:
            member.client.close()


@contextlib.contextmanager
def members(bootstrap: str, group: str, topic: str, home: Path) -> Iterator[Members]:
    found = Members(bootstrap, group, topic, home)
    try:
        yield found
    finally:
        found.close()


def fill(writer: Client, topic: str, partitions: int, names: list[str]) -> None:
    """One record of each name into every partition."""
    for partition in range(partitions):
        writer.produce(
            topic=topic, partition=partition, records=[record(b"%d-%s" % (partition, n.encode())) for n in names]
        )
