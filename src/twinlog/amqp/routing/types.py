"""The exchange types there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from twinlog.amqp.codes import PRECONDITION_FAILED, refuse
from twinlog.amqp.routing import consistent_hash, headers
from twinlog.amqp.routing.direct import DirectMatcher
from twinlog.amqp.routing.fanout import FanoutMatcher
from twinlog.amqp.routing.matcher import Matcher, anything_goes
from twinlog.amqp.routing.topic import TopicMatcher
from twinlog.base import Refused
from twinlog.wire.amqp import Table

DELAYED: Final = "x-delayed-message"
DELAYED_TYPE: Final = "x-delayed-type"


class ExchangeType(NamedTuple):
    make: Callable[[Table], Matcher]
    check_binding: Callable[[str, Table], None]
    check_arguments: Callable[[Table], None]


def _no_rules(arguments: Table) -> None:
    """The check of types to which every argument is fine."""


EXCHANGE_TYPES: Final[dict[str, ExchangeType]] = {
    "direct": ExchangeType(lambda arguments: DirectMatcher(), anything_goes, _no_rules),
    "fanout": ExchangeType(lambda arguments: FanoutMatcher(), anything_goes, _no_rules),
    "topic": ExchangeType(lambda arguments: TopicMatcher(), anything_goes, _no_rules),
    "headers": ExchangeType(lambda arguments: headers.HeadersMatcher(), headers.check_binding, _no_rules),
    "x-consistent-hash": ExchangeType(
        consistent_hash.ConsistentHashMatcher, consistent_hash.check_binding, consistent_hash.check_arguments
    ),
}


def exchange_type(kind: str, arguments: Table) -> ExchangeType:
    """The type that routes: of a delayed exchange the one that its argument names. ``Refused`` 406 for others."""
    if kind == DELAYED:
        inner = arguments.get(DELAYED_TYPE)
        if not isinstance(inner, str) or inner not in EXCHANGE_TYPES:
            refuse(
                PRECONDITION_FAILED,
                f"an exchange of type {DELAYED} needs the argument {DELAYED_TYPE}: one of {', '.join(EXCHANGE_TYPES)}",
            )
        kind = inner
    found = EXCHANGE_TYPES.get(kind)
    if found is None:
        raise Refused(PRECONDITION_FAILED, f"unknown exchange type '{kind}'")
    return found
