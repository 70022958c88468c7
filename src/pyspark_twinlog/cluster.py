"""What the readers ask the cluster: which partitions there are, and which offsets a start or an end means."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark_twinlog.errors import OptionWrong
from pyspark_twinlog.options import Bound, ReadOptions
from twinlog.client import BrokerError, Client
from twinlog.client.blocking import EARLIEST, LATEST
from twinlog.client.lookup import Place, offsets_of, persistently
from twinlog.wire.kafka.errors import ErrorCode


class Topics:
    """The partitions that the options name, as the cluster has them now."""

    def __init__(self, client: Client, options: ReadOptions) -> None:
        self.client = client
        self._options = options
        self.places: list[Place] = []
        self.ids: dict[str, str] = {}

    def refresh(self, *, missing_is_wrong: bool) -> None:
        """A named topic that does not exist is an error, unless the caller has a better one."""
        persistently(self.client, lambda: self._refresh(missing_is_wrong))

    def _refresh(self, missing_is_wrong: bool) -> None:
        options = self._options
        named = sorted({*options.topics, *options.assigned})
        view = self.client.refresh(None if options.pattern else named)
        chosen = [name for name in view.topics if re.fullmatch(options.pattern, name)] if options.pattern else named
        places: list[Place] = []
        ids: dict[str, str] = {}
        for name in sorted(chosen):
            topic = view.topics.get(name)
            if topic is None or topic.error in (
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                ErrorCode.INVALID_TOPIC_EXCEPTION,
            ):
                if missing_is_wrong:
                    raise OptionWrong(f"there is no topic {name!r}: make it, or correct the option")
                continue
            if topic.error:
                raise BrokerError(topic.error, f"looking up topic {name}")
            wanted = options.assigned.get(name)
            there = {each.index for each in topic.partitions}
            for partition in sorted(there) if wanted is None else wanted:
                if partition not in there:
                    raise OptionWrong(f"topic {name!r} has {len(there)} partitions, not {partition}: correct assign")
                places.append((name, partition))
            ids[name] = topic.topic_id.hex()
        self.places, self.ids = places, ids

    # ---- offsets ----------------------------------------------------------------------------------------------

    def offsets(self, wanted: Mapping[Place, int]) -> dict[Place, int]:
        """By EARLIEST, LATEST (the last stable offset under read_committed) or time; -1 where nothing is that young."""
        committed = self._options.committed

        def attempt() -> dict[Place, int]:
            try:
                return offsets_of(self.client, wanted, committed=committed)
            except BrokerError:
                self.client.refresh({topic for topic, _ in wanted})
                raise

        return persistently(self.client, attempt)

    def ends(self) -> dict[Place, int]:
        return self.offsets(dict.fromkeys(self.places, LATEST))

    def starts(self) -> dict[Place, int]:
        return self.offsets(dict.fromkeys(self.places, EARLIEST))

    def resolve(self, bound: Bound, option: str) -> dict[Place, int]:
        """The offset that a start or an end means for every partition."""
        if bound.mark is not None:
            return self.offsets(dict.fromkeys(self.places, bound.mark))
        named = bound.offsets or bound.times_ms
        if named:
            missing = sorted(set(self.places) - set(named))
            unknown = sorted(set(named) - set(self.places))
            if missing or unknown:
                listed = ", ".join(f"{topic}-{partition}" for topic, partition in missing or unknown)
                what = "does not name" if missing else "names what is not read:"
                raise OptionWrong(f"{option} {what} {listed}: it must name every partition that is read, and no other")
        if bound.offsets:
            marked = {place: mark for place, mark in bound.offsets.items() if mark < 0}
            return {**bound.offsets, **(self.offsets(marked) if marked else {})}
        times = bound.times_ms or dict.fromkeys(self.places, bound.time_ms or 0)
        found = self.offsets(times)
        younger = [place for place, offset in found.items() if offset < 0]
        if younger and bound.younger == "error":
            topic, partition = min(younger)
            raise OptionWrong(
                f"{option}: {topic}-{partition} has no record at or after {times[topic, partition]}. Take an earlier "
                "time, or set startingOffsetsByTimestampStrategy to latest"
            )
        return found | (self.offsets(dict.fromkeys(younger, LATEST)) if younger else {})
