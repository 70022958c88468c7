"""JSON both ways. In: what could mean two things, or cost more than it says, is refused. Out: whatever is at hand."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, Final

import msgspec

DIGITS_MAX: Final = 20
DEPTH_MAX: Final = 64


class BadJson(ValueError):
    """The text says why, without repeating what came."""


def decode(data: bytes) -> Any:
    try:
        text = data.decode()
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_whole_number, parse_float=_fraction
        )
    except BadJson:
        raise
    except RecursionError:
        raise BadJson("it is nested too deeply") from None
    except UnicodeDecodeError:
        raise BadJson("it is not UTF-8") from None
    except ValueError as wrong:
        raise BadJson(f"it is not JSON: {str(wrong)[:100]}") from None
    _check_depth(value, DEPTH_MAX)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise BadJson("an object names a key twice")
    return value


def _constant(name: str) -> Any:
    raise BadJson(f"{name} is no number of JSON")


def _whole_number(text: str) -> int:
    if len(text) > DIGITS_MAX:
        raise BadJson(f"a number has more than {DIGITS_MAX} digits")
    return int(text)


def _fraction(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise BadJson("a number is too large")
    return value


def _check_depth(value: Any, left: int) -> None:
    if left == 0:
        raise BadJson("it is nested too deeply")
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        if isinstance(each, (dict, list)):
            _check_depth(each, left - 1)


def _otherwise(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode(errors="backslashreplace")
    return str(value)


ENCODER: Final = msgspec.json.Encoder(enc_hook=_otherwise)


def encode(value: Any) -> bytes:
    try:
        return ENCODER.encode(value)
    except (UnicodeEncodeError, ValueError, TypeError):  # lone surrogates, dict keys that are no text
        return json.dumps(value, default=_otherwise, ensure_ascii=True).encode()
