"""The vocabulary of transactions: states, the moves between them, and what requests come to."""

from __future__ import annotations

import enum
from typing import Final, NamedTuple, TypeAlias

from twinlog.base import Refused
from twinlog.wire.kafka.errors import ErrorCode

Place: TypeAlias = tuple[str, int]  # topic, partition

EPOCH_MAX: Final = 2**15 - 1
EPOCH_LAST: Final = EPOCH_MAX - 1  # the last one that a client is given: the marker behind it still needs one
NO_EPOCH: Final = -1
NO_PRODUCER: Final = -1
NO_TIME: Final = -1

EPOCH_AT_EVERY_END: Final = 2  # the version of transactions from which each end raises the producer's epoch


class TransactionState(enum.IntEnum):
    """The numbers are stored; ``label`` is what clients see."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def label(self) -> str:
        return "".join(word.capitalize() for word in self.name.split("_"))

    @property
    def is_decided(self) -> bool:
        """The end is certain, and its markers are on their way."""
        return self in (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)


class Step(enum.Enum):
    """What happens to a transaction."""

    INIT = "init"  # a producer takes the id
    ADD = "add"  # a partition joins
    COMMIT = "commit"
    ABORT = "abort"
    COMMIT_NOTHING = "commit nothing"  # an end without any partition has no markers to wait for
    ABORT_NOTHING = "abort nothing"
    MARKED = "marked"  # every marker is durable


_S = TransactionState

# What is not in here is refused. DEAD and PREPARE_EPOCH_FENCE are only Kafka's: we never write them.
MOVES: Final[dict[tuple[TransactionState, Step], TransactionState]] = {
    (_S.EMPTY, Step.INIT): _S.EMPTY,
    (_S.COMPLETE_COMMIT, Step.INIT): _S.EMPTY,
    (_S.COMPLETE_ABORT, Step.INIT): _S.EMPTY,
    (_S.EMPTY, Step.ADD): _S.ONGOING,
    (_S.COMPLETE_COMMIT, Step.ADD): _S.ONGOING,
    (_S.COMPLETE_ABORT, Step.ADD): _S.ONGOING,
    (_S.ONGOING, Step.ADD): _S.ONGOING,
    (_S.ONGOING, Step.COMMIT): _S.PREPARE_COMMIT,
    (_S.ONGOING, Step.ABORT): _S.PREPARE_ABORT,
    (_S.PREPARE_COMMIT, Step.MARKED): _S.COMPLETE_COMMIT,
    (_S.PREPARE_ABORT, Step.MARKED): _S.COMPLETE_ABORT,
    (_S.EMPTY, Step.COMMIT_NOTHING): _S.COMPLETE_COMMIT,
    (_S.COMPLETE_COMMIT, Step.COMMIT_NOTHING): _S.COMPLETE_COMMIT,
    (_S.COMPLETE_ABORT, Step.COMMIT_NOTHING): _S.COMPLETE_COMMIT,
    (_S.EMPTY, Step.ABORT_NOTHING): _S.COMPLETE_ABORT,
    (_S.COMPLETE_COMMIT, Step.ABORT_NOTHING): _S.COMPLETE_ABORT,
    (_S.COMPLETE_ABORT, Step.ABORT_NOTHING): _S.COMPLETE_ABORT,
}


class ProducerKey(NamedTuple):
    """Who a producer says it is."""

    producer_id: int
    epoch: int


class InitReply(NamedTuple):
    """The producer's id and epoch; or ``aborts``: its running transaction had to be aborted first, ask again."""

    producer_id: int
    epoch: int
    aborts: bool = False


class EndReply(NamedTuple):
    """The id and epoch to go on with. ``decided``: markers have to be written now."""

    producer_id: int
    epoch: int
    decided: bool = False


class ProducerIdNeeded(Refused):
    """The decision cannot be made without an unused producer id: take one and ask again."""

    def __init__(self) -> None:
        super().__init__(ErrorCode.COORDINATOR_NOT_AVAILABLE, "no producer id is at hand")


def move(state: TransactionState, step: Step) -> TransactionState:
    after = MOVES.get((state, step))
    if after is None:
        raise Refused(ErrorCode.INVALID_TXN_STATE, f"a transaction in state {state.label} takes no {step.value}")
    return after
