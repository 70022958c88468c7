"""What clients sent, were told and read, and every contradiction in it.

Each value is written once, so that a value names the send it came from. A send is **unknown** until somebody
answered it: it may be in the log or not. The names of contradictions are Jepsen's where it has one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

Place: TypeAlias = tuple[str, int]

UNKNOWN: Final = "unknown"
CONFIRMED: Final = "confirmed"
KEPT: Final = "kept"  # confirmed by somebody who does not say where it is

STRICT: Final = "strict"  # written with acks=all only: whatever was read or confirmed once stays
TABLE: Final = "table"  # strict, and compacted: a value may go once a newer one of its key is there
RELAXED: Final = "relaxed"  # some writers do not wait for the disk: a power cut may take what they wrote


class Broken(AssertionError):
    """A promise was broken: ``kind`` says which, the text how."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(kind, text)
        self.kind = kind
        self.text = text

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


class Sent:
    """One record on its way."""

    __slots__ = ("acks", "key", "losses", "offset", "order", "place", "state", "value", "writer")

    def __init__(
        self, value: bytes, place: Place, writer: str, order: int, acks: int, key: bytes | None = None
    ) -> None:
        self.key = key
        self.value = value
        self.place = place
        self.writer = writer
        self.order = order
        self.acks = acks
        self.state = UNKNOWN
        self.offset = -1
        self.losses = 0  # how often the disk had lost something when it was confirmed


class History:
    """``losses`` tells how often the disk may have lost what was not synced; relaxed places may change then."""

    def __init__(self, losses: Callable[[], int]) -> None:
        self._losses = losses
        self.kinds: dict[str, str] = {}  # topic -> STRICT or RELAXED
        self.partitions: dict[str, int] = {}
        self.sent: dict[bytes, Sent] = {}
        self.seen: dict[Place, dict[int, bytes]] = {}
        self.place_of: dict[bytes, tuple[Place, int]] = {}  # where a value was read
        self.confirmed_end: dict[Place, int] = {}
        self.trim_asked: dict[Place, int] = {}  # records below may be gone
        self.trim_done: dict[Place, int] = {}  # records below are gone
        self.damaged: dict[Place, None] = {}
        self._losses_seen: dict[Place, int] = {}
        self.confirmed = 0
        self.read = 0

    def is_strict(self, place: Place) -> bool:
        return self.kinds[place[0]] in (STRICT, TABLE)

    def is_table(self, place: Place) -> bool:
        return self.kinds[place[0]] == TABLE

    def places(self) -> list[Place]:
        return [(topic, index) for topic, count in self.partitions.items() for index in range(count)]

    # Writing.

    def note_sent(self, sent: Sent) -> None:
        assert sent.value not in self.sent, f"{sent.value!r} is not unique"
        self.sent[sent.value] = sent

    def note_confirmed(self, sent: Sent, offset: int) -> None:
        """``offset`` -1: not told (acks=0)."""
        if sent.state == CONFIRMED:
            return
        sent.state = CONFIRMED
        sent.offset = offset
        sent.losses = self._losses()
        self.confirmed += 1
        if sent.acks == -1:
            if offset < 0:
                raise Broken("spurious offset", f"{sent.value!r} was confirmed at offset {offset}")
            self.confirmed_end[sent.place] = max(self.confirmed_end.get(sent.place, 0), offset + 1)
        place, read_at = self.place_of.get(sent.value, (sent.place, offset))
        if offset >= 0 and (place, read_at) != (sent.place, offset):
            raise Broken("spurious offset", f"{sent.value!r} was confirmed at {offset} and read at {place} {read_at}")

    def note_kept(self, sent: Sent) -> None:
        """AMQP's confirm: it is in the log, wherever."""
        sent.state = KEPT
        self.confirmed += 1

    def kept_end(self, place: Place) -> int:
        """Behind the last kept value that somebody has read."""
        found = (self.place_of.get(sent.value) for sent in self.sent.values() if sent.state == KEPT)
        return max((offset + 1 for at, offset in filter(None, found) if at == place), default=0)

    # Reading.

    def note_read(self, reader: str, place: Place, offset: int, value: bytes) -> None:
        self.read += 1
        seen = self._seen(place)
        before = seen.get(offset)
        if before is not None:
            if before != value:
                raise Broken("inconsistent offset", f"{reader}: {place} {offset} held {before!r}, now {value!r}")
            return
        sent = self.sent.get(value)
        if sent is None:
            raise Broken("garbage", f"{reader}: {place} {offset} holds {value!r}, which nobody sent")
        if sent.place != place:
            raise Broken("misplaced", f"{reader}: {value!r} went to {sent.place} and was read at {place} {offset}")
        if value in self.place_of:
            raise Broken("duplicate", f"{reader}: {value!r} is at {self.place_of[value][1]} and at {offset} of {place}")
        if sent.offset >= 0 and sent.offset != offset and sent.losses == self._losses():
            raise Broken("spurious offset", f"{reader}: {value!r} was confirmed at {sent.offset}, read at {offset}")
        seen[offset] = value
        self.place_of[value] = (place, offset)

    def _seen(self, place: Place) -> dict[int, bytes]:
        seen = self.seen.get(place)
        if seen is None:
            seen = self.seen[place] = {}
        losses = self._losses()
        if self._losses_seen.get(place) != losses:
            self._losses_seen[place] = losses
            if not self.is_strict(place):
                for value in seen.values():
                    del self.place_of[value]
                seen.clear()
        return seen

    def check_end(self, reader: str, place: Place, end: int, end_before: int) -> None:
        """A reader was told the end of what it may see. ``end_before``: what was confirmed when it asked."""
        if end < end_before and self.is_strict(place):
            raise Broken("high watermark behind", f"{reader}: {place} ends at {end}, {end_before} was confirmed before")

    # Judging the whole, after everything was read from the start.

    def judge(self, held: dict[Place, dict[int, bytes]]) -> None:
        """``held``: the final content of every place that can be read."""
        for place, content in held.items():
            self._judge_place(place, content)
        writers: dict[tuple[str, Place], list[tuple[int, int]]] = {}
        for sent in self.sent.values():
            if sent.place not in held:
                continue
            self._judge_sent(sent, held[sent.place])
            found = self.place_of.get(sent.value)
            if found is not None:
                writers.setdefault((sent.writer, sent.place), []).append((sent.order, found[1]))
        for (writer, place), order in writers.items():
            offsets = [offset for _, offset in sorted(order)]
            if offsets != sorted(offsets):
                raise Broken("nonmonotonic send", f"{writer} in {place}: {offsets}")

    def _newest(self, content: dict[int, bytes]) -> dict[bytes | None, int]:
        """The last offset of every key."""
        return {self.sent[value].key: offset for offset, value in sorted(content.items())}

    def _judge_table(self, place: Place, content: dict[int, bytes]) -> None:
        newest = self._newest(content)
        for offset, value in self._seen(place).items():
            if content.get(offset) != value and newest.get(self.sent[value].key, -1) <= offset:
                raise Broken("read and gone", f"{place} {offset} held {value!r}, and nothing newer of its key is there")

    def _judge_place(self, place: Place, content: dict[int, bytes]) -> None:
        if self.is_table(place):
            self._judge_table(place, content)
            return
        start = min(content, default=self.confirmed_end.get(place, 0))
        asked, done = self.trim_asked.get(place, 0), self.trim_done.get(place, 0)
        if content and not done <= start <= asked:
            kind = "undeleted" if start < done else "lost write"
            raise Broken(kind, f"{place} begins at {start}; {asked} was asked for, {done} was confirmed")
        if sorted(content) != list(range(start, start + len(content))):
            raise Broken("hole", f"{place} holds offsets {sorted(content)}")
        if self.is_strict(place):
            for offset, value in self._seen(place).items():
                if offset >= start and content.get(offset) != value:
                    raise Broken("read and gone", f"{place} {offset} held {value!r}, now {content.get(offset)!r}")

    def _judge_sent(self, sent: Sent, content: dict[int, bytes]) -> None:
        if sent.state == KEPT and sent.value not in self.place_of:
            raise Broken("lost write", f"{sent.value!r} was confirmed, and is nowhere in {sent.place}")
        if self.is_table(sent.place):
            self._judge_row(sent, content)
            return
        if sent.state != CONFIRMED or sent.offset < 0 or sent.offset < min(content, default=sent.offset):
            return
        if sent.acks != -1 and sent.losses != self._losses():
            return  # nobody promised it to survive that
        if sent.offset < self.trim_asked.get(sent.place, 0):
            return
        if content.get(sent.offset) != sent.value:
            kind = "lost write" if any(offset > sent.offset for offset in content) else "unseen"
            raise Broken(
                kind, f"{sent.value!r} was confirmed at {sent.place} {sent.offset}: {content.get(sent.offset)!r}"
            )

    def _judge_row(self, sent: Sent, content: dict[int, bytes]) -> None:
        if sent.state != CONFIRMED or content.get(sent.offset) == sent.value:
            return
        if self._newest(content).get(sent.key, -1) <= sent.offset:
            raise Broken(
                "lost write",
                f"{sent.value!r} was confirmed at {sent.place} {sent.offset}, and nothing newer of its key is there",
            )
