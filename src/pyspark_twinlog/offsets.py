"""Offsets of a stream as Spark keeps them in its checkpoint, and the arithmetic of a micro-batch. Nothing here waits.

An offset is JSON like Spark's own connector's, ``{"topic": {"0": 23}}``, with two additions under names that no topic
can have. ``#topics`` holds the ids of the topics, by which a topic that was deleted and made anew is told from the one
that was read before. ``#initial`` stands in the end of a query's first batch and holds where that batch began: Spark
asks for the initial offset anew when it has to repeat the first batch, and "latest" is somewhere else by then.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pyspark_twinlog.errors import DataLoss, ForeignCheckpoint
from twinlog.client.scan import Span

Place: TypeAlias = tuple[str, int]
Positions: TypeAlias = dict[Place, int]

IDS: Final = "#topics"
INITIAL: Final = "#initial"
FRESH: Final = "#fresh"
GROUPED_OFFSETS: Final = 20_000


@dataclass(frozen=True)
class StreamOffset:
    """``fresh``: just evaluated by ``initialOffset``; ``initial``: where the batch that ends here began."""

    positions: Positions
    ids: Mapping[str, str]
    initial: Positions | None = None
    fresh: bool = False


def _nested(positions: Mapping[Place, int]) -> dict[str, dict[str, int]]:
    nested: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in sorted(positions.items()):
        nested.setdefault(topic, {})[str(partition)] = offset
    return nested


def _flat(nested: Mapping[str, Any]) -> Positions:
    found: Positions = {}
    for topic, partitions in nested.items():
        if topic.startswith("#"):
            continue
        if not isinstance(partitions, dict):
            raise ForeignCheckpoint(
                f"the checkpoint holds {topic!r}: {partitions!r}, which this source never wrote. "
                "Use a new checkpointLocation, or the one that belongs to this query"
            )
        for partition, offset in partitions.items():
            found[topic, int(partition)] = int(offset)
    return found


def to_json(offset: StreamOffset) -> dict[str, Any]:
    """Always in the same order: Spark compares offsets as texts."""
    made: dict[str, Any] = {IDS: dict(sorted(offset.ids.items()))}
    if offset.fresh:
        made[FRESH] = True
    if offset.initial is not None:
        made[INITIAL] = _nested(offset.initial)
    return made | _nested(offset.positions)


def from_json(document: Mapping[str, Any]) -> StreamOffset:
    if not isinstance(document, Mapping):
        raise ForeignCheckpoint(
            f"the checkpoint holds the offset {document!r}, which this source never wrote: it belongs to "
            "another query. Use the checkpointLocation that belongs to this one, or a new one"
        )
    ids = document.get(IDS, {})
    initial = document.get(INITIAL)
    if not isinstance(ids, dict) or not (initial is None or isinstance(initial, dict)):
        raise ForeignCheckpoint("the checkpoint was not written by this source: use a new checkpointLocation")
    return StreamOffset(_flat(document), ids, None if initial is None else _flat(initial), bool(document.get(FRESH)))


def batch_start(start: StreamOffset, end: StreamOffset) -> Positions:
    """Where a batch begins: for the first one where it began the first time, however often it is repeated."""
    if start.fresh and end.initial is not None:
        return end.initial
    return start.positions


def limited(start: Mapping[Place, int], end: Mapping[Place, int], offsets_max: int) -> Positions:
    """At most so many offsets in all, in proportion to what waits, and none so little that it starves."""
    sizes = {place: max(0, stop - start.get(place, 0)) for place, stop in end.items()}
    total = sum(sizes.values())
    if total <= offsets_max:
        return dict(end)
    found: Positions = {}
    for place, stop in end.items():
        share = offsets_max * sizes[place] / total
        whole = math.ceil(share) if share < 1 else math.floor(share)
        found[place] = min(stop, start.get(place, 0) + whole)
    return found


def check_topics(start: StreamOffset, ids: Mapping[str, str], *, fail: bool) -> set[str]:
    """The topics whose offsets mean nothing any more: deleted, or made anew under their name."""
    lost: set[str] = set()
    for topic in sorted({topic for topic, _ in start.positions}):
        known = start.ids.get(topic)
        if topic not in ids:
            what = f"topic {topic!r} has been deleted"
        elif known is not None and ids[topic] != known:
            what = f"topic {topic!r} has been deleted and made anew"
        else:
            continue
        if fail:
            raise DataLoss(
                f"{what} since this query last read it; what had not been read is lost. Start a query with a new "
                "checkpoint, or set failOnDataLoss to false to go on with what there is"
            )
        lost.add(topic)
    return lost


def spans(start: Mapping[Place, int], end: Mapping[Place, int], *, fail: bool) -> list[Span]:
    """What lies between two offsets. A place that the start does not know is new and read from its beginning."""
    found = []
    for (topic, partition), stop in sorted(end.items()):
        begin = start.get((topic, partition), 0)
        if begin > stop and fail:
            raise DataLoss(
                f"{topic}-{partition} ends at offset {stop}, but has been read up to {begin}: the records in between "
                "are lost. Start a query with a new checkpoint, or set failOnDataLoss to false"
            )
        if begin < stop:
            found.append(Span(topic, partition, begin, stop))
    return found


def tasks(found: Iterable[Span], *, least: int | None, most_offsets: int | None) -> list[list[Span]]:
    """Spans as the work of Spark's tasks: large ones cut, small ones together, as each task costs some milliseconds."""
    listed = list(found)
    total = sum(span.stop - span.start for span in listed)
    if least and len(listed) < least and total:
        most = max(1, math.ceil(total / least))
        most_offsets = min(most_offsets, most) if most_offsets else most
    if most_offsets:
        listed = [piece for span in listed for piece in _cut(span, most_offsets)]
    if least:
        return [[span] for span in listed]
    grouped: list[list[Span]] = []
    size = GROUPED_OFFSETS
    for span in listed:
        width = span.stop - span.start
        if size + width > GROUPED_OFFSETS:
            grouped.append([])
            size = 0
        grouped[-1].append(span)
        size += width
    return grouped


def _cut(span: Span, most_offsets: int) -> list[Span]:
    pieces = math.ceil((span.stop - span.start) / most_offsets)
    width = math.ceil((span.stop - span.start) / pieces)
    return [
        Span(span.topic, span.partition, at, min(at + width, span.stop)) for at in range(span.start, span.stop, width)
    ]
