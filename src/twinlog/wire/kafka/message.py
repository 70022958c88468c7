"""What every Kafka message class has: equality, a readable form, and the layout the kernel reads.

One class stands for all versions of a message. A field that a version lacks has its default after decoding, and must
have it (or be marked as one that may be dropped) when encoding.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, Protocol, TypeAlias

ZERO_UUID: Final = bytes(16)
NEVER: Final = 32767
# Stands for "a new list" or "a new struct" where a default cannot be shared. The kernel knows it too.
FRESH: Any = ()

# name, type, class of a struct, first and last version, first and last version in which null is allowed, tag (-1 none),
# may be dropped from a version that lacks it, default
LayoutRow: TypeAlias = tuple[str, str, "type[Struct] | None", int, int, int, int, int, bool, Any]


class Spliced(Protocol):
    """Records that never pass through the codec: they know their size, and the socket's writer sends them."""

    @property
    def size(self) -> int: ...


# Decoding gives (offset, size) within the buffer; encoding takes bytes, None, or something to splice in.
Records: TypeAlias = "bytes | bytearray | memoryview | tuple[int, int] | Spliced | None"


class Struct:
    """A part of a message. Compared by value, hence not hashable."""

    __slots__ = ()
    LAYOUT: ClassVar[tuple[LayoutRow, ...]] = ()
    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, row[0]) == getattr(other, row[0]) for row in self.LAYOUT)

    def __repr__(self) -> str:
        """Only the fields that differ from their default, so that a log line stays readable."""
        shown = []
        for row in self.LAYOUT:
            value = getattr(self, row[0])
            if value != row[9] and not (row[9] == FRESH and value == []):
                shown.append(f"{row[0]}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


class Message(Struct):
    """A whole request, response, record key, record value or piece of embedded data."""

    __slots__ = ()
    KEY: ClassVar[int] = -1
    VERSIONS: ClassVar[tuple[int, int]]
    FLEXIBLE_FROM: ClassVar[int]
