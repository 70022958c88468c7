"""What a topic's configs mean to those who act on them: rules for requests, settings for its logs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from twinlog.cluster import Image
from twinlog.kafka.config_definition import Value
from twinlog.kafka.config_values import ConfigValues
from twinlog.kafka.partition import TopicRules
from twinlog.storage import LogSettings


class TopicPlan(NamedTuple):
    rules: TopicRules
    log_settings: LogSettings


class TopicPlans:
    """Plans by topic. Topics that set nothing of their own share one.

    A topic whose flush.ms asks for more than the background flush gives (``flush_interval_ms``) has every append
    synced at once. ``inflated_max_bytes`` bounds what reading a stored batch may inflate to, as it does for new ones.
    """

    def __init__(self, configs: ConfigValues, *, flush_interval_ms: int, inflated_max_bytes: int) -> None:
        self._configs = configs
        self._flush_interval_ms = flush_interval_ms
        self._inflated_max_bytes = inflated_max_bytes
        self._last: tuple[Mapping[str, Value], TopicPlan] | None = None

    def of(self, image: Image, topic: str) -> TopicPlan:
        values = self._configs.topic(image, topic)
        if self._last is None or self._last[0] is not values:
            self._last = (values, self._plan(values))
        return self._last[1]

    def _plan(self, values: Mapping[str, Value]) -> TopicPlan:
        def number(name: str) -> int:
            value = values[name]
            assert isinstance(value, int), name
            return value

        policies = values["cleanup.policy"]
        assert isinstance(policies, tuple)
        rules = TopicRules(
            message_max_bytes=number("max.message.bytes"),
            compacted="compact" in policies,
            deletes="delete" in policies,
            log_append_time=values["message.timestamp.type"] == "LogAppendTime",
            timestamp_before_max_ms=number("message.timestamp.before.max.ms"),
            timestamp_after_max_ms=number("message.timestamp.after.max.ms"),
            min_in_sync=number("min.insync.replicas"),
            flush_messages=number("flush.messages"),
            flush_soon=number("flush.ms") < self._flush_interval_ms,
        )
        compacts = "compact" in policies
        dirty_ratio = values["min.cleanable.dirty.ratio"]
        assert isinstance(dirty_ratio, int | float)
        lag_max_ms = number("max.compaction.lag.ms")
        log_settings = LogSettings(
            segment_bytes=number("segment.bytes"),
            segment_ms=min(number("segment.ms"), lag_max_ms) if compacts else number("segment.ms"),
            deletes="delete" in policies,
            retention_ms=number("retention.ms"),
            retention_bytes=number("retention.bytes"),
            compacts=compacts,
            delete_retention_ms=number("delete.retention.ms"),
            compaction_lag_min_ms=number("min.compaction.lag.ms"),
            compaction_lag_max_ms=lag_max_ms,
            dirty_ratio_min=dirty_ratio,
            index_interval_bytes=number("index.interval.bytes"),
            file_delete_delay_ms=number("file.delete.delay.ms"),
            inflated_bytes_max=self._inflated_max_bytes,
        )
        return TopicPlan(rules, log_settings)
