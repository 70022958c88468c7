"""A request as handlers see it, and what they answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from urllib.parse import unquote_to_bytes

from twinlog.servers.http.json_text import encode

JSON: Final = "application/json"
NO_CONTENT: Final = 204
QUERY_PAIRS_MAX: Final = 100


class HttpError(Exception):
    """An answer that is no success. ``error`` is RabbitMQ's word for its kind, ``reason`` a sentence for people."""

    def __init__(
        self, status: int, error: str, reason: str, headers: Sequence[tuple[str, str]] = (), *, close: bool = False
    ) -> None:
        super().__init__(status, error, reason)
        self.status = status
        self.error = error
        self.reason = reason
        self.headers = tuple(headers)
        self.close = close


def bad_request(reason: str) -> HttpError:
    return HttpError(400, "bad_request", reason)


def not_found(reason: str = "Not Found") -> HttpError:
    return HttpError(404, "Object Not Found", reason)


def forbidden(reason: str) -> HttpError:
    return HttpError(403, "not_authorised", reason)


class Asker:
    """Who asks: a user, the way it came in, and the address."""

    __slots__ = ("peer", "session", "tags", "user")

    def __init__(self, user: str, tags: Sequence[str], peer: tuple[str, int], session: object = None) -> None:
        self.user = user
        self.tags = frozenset(tags)
        self.peer = peer
        self.session = session

    @property
    def principal(self) -> str:
        """The name under which Kafka's access rights know this user."""
        return f"User:{self.user}"


@dataclass(slots=True, eq=False)
class Request:
    method: str
    path: str
    """As it came, undecoded: for messages only."""
    parameters: dict[str, str]
    """Named parts of the path, each decoded once."""
    query: dict[str, str]
    headers: Mapping[str, str]
    peer: tuple[str, int]
    local: tuple[str, int]
    body: bytes = b""
    asker: Asker | None = None
    json: Any = None

    @property
    def user(self) -> str:
        assert self.asker is not None
        return self.asker.user

    def flag(self, name: str, default: bool = False) -> bool:
        text = self.query.get(name)
        return default if text is None else text.lower() in ("true", "1", "")

    def number(self, name: str, default: int, low: int, high: int) -> int:
        text = self.query.get(name)
        if text is None or text == "":
            return default
        if not (text.lstrip("-").isascii() and text.lstrip("-").isdecimal() and len(text) < 20):
            raise bad_request(f"{name} must be a whole number")
        value = int(text)
        if not low <= value <= high:
            raise bad_request(f"{name} must be from {low} to {high}")
        return value


class Sink(Protocol):
    """Where a handler that streams writes; it ends when the peer does."""

    def write(self, data: bytes) -> bool:
        """False when the peer does not keep up or is gone: this piece was not sent."""

    @property
    def closed(self) -> bool: ...

    def close(self) -> None: ...


@dataclass(slots=True, eq=False)
class Response:
    status: int = 200
    body: bytes = b""
    content_type: str = JSON
    headers: list[tuple[str, str]] = field(default_factory=list)
    stream: Callable[[Sink], None] | None = None
    cache: str = "no-store"


def ok(value: Any, status: int = 200) -> Response:
    return Response(status, encode(value))


def created() -> Response:
    return Response(201)


def no_content() -> Response:
    return Response(NO_CONTENT)


def error_response(error: HttpError) -> Response:
    return Response(error.status, encode({"error": error.error, "reason": error.reason}), headers=list(error.headers))


def split_target(target: str) -> tuple[list[str], dict[str, str]]:
    """The decoded parts of the path, and the query. Whatever could be read in two ways is refused."""
    if not target.startswith("/") or target.startswith("//"):
        raise HttpError(400, "bad_request", "the target must be a path", close=True)
    if "\\" in target or "#" in target:
        raise bad_request("the target holds a character that must be encoded")
    path, _, query_text = target.partition("?")
    raw_parts = path[1:].split("/")
    if any(part in (".", "..") for part in raw_parts):
        raise bad_request("the path must not hold . or .. as a part")
    return [decoded(part) for part in raw_parts], parse_query(query_text)


def decoded(part: str, *, plus: bool = False) -> str:
    if "%" not in part and not plus:
        return part
    if plus:
        part = part.replace("+", " ")
    at = part.find("%")
    while at >= 0:
        if len(part) < at + 3 or not all(sign in "0123456789abcdefABCDEF" for sign in part[at + 1 : at + 3]):
            raise bad_request("a percent sign is not followed by two hexadecimal digits")
        at = part.find("%", at + 1)
    try:
        text = unquote_to_bytes(part).decode()
    except UnicodeDecodeError:
        raise bad_request("the target is not UTF-8") from None
    if "\0" in text:
        raise bad_request("the target holds a NUL")
    return text


def parse_query(text: str) -> dict[str, str]:
    query: dict[str, str] = {}
    if not text:
        return query
    pairs = text.split("&")
    if len(pairs) > QUERY_PAIRS_MAX:
        raise bad_request(f"more than {QUERY_PAIRS_MAX} query parameters")
    for pair in pairs:
        if pair:
            name, _, value = pair.partition("=")
            query[decoded(name, plus=True)] = decoded(value, plus=True)
    return query
