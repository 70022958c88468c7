"""The queues workload: runs published into queues of every kind, consumers of every temper, a machine that dies.

There is no network in it: the store and the queues stand on a simulated disk, and the trial is their channel. After
every turn of the queues, the books have to balance: published = ready + taken + settled + dead. At the end, all that
was confirmed is either acknowledged, or still there, or among the dead letters.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final, NamedTuple, cast

from twinlog._kernel import RUN_PERSISTENT, build_run, split_run
from twinlog.amqp.ports import ExchangeInfo, QueueInfo, Router, Topology
from twinlog.amqp.queues import ClassicQueue, LiveMessages
from twinlog.amqp.queues.pieces import Piece
from twinlog.amqp.queues.ready import Fifo
from twinlog.amqp.routing import Graph, RouteFinder
from twinlog.amqp.routing.graph import VhostGraph
from twinlog.amqp.store import QueueStore, QueueStoreSettings
from twinlog.base import DiskFull, HostFault
from twinlog.cluster.kinds.bindings import Binding
from twinlog.host import Host
from twinlog.sim.chance import SimChance
from twinlog.sim.stage.history import Broken
from twinlog.sim.stage.plan import Plan, draw_log_plan
from twinlog.sim.stage.stage import Stage
from twinlog.sim.world import World
from twinlog.storage import Flusher, StorageSettings
from twinlog.wire.amqp import Properties, Table, encode_properties

VHOST: Final = "/"
DIRECTORY: Final = "data/queues"
LONG_AGO_MS: Final = 3_000  # far beyond the longest flush interval
LENGTH_MAX: Final = 12
TTL_MS: Final = 300
QUEUES: Final[dict[str, dict[str, Any]]] = {
    "plain": {"x-dead-letter-exchange": "dlx"},
    "short": {"x-max-length": LENGTH_MAX, "x-dead-letter-exchange": "dlx"},
    "brief": {"x-message-ttl": TTL_MS, "x-dead-letter-exchange": "dlx"},
    "levels": {"x-max-priority": 3, "x-dead-letter-exchange": "dlx"},
    "dead": {},
    "transient": {},
}
LIVES: Final = 4
HOWS: Final = ("stop", "kill", "cut_power", "cut_power")


def draw(chance: SimChance) -> Plan:
    plan = draw_log_plan(chance, ("kill",))
    plan.about = f"{LIVES} lives of a store of queues, each ended by a stop, a kill or a power cut"
    return plan


def play(world: World, plan: Plan, stage: Stage) -> None:
    trial = QueuesTrial(world, world.chance.fork("queues"))
    for _ in range(LIVES):
        for _ in range(trial.chance.between(5, 60)):
            trial.act()
        how = trial.chance.pick(HOWS)
        stage.tell(f"life {trial.life} of the queues ends: {how}")
        trial.restart(how)
    trial.drain()
    stage.history.confirmed += len(trial.confirmed)


class Watched(LiveMessages):
    """Balances the books after every turn."""

    on_turn: Callable[[], None] = staticmethod(lambda: None)

    def _turn(self) -> None:
        super()._turn()
        self.on_turn()


class Taker:
    """A consumer, and what it holds."""

    def __init__(self, trial: QueuesTrial, queue: ClassicQueue, tag: str, room: int, no_ack: bool) -> None:
        self.tag = tag
        self.no_ack = no_ack
        self.exclusive = False
        self.priority = trial.chance.below(2)
        self.prefetch = 0
        self.shares_limit = False
        self.arguments: Table = {}
        self.owner: object = self
        self.room = room
        self.held: list[int] = []
        self._trial = trial
        self._queue = queue

    def credit(self) -> int:
        return max(0, self.room)

    def deliver(self, number: int, blob: bytes, position: int, count: int, redelivered: bool) -> tuple[int, int]:
        messages = split_run(blob, position, count + 1)
        if len(messages) < count:
            raise Broken("short run", f"{count} messages were offered, {len(messages)} are there")
        for at, (_, _, body) in enumerate(messages[:count]):
            self._trial.delivered(self._queue, number + at, body, redelivered, no_ack=self.no_ack)
            if not self.no_ack:
                self.held.append(number + at)
        self.room -= count
        return count, messages[count][0] if len(messages) > count else len(blob)

    def cancelled(self) -> None:
        self.held.clear()


class Birth(NamedTuple):
    queue: str
    persistent: bool
    at_ms: int
    life: int


class QueuesTrial:
    """See above."""

    def __init__(self, world: World, chance: SimChance) -> None:
        self.world = world
        self.chance = chance
        self.machine = world.host("queues")
        self.serial = 0
        self.life = 0
        self.bodies: dict[tuple[str, int], bytes] = {}  # what a number stands for
        self.born: dict[bytes, Birth] = {}
        self.confirmed: set[bytes] = set()
        self.answered: dict[tuple[str, bytes], int] = {}  # acknowledged in this life, and when
        self.perhaps: set[tuple[str, bytes]] = set()  # acknowledged in some life
        self.over: set[tuple[str, bytes]] = set()  # acknowledged, and that was stored
        self.seen: set[tuple[str, int, bytes]] = set()  # delivered once
        self.settings = QueueStoreSettings(
            memory_bytes=1 << 20,
            journal_file_bytes=chance.pick([4096, 8192, 65536]),
            journal_files_max=chance.pick([1, 2, 4]),
            segment_bytes=chance.pick([4096, 16384]),
        )
        self.storage = StorageSettings(flush_interval_ms=chance.pick([5, 50, 1000]))
        self.graph = Graph()
        part = self.graph.vhosts[VHOST] = VhostGraph(VHOST)
        part.add_exchange(ExchangeInfo(VHOST, "", "direct", True, False, False))
        part.add_exchange(ExchangeInfo(VHOST, "dlx", "fanout", True, False, False))
        self.infos: dict[str, QueueInfo] = {}
        for number, (name, arguments) in enumerate(QUEUES.items()):
            durable = name != "transient"
            info = QueueInfo(number + 1, VHOST, name, durable, None, False, dict(arguments), dict(arguments))
            self.infos[name] = info
            part.add_queue(info)
        part.add_edge(Binding(VHOST, "dlx", True, "dead", "", b""), {})
        self.takers: list[tuple[str, Taker]] = []
        self.begin()

    # ---- the machine ------------------------------------------------------------------------------------------

    def begin(self) -> None:
        host = self.machine.host
        host.disk.make_directory(DIRECTORY)
        for path in ("", "data"):
            host.disk.sync_directory_now(path)
        try:
            self.open(host)
        except HostFault as fault:
            raise Broken("start refused", str(fault)) from fault

    def open(self, host: Host) -> None:
        self.takers = []
        self.life += 1
        self.store = QueueStore(
            host.disk, host.tasks, Flusher(host.disk, host.tasks, self.storage), DIRECTORY, self.settings
        )
        self.store.open()
        self.messages = Watched(
            self.store,
            cast(Topology, self),
            cast(Router, RouteFinder(self.graph)),
            now_ms=host.clock.now_ms,
            soon=host.tasks.soon,
            later=host.tasks.later,
            memory_bytes=24_000,
        )
        self.messages.on_turn = self.check_turn
        for info in self.infos.values():
            self.messages.on_queue_created(info)
        ends = {name: self.of(name).number_next for name in self.infos}
        self.seen = {key for key in self.seen if key[1] < ends[key[0]]}  # the rest was lost, and is given again
        self.check()

    def find_exchange(self, vhost: str, name: str) -> ExchangeInfo | None:
        return self.graph.exchange(vhost, name)

    def restart(self, how: str) -> None:
        now_ms = self.now_ms()
        self.over.update(key for key, at_ms in self.answered.items() if now_ms - at_ms > LONG_AGO_MS)
        if how == "stop":
            self.messages.close()
            self.store.close()
            self.machine.kill()
            self.over.update(self.answered)
        elif how == "kill":
            self.machine.kill()
        else:
            self.machine.cut_power()
        self.perhaps.update(self.answered)
        self.answered.clear()
        self.world.mark(f"queues {how}")
        for key in [key for key in self.bodies if key[0] == "transient"]:
            del self.bodies[key]  # its numbers begin anew
        self.begin()

    def now_ms(self) -> int:
        return self.machine.host.clock.now_ms()

    def of(self, name: str) -> ClassicQueue:
        return self.messages.queues[self.infos[name].id]

    # ---- what happens -----------------------------------------------------------------------------------------

    def act(self) -> None:
        kind = self.chance.below(20)
        name = self.chance.pick(tuple(self.infos))
        if kind < 8:
            self.publish(name if name != "dead" else "plain")
        elif kind < 10:
            self.consume(name)
        elif kind < 15 and self.takers:
            self.answer(*self.chance.pick(self.takers))
        elif kind == 15:
            self.get(name)
        elif kind == 16 and self.takers:
            name, taker = self.takers.pop(self.chance.below(len(self.takers)))
            self.of(name).cancel(taker)
            for number in taker.held:
                self.of(name).requeue(number, number)
        else:
            self.world.run_for(self.chance.pick([0, 1, 5, 30, 200, 1500]))
        self.check()

    def publish(self, name: str) -> None:
        count = self.chance.between(1, 6)
        persistent = not self.chance.one_in(4)
        names = [name] if not self.chance.one_in(5) else [name, *(n for n in ("plain", "levels") if n != name)]
        priority = self.chance.below(5)
        properties = encode_properties(Properties(delivery_mode=2 if persistent else 1, priority=priority))
        bodies = []
        for _ in range(count):
            self.serial += 1
            bodies.append(b"%d " % self.serial + b"x" * self.chance.pick([0, 10, 400]))
        blob = build_run("", name, RUN_PERSISTENT if persistent else 0, [(properties, body) for body in bodies])
        first = {each: self.of(each).number_next for each in names}
        try:
            published = self.messages.publish(blob, [self.infos[each] for each in names])
        except DiskFull:
            return
        survivors = [each for each in names if persistent and self.infos[each].durable]
        for at, body in enumerate(bodies):
            self.born[body] = Birth(name, persistent, self.now_ms(), self.life)
            for each in names:
                self.bodies[each, first[each] + at] = body
        if survivors and len(names) == 1 and self.chance.below(2):
            self.store.when_durable(published.mark, lambda fault: self.on_confirmed(bodies, fault))

    def on_confirmed(self, bodies: list[bytes], fault: HostFault | None) -> None:
        if fault is None:
            self.confirmed.update(bodies)
            self.world.mark("queues confirmed")

    def consume(self, name: str) -> None:
        queue = self.of(name)
        taker = Taker(self, queue, f"t{self.serial}", self.chance.between(1, 12), self.chance.one_in(8))
        queue.consume(taker)
        self.takers.append((name, taker))

    def answer(self, name: str, taker: Taker) -> None:
        queue = self.of(name)
        if taker.held:
            count = self.chance.between(1, len(taker.held))
            start = self.chance.below(len(taker.held) - count + 1)
            numbers = taker.held[start : start + count]
            del taker.held[start : start + count]
            how = self.chance.below(5)
            for low, high in ranges_of(numbers):
                if how == 3:
                    queue.requeue(low, high)
                    continue
                if how < 3 or queue.limits.dead_letter_exchange is None:
                    for number in range(low, high + 1):
                        self.answered[name, self.bodies[name, number]] = self.now_ms()
                if how < 3:
                    queue.settle(low, high)
                else:
                    queue.reject(low, high)
            taker.room += count
        else:
            taker.room = self.chance.between(1, 12)
        queue.resume(taker)

    def get(self, name: str) -> None:
        got = self.of(name).get(no_ack=True)
        if got is not None:
            body = split_run(got.blob, got.position, 1)[0][2]
            self.delivered(self.of(name), got.number, body, got.redelivered, no_ack=True)

    def delivered(self, queue: ClassicQueue, number: int, body: bytes, redelivered: bool, *, no_ack: bool) -> None:
        name = queue.info.name
        if body not in self.born:
            raise Broken("garbage", f"{body[:20]!r} was never published")
        birth = self.born[body]
        if birth.life != self.life and not (birth.persistent and queue.info.durable):
            raise Broken("survived", f"{body[:20]!r} in {name} was not to outlive its process")
        known = self.bodies.setdefault((name, number), body)
        if known != body and name != "dead":
            raise Broken("wrong body", f"{name} {number} is {body[:20]!r}, and was {known[:20]!r}")
        self.bodies[name, number] = body
        key = (name, number, body)
        if key in self.seen and not redelivered:
            raise Broken("redelivered flag", f"{name} {number} {body[:20]!r} a second time, unmarked")
        self.seen.add(key)
        if name != "dead" and (name, body) in self.over:
            raise Broken("came back", f"{name} {number} {body[:20]!r} was acknowledged, and that was stored")
        if name == "brief" and self.now_ms() - birth.at_ms > TTL_MS:
            raise Broken("expired delivery", f"{name} {number} lived {self.now_ms() - birth.at_ms} ms")
        if no_ack:
            self.answered[name, body] = self.now_ms()

    # ---- judgement --------------------------------------------------------------------------------------------

    def check_turn(self) -> None:
        self.check()
        short = self.of("short")
        if not len(short.consumers) and short.ready.count > LENGTH_MAX and self.messages.has_time_to_bury:
            raise Broken("too long", f"{short.ready.count} messages are ready")

    def check(self) -> None:
        for queue in self.messages.queues.values():
            name = queue.info.name
            ready, taken = queue.ready.count, queue.taken.count
            books = ready + taken + queue.settled_count + queue.dead_count
            if queue.published_count != books:
                raise Broken(
                    "conservation",
                    f"{name}: {queue.published_count} published, {ready} ready, {taken} taken, "
                    f"{queue.settled_count} settled, {queue.dead_count} dead",
                )
            pieces = list(queue.ready)
            if sum(piece.count for piece in pieces) != ready:
                raise Broken("count of ready", f"{name}: {pieces} are not {ready}")
            if isinstance(queue.ready, Fifo) and not in_order(pieces):
                raise Broken("order", f"{name}: {pieces}")
            if sum(high - low + 1 for low, high in queue.taken.ranges()) != taken:
                raise Broken("count of taken", f"{name}: {queue.taken.ranges()} are not {taken}")
            owned = sum(len(taker.held) for of, taker in self.takers if of == name)
            if owned != taken:
                raise Broken("ownerless", f"{name}: consumers hold {owned}, the queue says {taken}")

    def drain(self) -> None:
        """Takes all that is there, and looks for what is missing."""
        self.world.run_for(10_000)
        self.check()
        for name, taker in self.takers:
            self.of(name).cancel(taker)
            for low, high in ranges_of(taker.held):
                self.of(name).requeue(low, high)
            taker.held.clear()
        self.world.run_for(2_000)
        for name in self.infos:
            queue = self.of(name)
            while (got := queue.get(no_ack=True)) is not None:
                body = split_run(got.blob, got.position, 1)[0][2]
                self.delivered(queue, got.number, body, got.redelivered, no_ack=True)
            if queue.ready.count or queue.taken.count:
                raise Broken("stuck", f"{name}: {queue.status()}")
        known = self.perhaps | set(self.answered)
        for body in self.confirmed:
            name = self.born[body].queue
            if not {(name, body), ("dead", body)} & known:
                raise Broken("lost", f"{body[:20]!r} was confirmed for {name} and is nowhere")
        if self.store.held_bytes:
            raise Broken("memory", f"{self.store.held_bytes} bytes are held for nothing")


def ranges_of(numbers: list[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def in_order(pieces: list[Piece]) -> bool:
    return all(one.high < two.number for one, two in pairwise(pieces))
