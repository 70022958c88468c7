"""What coordinators store and what clients hide inside other messages, in Kafka's own forms.

A record's key begins with its type (two bytes), its value with the version of the value. A deleted thing is a key with
no value. A type or a version from a newer program is no error here: the decoders say None, and the caller passes over
it. Embedded data of consumers (subscription, assignment) begins with a version, and newer ones may only add fields at
the end.
"""

from __future__ import annotations

from typing import Any, TypeVar

from twinlog._kernel import Malformed, Schema
from twinlog.base import ProtocolViolation
from twinlog.wire.kafka.message import Message
from twinlog.wire.kafka.messages import group_records, transaction_records
from twinlog.wire.kafka.messages.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from twinlog.wire.kafka.messages.control_records import ControlRecordTypeSchema, EndTxnMarker
from twinlog.wire.kafka.messages.group_records import *  # noqa: F403
from twinlog.wire.kafka.messages.transaction_records import *  # noqa: F403

# Record type: (class of the key, class of the value).
GROUP_RECORDS = group_records.RECORDS
TRANSACTION_RECORDS = transaction_records.RECORDS

CONTROL_ABORT = 0
CONTROL_COMMIT = 1

M = TypeVar("M", bound=Message)
_schemas: dict[tuple[type[Message], int], Schema] = {}


def encode_key(key: Message) -> bytes:
    """The record's type, then the key."""
    return key.KEY.to_bytes(2, "big") + _schema(type(key), 0).encode(key)


def encode_value(value: Message, version: int | None = None) -> bytes:
    """The version, then the value; the newest version unless another is asked for."""
    version = value.VERSIONS[1] if version is None else version
    return version.to_bytes(2, "big") + _schema(type(value), version).encode(value)


def decode_group_key(buf: Any) -> Any:
    """The key of a record in __consumer_offsets; None when its type is newer than we are."""
    return _decode_key(GROUP_RECORDS, buf)


def decode_transaction_key(buf: Any) -> Any:
    """The key of a record in __transaction_state; None when its type is newer than we are."""
    return _decode_key(TRANSACTION_RECORDS, buf)


def decode_value(key: Message, buf: Any) -> Any:
    """The value that belongs to ``key``; None when its version is newer than we are."""
    records = GROUP_RECORDS if type(key).__module__ == group_records.__name__ else TRANSACTION_RECORDS
    value_class = records[key.KEY][1]
    version = _number(buf)
    if not value_class.VERSIONS[0] <= version <= value_class.VERSIONS[1]:
        return None
    return _decode(value_class, version, buf)


def encode_embedded(message: Message, version: int | None = None) -> bytes:
    """A subscription, an assignment or the parts of a control record: its version, then the message."""
    return encode_value(message, version)


def decode_subscription(buf: Any) -> ConsumerProtocolSubscription:
    return _decode_embedded(ConsumerProtocolSubscription, buf)


def decode_assignment(buf: Any) -> ConsumerProtocolAssignment:
    return _decode_embedded(ConsumerProtocolAssignment, buf)


def encode_control_key(control_type: int) -> bytes:
    return encode_embedded(ControlRecordTypeSchema(type=control_type), 0)


def decode_control_key(buf: Any) -> int:
    """CONTROL_ABORT, CONTROL_COMMIT, or a type that ends no transaction."""
    return _decode_embedded(ControlRecordTypeSchema, buf).type


def encode_end_marker(coordinator_epoch: int) -> bytes:
    return encode_embedded(EndTxnMarker(coordinator_epoch=coordinator_epoch), 0)


def decode_end_marker(buf: Any) -> EndTxnMarker:
    return _decode_embedded(EndTxnMarker, buf)


def _decode_key(records: dict[int, tuple[type[Message], type[Message]]], buf: Any) -> Any:
    record_type = _number(buf)
    if record_type not in records:
        return None
    return _decode(records[record_type][0], 0, buf)


def _decode_embedded(message_class: type[M], buf: Any) -> M:
    version = _number(buf)
    if version < 0:
        raise ProtocolViolation(f"{message_class.__name__} of version {version}")
    newest = message_class.VERSIONS[1]
    try:
        # A newer version only adds at the end: what we know of it is read, the rest is left.
        message, _ = _schema(message_class, min(version, newest)).decode_from(buf, 2)
    except Malformed as fault:
        raise ProtocolViolation(str(fault)) from None
    found: M = message
    return found


def _decode(message_class: type[Message], version: int, buf: Any) -> Any:
    try:
        return _schema(message_class, version).decode(buf, 2)
    except Malformed as fault:
        raise ProtocolViolation(str(fault)) from None


def _number(buf: Any) -> int:
    if len(buf) < 2:
        raise ProtocolViolation("ends inside the number in front")
    return int.from_bytes(buf[:2], "big", signed=True)


def _schema(message_class: type[Message], version: int) -> Schema:
    schema = _schemas.get((message_class, version))
    if schema is None:
        schema = Schema(message_class, version, version >= message_class.FLEXIBLE_FROM)
        _schemas[message_class, version] = schema
    return schema
