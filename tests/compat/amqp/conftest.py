from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.compat.fixtures import new_name
from tests.compat.target import COMPLAINT, Server

__all__ = ["new_name"]


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Where AMQP is spoken: by our broker, or by the one that ``TWINLOG_TEST_AMQP`` names."""
    if elsewhere := os.environ.get("TWINLOG_TEST_AMQP"):
        yield elsewhere
        return
    with Server(settings={"amqp.listen": "127.0.0.1:0", "kafka.listen": "off"}) as server:
        yield server.amqp
        assert server.alive(), server.log[-4000:]
        assert not COMPLAINT.search(server.log), server.log[-8000:]
