"""Which code a client of some version knows for what the transaction coordinator says."""

from __future__ import annotations

from typing import Final

from twinlog.wire.kafka.errors import ErrorCode

COORDINATOR_ELSEWHERE: Final = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.CONCURRENT_TRANSACTIONS,
    }
)


def fenced(code: int, knows_fenced: bool) -> int:
    """Older clients know only the code by which a partition says so."""
    if code == ErrorCode.PRODUCER_FENCED and not knows_fenced:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code


def abortable(code: int, knows_abortable: bool) -> int:
    """What is not part of the transaction can be mended by aborting it, which newer clients can be told."""
    if code == ErrorCode.INVALID_TXN_STATE and knows_abortable:
        return ErrorCode.TRANSACTION_ABORTABLE
    return code


def at_partition(code: int, knows_abortable: bool) -> int:
    """For a write to a partition, whose clients know nothing of the coordinator: they are to send it again."""
    if code in COORDINATOR_ELSEWHERE:
        return ErrorCode.NOT_ENOUGH_REPLICAS
    return abortable(fenced(code, False), knows_abortable)
