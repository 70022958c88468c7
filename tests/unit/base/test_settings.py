"""A setting is declared once and refuses what it cannot take, in words that help."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from twinlog.base.settings import BadSetting, Setting, setting, settings_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Oven:
    heat_celsius: int = setting(180, unit="celsius", min=50, max=250, live=True, doc="How hot it is.")
    fan: bool = setting(False, doc="Moves the air.")
    mode: str = setting("top", choices=("top", "bottom"), doc="Where the heat comes from.")
    share: float = setting(0.5, min=0, max=1, doc="Of the full power.")
    trays: tuple[str, ...] = setting(("upper",), doc="What is inside.")
    door: str = setting("", secret=True, doc="The key.")
    baked_total: int = 0


OVEN: dict[str, Setting] = {declared.name: declared for declared in settings_of(Oven)}


def test_only_declared_fields_are_settings_in_their_order() -> None:
    assert list(OVEN) == ["heat_celsius", "fan", "mode", "share", "trays", "door"]
    assert Oven().heat_celsius == 180
    assert OVEN["heat_celsius"].live
    assert not OVEN["fan"].live


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("heat_celsius", "200", 200),
        ("heat_celsius", " 1_00 ", 100),
        ("fan", "TRUE", True),
        ("mode", "bottom", "bottom"),
        ("share", "1", 1.0),
        ("trays", "a, b,", ("a", "b")),
    ],
)
def test_texts_become_values(name: str, text: str, value: object) -> None:
    assert OVEN[name].read(text) == value
    assert type(OVEN[name].read(text)) is type(value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("heat_celsius", text) for text in ("49", "251", "warm", "")),
        *(("share", text) for text in ("nan", "1.1")),
        ("fan", "yes"),
        ("mode", "side"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(name: str, text: str) -> None:
    with pytest.raises(BadSetting, match="it must be"):
        OVEN[name].read(text)


def test_the_refusal_names_the_range_with_its_unit() -> None:
    with pytest.raises(BadSetting, match=r"'9' will not do; it must be a whole number from 50 to 250 celsius"):
        OVEN["heat_celsius"].read("9")


@pytest.mark.parametrize(
    ("name", "value"), [("heat_celsius", True), ("heat_celsius", 100.0), ("fan", 1), ("trays", [1]), ("mode", 3)]
)
def test_values_of_another_type_are_refused(name: str, value: object) -> None:
    with pytest.raises(BadSetting):
        OVEN[name].check(value)


def test_a_secret_is_neither_shown_nor_repeated() -> None:
    assert OVEN["door"].show("swordfish") == "(set)"
    with pytest.raises(BadSetting) as caught:
        OVEN["door"].check(7)
    assert "7" not in str(caught.value)
