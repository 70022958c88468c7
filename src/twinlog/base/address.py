"""A place to listen or connect to, as people write it."""

from __future__ import annotations

from typing import NamedTuple


class Address(NamedTuple):
    """Host and port. ``str()`` gives it back as people write it, IPv6 in brackets."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str) -> Address:
    """``HOST:PORT`` or ``[IPV6]:PORT``; anything else is a ``ValueError``."""
    host, colon, port = text.strip().rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise ValueError(f"{text!r} has more than one colon: write an IPv6 address in brackets, like [::1]:9092")
    if not colon or not host or any(sign.isspace() for sign in host):
        raise ValueError(f"{text!r} is not HOST:PORT")
    if not (port.isascii() and port.isdecimal() and len(port) <= 5 and int(port) <= 65535):
        raise ValueError(f"{text!r} does not end in a port from 0 to 65535")
    return Address(host, int(port))


def is_address(text: str) -> bool:
    try:
        parse_address(text)
    except ValueError:
        return False
    return True
