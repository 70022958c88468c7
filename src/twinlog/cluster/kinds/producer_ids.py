"""Producer ids are handed out in blocks; an id is never given to two producers, whatever is lost in between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from twinlog.cluster.kinds.base import Kind
from twinlog.cluster.record import Record


class ProducerIdsTaken(Record, frozen=True, array_like=True, tag="producer_ids.taken/1"):
    """Every id below ``id_next`` is spent; the block before it belongs to ``broker_id``."""

    broker_id: int
    broker_epoch: int
    id_next: int


@dataclass(frozen=True, slots=True)
class ProducerIds:
    id_next: int = 0
    last: ProducerIdsTaken | None = None


class ProducerIdsEdit:
    def __init__(self, part: ProducerIds) -> None:
        self.part = part
        self.changed = False

    def apply(self, record: Record) -> None:
        assert isinstance(record, ProducerIdsTaken)
        assert record.id_next >= self.part.id_next, (record, self.part)
        self.part = ProducerIds(record.id_next, record)
        self.changed = True

    def finish(self) -> tuple[ProducerIds, bool]:
        return self.part, self.changed


def dump(part: ProducerIds) -> Iterator[Record]:
    if part.last is not None:
        yield part.last


PRODUCER_IDS = Kind(
    "producer_ids", records=(ProducerIdsTaken,), empty=ProducerIds(), unchanged=False, edit=ProducerIdsEdit, dump=dump
)
