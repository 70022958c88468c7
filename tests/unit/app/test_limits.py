"""What the page about limits names is there."""

from __future__ import annotations

from twinlog.app.limits import LIMITS
from twinlog.app.settings import ENTRIES
from twinlog.kafka.metrics import KafkaMetrics
from twinlog.storage.metrics import StorageMetrics


def test_every_setting_and_counter_exists() -> None:
    counters = {*StorageMetrics.__slots__, *KafkaMetrics.__slots__}
    for limit in LIMITS:
        assert set(limit.settings) <= set(ENTRIES), limit.title
        assert set(limit.counters) <= counters, limit.title
