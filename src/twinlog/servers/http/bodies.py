"""Reading what a request's JSON asks for: the right types, or a sentence that names the field."""

from __future__ import annotations

from typing import Any

from twinlog.servers.http.message import HttpError, Request, bad_request


def body_of(request: Request) -> dict[str, Any]:
    value = request.json
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise bad_request("the body must be a JSON object")
    return value


def text(body: dict[str, Any], name: str, default: str | None = None) -> str:
    value = body.get(name, default)
    if value is None:
        raise bad_request(f"key_missing: {name}")
    if not isinstance(value, str):
        raise bad_request(f"{name} must be text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise bad_request(f"{name} is not Unicode") from None
    return value


def flag(body: dict[str, Any], name: str, default: bool = False) -> bool:
    value = body.get(name, default)
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise bad_request(f"{name} must be true or false")
    return value


def number(body: dict[str, Any], name: str, default: int, low: int, high: int) -> int:
    value = body.get(name, default)
    if isinstance(value, str) and value.isascii() and value.lstrip("-").isdecimal() and len(value) < 20:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise bad_request(f"{name} must be a whole number")
    if not low <= value <= high:
        raise bad_request(f"{name} must be from {low} to {high}")
    return value


def table(body: dict[str, Any], name: str) -> dict[str, Any]:
    """An object of arguments. RabbitMQ's older tools send an empty list for an empty one."""
    value = body.get(name)
    if value is None or value == []:
        return {}
    if not isinstance(value, dict):
        raise bad_request(f"{name} must be an object")
    check_table(value)
    return value


def check_table(value: Any) -> None:
    if isinstance(value, dict):
        for key, each in value.items():
            if len(key.encode(errors="replace")) > 255:
                raise bad_request("a key of a table has at most 255 bytes")
            check_table(each)
    elif isinstance(value, list):
        for each in value:
            check_table(each)
    elif isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise bad_request("a text is not Unicode") from None
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise bad_request("a number does not fit into 64 bits")


def texts(value: Any, name: str) -> list[str]:
    """A list of texts, or one text with commas between, as tags are written."""
    if isinstance(value, str):
        return [each.strip() for each in value.split(",") if each.strip()]
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return value
    raise bad_request(f"{name} must be a list of texts")


def same_name(request: Request, body: dict[str, Any], *names: str) -> None:
    """Where the body repeats what the path says, both must agree."""
    for name in names:
        if name in body and body[name] != request.parameters.get(name):
            raise HttpError(400, "bad_request", f"{name} in the body is not the one in the path")
