"""The past of a thing is bounded, and knows where it knows nothing."""

from __future__ import annotations

from twinlog.servers.http.figures import PAST_SAMPLES, PAST_SLACK, Past, Sample, rates_between


def test_names_that_come_later_or_stop_leave_gaps() -> None:
    past = Past()
    past.append(Sample(10, {"a": 1}))
    past.append(Sample(20, {"a": 2, "b": -5}))
    past.append(Sample(30, {"b": 0}))
    assert past.view() == {"at_ms": [10, 20, 30], "values": {"a": [1, 2, None], "b": [None, -5, 0]}}


def test_it_keeps_the_last_samples_only() -> None:
    past = Past()
    for number in range(3 * PAST_SAMPLES):
        past.append(Sample(number, {"a": number}))
        assert len(past.at_ms) <= PAST_SAMPLES + PAST_SLACK + 2
    view = past.view()
    assert view["at_ms"] == view["values"]["a"] == list(range(2 * PAST_SAMPLES, 3 * PAST_SAMPLES))


def test_rates_are_per_second_and_only_of_what_both_know() -> None:
    assert rates_between(Sample(1000, {"a": 5, "b": 1}), Sample(3000, {"a": 9, "c": 1})) == {"a": 2.0}
