"""Sets of numbers against sets."""

from __future__ import annotations

import pytest

from twinlog.amqp.store.numbers import Numbers
from twinlog.sim.chance import SimChance


def ranges_of(numbers: set[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


@pytest.mark.parametrize("seed", range(30))
def test_ranges_are_what_a_set_would_be(seed: int) -> None:
    chance = SimChance(seed, "numbers")
    numbers, plain = Numbers(), set[int]()
    for _ in range(60):
        low = chance.below(80)
        high = low + chance.below(9)
        between = set(range(low, high + 1))
        assert numbers.covers(low, high) == (between <= plain)
        assert numbers.touches(low, high) == bool(between & plain)
        assert numbers.gaps(low, high) == ranges_of(between - plain)
        assert numbers.within(low, high) == ranges_of(between & plain)
        numbers.add(low, high)
        plain |= between
        assert list(numbers) == ranges_of(plain)
        assert len(numbers) == len(ranges_of(plain))
