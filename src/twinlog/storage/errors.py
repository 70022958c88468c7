"""How storage fails, beyond the disk's own ``HostFault`` and ``DiskFull``."""

from __future__ import annotations

from typing import Final

from twinlog.base import HostFault

# Kafka's codes for what the log itself refuses. Plain numbers: the log knows no wire.
OFFSET_OUT_OF_RANGE: Final = 1
OUT_OF_ORDER_SEQUENCE_NUMBER: Final = 45
DUPLICATE_SEQUENCE_NUMBER: Final = 46
INVALID_PRODUCER_EPOCH: Final = 47
INVALID_TXN_STATE: Final = 48
TRANSACTION_COORDINATOR_FENCED: Final = 52
UNKNOWN_PRODUCER_ID: Final = 59


class Damaged(HostFault):
    """What was once durable is no longer what we wrote. Nothing was changed; an operator has to decide."""


class WrongDirectory(HostFault):
    """A data directory that is not ours to use: of another node, of another cluster, in use, or of a newer format."""
