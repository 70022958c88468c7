"""Topic exchanges: keys are words between dots; ``*`` in a binding is one word, ``#`` any number of them.

Patterns lie in a trie, and a key walks it along all fitting branches at once. A branch is visited once a word however
many ways lead there, so that no set of patterns makes a match cost more than words times patterns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from twinlog.amqp.routing.matcher import Edges
from twinlog.wire.amqp import Properties

if TYPE_CHECKING:
    from twinlog.amqp.routing.graph import Edge

ONE: Final = "*"
ANY: Final = "#"


class _Branch:
    """A place in the trie; ``edges`` belong to the patterns that end here."""

    __slots__ = ("any_words", "edges", "one_word", "words")

    def __init__(self) -> None:
        self.words: dict[str, _Branch] = {}
        self.one_word: _Branch | None = None
        self.any_words: _Branch | None = None
        self.edges: Edges = {}

    @property
    def is_bare(self) -> bool:
        return not (self.edges or self.words or self.one_word or self.any_words)

    def child(self, word: str) -> _Branch | None:
        if word == ONE:
            return self.one_word
        return self.any_words if word == ANY else self.words.get(word)

    def grow(self, word: str) -> _Branch:
        child = self.child(word)
        if child is None:
            child = _Branch()
            self._set(word, child)
        return child

    def cut(self, word: str) -> None:
        if word in (ONE, ANY):
            self._set(word, None)
        else:
            del self.words[word]

    def _set(self, word: str, child: _Branch | None) -> None:
        if word == ONE:
            self.one_word = child
        elif word == ANY:
            self.any_words = child
        elif child is not None:
            self.words[word] = child


def words_of(key: str) -> list[str]:
    """The empty key has no words; a dot at the end makes an empty last word."""
    return key.split(".") if key else []


class TopicMatcher:
    def __init__(self) -> None:
        self.reads_properties: Final = False
        self._root = _Branch()

    def add(self, edge: Edge) -> None:
        branch = self._root
        for word in words_of(edge.binding.key):
            branch = branch.grow(word)
        branch.edges[edge] = None

    def remove(self, edge: Edge) -> None:
        path: list[tuple[_Branch, str]] = []
        branch = self._root
        for word in words_of(edge.binding.key):
            path.append((branch, word))
            child = branch.child(word)
            assert child is not None, edge.binding
            branch = child
        del branch.edges[edge]
        for parent, word in reversed(path):
            child = parent.child(word)
            assert child is not None
            if not child.is_bare:
                break
            parent.cut(word)

    def match(self, key: str, properties: Properties | None) -> Iterable[Edge]:
        # A map from branch to whether it is a ``#``, which may swallow any number of words and stays.
        here: dict[_Branch, bool] = {}
        _reach(self._root, False, here)
        for word in words_of(key):
            there: dict[_Branch, bool] = {}
            for branch, stays in here.items():
                child = branch.words.get(word)
                if child is not None:
                    _reach(child, False, there)
                if branch.one_word is not None:
                    _reach(branch.one_word, False, there)
                if stays:
                    _reach(branch, True, there)
            here = there
            if not here:
                return ()
        matched: Edges = {}
        for branch in here:
            matched.update(branch.edges)
        return matched


def _reach(branch: _Branch, stays: bool, reached: dict[_Branch, bool]) -> None:
    """Puts ``branch`` among those reached, and each ``#`` behind it, which also stands for no word at all."""
    step: _Branch | None = branch
    while step is not None and step not in reached:
        reached[step] = stays
        step, stays = step.any_words, True
