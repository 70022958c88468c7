"""The page about limits names settings and metrics that are there, and leaves no limit out."""

from __future__ import annotations

from twinlog.app.limits import LIMITS
from twinlog.app.settings import ENTRIES
from twinlog.servers.http.families import FAMILIES

SIZES_OF_A_CHOICE = {
    # What somebody may ask for, what is offered, and where it changes nothing but a default: no limits on what is held.
    "groups.session_timeout_max_ms",
    "http.session_max_ms",
    "http.session_idle_max_ms",
}


def test_every_setting_and_metric_exists() -> None:
    for limit in LIMITS:
        assert set(limit.settings) <= set(ENTRIES), limit.title
        assert limit.metrics, limit.title
        assert set(limit.metrics) <= set(FAMILIES), limit.title


def test_every_setting_that_is_a_limit_stands_on_the_page() -> None:
    named = {key for limit in LIMITS for key in limit.settings}
    limits = {key for key in ENTRIES if "_max" in key.partition(".")[2]}
    assert limits - named - SIZES_OF_A_CHOICE == set()
