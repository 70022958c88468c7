"""Kinds of metadata that are a map from a key to the record that was last put there.

The records themselves are the values, so such a kind is a few lines: what puts, what deletes, what the key is, and
which records of other kinds take values away (a deleted vhost takes all that was in it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Generic, TypeAlias, TypeVar

from twinlog.cluster.kinds.base import Kind
from twinlog.cluster.record import Record

KeyT = TypeVar("KeyT")
RecordT = TypeVar("RecordT", bound=Record)

# Whether a record of another kind takes this key away.
Takes: TypeAlias = Callable[[Any, KeyT], bool]


@dataclass(frozen=True, slots=True)
class KeyedChange(Generic[RecordT]):
    """``put`` holds (before or None, after). What was put and deleted in one step is in neither list."""

    put: tuple[tuple[RecordT | None, RecordT], ...] = ()
    deleted: tuple[RecordT, ...] = ()


class KeyedEdit(Generic[KeyT, RecordT]):
    def __init__(
        self,
        part: Mapping[KeyT, RecordT],
        put: type[RecordT],
        key: Callable[[Any], KeyT],
        takers: Mapping[type[Record], Takes[KeyT]],
    ) -> None:
        self._before = part
        self._after = dict(part)
        self._put = put
        self._key = key
        self._takers = takers
        self._touched: dict[KeyT, None] = {}

    def apply(self, record: Record) -> None:
        if isinstance(record, self._put):
            key = self._key(record)
            self._after[key] = record
            self._touched[key] = None
            return
        takes = self._takers.get(type(record))
        gone = [self._key(record)] if takes is None else [key for key in self._after if takes(record, key)]
        for key in gone:
            if self._after.pop(key, None) is not None:
                self._touched[key] = None

    def finish(self) -> tuple[Mapping[KeyT, RecordT], KeyedChange[RecordT]]:
        put: list[tuple[RecordT | None, RecordT]] = []
        deleted: list[RecordT] = []
        for key in self._touched:
            before, after = self._before.get(key), self._after.get(key)
            if after is not None:
                put.append((before, after))
            elif before is not None:
                deleted.append(before)
        return MappingProxyType(self._after), KeyedChange(tuple(put), tuple(deleted))


KeyedKind: TypeAlias = Kind[Mapping[KeyT, RecordT], KeyedChange[RecordT]]

NOTHING_TAKES: Final[Mapping[type[Record], Any]] = MappingProxyType({})


def keyed_kind(
    name: str,
    *,
    put: type[RecordT],
    deleted: type[Record],
    key: Callable[[Any], KeyT],
    takers: Mapping[type[Record], Takes[KeyT]] = NOTHING_TAKES,
) -> KeyedKind[KeyT, RecordT]:
    """``key`` reads the key of a putting and of a deleting record alike."""

    def edit(part: Mapping[KeyT, RecordT]) -> KeyedEdit[KeyT, RecordT]:
        return KeyedEdit(part, put, key, takers)

    def dump(part: Mapping[KeyT, RecordT]) -> Iterable[Record]:
        return part.values()

    empty: Mapping[KeyT, RecordT] = MappingProxyType({})
    unchanged: KeyedChange[RecordT] = KeyedChange()
    return Kind(
        name, records=(put, deleted), empty=empty, unchanged=unchanged, edit=edit, dump=dump, reads=tuple(takers)
    )
