"""What can be set about the store of queues."""

from __future__ import annotations

from dataclasses import dataclass

from twinlog.base.settings import setting
from twinlog.base.units import GIB, KIB, MIB

REFUSE = "refuse"
SKIP = "skip"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStoreSettings:
    """The node's settings."""

    memory_bytes: int = setting(
        64 * MIB,
        unit="bytes",
        min=MIB,
        max=1024 * GIB,
        doc="Messages of all queues together that are kept in memory; the rest is only on disk.",
    )
    journal_file_bytes: int = setting(
        16 * MIB, unit="bytes", min=4 * KIB, max=GIB, doc="A new file of the queues' journal begins at this size."
    )
    journal_files_max: int = setting(
        4,
        unit="files",
        min=1,
        max=1000,
        doc="When the journal has more files, messages still in the oldest move to files of their own queue.",
    )
    segment_bytes: int = setting(
        16 * MIB, unit="bytes", min=4 * KIB, max=GIB, doc="A new file of a queue begins at this size."
    )
    damage: str = setting(
        REFUSE,
        choices=(REFUSE, SKIP),
        doc="What to do when messages that were safely stored can no longer be read. 'refuse' leaves everything as it "
        "is and opens no AMQP door; 'skip' sets the damaged file aside and goes on with what can be read.",
    )
