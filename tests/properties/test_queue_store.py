"""The store of queues against a model, with stops of every kind between and during its work."""

from __future__ import annotations

from functools import partial

import pytest

from tests.kit.queues import TINY, StoreHome, run_of
from twinlog.base import DiskFull, HostFault
from twinlog.sim.chance import SimChance

QUEUES = (1, 2, 3)
DURABLE = (1, 2)


class Model:
    """What must be there (``kept``), what must not (``gone``), and what may."""

    def __init__(self) -> None:
        self.next = dict.fromkeys(QUEUES, 0)
        self.stored: dict[int, dict[int, bytes]] = {queue: {} for queue in QUEUES}
        self.persistent: dict[int, set[int]] = {queue: set() for queue in QUEUES}
        self.settled: dict[int, set[int]] = {queue: set() for queue in QUEUES}
        self.kept: dict[int, set[int]] = {queue: set() for queue in QUEUES}
        self.gone: dict[int, set[int]] = {queue: set() for queue in QUEUES}

    def ready(self, queue: int) -> dict[int, bytes]:
        return {number: body for number, body in self.stored[queue].items() if number not in self.settled[queue]}

    def on_durable(
        self, persistent: dict[int, set[int]], settled: dict[int, set[int]], fault: HostFault | None
    ) -> None:
        assert fault is None
        for queue in DURABLE:
            self.kept[queue] |= persistent[queue]
            self.gone[queue] |= settled[queue]

    def promise(self, home: StoreHome, mark: int) -> None:
        """What was done up to now is promised once the mark is durable; acknowledgements only if they were written."""
        persistent = {queue: set(self.persistent[queue]) for queue in QUEUES}
        home.store.when_durable(mark, partial(self.on_durable, persistent, {queue: set() for queue in QUEUES}))

    def crashed(self, home: StoreHome, seen: dict[int, dict[int, bytes]]) -> None:
        recovered = home.store.recovered()
        for queue in DURABLE:
            ready = seen[queue]
            assert self.kept[queue] - self.settled[queue] <= set(ready), (queue, "lost")
            assert not self.gone[queue] & set(ready), (queue, "came back")
            assert not set(ready) - self.persistent[queue], (queue, "never persistent")
            assert all(self.stored[queue][number] == body for number, body in ready.items())
            self.stored[queue] = dict(ready)
            self.persistent[queue] = set(ready)
            self.kept[queue] = set(ready)
            known = recovered.get(queue)
            assert max(ready, default=-1) < (known.number_next if known else 0) or not ready
            self.next[queue] = known.number_next if known else 0
            # Numbers that were lost with a torn tail are given again.
            self.gone[queue] = {number for number in self.gone[queue] if number < self.next[queue]}
            settled = {number for number in self.settled[queue] if number < self.next[queue]}
            self.settled[queue] = settled - set(ready)
        self.stored[3], self.persistent[3], self.settled[3], self.next[3] = {}, set(), set(), 0
        assert 3 not in recovered


def recovered_messages(home: StoreHome) -> dict[int, dict[int, bytes]]:
    seen: dict[int, dict[int, bytes]] = {}
    ranges = {queue: found.ready for queue, found in home.store.recovered().items()}
    for queue in QUEUES:
        home.store.create(queue, durable=queue in DURABLE)
        seen[queue] = dict(home.read_all(queue, 5000))
        told = {number for low, high in ranges.get(queue, ()) for number in range(low, high + 1)}
        assert told == set(seen[queue]), (queue, "ranges and messages differ")
    return seen


@pytest.mark.parametrize("seed", range(60))
def test_a_store_keeps_its_promises_through_every_kind_of_stop(seed: int) -> None:
    chance = SimChance(seed, "queue store")
    home = StoreHome(TINY)
    model = Model()
    for queue in QUEUES:
        home.store.create(queue, durable=queue in DURABLE)
    for life in range(6):
        for _ in range(chance.below(60)):
            act(chance, home, model)
        if chance.below(3):
            home.settle(chance.below(400))
        how = ("stop", "kill", "cut_power", "cut_power")[chance.below(4)]
        if how == "stop":
            home.machine.settle(2000)
            for queue in DURABLE:
                model.kept[queue] |= model.persistent[queue]
                model.gone[queue] |= model.settled[queue]
        getattr(home, how)()
        model.crashed(home, recovered_messages(home))
        assert life < 6


def act(chance: SimChance, home: StoreHome, model: Model) -> None:
    kind = chance.below(10)
    queue = QUEUES[chance.below(3)]
    if kind < 5:
        targets = [queue] if chance.below(3) else list(QUEUES)
        count = 1 + chance.below(4)
        bodies = [b"%d-%d " % (model.next[targets[0]], at) + b"x" * chance.below(500) for at in range(count)]
        durable = chance.below(5) > 0
        blob_targets = [(each, model.next[each]) for each in targets]
        mark = home.store.append(run_of(bodies), count, blob_targets, durable=durable, now_ms=7)
        for each in targets:
            for at, body in enumerate(bodies):
                model.stored[each][model.next[each] + at] = body
                if durable and each in DURABLE:
                    model.persistent[each].add(model.next[each] + at)
            model.next[each] += count
        if chance.below(2):
            model.promise(home, mark)
    elif kind < 8:
        ready = sorted(model.ready(queue))
        if ready:
            low = ready[0] if chance.below(2) else ready[chance.below(len(ready))]
            high = low + chance.below(8)
            taken = [number for number in range(low, high + 1) if number in model.stored[queue]]
            home.store.settle(queue, low, min(high, model.next[queue] - 1))
            model.settled[queue] |= set(taken)
    elif kind == 8:
        assert dict(home.read_all(queue, 1 + chance.below(2000))) == model.ready(queue)
    else:
        home.settle(chance.below(150))


@pytest.mark.parametrize("seed", range(10))
def test_a_store_on_a_full_disk_takes_or_refuses_and_forgets_nothing(seed: int) -> None:
    chance = SimChance(seed, "full disk")
    home = StoreHome(TINY)
    model = Model()
    for queue in QUEUES:
        home.store.create(queue, durable=queue in DURABLE)
    platter = home.machine.platter
    for _ in range(40):
        platter.capacity_bytes = platter.used_bytes + chance.below(3000)
        for _ in range(chance.below(10)):
            try:
                act(chance, home, model)
            except DiskFull:
                home.settle(50)
        for queue in QUEUES:
            assert dict(home.read_all(queue, 3000)) == model.ready(queue)
    platter.capacity_bytes = 1 << 30
    home.settle(5000)
    home.cut_power()
    seen = recovered_messages(home)
    for queue in DURABLE:
        assert set(seen[queue]) == model.persistent[queue] - model.settled[queue]
