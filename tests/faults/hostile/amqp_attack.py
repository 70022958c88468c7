"""What must hold of the AMQP port whatever a stranger sends."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.compat.target import Server
from tests.faults.hostile.attack import BYSTANDER_PAUSE_S, BYSTANDER_WAIT_MAX_S, MEMORY_GROWTH_MAX, Bystander, Memory
from tests.scenarios.amqp.raw import PERSISTENT, Client

LOG_BYTES_PER_CONNECTION_MAX = 2048
VICTIM = "untouched"


@dataclass
class AmqpAttack:
    """One test's use of the broker."""

    server: Server
    connections: int = 0
    served: list[float] = field(default_factory=list)
    memory_growth_max: int = MEMORY_GROWTH_MAX

    def stranger(self) -> Client:
        """A connection on which nothing was said yet."""
        self.connections += 1
        return Client(self.server.amqp)

    def client(self, **how: object) -> Client:
        return self.stranger().opened(**how)  # type: ignore[arg-type]


class AmqpBystander(Bystander):
    """Another client: publishes, waits for the confirm, gets its message back, and never has to wait long."""

    attack: AmqpAttack

    def __init__(self, attack: AmqpAttack) -> None:
        super().__init__(attack, topic="")  # type: ignore[arg-type]

    def run(self) -> None:
        try:
            with Client(self.attack.server.amqp).opened() as client:
                channel = client.channel()
                name = channel.queue("", exclusive=True).queue
                channel.confirm_select()
                while not self.over.wait(BYSTANDER_PAUSE_S):
                    started = time.monotonic()
                    channel.publish("", name, b"v" * 100, PERSISTENT)
                    channel.confirmed(len(self.attack.served) + 1)
                    assert channel.got(name).body == b"v" * 100
                    self.attack.served.append(time.monotonic() - started)
        except BaseException as failure:
            self.failure = failure


def make_victim(server: Server) -> None:
    """A durable queue with two messages, which no attack may change."""
    with Client(server.amqp).opened() as client:
        channel = client.channel()
        channel.queue(VICTIM, durable=True)
        channel.published("", VICTIM, b"one", b"two", properties=PERSISTENT)


@contextlib.contextmanager
def under_amqp_attack(server: Server) -> Iterator[AmqpAttack]:
    """Watches the broker while the block attacks it, and checks what must hold afterwards."""
    attack = AmqpAttack(server)
    said_before = len(server.log)
    bystander, memory = AmqpBystander(attack), Memory(server.pid)
    bystander.start()
    memory.start()
    try:
        yield attack
        bystander.wait_for_more()
    finally:
        for thread in (bystander, memory):
            thread.over.set()
            thread.join()
    assert server.alive()
    if bystander.failure is not None:
        raise AssertionError("another connection was not served") from bystander.failure
    assert attack.served, "the other connection got nothing done"
    assert max(attack.served) < BYSTANDER_WAIT_MAX_S
    with Client(server.amqp).opened() as client:
        assert client.channel().count(VICTIM) == 2
    assert memory.peak - memory.before < attack.memory_growth_max, f"{(memory.peak - memory.before) >> 20} MiB more"
    said = server.log[said_before:]
    assert "Traceback" not in said, said[-3000:]
    assert "bug" not in said, said[-3000:]
    assert len(said) < LOG_BYTES_PER_CONNECTION_MAX * (attack.connections + 1), said[:3000]
