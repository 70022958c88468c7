"""How a Kafka config is declared: name, type, default, allowed values, a sentence, and whether it does anything here.

The tables (``topic_configs``, ``broker_configs``, ``group_configs``) are facts that clients see through
DescribeConfigs, so defaults are texts exactly as they go over the wire, and ``read`` takes what Java's own
parser takes: blanks around numbers, a plus sign, TRUE.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Final, NamedTuple, TypeAlias

Value: TypeAlias = bool | int | float | str | tuple[str, ...]


class ConfigType(IntEnum):
    """The numbers that DescribeConfigs uses."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class Update(Enum):
    """When a broker config can be changed."""

    NEVER = "at start"
    BROKER = "for each broker, while it runs"
    CLUSTER = "for the whole cluster or for one broker, while it runs"


INT_MAX: Final = 2**31 - 1
LONG_MAX: Final = 2**63 - 1
BOUNDS: Final = {
    ConfigType.SHORT: (-(2**15), 2**15 - 1),
    ConfigType.INT: (-(2**31), INT_MAX),
    ConfigType.LONG: (-(2**63), LONG_MAX),
}
# Digits have a limit so that a text of a million of them is refused, not computed.
WHOLE: Final = re.compile(r"[+-]?[0-9]{1,20}", re.ASCII)
DECIMAL: Final = re.compile(r"[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,4})?", re.ASCII)


class Rule(NamedTuple):
    """Which values are allowed: as words for people, and as a test."""

    words: str
    allows: Callable[[Value], bool]


def at_least(low: float) -> Rule:
    return Rule(f"at least {low}", lambda value: isinstance(value, (int, float)) and value >= low)


def between(low: float, high: float) -> Rule:
    return Rule(f"{low} to {high}", lambda value: isinstance(value, (int, float)) and low <= value <= high)


def one_of(*choices: str) -> Rule:
    return Rule(", ".join(choices), lambda value: value in choices)


def some_of(*choices: str) -> Rule:
    return Rule(
        "any of " + ", ".join(choices),
        lambda value: isinstance(value, tuple) and all(item in choices for item in value),
    )


def either(number: int, rule: Rule) -> Rule:
    return Rule(f"{number}, or {rule.words}", lambda value: value == number or rule.allows(value))


def nothing_but(value_allowed: Value) -> Rule:
    """For a switch that exists, because clients read it, but cannot be turned here."""
    shown = str(value_allowed).lower() if isinstance(value_allowed, bool) else str(value_allowed)
    return Rule(f"only {shown}", lambda value: value == value_allowed)


class BadConfig(ValueError):
    """A value that a config cannot take; the text names both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One config. ``synonym`` is the broker config that gives the value when nothing is set on the topic or group;
    ``effect`` says whether this release obeys it, and ``note`` what is to be known about that."""

    name: str
    type: ConfigType
    default: str | None
    doc: str
    rule: Rule | None = None
    synonym: str | None = None
    effect: bool = False
    note: str = ""
    update: Update = Update.CLUSTER
    sensitive: bool = False

    def read(self, text: str) -> Value:
        """The value that ``text`` stands for, or ``BadConfig``."""
        value = self._parse(text)
        if self.rule is not None and not self.rule.allows(value):
            raise self._bad(text, f"allowed is {self.rule.words}")
        return value

    def _parse(self, text: str) -> Value:
        stripped = text.strip()
        if self.type == ConfigType.BOOLEAN:
            if stripped.lower() not in ("true", "false"):
                raise self._bad(text, "it must be true or false")
            return stripped.lower() == "true"
        if self.type in BOUNDS:
            low, high = BOUNDS[self.type]
            if not WHOLE.fullmatch(stripped) or not low <= int(stripped) <= high:
                raise self._bad(text, f"it must be a whole number from {low} to {high}")
            return int(stripped)
        if self.type == ConfigType.DOUBLE:
            if not DECIMAL.fullmatch(stripped):
                raise self._bad(text, "it must be a number")
            return float(stripped)
        if self.type == ConfigType.LIST:
            return tuple(item.strip() for item in text.split(",") if item.strip())
        return text if self.type == ConfigType.PASSWORD else stripped

    def _bad(self, text: str, why: str) -> BadConfig:
        shown = "this value" if self.sensitive else repr(text if len(text) <= 100 else text[:100] + "...")
        return BadConfig(f"config '{self.name}' cannot be {shown}: {why}")


Table: TypeAlias = Mapping[str, Definition]


def table(*definitions: Definition) -> Table:
    made = {each.name: each for each in definitions}
    assert len(made) == len(definitions), "a config is declared twice"
    return made
