"""Bugs that we plant to see whether the trials find them.

A planted bug is a small sabotage of the production code, done by patching while a trial runs; the production code has
no hook for it. A campaign that cannot find them proves nothing by finding no others. To add one: a function that
takes a ``Patch`` and replaces what is to be wrong, and a line in its room's table.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from twinlog.sim.planted import groups, log, queues, streams, tables, transactions
from twinlog.sim.planted.patch import Bug, Patch

ROOMS: Final = (log, tables, queues, groups, transactions, streams)
BUGS: Final[dict[str, Bug]] = {bug.name: bug for room in ROOMS for bug in room.BUGS}


@contextmanager
def planted_bug(name: str) -> Iterator[None]:
    """Nothing is planted when the name is empty."""
    if not name:
        yield
        return
    patch = Patch()
    try:
        BUGS[name].plant(patch)
        yield
    finally:
        patch.undo()
