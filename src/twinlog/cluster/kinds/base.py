"""What a kind of metadata is: its records, its part of the image, and how records change that part.

Adding a kind (users, vhosts, queues, quotas ...) is one file beside this one and its name in
``kinds/__init__.py``. The file brings record structs, an immutable part, an ``Edit`` that applies records
to a copy of the part, and a ``dump`` that turns a part back into records for snapshots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, Protocol, TypeVar

from twinlog.cluster.record import Record

PartT = TypeVar("PartT")
ChangeT = TypeVar("ChangeT")
PartT_co = TypeVar("PartT_co", covariant=True)
ChangeT_co = TypeVar("ChangeT_co", covariant=True)


class Edit(Protocol[PartT_co, ChangeT_co]):
    """A part opened for change. It copies the part's maps once, however many records follow."""

    def apply(self, record: Record) -> None:
        """Records are facts: applying one cannot fail, and depends on nothing but the part."""

    def finish(self) -> tuple[PartT_co, ChangeT_co]:
        """The new part, and what is different in it."""


class Kind(Generic[PartT, ChangeT]):
    """One kind of metadata. ``reads`` are records of other kinds that it must also follow."""

    __slots__ = ("dump", "edit", "empty", "name", "reads", "records", "unchanged")

    def __init__(
        self,
        name: str,
        *,
        records: tuple[type[Record], ...],
        empty: PartT,
        unchanged: ChangeT,
        edit: Callable[[PartT], Edit[PartT, ChangeT]],
        dump: Callable[[PartT], Iterable[Record]],
        reads: tuple[type[Record], ...] = (),
    ) -> None:
        self.name = name
        self.records = records
        self.reads = reads
        self.empty = empty
        self.unchanged = unchanged
        self.edit = edit
        self.dump = dump

    def __repr__(self) -> str:
        return f"Kind({self.name})"
