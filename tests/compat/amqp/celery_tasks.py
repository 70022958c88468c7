"""A Celery application as people write them; its broker comes from the environment."""

from __future__ import annotations

import os
import time
from typing import Any

from celery import Celery
from kombu import Exchange, Queue

HOME = os.environ.get("SHOP_QUEUE", "shop")
app = Celery("shop", broker=os.environ["SHOP_BROKER"], backend=os.environ.get("SHOP_BACKEND", "rpc://"))
app.conf.update(
    task_default_queue=HOME,
    task_queues=[
        Queue(HOME, Exchange(HOME), routing_key=HOME),
        Queue("urgent", Exchange("urgent"), routing_key="urgent", queue_arguments={"x-max-priority": 10}),
    ],
    task_acks_late=True,
    worker_prefetch_multiplier=1,
    worker_send_task_events=True,
    task_send_sent_event=True,
    broker_connection_retry_on_startup=True,
    result_expires=600,
)


@app.task
def add(one: int, other: int) -> int:
    return one + other


@app.task
def total(numbers: list[int]) -> int:
    return sum(numbers)


@app.task(bind=True, max_retries=3)
def shaky(self: Any, failures: int) -> int:
    if self.request.retries < failures:
        raise self.retry(countdown=0.1)
    return int(self.request.retries)


@app.task
def when() -> float:
    return time.time()


@app.task
def nap(seconds: float) -> None:
    time.sleep(seconds)


@app.task
def say(word: str) -> str:
    with open(os.environ["SHOP_NOTES"], "a") as notes:
        notes.write(word + "\n")
    return word
