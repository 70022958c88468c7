"""Where ``twinlog group reset-offsets`` sets a group: from words to offsets."""

from __future__ import annotations

from typing import NamedTuple

from twinlog.cli.ending import fail
from twinlog.cli.options import moment
from twinlog.client import Client
from twinlog.client.blocking import EARLIEST, LATEST
from twinlog.client.groups import Committed, Place

CHOICES = "--to-earliest, --to-latest, --to-datetime, --shift-by or --to-offset"


class Target(NamedTuple):
    """One of the ways to say where to."""

    timestamp: int | None = None  # or EARLIEST, LATEST
    shift_by: int | None = None
    offset: int | None = None

    @classmethod
    def of(
        cls, to_earliest: bool, to_latest: bool, to_datetime: str, shift_by: int | None, to_offset: int | None
    ) -> Target:
        given = [to_earliest, to_latest, bool(to_datetime), shift_by is not None, to_offset is not None]
        if sum(given) != 1:
            fail("say where to, once", f"Give one of {CHOICES}.", code=2)
        if to_earliest or to_latest:
            return cls(timestamp=EARLIEST if to_earliest else LATEST)
        if to_datetime:
            return cls(timestamp=moment(to_datetime, "--to-datetime"))
        return cls(shift_by=shift_by, offset=to_offset)


def places_of(client: Client, topics: list[str], committed: dict[Place, Committed]) -> list[Place]:
    """The partitions that are meant: of these topics, or all that have an offset."""
    if not topics:
        if not committed:
            fail("the group has no offsets", "Name what it is to read with --topic NAME.")
        return sorted(committed)
    places: set[Place] = set()
    for text in topics:
        name, _, chosen = text.partition(":")
        known = [each.index for each in client.topic(name).partitions]
        try:
            partitions = [int(part) for part in chosen.split(",")] if chosen else known
        except ValueError:
            fail(f"--topic {text}: write numbers with commas between, like {name}:0,2", code=2)
        for partition in partitions:
            if partition not in known:
                fail(f"--topic {text}: the topic has the partitions 0 to {len(known) - 1}", code=2)
        places.update((name, partition) for partition in partitions)
    return sorted(places)


def new_offsets(
    client: Client, places: list[Place], committed: dict[Place, Committed], target: Target
) -> list[tuple[Place, int]]:
    """In the order of the places; never outside of what the partition holds."""
    topics: dict[str, list[int]] = {}
    for topic, partition in places:
        topics.setdefault(topic, []).append(partition)
    client.refresh(topics)
    found: dict[Place, int] = {}
    for topic, partitions in topics.items():
        if target.timestamp is not None:
            wanted = client.offsets(topic, partitions, target.timestamp)
            found |= {(topic, partition): offset for partition, offset in wanted.items()}
            continue
        first, end = (client.offsets(topic, partitions, where) for where in (EARLIEST, LATEST))
        for partition in partitions:
            asked = target.offset
            if asked is None:
                assert target.shift_by is not None
                was = committed.get((topic, partition))
                if was is None:
                    fail(
                        f"{topic}-{partition} has no committed offset to count from",
                        "Leave it out with --topic, or use --to-offset.",
                    )
                asked = was.offset + target.shift_by
            found[topic, partition] = min(max(asked, first[partition]), end[partition])
    return [(place, found[place]) for place in places]
