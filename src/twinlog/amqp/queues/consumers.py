"""Who gets the next messages: by priority, then in turn, and only those who have credit."""

from __future__ import annotations

from collections import deque

from twinlog.amqp.codes import ACCESS_REFUSED, refuse
from twinlog.amqp.ports import Consumer, QueueInfo


class Consumers:
    """Those who ran out of credit stand aside until they are resumed, so that they cost nothing."""

    def __init__(self, info: QueueInfo) -> None:
        self._info = info
        self._all: dict[Consumer, bool] = {}  # whether it stands in its row
        self._rows: dict[int, deque[Consumer]] = {}  # by priority, the highest first
        self.single_active = False

    def __len__(self) -> int:
        return len(self._all)

    def __contains__(self, consumer: Consumer) -> bool:
        return consumer in self._all

    def add(self, consumer: Consumer) -> None:
        what = f"queue '{self._info.name}' in vhost '{self._info.vhost}'"
        if any(other.exclusive for other in self._all) or (consumer.exclusive and self._all):
            refuse(ACCESS_REFUSED, f"{what} in exclusive use")
        if consumer.exclusive and self.single_active:
            refuse(ACCESS_REFUSED, f"{what} has a single active consumer, so nobody can have it exclusively")
        self._all[consumer] = True
        row = self._rows.get(consumer.priority)
        if row is None:
            self._rows[consumer.priority] = deque((consumer,))
            self._rows = dict(sorted(self._rows.items(), reverse=True))
        else:
            row.append(consumer)

    def remove(self, consumer: Consumer) -> bool:
        """Whether it was there."""
        stands = self._all.pop(consumer, None)
        if stands is None:
            return False
        if stands:
            self._leave_row(consumer)
        return True

    def _leave_row(self, consumer: Consumer) -> None:
        row = self._rows[consumer.priority]
        row.remove(consumer)
        if not row:
            del self._rows[consumer.priority]

    def resume(self, consumer: Consumer) -> None:
        if self._all.get(consumer) is False:
            self._all[consumer] = True
            row = self._rows.get(consumer.priority)
            if row is None:
                self._rows[consumer.priority] = deque((consumer,))
                self._rows = dict(sorted(self._rows.items(), reverse=True))
            else:
                row.append(consumer)

    @property
    def active(self) -> Consumer | None:
        """Of a queue with a single active consumer: the one who came first."""
        return next(iter(self._all), None)

    @property
    def ready(self) -> int:
        """How many stand in their rows."""
        if self.single_active:
            active = self.active
            return 1 if active is not None and self._all[active] else 0
        return sum(map(len, self._rows.values()))

    def next(self) -> tuple[Consumer, int] | None:
        """Whose turn it is, and how many messages it would take."""
        if self.single_active:
            active = self.active
            if active is None or not self._all[active]:
                return None
            credit = active.credit()
            if credit > 0:
                return active, credit
            self._all[active] = False
            self._leave_row(active)
            return None
        while self._rows:
            row = next(iter(self._rows.values()))
            consumer = row[0]
            credit = consumer.credit()
            if credit > 0:
                if len(row) > 1:
                    row.rotate(-1)
                return consumer, credit
            self._all[consumer] = False
            self._leave_row(consumer)
        return None

    def credit(self, wanted: int) -> int:
        """How many messages all of them together would take now, counted up to ``wanted``."""
        if self.single_active:
            active = self.active
            return max(active.credit(), 0) if active is not None else 0
        total = 0
        for row in self._rows.values():
            for consumer in row:
                total += max(consumer.credit(), 0)
                if total >= wanted:
                    return total
        return total

    def clear(self) -> list[Consumer]:
        consumers = list(self._all)
        self._all.clear()
        self._rows.clear()
        return consumers
