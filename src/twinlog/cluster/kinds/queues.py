"""Durable queues, and the ids that name their files. An id is never given twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twinlog.cluster.kinds.base import Kind
from twinlog.cluster.kinds.keyed import KeyedKind, keyed_kind
from twinlog.cluster.kinds.vhosts import VhostDeleted, vhost_is_gone
from twinlog.cluster.record import Record


class QueueDeclared(Record, frozen=True, array_like=True, tag="queue.declared/1"):
    """``arguments`` is an AMQP field table in wire form, types and all."""

    queue_id: int
    vhost: str
    name: str
    kind: str
    auto_delete: bool
    arguments: bytes


class QueueDeleted(Record, frozen=True, array_like=True, tag="queue.deleted/1"):
    """Takes the bindings to it along."""

    vhost: str
    name: str


class QueueIdsSpent(Record, frozen=True, array_like=True, tag="queue.ids_spent/1"):
    """Every id below ``id_next`` is spent. Only snapshots hold it: a declared queue says the same."""

    id_next: int


class QueueIdsEdit:
    def __init__(self, part: int) -> None:
        self.id_next = part

    def apply(self, record: Record) -> None:
        if isinstance(record, QueueDeclared):
            self.id_next = max(self.id_next, record.queue_id + 1)
        else:
            assert isinstance(record, QueueIdsSpent)
            self.id_next = max(self.id_next, record.id_next)

    def finish(self) -> tuple[int, None]:
        return self.id_next, None


def dump_ids(part: int) -> Iterator[Record]:
    if part > 1:
        yield QueueIdsSpent(part)


QUEUES: Final[KeyedKind[tuple[str, str], QueueDeclared]] = keyed_kind(
    "queues",
    put=QueueDeclared,
    deleted=QueueDeleted,
    key=lambda record: (record.vhost, record.name),
    takers={VhostDeleted: vhost_is_gone},
)
QUEUE_IDS: Final[Kind[int, None]] = Kind(
    "queue_ids",
    records=(QueueIdsSpent,),
    reads=(QueueDeclared,),
    empty=1,
    unchanged=None,
    edit=QueueIdsEdit,
    dump=dump_ids,
)
