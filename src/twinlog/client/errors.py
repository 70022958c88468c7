"""What can go wrong between a client and its brokers."""

from __future__ import annotations

from typing import Final

from twinlog.base import TwinlogError
from twinlog.wire.kafka.errors import ErrorCode

KNOWN: Final[dict[int, ErrorCode]] = {int(code): code for code in ErrorCode}


class ClientError(TwinlogError):
    """A request that did not succeed."""


class ConnectionLost(ClientError):
    """The broker cannot be reached, or the connection broke; what was asked may or may not have happened."""


class NoAnswer(ClientError):
    """The broker did not answer in time."""


class BrokerError(ClientError):
    """The broker answered with an error code. ``message`` is its own explanation, when it gave one."""

    def __init__(self, code: int, what: str, message: str | None = None) -> None:
        super().__init__(code, what, message)
        self.code = code
        self.what = what
        self.message = message

    @property
    def name(self) -> str:
        known = KNOWN.get(self.code)
        return known.name if known else f"error {self.code}"

    @property
    def retriable(self) -> bool:
        return is_retriable(self.code)

    def __str__(self) -> str:
        return f"{self.what}: {self.name}" + (f" ({self.message})" if self.message else "")


def is_retriable(code: int) -> bool:
    known = KNOWN.get(code)
    return known is not None and known.retriable


def check(code: int, what: str, message: str | None = None) -> None:
    """Raises ``BrokerError`` unless the code says that all is well."""
    if code != 0:
        raise BrokerError(code, what, message)
