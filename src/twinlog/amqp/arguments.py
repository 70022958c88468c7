"""The arguments that queues and exchanges know: which type knows which, and what a value must look like.

An argument that no type knows is kept and means nothing. One that another type knows is a mistake worth an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from twinlog.amqp.codes import PRECONDITION_FAILED, refuse
from twinlog.amqp.ports import CLASSIC, QUORUM, STREAM
from twinlog.wire.amqp import Table

QUEUE_TYPE: Final = "x-queue-type"
DEAD_LETTER_EXCHANGE: Final = "x-dead-letter-exchange"
DEAD_LETTER_KEY: Final = "x-dead-letter-routing-key"
MAX_BYTES: Final = "x-max-length-bytes"
MAX_AGE: Final = "x-max-age"
SEGMENT_BYTES: Final = "x-stream-max-segment-size-bytes"
MILLISECONDS_MAX: Final = 100 * 365 * 86_400_000  # a hundred years; Celery asks for more than four
COUNT_MAX: Final = 2**63 - 1


class Argument(NamedTuple):
    says: str
    fits: Callable[[Any], bool]
    types: tuple[str, ...]


def is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def between(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: is_int(value) and low <= value <= high


def one_of(*words: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in words


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_bool(value: Any) -> bool:
    return isinstance(value, bool)


AGE_UNITS: Final[Mapping[str, int]] = {
    "Y": 365 * 86_400,
    "M": 30 * 86_400,
    "D": 86_400,
    "h": 3600,
    "m": 60,
    "s": 1,
}


def age_seconds(text: str) -> int | None:
    """What ``7D`` means; None when it means nothing."""
    number, unit = text[:-1], text[-1:]
    if unit not in AGE_UNITS or not (number.isascii() and number.isdigit()) or len(number) > 9:
        return None
    return int(number) * AGE_UNITS[unit]


def is_age(value: Any) -> bool:
    return isinstance(value, str) and age_seconds(value) is not None


ALL: Final = (CLASSIC, QUORUM, STREAM)
LETTERS: Final = (CLASSIC, QUORUM)

QUEUE_ARGUMENTS: Final[Mapping[str, Argument]] = {
    QUEUE_TYPE: Argument("the name of a queue type", is_text, ALL),
    "x-expires": Argument("milliseconds above 0", between(1, MILLISECONDS_MAX), LETTERS),
    "x-message-ttl": Argument("milliseconds", between(0, MILLISECONDS_MAX), LETTERS),
    DEAD_LETTER_EXCHANGE: Argument("the name of an exchange", is_text, LETTERS),
    DEAD_LETTER_KEY: Argument("a routing key", is_text, LETTERS),
    "x-max-length": Argument("a number of messages", between(0, COUNT_MAX), LETTERS),
    MAX_BYTES: Argument("a number of bytes", between(0, COUNT_MAX), ALL),
    "x-max-priority": Argument("a priority from 0 to 255", between(0, 255), (CLASSIC,)),
    "x-overflow": Argument(
        "one of drop-head, reject-publish, reject-publish-dlx",
        one_of("drop-head", "reject-publish", "reject-publish-dlx"),
        LETTERS,
    ),
    "x-single-active-consumer": Argument("true or false", is_bool, LETTERS),
    "x-queue-mode": Argument("one of default, lazy", one_of("default", "lazy"), (CLASSIC,)),
    "x-queue-version": Argument("1 or 2", between(1, 2), (CLASSIC,)),
    "x-queue-leader-locator": Argument("a way to place the leader", is_text, ALL),
    "x-queue-master-locator": Argument("a way to place the leader", is_text, (CLASSIC,)),
    MAX_AGE: Argument("a number and one of the units Y, M, D, h, m, s", is_age, (STREAM,)),
    SEGMENT_BYTES: Argument("a number of bytes", between(1, COUNT_MAX), (STREAM,)),
    "x-stream-filter-size-bytes": Argument("a number from 16 to 255", between(16, 255), (STREAM,)),
    "x-initial-cluster-size": Argument("a number above 0", between(1, 1_000_000), (STREAM,)),
    "x-quorum-initial-group-size": Argument("a number above 0", between(1, 1_000_000), (QUORUM,)),
    "x-quorum-target-group-size": Argument("a number above 0", between(1, 1_000_000), (QUORUM,)),
    "x-delivery-limit": Argument("a number", is_int, (QUORUM,)),
    "x-dead-letter-strategy": Argument(
        "one of at-most-once, at-least-once", one_of("at-most-once", "at-least-once"), (QUORUM,)
    ),
}

NOT_YET: Final = "quorum queues come with replication; this node serves classic and stream queues"


def queue_type_of(arguments: Table, default: str) -> str:
    """The type that these arguments ask for; ``Refused`` 406 when it is none that is served."""
    kind = arguments.get(QUEUE_TYPE, default)
    if kind == QUORUM:
        refuse(PRECONDITION_FAILED, NOT_YET)
    if kind not in (CLASSIC, STREAM):
        refuse(PRECONDITION_FAILED, f"invalid arg '{QUEUE_TYPE}': there is no queue type {kind!r}")
    return str(kind)


def check_queue_arguments(name: str, vhost: str, kind: str, arguments: Table) -> None:
    for argument, value in arguments.items():
        known = QUEUE_ARGUMENTS.get(argument)
        if known is None:
            continue
        whose = f"'{argument}' for queue '{name}' in vhost '{vhost}'"
        if kind not in known.types:
            refuse(PRECONDITION_FAILED, f"invalid arg {whose} of queue type {kind}")
        if not known.fits(value):
            refuse(PRECONDITION_FAILED, f"invalid arg {whose}: {value!r} is not {known.says}")
    if DEAD_LETTER_KEY in arguments and DEAD_LETTER_EXCHANGE not in arguments:
        refuse(
            PRECONDITION_FAILED,
            f"invalid arg '{DEAD_LETTER_KEY}' for queue '{name}' in vhost '{vhost}': "
            f"it needs '{DEAD_LETTER_EXCHANGE}' beside it",
        )


def known_arguments(kind: str, arguments: Table) -> dict[str, Any]:
    """Those that count when a queue is declared again. The type itself is compared as such."""
    return {
        name: value
        for name, value in arguments.items()
        if name in QUEUE_ARGUMENTS and name != QUEUE_TYPE and kind in QUEUE_ARGUMENTS[name].types
    }


def shown(value: Any) -> str:
    """A value in the text of a refusal."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return f"the value '{value}' of type '{_type_name(value)}'"


def same(one: Any, other: Any) -> bool:
    """Equal for a second declaration: widths of numbers do not matter, kinds of values do."""
    return _type_name(one) == _type_name(other) and bool(one == other)


def _type_name(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "number"
    if isinstance(value, float):
        return "float"
    return "longstr" if isinstance(value, str | bytes) else type(value).__name__
