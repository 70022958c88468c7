"""A Celery application on our broker: tasks, retries, countdowns, groups, remote control, events, priorities."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import kombu
import pytest
from kombu.transport import native_delayed_delivery as delayed

HERE = Path(__file__).parents[3]
PATIENCE_S = 60


class Shop:
    """The application here, and its worker in a process of its own."""

    def __init__(self, address: str, home: Path) -> None:
        self.url = f"pyamqp://guest:guest@{address}//"
        self.notes = home / "notes"
        self.log = home / "worker.log"
        environment = {"SHOP_BROKER": self.url, "SHOP_NOTES": str(self.notes), "PYTHONPATH": str(HERE)}
        os.environ.update(environment)
        from tests.compat.amqp import celery_tasks

        self.tasks: Any = celery_tasks
        self.app = celery_tasks.app
        command = [sys.executable, "-W", "ignore", "-m", "celery", "-A", "tests.compat.amqp.celery_tasks", "worker"]
        command += ["--pool", "prefork", "--concurrency", "2", "--loglevel", "INFO", "--hostname", "one@here"]
        with self.log.open("wb") as log:
            self.worker = subprocess.Popen(
                [*command, "-Q", "shop,urgent"], stdout=log, stderr=log, env={**os.environ, **environment}, cwd=HERE
            )
        self.wait(lambda: "ready." in self.log.read_text(errors="replace"))

    def wait(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not holds():
            assert self.worker.poll() is None, self.log.read_text(errors="replace")[-4000:]
            assert time.monotonic() < deadline, self.log.read_text(errors="replace")[-4000:]
            time.sleep(0.05)

    def close(self) -> None:
        self.worker.terminate()
        self.worker.wait(30)
        self.app.close()


@pytest.fixture(scope="module")
def shop(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    shop = Shop(address, tmp_path_factory.mktemp("shop"))
    yield shop
    shop.close()


# Celery leaves sockets of its pools to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def test_a_task_gives_its_result_over_rpc(shop: Shop) -> None:
    assert shop.tasks.add.delay(2, 3).get(timeout=PATIENCE_S) == 5


def test_a_task_that_fails_is_retried(shop: Shop) -> None:
    assert shop.tasks.shaky.delay(2).get(timeout=PATIENCE_S) == 2


def test_a_countdown_is_kept(shop: Shop) -> None:
    asked = time.time()
    results = [shop.tasks.when.apply_async(countdown=0.7) for _ in range(5)]
    ran = [result.get(timeout=PATIENCE_S) for result in results]
    assert min(ran) - asked >= 0.7


def test_a_group_gathers_its_results(shop: Shop) -> None:
    from celery import group

    result = group(shop.tasks.add.s(number, number) for number in range(10)).apply_async()
    assert result.get(timeout=PATIENCE_S) == [2 * number for number in range(10)]


def test_a_chain_passes_results_on(shop: Shop) -> None:
    from celery import chain

    assert chain(shop.tasks.add.s(1, 2), shop.tasks.add.s(10)).apply_async().get(timeout=PATIENCE_S) == 13


def test_chords_over_rpc_are_refused_by_celery_itself(shop: Shop) -> None:
    from celery import chord

    with pytest.raises(NotImplementedError, match="rpc"):
        chord([shop.tasks.add.s(1, 1)])(shop.tasks.total.s())


@pytest.mark.parametrize("backend", ["database", "file"])
def test_chords_work_with_results_kept_elsewhere(address: str, tmp_path: Path, backend: str) -> None:
    """In SQLite or in a folder: none of the two needs a server. The headers and the body go through our queues. An
    application of its own, because Celery takes its result backend once for all."""
    where = {"database": f"db+sqlite:///{tmp_path}/results", "file": f"file://{tmp_path}/results"}[backend]
    if backend == "file":
        (tmp_path / "results").mkdir()
    environment = {
        **os.environ,
        "SHOP_BROKER": f"pyamqp://guest:guest@{address}//",
        "SHOP_BACKEND": where,
        "SHOP_QUEUE": f"chords-{backend}",
        "PYTHONPATH": str(HERE),
    }
    command = [sys.executable, "-W", "ignore", "-m"]
    app = ["celery", "-A", "tests.compat.amqp.celery_tasks", "worker", "--pool", "solo", "--loglevel", "INFO"]
    app += ["--hostname", f"chords-{backend}@here", "-Q", f"chords-{backend}", "--without-mingle"]
    with (tmp_path / "worker.log").open("wb") as log:
        worker = subprocess.Popen([*command, *app], stdout=log, stderr=log, env=environment, cwd=HERE)
    try:
        asked = subprocess.run(
            [*command, "tests.compat.amqp.celery_chord", str(PATIENCE_S)],
            env=environment,
            cwd=HERE,
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE_S,
        )
        assert asked.stdout.split() == ["90"], asked.stderr[-2000:] + (tmp_path / "worker.log").read_text()[-2000:]
    finally:
        worker.terminate()
        worker.wait(30)


def test_remote_control_reaches_the_worker(shop: Shop) -> None:
    assert shop.app.control.ping(timeout=5) == [{"one@here": {"ok": "pong"}}]
    inspect = shop.app.control.inspect(timeout=5)
    assert "tests.compat.amqp.celery_tasks.add" in inspect.registered()["one@here"]
    assert {queue["name"] for queue in inspect.active_queues()["one@here"]} == {"shop", "urgent"}


def test_the_prefetch_count_of_a_running_worker_can_be_changed(shop: Shop) -> None:
    (answer,) = shop.app.control.pool_grow(1, reply=True, timeout=5, destination=["one@here"])
    assert "ok" in answer["one@here"]
    before = shop.app.control.inspect(timeout=5).stats()["one@here"]["prefetch_count"]
    shop.app.control.pool_shrink(1, reply=True, timeout=5, destination=["one@here"])
    after = shop.app.control.inspect(timeout=5).stats()["one@here"]["prefetch_count"]
    assert after == before - 1
    assert shop.tasks.add.delay(1, 1).get(timeout=PATIENCE_S) == 2


def test_a_task_can_be_revoked_before_it_runs(shop: Shop) -> None:
    from celery.exceptions import TaskRevokedError

    result = shop.tasks.say.apply_async(("never",), countdown=2)
    shop.app.control.revoke(result.id, reply=True, timeout=5)
    with pytest.raises(TaskRevokedError):
        result.get(timeout=PATIENCE_S)


def test_events_tell_what_happens_to_a_task(shop: Shop) -> None:
    seen: list[str] = []
    wanted = {"task-received", "task-started", "task-succeeded"}
    with shop.app.connection() as connection:
        receiver = shop.app.events.Receiver(connection, handlers={"*": lambda event: seen.append(event["type"])})
        watcher = threading.Thread(target=receiver.capture, kwargs={"limit": None, "wakeup": True})
        watcher.start()
        shop.wait(lambda: "worker-heartbeat" in seen)
        assert shop.tasks.add.delay(4, 4).get(timeout=PATIENCE_S) == 8
        shop.wait(lambda: wanted <= set(seen))
        receiver.should_stop = True
        watcher.join(PATIENCE_S)


def test_the_more_urgent_task_runs_first(shop: Shop) -> None:
    blocks = [shop.tasks.nap.apply_async((1.5,), queue="urgent") for _ in range(2)]
    for word, priority in (("low", 1), ("high", 9), ("middle", 5)):
        for _ in range(2):
            shop.tasks.say.apply_async((word,), queue="urgent", priority=priority)
    for block in blocks:
        block.get(timeout=PATIENCE_S)
    shop.wait(lambda: shop.notes.exists() and len(shop.notes.read_text().split()) >= 6)
    words = shop.notes.read_text().split()
    # One task a queue may have been taken in advance (the prefetch count of two, both napping).
    assert words.index("high") < words.index("low")
    assert words[-1] == "low"


def test_native_delayed_delivery_through_28_queues(shop: Shop, new_name: Callable[[], str]) -> None:
    name = new_name()
    with kombu.Connection(shop.url) as connection:
        delayed.declare_native_delayed_delivery_exchanges_and_queues(connection, "classic")
        exchange = kombu.Exchange(f"{name}-exchange", type="topic")
        queue = kombu.Queue(name, exchange, routing_key=name, auto_delete=True)
        queue(connection.channel()).declare()
        delayed.bind_queue_to_native_delayed_delivery_exchange(connection, queue)
        asked = time.monotonic()
        connection.Producer().publish(
            {"late": True}, exchange=delayed.level_name(27), routing_key=delayed.calculate_routing_key(3, name)
        )
        with connection.SimpleQueue(queue) as simple:
            message = simple.get(timeout=PATIENCE_S)
            assert message.payload == {"late": True}
            message.ack()
        # The levels for one and for two seconds, one after the other.
        assert time.monotonic() - asked > 2.9
