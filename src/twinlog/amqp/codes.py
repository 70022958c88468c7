"""AMQP's reply codes, as far as rules about names, routes and rights need them."""

from __future__ import annotations

from typing import Final, NoReturn

from twinlog.base import Refused

ACCESS_REFUSED: Final = 403
NOT_FOUND: Final = 404
RESOURCE_LOCKED: Final = 405
PRECONDITION_FAILED: Final = 406
NOT_ALLOWED: Final = 530


def refuse(code: int, text: str) -> NoReturn:
    raise Refused(code, text)


def no_exchange(vhost: str, name: str) -> Refused:
    return Refused(NOT_FOUND, f"no exchange '{name}' in vhost '{vhost}'")


def no_queue(vhost: str, name: str) -> Refused:
    return Refused(NOT_FOUND, f"no queue '{name}' in vhost '{vhost}'")
