"""The course of every trial against a broker: an unsafe half in which anything may break, a half in which everything
comes to its end, and a judgement, which a second crash must not change."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

from twinlog.host import Host
from twinlog.sim.chance import SimChance
from twinlog.sim.stage.nemesis import torment
from twinlog.sim.stage.plan import Plan
from twinlog.sim.stage.stage import Stage
from twinlog.sim.world import World


class Actor(Protocol):
    """A client of a trial: one life of it."""

    @property
    def is_done(self) -> bool:
        """Nothing of what it began is left to be done."""

    def run(self) -> Coroutine[Any, Any, None]: ...


A = TypeVar("A", bound=Actor)


class Course:
    """``actors`` holds the newest life of each client that was cast."""

    finish_ms = 60_000  # the longest timeout of a client, several times

    def __init__(self, world: World, plan: Plan, stage: Stage) -> None:
        self.world = world
        self.plan = plan
        self.stage = stage
        self.actors: dict[str, Actor] = {}

    def play(self) -> None:
        self.start()
        torment(self.stage)
        self.harm()
        self.drain()
        self.judge("auditor")
        if self.plan.cut_at_the_end:
            self.stage.cut_again()
            self.judge("second auditor")

    def start(self) -> None:
        self.stage.start_broker()
        for topic in self.plan.topics:
            self.stage.make_topic(topic)
        self.begin()

    def drain(self) -> None:
        """Nothing breaks any more, and everybody comes to an end."""
        self.stage.mend()
        self.stage.is_unsafe = False
        self.stage.wait_for(lambda: not self.unfinished(), self.finish_ms, lambda: ", ".join(self.unfinished()))

    def begin(self) -> None:
        """Brings the clients on."""
        raise NotImplementedError

    def harm(self) -> None:
        """What is broken for good, at the end of the unsafe half."""

    def judge(self, name: str) -> None:
        """Raises ``Broken``. What runs for it does so under this name."""
        raise NotImplementedError

    def cast(self, name: str, make: Callable[[Host, SimChance, str, A | None], A]) -> None:
        """A client; ``make`` begins a life of it and is told the life before."""
        before: A | None = None

        async def live(host: Host, chance: SimChance, life: int) -> None:
            nonlocal before
            before = actor = make(host, chance, f"{name}.{life}", before)
            self.actors[name] = actor
            await actor.run()

        self.stage.client(name, live)

    def unfinished(self) -> list[str]:
        return [name for name, actor in self.actors.items() if not actor.is_done]
