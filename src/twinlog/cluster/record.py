"""What the metadata log stores: records, and the entries that hold them.

A record is a msgspec struct written as a MessagePack array whose first item is its tag,
``<kind>.<what>/<version>``. An entry is everything one proposal changes; it is one checksummed frame
on disk, so it counts whole or not at all. Both are described in ``docs/formats/metadata-log.md``.

A stored shape never changes. A new need is a new version beside the old one, and old versions stay
readable for as long as a log may hold them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from twinlog.base import HostFault

ENTRY_FORMAT: Final = 1


class Record(msgspec.Struct, frozen=True, array_like=True):
    """The root of every stored record; subclasses give ``tag="name/version"``."""


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """One proposal: its place in the log, when it was written (for people), and its records.

    ``term`` is 0 in a cluster of one; replicated metadata will number its leaders with it.
    """

    format: int
    offset: int
    term: int
    written_at_ms: int
    records: tuple[Any, ...]


class UnknownRecord(HostFault):
    """The log holds what this release cannot read: the node must not start on half of its metadata."""


def tag_of(record_type: type[Record]) -> str:
    tag = record_type.__struct_config__.tag
    assert isinstance(tag, str) and "/" in tag, record_type
    return tag


class RecordCodec:
    """Turns entries into bytes and back, for a given set of record types."""

    def __init__(self, record_types: Sequence[type[Record]]) -> None:
        self.types: Final = {tag_of(each): each for each in record_types}
        assert len(self.types) == len(record_types), "two records share a tag"
        self._encoder: Final = msgspec.msgpack.Encoder()
        # The records stay raw at first: a strange tag then gets an error that names it.
        self._raw: Final = msgspec.msgpack.Decoder(tuple[int, int, int, int, tuple[msgspec.Raw, ...]])
        union: Any = record_types[0]
        for each in record_types[1:]:
            union = union | each
        self._record: Final = msgspec.msgpack.Decoder(union)
        self._anything: Final = msgspec.msgpack.Decoder()

    def encode(self, entry: Entry) -> bytes:
        return self._encoder.encode(entry)

    def decode(self, payload: bytes | memoryview) -> Entry:
        try:
            head = self._anything.decode(payload)
            if isinstance(head, list) and head and head[0] != ENTRY_FORMAT:
                raise UnknownRecord(
                    "metadata log", f"entry format {head[0]!r} is not known to this release (it reads {ENTRY_FORMAT})"
                )
            entry_format, offset, term, written_at_ms, raw_records = self._raw.decode(payload)
            records = tuple(self._decode_record(each, offset) for each in raw_records)
        except msgspec.MsgspecError as error:
            raise UnknownRecord("metadata log", f"an entry cannot be read: {error}") from error
        return Entry(entry_format, offset, term, written_at_ms, records)

    def _decode_record(self, raw: msgspec.Raw, offset: int) -> Record:
        try:
            record: Record = self._record.decode(raw)
        except msgspec.ValidationError as error:
            raise UnknownRecord("metadata log", self._explain(raw, offset, error)) from error
        return record

    def _explain(self, raw: msgspec.Raw, offset: int, error: Exception) -> str:
        items = self._anything.decode(raw)
        tag = items[0] if isinstance(items, list) and items else None
        where = f"entry {offset} holds"
        if not isinstance(tag, str) or tag in self.types:
            return f"{where} a record that cannot be read: {error}"
        name, _, version = tag.rpartition("/")
        known = sorted(other for other in self.types if other.rpartition("/")[0] == name)
        if known:
            return (
                f"{where} version {version} of {name!r}; this release reads {', '.join(known)}. Start the newer release"
            )
        return f"{where} a record of the unknown kind {tag!r}. Start the release that wrote it"
