from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.compat.clients import Clients
from tests.compat.fixtures import new_name, target
from tests.compat.target import Target

__all__ = ["new_name", "target"]


@pytest.fixture(scope="session")
def clients(target: Target, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clients]:
    found = Clients(target.bootstrap, tmp_path_factory.mktemp("clients"))
    yield found
    found.close()


@pytest.fixture
def topic(clients: Clients, new_name) -> str:
    """A fresh topic of one partition."""
    name = new_name()
    clients["confluent"].create_topic(topic=name)
    return name
