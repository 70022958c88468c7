"""What every AMQP method class has: equality, a readable form, and its arguments in wire order."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final, TypeAlias

Table: TypeAlias = Mapping[str, Any]
NO_TABLE: Final[Table] = MappingProxyType({})


class Method:
    """One AMQP method. Compared by value, hence not hashable."""

    __slots__ = ()
    CLASS_ID: ClassVar[int]
    METHOD_ID: ClassVar[int]
    IS_SYNC: ClassVar[bool]
    ARGUMENTS: ClassVar[tuple[tuple[str, str], ...]]
    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name, _ in self.ARGUMENTS if name != "reserved")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name, _ in self.ARGUMENTS if name != "reserved")
        return f"{type(self).__name__}({shown})"
