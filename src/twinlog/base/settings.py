"""How a room declares its settings: once, with unit, bounds and a sentence.

A group of settings is a frozen dataclass in the room that obeys it::

    @dataclass(frozen=True, slots=True, kw_only=True)
    class FlusherSettings:
        flush_interval_ms: int = setting(
            1000, unit="ms", min=1, max=60_000, live=True, doc="Data that nobody waits for is synced within this time."
        )

``app.settings`` fills the groups from defaults, file, environment and command line, checks the bounds and
writes the reference page. A dataclass made by hand (in a test) is not checked, so that tests can go below
the smallest value that makes sense in service.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeVar, get_type_hints

T = TypeVar("T")

KEY: Final = "twinlog.setting"
TYPES: Final = (bool, int, float, str, tuple[str, ...])


class BadSetting(ValueError):
    """A value that a setting cannot take; the text says which values it can."""


@dataclass(frozen=True, slots=True)
class Form:
    """What a value must look like beyond its type: in words ("HOST:PORT, or off"), and as a check."""

    says: str
    fits: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as people read about it. ``min`` and ``max`` are allowed values themselves."""

    name: str
    type: type
    default: Any
    doc: str
    unit: str
    min: int | float | None
    max: int | float | None
    choices: tuple[str, ...]
    live: bool
    secret: bool
    form: Form | None

    @property
    def type_name(self) -> str:
        if self.type in TYPES[:4]:
            return {bool: "true or false", int: "whole number", float: "number", str: "text"}[self.type]
        return "list of texts"

    @property
    def allowed(self) -> str:
        """The values this setting takes, as the end of the sentence "it must be ..."."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if self.form:
            return self.form.says
        unit = f" {self.unit}" if self.unit else ""
        if self.min is not None and self.max is not None:
            return f"a {self.type_name} from {self.min} to {self.max}{unit}"
        if self.min is not None:
            return f"a {self.type_name} of at least {self.min}{unit}"
        if self.max is not None:
            return f"a {self.type_name} of at most {self.max}{unit}"
        return f"{'a ' if self.type_name != 'true or false' else ''}{self.type_name}{unit}"

    def read(self, text: str) -> Any:
        """The value that a text from the environment or the command line stands for."""
        if self.type is bool:
            word = text.strip().lower()
            if word not in ("true", "false"):
                raise self._bad(text)
            return self.check(word == "true")
        if self.type in (int, float):
            try:
                return self.check(self.type(text.strip().replace("_", "")))
            except (ValueError, OverflowError):
                raise self._bad(text) from None
        if self.type is str:
            return self.check(text)
        return self.check(tuple(part.strip() for part in text.split(",") if part.strip()))

    def check(self, value: Any) -> Any:
        """The value in the declared type, or ``BadSetting``."""
        if self.type is float and type(value) is int:
            value = float(value)
        if self.type not in TYPES[:4]:
            if isinstance(value, str):
                value = (value,)
            if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
                raise self._bad(value)
            value = tuple(value)
            if self.form and not self.form.fits(value):
                raise self._bad(value)
            return value
        if type(value) is not self.type:
            raise self._bad(value)
        if self.choices and value not in self.choices:
            raise self._bad(value)
        if self.form and not self.form.fits(value):
            raise self._bad(value)
        if isinstance(value, (int, float)) and not self._in_bounds(value):
            raise self._bad(value)
        return value

    def _in_bounds(self, value: float) -> bool:
        # Written so that NaN, which compares with nothing, is out of bounds.
        return (self.min is None or value >= self.min) and (self.max is None or value <= self.max)

    def show(self, value: Any) -> str:
        """The value as ``config show`` and the reference page print it."""
        if self.secret and value:
            return "(set)"
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, tuple):
            return ",".join(value)
        return str(value)

    def _bad(self, value: Any) -> BadSetting:
        shown = "that value" if self.secret else repr(value)
        return BadSetting(f"{shown} will not do; it must be {self.allowed}")


def setting(
    default: T,
    *,
    doc: str,
    unit: str = "",
    min: int | float | None = None,
    max: int | float | None = None,
    choices: tuple[str, ...] = (),
    live: bool = False,
    secret: bool = False,
    form: Form | None = None,
) -> T:
    """Declares a field of a settings dataclass. ``live``: a change counts without a restart."""
    bounds = {"min": min, "max": max, "choices": choices, "form": form}
    return dataclasses.field(
        default=default, metadata={KEY: {"doc": doc, "unit": unit, "live": live, "secret": secret, **bounds}}
    )


def settings_of(group: type) -> Iterator[Setting]:
    """The settings a dataclass declares, in its order. Fields without ``setting`` are not for users."""
    types = get_type_hints(group)
    for field in dataclasses.fields(group):
        if KEY in field.metadata:
            declared = types[field.name]
            assert declared in TYPES, f"{group.__name__}.{field.name}: {declared} is no type for a setting"
            yield Setting(name=field.name, type=declared, default=field.default, **field.metadata[KEY])
