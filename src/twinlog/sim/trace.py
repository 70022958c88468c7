"""What happened, as one digest: two runs of one seed must agree to the last event."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b

from twinlog.sim.loop import SimLoop


class Trace:
    """Every event goes into the digest; with ``keep`` also into ``events``, to find where two runs part."""

    def __init__(self, loop: SimLoop, *, keep: bool = False) -> None:
        self._loop = loop
        self._hash = blake2b(digest_size=16)
        self._keep = keep
        self.events: list[str] = []
        self.marks: Counter[str] = Counter()

    def note(self, *fields: object) -> None:
        """Fields must print the same in every process: numbers and names, never addresses."""
        event = f"{self._loop.now_us} {fields}"
        self._hash.update(event.encode())
        if self._keep:
            self.events.append(event)

    def mark(self, name: str) -> None:
        """A rare state was reached. A campaign of seeds can ask which marks it never saw."""
        self.marks[name] += 1
        self.note("mark", name)

    def digest(self) -> str:
        return self._hash.hexdigest()
