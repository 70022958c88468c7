"""What is asked of the controller, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from twinlog.base import Refused
from twinlog.cluster.kinds.quotas import Entity
from twinlog.cluster.record import Record

T = TypeVar("T")

# Asked for each topic whose partitions could be made or deleted, with their number; raises ``Refused`` to forbid it.
Permit: TypeAlias = Callable[[int], None]
Outcome: TypeAlias = T | Refused  # of one item of a request; items never fail each other


def no_limit(partition_count: int) -> None:
    """The permit of who has no quota."""


@dataclass(frozen=True, slots=True)
class TopicWanted:
    """``assignments`` gives replicas by partition; -1 and None mean "as is usual here"."""

    name: str
    partition_count: int = -1
    replication_factor: int = -1
    assignments: Mapping[int, Sequence[int]] | None = None
    configs: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PartitionsWanted:
    """``count`` is the number of partitions afterwards; ``assignments`` holds replicas of the new ones, in order."""

    name: str
    count: int
    assignments: Sequence[Sequence[int]] | None = None


class QuotaWanted(NamedTuple):
    """Quotas of one entity, to be set and removed by name."""

    entity: Entity
    set: Mapping[str, float]
    removed: tuple[str, ...] = ()


class ConfigOperation(IntEnum):
    """Kafka's numbers."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class ConfigOp(NamedTuple):
    name: str
    operation: int
    value: str | None


@dataclass(frozen=True, slots=True)
class ConfigsWanted:
    """Changes to one resource. ``replace`` forgets every value that is not among the operations."""

    kind: str
    name: str
    operations: Sequence[ConfigOp]
    replace: bool = False


@dataclass(frozen=True, slots=True)
class Decision(Generic[T]):
    """Records to write, and what each item of the request will hear once they are durable."""

    records: list[Record]
    outcomes: list[Outcome[T]]


class ProducerIdBlock(NamedTuple):
    start: int
    size: int
