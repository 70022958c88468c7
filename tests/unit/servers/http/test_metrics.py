"""Nothing is counted in vain: what the rooms count, the page of metrics shows."""

from __future__ import annotations

from pathlib import Path

from twinlog.kafka.metrics import KafkaMetrics
from twinlog.servers.http.api import metrics
from twinlog.servers.http.families import STORAGE
from twinlog.storage.metrics import StorageMetrics

SOURCE = Path(metrics.__file__).read_text()


def test_every_count_of_storage_is_a_metric() -> None:
    assert {counted for _, _, _, counted in STORAGE} == set(StorageMetrics.__slots__)


def test_every_count_of_the_kafka_side_is_a_metric() -> None:
    assert [name for name in KafkaMetrics.__slots__ if f"counts.{name}" not in SOURCE] == []
