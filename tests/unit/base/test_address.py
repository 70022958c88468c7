"""Addresses are read as people write them, and written back the same."""

from __future__ import annotations

import pytest

from twinlog.base.address import Address, is_address, parse_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:9092", Address("127.0.0.1", 9092)),
        (" broker.example:0 ", Address("broker.example", 0)),
        ("[::1]:65535", Address("::1", 65535)),
    ],
)
def test_addresses_are_read_and_written_back(text: str, address: Address) -> None:
    assert parse_address(text) == address
    assert str(address) == text.strip()


@pytest.mark.parametrize(
    "text", ["", "9092", ":9092", "::1:9092", "a:b", "a:-1", "a:65536", "a:²", "a b:1", "[::1]", "a:"]
)
def test_anything_else_is_refused(text: str) -> None:
    assert not is_address(text)
    with pytest.raises(ValueError):
        parse_address(text)
