"""Who we are: the cluster's id, given once when its first node starts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from twinlog.cluster.kinds.base import Kind
from twinlog.cluster.record import Record


class ClusterFormed(Record, frozen=True, array_like=True, tag="cluster.formed/1"):
    """``cluster_id`` is 22 characters: sixteen random bytes in URL-safe base 64, as Kafka's clients expect."""

    cluster_id: str
    formed_at_ms: int


@dataclass(frozen=True, slots=True)
class Formation:
    cluster_id: str = ""
    formed_at_ms: int = 0


class FormationEdit:
    def __init__(self, part: Formation) -> None:
        self.part = part
        self.changed = False

    def apply(self, record: Record) -> None:
        assert isinstance(record, ClusterFormed)
        assert not self.part.cluster_id, "a cluster is formed once"
        self.part = Formation(record.cluster_id, record.formed_at_ms)
        self.changed = True

    def finish(self) -> tuple[Formation, bool]:
        return self.part, self.changed


def dump(part: Formation) -> Iterator[Record]:
    if part.cluster_id:
        yield ClusterFormed(part.cluster_id, part.formed_at_ms)


FORMATION = Kind(
    "formation", records=(ClusterFormed,), empty=Formation(), unchanged=False, edit=FormationEdit, dump=dump
)
