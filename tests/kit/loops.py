"""What every machine promises about tasks, clocks and chance."""

from __future__ import annotations

import asyncio

from tests.kit.hosts import Check, Place


def _future() -> asyncio.Future[object]:
    return asyncio.get_running_loop().create_future()


async def soon_runs_after_the_callback_and_in_order(at: Place) -> None:
    ran: list[int] = []
    done = _future()
    for number in range(20):
        at.host.tasks.soon(ran.append, number)
    at.host.tasks.soon(done.set_result, None)
    assert ran == []
    await done
    assert ran == list(range(20))


async def timers_run_after_their_delay(at: Place) -> None:
    clock, ran, done = at.host.clock, [], _future()
    begun_us = clock.monotonic_us()

    def note(delay_ms: int) -> None:
        ran.append(delay_ms)
        assert clock.monotonic_us() - begun_us >= delay_ms * 1000 - 1000

    at.host.tasks.later(60, done.set_result, None)
    for delay_ms in (40, 0, 20):
        at.host.tasks.later(delay_ms, note, delay_ms)
    await done
    assert ran == [0, 20, 40]


async def a_cancelled_timer_does_not_run(at: Place) -> None:
    ran: list[str] = []
    done = _future()
    timer = at.host.tasks.later(5, ran.append, "cancelled")
    run = at.host.tasks.later(5, ran.append, "run")
    timer.cancel()
    timer.cancel()
    at.host.tasks.later(20, done.set_result, None)
    await done
    run.cancel()
    assert ran == ["run"]


async def stop_cancels_in_the_order_of_start(at: Place) -> None:
    ended: list[int] = []
    started = asyncio.Event()

    async def wait(number: int) -> None:
        try:
            if number == 4:
                started.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.001 * (5 - number))  # each is waited for before the next is told
            ended.append(number)

    for number in range(5):
        at.host.tasks.start(wait(number), f"waiter {number}")
    await started.wait()
    await asyncio.sleep(0.001)
    await at.host.tasks.stop()
    assert ended == list(range(5))


async def a_task_can_be_cancelled_alone(at: Place) -> None:
    ended: list[str] = []

    async def wait(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    first = at.host.tasks.start(wait("first"), "first")
    at.host.tasks.start(wait("second"), "second")
    await asyncio.sleep(0.001)
    first.cancel()
    await asyncio.sleep(0.001)
    assert ended == ["first"]
    await at.host.tasks.stop()
    assert ended == ["first", "second"]


async def what_raises_is_told(at: Place) -> None:
    told: list[str] = []
    done = _future()

    def tell(error: BaseException) -> None:
        told.append(str(error))
        if len(told) == 4:
            done.set_result(None)

    def fail(name: str) -> None:
        raise ValueError(name)

    async def work() -> None:
        fail("task")

    at.host.tasks.on_crash = tell
    at.host.tasks.soon(fail, "soon")
    at.host.tasks.later(1, fail, "later")
    at.host.tasks.start(work(), "fails")
    at.host.tasks.blocking(lambda: 1, lambda result, fault: fail("done"))
    await done
    assert sorted(told) == ["done", "later", "soon", "task"]


async def blocking_work_is_answered_on_the_loop(at: Place) -> None:
    answers: list[object] = []
    done = _future()
    loop = asyncio.get_running_loop()

    def answer(result: object, fault: Exception | None) -> None:
        assert asyncio.get_running_loop() is loop
        answers.append((result, type(fault)))
        if len(answers) == 11:
            done.set_result(None)

    for number in range(10):
        at.host.tasks.blocking(lambda number=number: number * number, answer)
    at.host.tasks.blocking(lambda: 1 // 0, answer)
    assert answers == []
    await done
    expected = [(number * number, type(None)) for number in range(10)] + [(None, ZeroDivisionError)]
    assert sorted(answers, key=str) == sorted(expected, key=str)


async def draws_stay_in_their_bounds(at: Place) -> None:
    chance = at.host.chance
    assert {chance.below(3) for _ in range(200)} == {0, 1, 2}
    assert chance.below(1) == 0
    assert all(0 <= chance.below(1 << 70) < 1 << 70 for _ in range(100))
    assert len({chance.below(1 << 70) for _ in range(100)}) == 100


async def forks_draw_on_their_own(at: Place) -> None:
    one, other = at.host.chance.fork("one"), at.host.chance.fork("other")
    assert [len(one.bytes(size)) for size in (0, 1, 16)] == [0, 1, 16]
    assert one.bytes(16) != other.bytes(16)


async def time_goes_on(at: Place) -> None:
    clock = at.host.clock
    before_ms, before_us = clock.now_ms(), clock.monotonic_us()
    assert before_ms > 1_700_000_000_000
    await asyncio.sleep(0.02)
    assert clock.monotonic_us() - before_us >= 19_000
    assert clock.now_ms() - before_ms >= 15


LOOP_CHECKS: list[Check] = [
    soon_runs_after_the_callback_and_in_order,
    timers_run_after_their_delay,
    a_cancelled_timer_does_not_run,
    stop_cancels_in_the_order_of_start,
    a_task_can_be_cancelled_alone,
    what_raises_is_told,
    blocking_work_is_answered_on_the_loop,
    draws_stay_in_their_bounds,
    forks_draw_on_their_own,
    time_goes_on,
]
