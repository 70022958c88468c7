"""Every machine keeps the promises of ``twinlog.host``: uvloop, asyncio, and simulated ones of several seeds."""

from __future__ import annotations

import pytest

from tests.kit.disks import DISK_CHECKS
from tests.kit.hosts import MACHINES, Check, Machine
from tests.kit.loops import LOOP_CHECKS
from tests.kit.streams import STREAM_CHECKS


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
@pytest.mark.parametrize("check", [*DISK_CHECKS, *LOOP_CHECKS, *STREAM_CHECKS], ids=lambda check: check.__name__)
def test_a_machine_keeps_its_promise(machine: Machine, check: Check) -> None:
    machine.run(check)
