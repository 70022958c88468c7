"""Progress is drawn for people who look, of work that takes long; a document is imported piece by piece."""

from __future__ import annotations

import io

import pytest

from twinlog.cli import progress
from twinlog.cli.nouns.definitions import ITEMS_A_REQUEST, parts
from twinlog.cli.progress import Bar


class Terminal(io.StringIO):
    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


def drawn(monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool = True, after_s: float = 0, wanted: bool = True) -> str:
    terminal = Terminal(is_terminal)
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(progress, "DRAWN_AFTER_S", after_s)
    monkeypatch.setenv("TERM", "xterm")
    with Bar("moving", total=500, wanted=wanted) as bar:
        bar.advance(100)
        bar.advance(150)
    return terminal.getvalue()


def test_long_work_is_drawn_with_its_name_and_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = drawn(monkeypatch, after_s=-1)
    assert "moving" in seen
    assert "250/500" in seen


@pytest.mark.parametrize("how", [{"is_terminal": False}, {"after_s": 3600}, {"wanted": False}])
def test_programs_short_work_and_the_quiet_get_nothing(monkeypatch: pytest.MonkeyPatch, how: dict[str, object]) -> None:
    assert drawn(monkeypatch, **{"after_s": -1, **how}) == ""  # type: ignore[arg-type]


def test_a_document_goes_in_pieces_in_the_order_in_which_things_need_one_another() -> None:
    queues = [{"name": f"q{number}"} for number in range(ITEMS_A_REQUEST + 5)]
    document = {"bindings": [{"source": "e"}], "queues": queues, "users": [], "version": "4", "exchanges": []}
    pieces = list(parts(document))
    assert [list(piece) for piece in pieces] == [["users", "version"], ["queues"], ["queues"], ["bindings"]]
    assert [each for piece in pieces for each in piece.get("queues", [])] == queues
