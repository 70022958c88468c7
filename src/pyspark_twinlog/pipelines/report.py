"""Tells the cluster how a pipeline is: one record in a compacted topic, for consoles and for ``twinlog pipeline list``.

The fields are in docs/formats/pipeline-reports.md. A report is sent after a batch, at most one a second; when nothing
happens, one every ten seconds says that the pipeline is alive. A pipeline never fails because of a report: what could
not be sent is left out, and the next one is tried.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any, Final

from pyspark_twinlog.door import SparkDoor
from pyspark_twinlog.options import Options, cluster_of
from pyspark_twinlog.pipelines.progress import Status
from pyspark_twinlog.pipelines.spec import Pipeline, Sink, Source
from twinlog.client import Client, ClientError, Producer
from twinlog.client.pipelines import TOPIC, make_sure

log = logging.getLogger("pyspark_twinlog")

LEAST_MS: Final = 1000
ALIVE_MS: Final = 10_000
RETRY_S: Final = 5.0
TIMEOUT_MS: Final = 3000


class Reporter:
    """Sends the reports of one run."""

    def __init__(self, pipeline: Pipeline, clock: Callable[[], float]) -> None:
        self._pipeline = pipeline
        self._clock = clock
        self._client: Client | None = None
        self._producer: Producer | None = None
        self._sent_ms = 0
        self._sent: Status | None = None
        self._silent_until_s = 0.0

    def is_due(self, status: Status, now_ms: int) -> bool:
        """Whether something is still to be told, or the last word is long ago."""
        waited_ms = now_ms - self._sent_ms
        return waited_ms >= ALIVE_MS or (status != self._sent and waited_ms >= LEAST_MS)

    def tell(self, status: Status, now_ms: int) -> None:
        """The states of a run are always told, batches at most once a second."""
        changed = self._sent is None or status.state != self._sent.state
        if not (changed or self.is_due(status, now_ms)) or self._clock() < self._silent_until_s:
            return
        try:
            producer = self._producer or self._begin()
            producer.add(TOPIC, report_of(self._pipeline, status, now_ms), status.name.encode())
            producer.flush()
        except ClientError as wrong:
            log.warning("pipeline %s could not report: %s", status.name, wrong)
            self.close()
            self._silent_until_s = self._clock() + RETRY_S
            return
        self._sent_ms, self._sent = now_ms, status

    def close(self) -> None:
        if self._client:
            self._client.close()
        self._client = self._producer = None

    def _begin(self) -> Producer:
        options = {**self._pipeline.sink.options, "kafka.bootstrap.servers": self._pipeline.bootstrap}
        cluster = cluster_of(Options(options))
        door = SparkDoor(cluster.context())
        self._client = Client(cluster.bootstrap, door, client_id=cluster.client_id, timeout_ms=TIMEOUT_MS)
        make_sure(self._client)
        self._producer = Producer(self._client)
        return self._producer


def report_of(pipeline: Pipeline, status: Status, now_ms: int) -> bytes:
    main = status.main
    document: dict[str, Any] = {
        "name": status.name,
        "run_id": status.run_id,
        "state": status.state,
        "started_ms": status.started_ms,
        "reported_ms": now_ms,
        "batch_id": main.batch if main else None,
        "batch_ms": main.batch_ms if main else None,
        "input_rows": main.rows_in if main else None,
        "output_rows": main.rows_out if main else None,
        "rows_per_second": round(main.rows_a_second, 1) if main else None,
        "lag": {"total": main.lag_total, "topics": dict(main.lag)} if main else None,
        "sources": [source_told(each) for each in pipeline.sources],
        "sinks": [sink_told(pipeline.sink)] + ([f"topic {pipeline.dead_letters}"] if pipeline.dead_letters else []),
        "last_error": status.error or None,
        "master": status.master,
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def source_told(source: Source) -> str:
    if source.table:
        return f"table {source.table}"
    return f"topic {source.topic}" if source.topic else f"topics like {source.pattern}"


def sink_told(sink: Sink) -> str:
    return f"{sink.type} {sink.topic or sink.path or sink.table}".rstrip()
