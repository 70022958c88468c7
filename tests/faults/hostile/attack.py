"""What must hold whatever a stranger sends."""

from __future__ import annotations

import contextlib
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.compat.target import Target, resident_bytes
from tests.scenarios.kafka.batches import Record, batch
from tests.scenarios.kafka.raw import Connection

MIB = 1 << 20
MEMORY_GROWTH_MAX = 32 * MIB
LOG_BYTES_PER_CONNECTION_MAX = 2048
SAMPLE_S = 0.01
BYSTANDER_PAUSE_S = 0.005
# Far above anything healthy, so that a busy machine passes and a blocked loop does not.
BYSTANDER_WAIT_MAX_S = 5.0


def frame(key: int, version: int, rest: bytes, client_id: bytes = b"\0\x07hostile") -> bytes:
    body = struct.pack(">hhi", key, version, 7) + client_id + rest
    return struct.pack(">i", len(body)) + body


@dataclass
class Attack:
    """One test's use of the broker: the address to attack and the topic that must not change."""

    target: Target
    topic: str
    connections: int = 0
    served: list[float] = field(default_factory=list)
    memory_growth_max: int = MEMORY_GROWTH_MAX

    def connect(self, timeout_s: float = 20.0, source: str = "127.0.0.1") -> Connection:
        self.connections += 1
        return Connection(self.target.bootstrap, timeout_s, source)

    def sends(self, data: bytes, closed_within_s: float | None = 10.0, source: str = "127.0.0.1") -> None:
        """Sends it on a connection of its own and, unless told otherwise, expects the connection to be closed."""
        with self.connect(source=source) as connection:
            with contextlib.suppress(ConnectionError):  # closed while we were still sending: even better
                connection.send_bytes(data)
            if closed_within_s is not None:
                assert connection.is_closed_within(closed_within_s), f"still open after {data[:40]!r}"


class Bystander(threading.Thread):
    """Another client's connection: writes and reads all the time, and never has to wait long."""

    def __init__(self, attack: Attack, topic: str) -> None:
        super().__init__(name="bystander")
        self.attack, self.topic = attack, topic
        self.over = threading.Event()
        self.failure: BaseException | None = None

    def wait_for_more(self) -> None:
        """Until it was served once more than by now: also the shortest attack is followed by somebody's request."""
        enough = len(self.attack.served) + 1
        while len(self.attack.served) < enough and self.is_alive():
            time.sleep(SAMPLE_S)

    def run(self) -> None:
        try:
            with Connection(self.attack.target.bootstrap) as connection:
                while not self.over.wait(BYSTANDER_PAUSE_S):
                    started = time.monotonic()
                    answer = connection.produce(
                        self.topic, batch([Record(b"v" * 100, timestamp=int(time.time() * 1000))])
                    )
                    assert answer.error_code == 0
                    (read,) = connection.read(self.topic, answer.base_offset)
                    assert read.base_offset == answer.base_offset
                    self.attack.served.append(time.monotonic() - started)
        except BaseException as failure:
            self.failure = failure


class Memory(threading.Thread):
    """The broker's memory at its largest."""

    def __init__(self, pid: int) -> None:
        super().__init__(name="memory")
        self.pid = pid
        self.over = threading.Event()
        self.before = self.peak = resident_bytes(pid)

    def run(self) -> None:
        while not self.over.wait(SAMPLE_S):
            self.peak = max(self.peak, resident_bytes(self.pid))


@contextlib.contextmanager
def under_attack(target: Target, topic: str, busy_topic: str) -> Iterator[Attack]:
    """Watches the broker while the block attacks it, and checks what must hold afterwards."""
    attack = Attack(target, topic)
    with Connection(target.bootstrap) as connection:
        end_before = connection.end(topic)
    said_before = len(target.log) if target.is_twinlog else 0
    bystander = Bystander(attack, busy_topic)
    memory = Memory(target.pid) if target.pid else None
    bystander.start()
    if memory is not None:
        memory.start()
    try:
        yield attack
        bystander.wait_for_more()
    finally:
        for thread in (bystander, memory):
            if thread is not None:
                thread.over.set()
                thread.join()
    assert target.alive()
    if bystander.failure is not None:
        raise AssertionError("another connection was not served") from bystander.failure
    assert attack.served, "the other connection got nothing done"
    assert max(attack.served) < BYSTANDER_WAIT_MAX_S
    with Connection(target.bootstrap) as connection:
        assert connection.end(topic) == end_before
    if target.is_twinlog:
        assert memory is not None
        assert memory.peak - memory.before < attack.memory_growth_max, f"{(memory.peak - memory.before) >> 20} MiB more"
        said = target.log[said_before:]
        assert "Traceback" not in said, said[-3000:]
        assert len(said) < LOG_BYTES_PER_CONNECTION_MAX * (attack.connections + 1), said[:3000]
