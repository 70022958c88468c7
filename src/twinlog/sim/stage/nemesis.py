"""What goes wrong while a trial is unsafe. A fault is a function of the stage; its name is what a plan draws."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from typing import Final, TypeAlias

from twinlog.base.errors import HostFault
from twinlog.sim.chance import SimChance
from twinlog.sim.clients.link import BROKER
from twinlog.sim.platter import Directory, Inode
from twinlog.sim.stage.history import Place
from twinlog.sim.stage.plan import DATA, MORE_DATA
from twinlog.sim.stage.stage import Stage
from twinlog.storage.directory import key_of
from twinlog.storage.marks import decode_marks

Fault: TypeAlias = Callable[[Stage, SimChance], None]


def cut_power(stage: Stage, chance: SimChance) -> None:
    if not stage.broker.machine.is_up:
        return
    if stage.broker.is_starting:
        stage.mark("power cut during recovery")
    stage.broker.cut_power()


def kill(stage: Stage, chance: SimChance) -> None:
    if stage.broker.machine.is_up:
        if stage.broker.is_starting:
            stage.mark("killed during recovery")
        stage.broker.kill()


def stop(stage: Stage, chance: SimChance) -> None:
    stage.broker.stop()


def pause(stage: Stage, chance: SimChance) -> None:
    machine = stage.broker.machine
    if machine.is_up:
        machine.pause()
        _later(stage, chance.pick([10, 300, 5_000]), machine.go_on)


def stall_disk(stage: Stage, chance: SimChance) -> None:
    stage.broker.machine.platter.stall(chance.pick([20, 200, 3_000]))


def fail_sync(stage: Stage, chance: SimChance) -> None:
    call = chance.pick(["sync", "sync", "sync_directory"])
    stage.broker.machine.platter.faults.fail("sync" if call == "sync" else "sync_directory", nth=chance.between(1, 20))


def fail_call(stage: Stage, chance: SimChance) -> None:
    call = chance.pick(["open", "read", "write", "truncate", "rename", "delete", "list"])
    stage.broker.machine.platter.faults.fail(call, nth=chance.between(1, 30))  # type: ignore[arg-type]


def short_write(stage: Stage, chance: SimChance) -> None:
    """One write meets the end of the disk, half done; the next one has room again."""
    stage.broker.machine.platter.faults.fail(
        "write", nth=chance.between(1, 12), full=True, path_part=chance.pick([".log", ".log", ""])
    )


def fill_disk(stage: Stage, chance: SimChance) -> None:
    platter = stage.broker.machine.platter
    platter.capacity_bytes = platter.used_bytes + chance.between(0, 3_000)

    def free() -> None:
        platter.capacity_bytes = 1 << 40

    _later(stage, chance.pick([20, 300, 1_500]), free)


def part(stage: Stage, chance: SimChance) -> None:
    """One client, or all of them, cannot reach the broker, or not be reached by it."""
    fabric = stage.world.fabric
    clients = stage.clients if chance.one_in(3) else [chance.pick(stage.clients)]
    way = chance.below(3)
    if way != 1:
        fabric.block(clients, [BROKER])
    if way != 2:
        fabric.block([BROKER], clients)
    _later(stage, chance.pick([30, 500, 4_000]), fabric.heal)


def reset(stage: Stage, chance: SimChance) -> None:
    stage.world.fabric.reset_between(chance.pick(stage.clients), BROKER)


def shaky_wires(stage: Stage, chance: SimChance) -> None:
    profile = stage.world.fabric.profile
    profile.reset_one_in = chance.pick([0, 20, 100])


def jump_clock(stage: Stage, chance: SimChance) -> None:
    """Minutes only: a wall clock that is hours off makes good timestamps unacceptable."""
    stage.broker.machine.clock.jump_wall(chance.pick([-120_000, -3_000, -50, 50, 3_000, 120_000]))


def crash_client(stage: Stage, chance: SimChance) -> None:
    machine = stage.world.host(chance.pick(stage.clients))
    if machine.is_up:
        machine.kill()
        _later(stage, chance.pick([0, 50, 1_000]), lambda: None if machine.is_up else machine.restart())


def pause_client(stage: Stage, chance: SimChance) -> None:
    machine = stage.world.host(chance.pick(stage.clients))
    if machine.is_up:
        machine.pause()
        _later(stage, chance.pick([10, 300, 4_000]), machine.go_on)


FAULTS: Final[dict[str, Fault]] = {
    "power cut": cut_power,
    "kill": kill,
    "clean stop": stop,
    "pause": pause,
    "disk stall": stall_disk,
    "failing sync": fail_sync,
    "failing call": fail_call,
    "short write": short_write,
    "full disk": fill_disk,
    "partition": part,
    "reset": reset,
    "shaky wires": shaky_wires,
    "clock jump": jump_clock,
    "client crash": crash_client,
    "client pause": pause_client,
}
MENU: Final = ("power cut", *FAULTS)  # what a log promises is mostly about this one


def torment(stage: Stage) -> None:
    """Runs the unsafe half."""
    plan = stage.plan
    chance = stage.world.chance.fork("nemesis")
    until_us = stage.world.loop.now_us + plan.unsafe_ms * 1000
    while stage.world.loop.now_us < until_us:
        stage.world.run_for(chance.between(1, 2 * plan.fault_gap_ms))
        if plan.faults and not chance.one_in(4):  # some of the time is quiet
            name = chance.pick(plan.faults)
            stage.faults[name] += 1
            stage.tell(name)
            FAULTS[name](stage, chance)


def damage_at_rest(stage: Stage) -> Place | None:
    """Flips one bit of a log, below what was marked as durable, in its last segment: the next start will read that.
    That log may be refused from now on; it may not lose or change anything silently."""
    chance = stage.world.chance.fork("damage")
    platter = stage.broker.machine.platter

    def names_in(path: str) -> list[str]:
        node = platter.find(path)
        return list(node.entries) if isinstance(node, Directory) else []

    candidates = []
    for directory in (DATA, MORE_DATA):
        marks = platter.find(f"{directory}/marks")
        if not isinstance(marks, Inode):
            continue
        for key, mark in decode_marks(bytes(marks.durable)).by_log.items():
            home = f"{directory}/logs/{key[0].hex()}-{key[1]}"
            path = f"{home}/{mark.segment_base:020d}.log"
            file = platter.find(path)
            if file is None or any(name.endswith(".log") and f"{home}/{name}" > path for name in names_in(home)):
                continue
            if mark.segment_size and isinstance(file, Inode) and len(file.durable) >= mark.segment_size:
                candidates.append((path, mark.segment_size))
    places = {}
    for path, size in sorted(candidates):
        key_here = key_of(path.split("/")[-2])
        place = _place_of(stage, key_here) if key_here else None
        if place is not None and place in stage.history.places():
            places[place] = (path, size)
    if not places:
        return None
    place = chance.pick(list(places))
    path, size = places[place]
    try:
        platter.flip_bit(path, chance.below(size), chance.below(8))
    except HostFault:
        return None
    stage.history.damaged[place] = None
    stage.tell(f"a bit of {place} flips in {path}")
    stage.faults["flipped bit"] += 1
    return place


def _place_of(stage: Stage, key: tuple[bytes, int]) -> Place | None:
    node = stage.broker.node
    topic = node.metadata.image.topics_by_id.get(key[0]) if node is not None else None
    return (topic.name, key[1]) if topic is not None else None


def _later(stage: Stage, delay_ms: int, action: Callable[[], object]) -> None:
    stage.world.loop.call_at_us(stage.world.loop.now_us + delay_ms * 1000, action, context=Context())
