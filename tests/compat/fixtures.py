"""Fixtures of every test that talks to a running broker. A folder takes them in its ``conftest.py``."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator

import pytest

from tests.compat import target as targets

COUNTER = itertools.count()


@pytest.fixture(scope="session")
def target() -> Iterator[targets.Target]:
    """The broker under test; one for the whole run of this process."""
    with targets.running() as found:
        yield found


@pytest.fixture
def new_name(request: pytest.FixtureRequest) -> Callable[[], str]:
    """Topic names that no other test uses, also not one of an earlier run against the same broker."""

    def name() -> str:
        return f"{request.node.originalname[5:45]}-{os.getpid()}-{next(COUNTER)}-{os.urandom(3).hex()}"

    return name


@pytest.fixture
def own_server(target: targets.Target) -> Iterator[targets.Server]:
    """A broker that the test may restart, kill and fill."""
    if isinstance(target, targets.Elsewhere):
        pytest.skip("needs a broker of its own")
    with targets.Server() as server:
        yield server
