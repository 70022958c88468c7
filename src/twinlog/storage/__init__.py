"""What is kept: partition logs, the log of our own records, and the group commit that makes them durable.

The room promises that what it called synced is there after any stop, or that it says it is not; that it never
shortens a log below what was durable; and that it deletes nothing because a name is missing. Every byte it writes is
described in ``docs/formats``. It speaks to the machine only through ``twinlog.host``.

- ``LogStore``: all partition logs of a node, over several data directories.
- ``PartitionLog``: one log of record batches, with what is known of its producers, epochs, times and transactions.
- ``Flusher``: one round of syncs at a time for all logs of a directory.
- ``FrameLog``: a log of our own records with snapshots.
"""

from twinlog.storage.directory import DataDirectory
from twinlog.storage.errors import Damaged, WrongDirectory
from twinlog.storage.flusher import Flusher, NeverSmall
from twinlog.storage.frames import FrameLog, Replay
from twinlog.storage.log import PartitionLog
from twinlog.storage.producers import Duplicate, ProducerStates
from twinlog.storage.settings import LogSettings, StorageSettings
from twinlog.storage.store import LogStore
from twinlog.storage.types import (
    AbortedTransaction,
    Batch,
    DirectoryFacts,
    EpochEnd,
    LogFacts,
    LogRead,
    SegmentFacts,
    TimestampFound,
)

__all__ = [
    "AbortedTransaction",
    "Batch",
    "Damaged",
    "DataDirectory",
    "DirectoryFacts",
    "Duplicate",
    "EpochEnd",
    "Flusher",
    "FrameLog",
    "LogFacts",
    "LogRead",
    "LogSettings",
    "LogStore",
    "NeverSmall",
    "PartitionLog",
    "ProducerStates",
    "Replay",
    "SegmentFacts",
    "StorageSettings",
    "TimestampFound",
    "WrongDirectory",
]
