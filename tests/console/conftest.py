from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kit.http import Api
from twinlog.testing import Broker

SETTINGS = {"http.listen": "127.0.0.1:0", "amqp.listen": "127.0.0.1:0", "http.sample_interval_ms": 200}


@pytest.fixture
def broker() -> Iterator[Broker]:
    """One a test: the ten thousand queues of one would push the few of another out of sight."""
    with Broker(settings=SETTINGS) as broker:
        yield broker
        assert "Traceback" not in broker.log


@pytest.fixture
def api(broker: Broker) -> Api:
    return Api(broker.http)
