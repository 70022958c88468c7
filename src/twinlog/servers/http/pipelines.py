"""What pipelines on Spark say of themselves, read from the topic to which they report.

Each report is one JSON object under the pipeline's name (``docs/formats/pipeline-reports.md``); the last of each name
counts, a tombstone takes the name away. The topic is read on from where the last look ended, so nothing is kept but the
last reports, and of those at most ``PIPELINES_MAX``. Anybody who may write to the topic may write anything: what is no
report is counted and passed over.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from twinlog import _kernel
from twinlog.base import HostFault, Refused
from twinlog.servers.http.json_text import BadJson, decode, encode
from twinlog.servers.http.waiting import breath
from twinlog.storage.types import BATCH_HEADER, CONTROL, batch_size

if TYPE_CHECKING:
    from twinlog.kafka.partition import Partition
    from twinlog.servers.http.ports import Managed

TOPIC: Final = "__twinlog_pipelines"
PIPELINES_MAX: Final = 1000
REPORT_BYTES_MAX: Final = 64 * 1024
TEXT_MAX: Final = 4000
PLACES_MAX: Final = 100
READ_BYTES: Final = 1 << 20
INFLATED_MAX: Final = 16 << 20
STATES: Final = ("starting", "running", "finished", "failed", "stopped")
COUNTS: Final = ("started_ms", "reported_ms", "batch_id", "input_rows", "output_rows", "batch_ms")
NUMBER_MAX: Final = 2**53


class Pipelines:
    """``read``, then look at ``reports``: by name, in the order in which they came."""

    def __init__(self, managed: Managed) -> None:
        self._managed = managed
        self.reports: dict[str, dict[str, Any]] = {}
        self.bad_count = 0
        self._topic_id = b""
        self._offset_next = 0
        self._is_reading = False

    @property
    def partition(self) -> Partition | None:
        return self._managed.broker.partitions.get(TOPIC, 0)

    async def read(self) -> None:
        """Takes in what was reported since the last time. Who comes while somebody reads sees what is known so far."""
        if self._is_reading:
            return
        self._is_reading = True
        try:
            await self._read()
        finally:
            self._is_reading = False

    async def _read(self) -> None:
        topic, partition = self._managed.image.topics_by_name.get(TOPIC), self.partition
        if topic is None or partition is None:
            self.reports, self._topic_id, self._offset_next = {}, b"", 0
            return
        if topic.topic_id != self._topic_id:  # another topic of that name
            self.reports, self._topic_id, self._offset_next = {}, topic.topic_id, 0
        while (end := partition.stable_offset) > (begin := max(self._offset_next, partition.log.offset_start)):
            try:
                data = partition.log.read_bytes(begin, READ_BYTES, end)
            except (Refused, HostFault):
                return  # its disk is gone, which other alarms tell
            if not data:
                return
            self._offset_next = self._take(data, begin)
            await breath(self._managed.tasks)

    def _take(self, data: bytes, begin: int) -> int:
        at = 0
        while at + BATCH_HEADER.size <= len(data):
            header = BATCH_HEADER.unpack_from(data, at)
            after = at + batch_size(header)
            if not header[5] & CONTROL and header[0] + header[6] >= begin:
                try:
                    records = _kernel.decode_records(data, at, min(after, len(data)), INFLATED_MAX)
                except ValueError:
                    self.bad_count += 1
                    records = []
                for offset, _, key, value, _ in records:
                    if offset >= begin:
                        self._put(key, value)
            begin = max(begin, header[0] + header[6] + 1)
            at = after
        return begin

    def _put(self, key: bytes | None, value: bytes | None) -> None:
        name = name_of(key)
        if name is not None and value is None:
            self.reports.pop(name, None)
            return
        report = report_of(value) if name is not None and value is not None else None
        if name is None or report is None:
            self.bad_count += 1
            return
        self.reports.pop(name, None)
        if len(self.reports) >= PIPELINES_MAX:
            del self.reports[next(iter(self.reports))]  # the one that has been silent for longest
        self.reports[name] = {**report, "name": name}


def name_of(key: bytes | None) -> str | None:
    try:
        return key.decode() if key and len(key) <= 255 else None
    except UnicodeDecodeError:
        return None


def report_of(value: bytes) -> dict[str, Any] | None:
    """The fields we know, each of its type; None when this is no report."""
    if len(value) > REPORT_BYTES_MAX:
        return None
    try:
        told = decode(value)
    except BadJson:
        return None
    if not isinstance(told, dict) or told.get("state") not in STATES:
        return None
    lag: Any = told.get("lag")
    by_topic: Any = told.get("lag_by_topic")
    if isinstance(lag, dict):
        lag, by_topic = lag.get("total"), lag.get("topics", lag.get("by_topic"))
    rate: Any = told.get("rows_per_second")
    error = told.get("last_error")
    return {
        "run_id": text_of(told.get("run_id")),
        "state": told["state"],
        **{name: count_of(told.get(name)) for name in COUNTS},
        "rows_per_second": float(rate) if is_number(rate) else None,
        "lag": count_of(lag),
        "lag_by_topic": counts_of(by_topic),
        "sources": places_of(told.get("sources")),
        "sinks": places_of(told.get("sinks")),
        "last_error": text_of(error) if error is not None else None,
        "master": text_of(told.get("master")),
    }


def is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def count_of(value: Any) -> int | None:
    return int(value) if is_number(value) and abs(value) <= NUMBER_MAX else None


def counts_of(value: Any) -> dict[str, int]:
    if not isinstance(value, Mapping):
        return {}
    found = {text_of(name): count_of(each) for name, each in list(value.items())[:PLACES_MAX]}
    return {name: count for name, count in found.items() if count is not None}


def text_of(value: Any) -> str:
    return str(value if value is not None else "")[:TEXT_MAX]


def places_of(value: Any) -> list[str]:
    """Sources and sinks, each told in a line."""
    if not isinstance(value, list):
        return []
    return [text_of(each if isinstance(each, str) else encode(each).decode()) for each in value[:PLACES_MAX]]
