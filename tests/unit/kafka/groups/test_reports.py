"""How often members are told to report: early while their group moves, unless too many would come."""

from __future__ import annotations

from twinlog.kafka.groups import GroupSettings
from twinlog.kafka.groups.reports import EARLY_A_SECOND, Reports

SETTINGS = GroupSettings()
USUAL_MS, EARLY_MS = SETTINGS.consumer_heartbeat_interval_ms, SETTINGS.consumer_heartbeat_interval_min_ms


def test_the_longer_a_group_is_quiet_the_more_seldom() -> None:
    reports = Reports(SETTINGS)
    found = [reports.interval_ms(3, quiet_ms, 0) for quiet_ms in (0, 900, 3_000, 9_000, 10_000, 1 << 40)]
    assert found == [EARLY_MS, EARLY_MS, 1_500, 4_500, USUAL_MS, USUAL_MS]


def test_members_of_a_large_group_come_a_thousand_a_second() -> None:
    reports = Reports(SETTINGS)
    assert reports.interval_ms(2_000, 0, 0) == 2_000
    assert reports.interval_ms(20_000, 0, 0) == USUAL_MS


def test_many_groups_that_change_at_once_are_not_all_asked_to_come_early() -> None:
    reports = Reports(SETTINGS)
    told = [reports.interval_ms(3, 0, 500) for _ in range(EARLY_A_SECOND + 10)]
    assert told == [EARLY_MS] * EARLY_A_SECOND + [USUAL_MS] * 10
    assert reports.interval_ms(3, 0, 1_000) == EARLY_MS, "a second later"


def test_an_interval_that_is_shorter_than_the_early_one_stays() -> None:
    assert Reports(GroupSettings(consumer_heartbeat_interval_ms=200)).interval_ms(3, 0, 0) == 200
