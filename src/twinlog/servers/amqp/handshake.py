"""From the protocol header to ``connection.open-ok``: what is said, what is offered, what may be agreed on."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from twinlog import __version__
from twinlog.amqp.codes import COMMAND_INVALID, NOT_ALLOWED, SYNTAX_ERROR, refuse
from twinlog.amqp.settings import AmqpSettings
from twinlog.base import ProtocolViolation, Refused
from twinlog.wire.amqp import Table, read_table
from twinlog.wire.amqp.methods import ConnectionStart, ConnectionTune, ConnectionTuneOk

PROTOCOL_HEADER: Final = b"AMQP\0\0\x09\x01"
# Clients from the time before 0-9-1 was numbered.
OLD_HEADER: Final = b"AMQP\x01\x01\0\x09"
HEADER_SIZE: Final = 8
FRAME_MAX_MIN: Final = 4096
PLAIN: Final = "PLAIN"
AMQPLAIN: Final = "AMQPLAIN"
LOCALES: Final = b"en_US"
CAPABILITIES: Final = (
    "publisher_confirms",
    "exchange_exchange_bindings",
    "basic.nack",
    "consumer_cancel_notify",
    "connection.blocked",
    "consumer_priorities",
    "authentication_failure_close",
    "per_consumer_qos",
    "direct_reply_to",
)
TABLE_SIZE: Final = struct.Struct(">I")
TEXT_MAX: Final = 255


def start(settings: AmqpSettings, cluster_name: str) -> ConnectionStart:
    properties: dict[str, Any] = {
        "capabilities": dict.fromkeys(CAPABILITIES, True),
        "cluster_name": cluster_name,
        "copyright": "The Twinlog authors",
        "information": f"This is Twinlog {__version__}; product and version name the broker it behaves like.",
        "platform": "Twinlog",
        "product": settings.product,
        "version": settings.product_version,
    }
    return ConnectionStart(
        version_major=0,
        version_minor=9,
        server_properties=properties,
        mechanisms=f"{PLAIN} {AMQPLAIN}".encode(),
        locales=LOCALES,
    )


class Credentials(NamedTuple):
    user: str
    password: bytes


def credentials(mechanism: str, response: bytes) -> Credentials:
    """Who somebody says to be. ``Refused`` 503 for an unknown mechanism, 502 for what is none of its responses."""
    if mechanism == PLAIN:
        parts = response.split(b"\0")
        if len(parts) != 3:
            refuse(SYNTAX_ERROR, "the response of PLAIN has two zero bytes in it")
        return Credentials(_name(parts[1]), parts[2])
    if mechanism != AMQPLAIN:
        refuse(COMMAND_INVALID, f"unknown authentication mechanism '{mechanism[:TEXT_MAX]}'")
    try:
        table, _ = read_table(TABLE_SIZE.pack(len(response)) + response, 0, len(response) + TABLE_SIZE.size)
    except ProtocolViolation as broken:
        raise Refused(SYNTAX_ERROR, f"the response of AMQPLAIN is no field table: {broken}") from None
    user, password = table.get("LOGIN"), table.get("PASSWORD")
    if not isinstance(user, str) or not isinstance(password, str | bytes):
        refuse(SYNTAX_ERROR, "the response of AMQPLAIN has no LOGIN and PASSWORD")
    return Credentials(user, password.encode() if isinstance(password, str) else password)


def _name(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        refuse(SYNTAX_ERROR, "a user name is UTF-8")


def tune(settings: AmqpSettings) -> ConnectionTune:
    return ConnectionTune(
        channel_max=settings.channels_max, frame_max=settings.frame_size_max_bytes, heartbeat=settings.heartbeat_s
    )


def check_tune(settings: AmqpSettings, wanted: ConnectionTuneOk) -> None:
    """``Refused`` 530 for what lies outside the offer; 0 is no limit, and there is one."""
    for name, value, offered, least in (
        ("frame_max", wanted.frame_max, settings.frame_size_max_bytes, FRAME_MAX_MIN),
        ("channel_max", wanted.channel_max, settings.channels_max, 1),
    ):
        if value == 0 or value > offered:
            refuse(NOT_ALLOWED, f"negotiated {name} = {value} is higher than the maximum allowed value ({offered})")
        if value < least:
            refuse(NOT_ALLOWED, f"negotiated {name} = {value} is lower than the minimum allowed value ({least})")


def can(client_properties: Table, capability: str) -> bool:
    capabilities = client_properties.get("capabilities")
    return isinstance(capabilities, Mapping) and capabilities.get(capability) is True
