"""Connections that live as long as the Python worker: Spark uses a worker for many tasks."""

from __future__ import annotations

import os
from typing import Final

from pyspark_twinlog.door import SparkDoor
from pyspark_twinlog.options import Cluster
from twinlog.client import Client

_kept: Final[dict[tuple[int, Cluster, str], Client]] = {}
KEPT_MAX: Final = 16


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
