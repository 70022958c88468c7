"""What a running pipeline looks like from outside: the progress of its queries, and their lag."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

WRITTEN: Final = "twinlog_written"
OURS: Final = re.compile(r"pyspark_twinlog\.(?:\w+\.)*errors\.\w+: (.*)")


@dataclass(frozen=True)
class Progress:
    """The last batch of one query. ``lag`` is what it left unread, by topic."""

    batch: int
    rows_in: int
    rows_out: int
    rows_a_second: float
    batch_ms: int
    lag: Mapping[str, int]

    @property
    def lag_total(self) -> int:
        return sum(self.lag.values())


@dataclass(frozen=True)
class Status:
    """One look at a pipeline. ``state`` is starting, running, finished, failed or stopped."""

    name: str
    run_id: str
    state: str
    started_ms: int
    master: str
    progress: Mapping[str, Progress] = field(default_factory=dict)
    error: str = ""

    @property
    def main(self) -> Progress | None:
        """The query that carries the pipeline's name; dead letters beside a table have queries of their own."""
        return self.progress.get(self.name)


def progress_of(query: Any) -> Progress | None:
    last = query.lastProgress
    if last is None:
        return None
    told = json.loads(last.json) if hasattr(last, "json") else dict(last)
    sources = told.get("sources", ())
    written = told.get("observedMetrics", {}).get(WRITTEN) or {}
    return Progress(
        batch=int(told["batchId"]),
        rows_in=rows_in(sources),
        rows_out=int(written.get("rows") or 0),
        rows_a_second=float(told.get("processedRowsPerSecond") or 0.0),
        batch_ms=int(told.get("durationMs", {}).get("triggerExecution", 0)),
        lag=lag_of(sources),
    )


def rows_in(sources: Any) -> int:
    """Rows read. A query that needs a topic twice, for its result and for its dead letters, reads it as two sources."""
    by_topics: dict[tuple[str, ...], int] = {}
    for number, source in enumerate(sources):
        end = source.get("endOffset")
        topics = tuple(sorted(_positions(end))) if isinstance(end, dict) else (str(number),)
        by_topics[topics] = max(by_topics.get(topics, 0), int(source.get("numInputRows") or 0))
    return sum(by_topics.values())


def lag_of(sources: Any) -> dict[str, int]:
    """Offsets between the end of the batch and the end of each topic."""
    behind: dict[tuple[str, str], int] = {}
    for source in sources:
        end, latest = source.get("endOffset"), source.get("latestOffset")
        if not isinstance(end, dict) or not isinstance(latest, dict):
            continue
        for topic, partitions in _positions(latest).items():
            for partition, head in partitions.items():
                left = max(0, int(head) - int(end.get(topic, {}).get(partition, 0)))
                behind[topic, partition] = max(behind.get((topic, partition), 0), left)
    lag: dict[str, int] = {}
    for (topic, _), left in sorted(behind.items()):
        lag[topic] = lag.get(topic, 0) + left
    return lag


def _positions(offset: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    return {topic: partitions for topic, partitions in offset.items() if not topic.startswith("#")}


def master_of(spark: Any) -> str:
    """Where Spark runs; a server of Spark Connect tells its own."""
    try:
        return str(spark.conf.get("spark.master"))
    except Exception:  # a server may keep that to itself
        return ""


def reason_of(wrong: BaseException) -> str:
    """What went wrong, without Spark's and Python's traces around it."""
    text = str(wrong)
    ours = OURS.findall(text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (ours[-1] if ours else " ".join(lines[:2]))[:600]
