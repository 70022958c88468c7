"""What lives as long as the Python worker, which Spark uses for many tasks: connections, and the worker's own order."""

from __future__ import annotations

import gc
import os
from typing import Final

from pyspark_twinlog.door import SparkDoor
from pyspark_twinlog.options import Cluster
from twinlog import _kernel
from twinlog.client import Client

_kept: Final[dict[tuple[int, Cluster, str], Client]] = {}
KEPT_MAX: Final = 16
_tidied: Final[set[int]] = set()


def tidy_worker() -> None:
    """Once a worker: takes what was imported out of the garbage collector's sight, and keeps memory for the next block.
    Spark collects all garbage after each task, which otherwise looks at some hundred thousand objects, for 50 to
    100 ms, while the next task waits."""
    if os.getpid() not in _tidied:
        _tidied.add(os.getpid())
        _kernel.set_malloc_thresholds()
        gc.collect()
        gc.freeze()


def client_of(cluster: Cluster, purpose: str) -> Client:
    """A client for one purpose at a time. A forked worker makes its own: sockets must not be shared with its parent."""
    place = (os.getpid(), cluster, purpose)
    found = _kept.get(place)
    if found is None:
        while len(_kept) >= KEPT_MAX:
            _kept.pop(next(iter(_kept))).close()
        door = SparkDoor(cluster.context())
        found = Client(cluster.bootstrap, door, client_id=cluster.client_id, timeout_ms=cluster.timeout_ms)
        _kept[place] = found
    return found
