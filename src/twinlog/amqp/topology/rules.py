"""Names, equivalence, and who may touch what: the rules by which a declaration is right or refused."""

from __future__ import annotations

import struct
from typing import Any, Final

from twinlog.amqp.arguments import MAX_AGE, MAX_BYTES, SEGMENT_BYTES, age_seconds, known_arguments, same, shown
from twinlog.amqp.codes import ACCESS_REFUSED, PRECONDITION_FAILED, RESOURCE_LOCKED, refuse
from twinlog.amqp.ports import STREAM, Caller, ExchangeInfo, QueueInfo
from twinlog.wire.amqp import Table, read_table, write_table

RESERVED: Final = "amq."
NAME_SIZE_MAX: Final = 255
ALTERNATE: Final = "alternate-exchange"

# What every vhost has: name, type, internal.
PREDECLARED: Final = (
    ("", "direct", False),
    ("amq.direct", "direct", False),
    ("amq.fanout", "fanout", False),
    ("amq.topic", "topic", False),
    ("amq.headers", "headers", False),
    ("amq.match", "headers", False),
    ("amq.rabbitmq.trace", "topic", True),
)
PREDECLARED_NAMES: Final = frozenset(name for name, _, _ in PREDECLARED)


def stripped(name: str) -> str:
    """Line ends in names are dropped silently, as everybody is used to."""
    return name.replace("\r", "").replace("\n", "")


def check_name(kind: str, name: str) -> None:
    """For names that are to be made."""
    if name.startswith(RESERVED):
        refuse(ACCESS_REFUSED, f"{kind} name '{name}' contains reserved prefix 'amq.*'")
    if len(name.encode()) > NAME_SIZE_MAX:
        refuse(PRECONDITION_FAILED, f"a {kind} name has at most {NAME_SIZE_MAX} bytes")


def check_not_default(exchange: str) -> None:
    if exchange == "":
        refuse(ACCESS_REFUSED, "operation not permitted on the default exchange")


def check_owner(info: QueueInfo, caller: Caller) -> None:
    if info.exclusive_owner is not None and info.exclusive_owner != caller.connection:
        _refuse_locked(info)


def check_queue_flags(
    name: str, vhost: str, kind: str, *, durable: bool, exclusive: bool, auto_delete: bool, server_named: bool
) -> None:
    if kind != STREAM:
        return
    for fits, what in (
        (durable, "it must be durable"),
        (not exclusive, "it cannot be exclusive"),
        (not auto_delete, "it cannot delete itself"),
        (not server_named, "it needs a name of its own"),
    ):
        if not fits:
            refuse(PRECONDITION_FAILED, f"invalid property for stream queue '{name}' in vhost '{vhost}': {what}")


def check_same_queue(
    info: QueueInfo, caller: Caller, kind: str, *, durable: bool, exclusive: bool, auto_delete: bool, arguments: Table
) -> None:
    """Whether this declares again what is there."""
    if info.exclusive_owner != (caller.connection if exclusive else None):
        _refuse_locked(info)
    what = f"queue '{info.name}' in vhost '{info.vhost}'"
    if not exclusive:
        _check_same(what, "durable", info.durable, durable)
    _check_same(what, "auto_delete", info.auto_delete, auto_delete)
    _check_same(what, "x-queue-type", info.type, kind)
    mine, theirs = known_arguments(info.type, info.arguments), known_arguments(info.type, arguments)
    if info.type == STREAM:
        mine, theirs = _kept_by_topic(mine), _kept_by_topic(theirs)
    for argument in {**mine, **theirs}:
        _check_same(what, argument, mine.get(argument), theirs.get(argument))


def _kept_by_topic(arguments: dict[str, Any]) -> dict[str, Any]:
    """Of a stream only what is a config of its topic is compared, ages by how long they are."""
    kept: dict[str, Any] = {name: arguments[name] for name in (MAX_BYTES, SEGMENT_BYTES) if name in arguments}
    if MAX_AGE in arguments:
        kept[MAX_AGE] = f"{age_seconds(arguments[MAX_AGE])}s"
    return kept


def check_same_exchange(
    info: ExchangeInfo, kind: str, *, durable: bool, auto_delete: bool, internal: bool, arguments: Table
) -> None:
    what = f"exchange '{info.name}' in vhost '{info.vhost}'"
    _check_same(what, "type", info.kind, kind)
    _check_same(what, "durable", info.durable, durable)
    _check_same(what, "auto_delete", info.auto_delete, auto_delete)
    _check_same(what, "internal", info.internal, internal)
    _check_same(what, ALTERNATE, info.arguments.get(ALTERNATE), arguments.get(ALTERNATE))


def _check_same(what: str, argument: str, current: Any, received: Any) -> None:
    if not same(current, received):
        refuse(
            PRECONDITION_FAILED,
            f"inequivalent arg '{argument}' for {what}: received {shown(received)} but current is {shown(current)}",
        )


def _refuse_locked(info: QueueInfo) -> None:
    refuse(
        RESOURCE_LOCKED,
        f"cannot obtain exclusive access to locked queue '{info.name}' in vhost '{info.vhost}'. It could be originally "
        "declared on another connection or the exclusive property value does not match that of the original "
        "declaration.",
    )


def encode_arguments(arguments: Table) -> bytes:
    """The stored form: the same table in another order is the same bytes."""
    try:
        return write_table(dict(sorted(arguments.items())))
    except (struct.error, ValueError, TypeError) as error:
        refuse(PRECONDITION_FAILED, f"these arguments cannot be kept: {error}")


def decode_arguments(data: bytes) -> dict[str, Any]:
    return read_table(data, 0, len(data))[0]
