"""Asks for a chord of ten tasks, and says its result."""

from __future__ import annotations

import sys

from celery import chord

from tests.compat.amqp.celery_tasks import add, app, total

with app.connection():
    parts = [add.s(number, number) for number in range(10)]
    print(chord(parts)(total.s()).get(timeout=float(sys.argv[1])))
