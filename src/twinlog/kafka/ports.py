"""What the meaning of Kafka needs from the floors below, in its own words.

The log itself is ``storage.PartitionLog``: it lies below this room, so no port stands between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

Soon: TypeAlias = Callable[..., object]  # host.Tasks.soon


class Waiter(Protocol):
    """Somebody who waits until what was appended counts. ``waiting`` is raised by one for each wait, and one of
    the two is called once for each."""

    waiting: int

    def stored(self, token: object) -> None: ...
    def failed(self, token: object, code: int) -> None: ...


class Watcher(Protocol):
    """A reader that waits for data. Called once; true keeps it on the list.

    Whoever waits only for what is committed is not told of bytes while transactions are undecided, but called by
    ``on_change`` when the stable offset moved.
    """

    @property
    def waits_for_committed(self) -> bool: ...

    def on_data(self, size_bytes: int) -> bool: ...
    def on_change(self) -> None:
        """The partition moved, was deleted, or failed: look again now."""
