"""AMQP's reply codes, and which of them end a channel and which the connection."""

from __future__ import annotations

from typing import Final, NoReturn

from twinlog.base import Refused

NO_ROUTE: Final = 312
CONNECTION_FORCED: Final = 320
ACCESS_REFUSED: Final = 403
NOT_FOUND: Final = 404
RESOURCE_LOCKED: Final = 405
PRECONDITION_FAILED: Final = 406
FRAME_ERROR: Final = 501
SYNTAX_ERROR: Final = 502
COMMAND_INVALID: Final = 503
CHANNEL_ERROR: Final = 504
UNEXPECTED_FRAME: Final = 505
RESOURCE_ERROR: Final = 506
NOT_ALLOWED: Final = 530
NOT_IMPLEMENTED: Final = 540
INTERNAL_ERROR: Final = 541

# These close the channel that met them; every other code closes the connection.
CHANNEL_CODES: Final = frozenset((ACCESS_REFUSED, NOT_FOUND, RESOURCE_LOCKED, PRECONDITION_FAILED))

NAMES: Final = {
    200: "OK",
    NO_ROUTE: "NO_ROUTE",
    CONNECTION_FORCED: "CONNECTION_FORCED",
    ACCESS_REFUSED: "ACCESS_REFUSED",
    NOT_FOUND: "NOT_FOUND",
    RESOURCE_LOCKED: "RESOURCE_LOCKED",
    PRECONDITION_FAILED: "PRECONDITION_FAILED",
    FRAME_ERROR: "FRAME_ERROR",
    SYNTAX_ERROR: "SYNTAX_ERROR",
    COMMAND_INVALID: "COMMAND_INVALID",
    CHANNEL_ERROR: "CHANNEL_ERROR",
    UNEXPECTED_FRAME: "UNEXPECTED_FRAME",
    RESOURCE_ERROR: "RESOURCE_ERROR",
    NOT_ALLOWED: "NOT_ALLOWED",
    NOT_IMPLEMENTED: "NOT_IMPLEMENTED",
    INTERNAL_ERROR: "INTERNAL_ERROR",
}


def reply_text(code: int, text: str) -> str:
    """What clients see, and some of them search: the name of the code, then the reason."""
    return f"{NAMES.get(code, 'ERROR')} - {text}"


def refuse(code: int, text: str) -> NoReturn:
    raise Refused(code, text)


def no_exchange(vhost: str, name: str) -> Refused:
    return Refused(NOT_FOUND, f"no exchange '{name}' in vhost '{vhost}'")


def no_queue(vhost: str, name: str) -> Refused:
    return Refused(NOT_FOUND, f"no queue '{name}' in vhost '{vhost}'")
