from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from tests.kit.http import Api
from twinlog.testing import Broker

NUMBERS = count(1)
SETTINGS = {"http.listen": "127.0.0.1:0", "amqp.listen": "127.0.0.1:0", "http.sample_interval_ms": 100}


@pytest.fixture(scope="session")
def http_broker() -> Iterator[Broker]:
    with Broker(settings=SETTINGS) as broker:
        yield broker
        assert "Traceback" not in broker.log, broker.log[-4000:]


@pytest.fixture
def api(http_broker: Broker) -> Api:
    return Api(http_broker.http)


@pytest.fixture
def name() -> str:
    """A name that no other test uses."""
    return f"thing-{next(NUMBERS)}"


@pytest.fixture
def vhost(api: Api, name: str) -> Iterator[str]:
    """A vhost of the test's own."""
    api.put(f"/api/vhosts/{name}")
    yield name
    api.delete(f"/api/vhosts/{name}")
