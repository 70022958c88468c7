"""Topics as subscriptions see them: names, ids, partition counts, and regular expressions over names.

Expressions are matched by RE2, whose time grows with the length of the name and never with the cleverness of the
expression. An expression's matches are remembered until topics change.
"""

from __future__ import annotations

from typing import Any, Final

import re2  # type: ignore[import-untyped]

from twinlog.base import Refused
from twinlog.cluster import Delta, Image
from twinlog.wire.kafka.errors import ErrorCode

PATTERN_LENGTH_MAX: Final = 1_000
PATTERNS_KEPT_MAX: Final = 1_000
PROGRAM_BYTES_MAX: Final = 1 << 20


class ImageTopics:
    """``TopicView`` over the metadata image. ``follow`` keeps it current."""

    def __init__(self) -> None:
        self.version = 0
        self._image: Image | None = None
        self._matching: dict[str, frozenset[str]] = {}

    def follow(self, image: Image, delta: Delta) -> None:
        """Listener of the metadata log."""
        self._image = image
        if delta.topics.created or delta.topics.changed or delta.topics.deleted:
            self.version += 1
            self._matching.clear()

    def find(self, name: str) -> tuple[bytes, int] | None:
        topic = self._image.topics_by_name.get(name) if self._image is not None else None
        return (topic.topic_id, len(topic.partitions)) if topic is not None else None

    def name_of(self, topic_id: bytes) -> str | None:
        topic = self._image.topics_by_id.get(topic_id) if self._image is not None else None
        return topic.name if topic is not None else None

    def matching(self, pattern: str) -> frozenset[str]:
        known = self._matching.get(pattern)
        if known is None:
            compiled = compile_expression(pattern)
            names = self._image.topics_by_name if self._image is not None else {}
            known = frozenset(name for name in names if compiled.fullmatch(name))
            if len(self._matching) >= PATTERNS_KEPT_MAX:
                self._matching.clear()
            self._matching[pattern] = known
        return known


def compile_expression(pattern: str) -> Any:
    """An expression of RE2; its ``fullmatch`` takes time in proportion to the text."""
    if len(pattern) > PATTERN_LENGTH_MAX:
        raise Refused(ErrorCode.INVALID_REGULAR_EXPRESSION, f"an expression may have {PATTERN_LENGTH_MAX} characters")
    options = re2.Options()
    options.max_mem = PROGRAM_BYTES_MAX
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeError) as wrong:
        raise Refused(ErrorCode.INVALID_REGULAR_EXPRESSION, f"not a regular expression of RE2: {wrong}") from None
