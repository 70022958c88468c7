"""What a running pipeline tells: its figures from Spark's progress, and the reports that the cluster keeps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pyspark_twinlog.pipelines import Progress, Status, read, template
from pyspark_twinlog.pipelines.progress import progress_of, reason_of
from pyspark_twinlog.pipelines.report import Reporter, report_of
from tests.spark.records import values_of
from twinlog.client import Client
from twinlog.client.pipelines import TOPIC, forget, reports


def told(**more: Any) -> dict[str, Any]:
    return {
        "batchId": 7, "numInputRows": 20, "processedRowsPerSecond": 12.5, "durationMs": {"triggerExecution": 800},
        "observedMetrics": {"twinlog_written": {"rows": 9}}, "sources": [], **more,
    }  # fmt: skip


def source(end: Any, latest: Any, rows: int) -> dict[str, Any]:
    return {"endOffset": end, "latestOffset": latest, "numInputRows": rows}


class Query:
    """A query that has made one batch."""

    def __init__(self, progress: dict[str, Any] | None) -> None:
        self.lastProgress = progress


def test_a_topic_that_is_read_for_two_purposes_counts_once() -> None:
    end, latest = {"#topics": {"a": "1"}, "a": {"0": 5, "1": 9}}, {"a": {"0": 5, "1": 12}, "b": {"0": 4}}
    found = progress_of(Query(told(sources=[source(end, latest, 10), source(end, latest, 10)])))
    assert found == Progress(7, 10, 9, 12.5, 800, {"a": 3, "b": 4})
    assert found.lag_total == 7


def test_sources_that_tell_no_offsets_have_no_lag() -> None:
    found = progress_of(Query(told(sources=[source("5", None, 3), source(None, None, 4)], observedMetrics={})))
    assert found is not None and (found.rows_in, found.rows_out, dict(found.lag)) == (7, 0, {})
    assert progress_of(Query(None)) is None


def test_a_reason_is_told_without_the_traces_around_it() -> None:
    text = "[STREAM_FAILED] x\nTraceback\n  File ...\npyspark_twinlog.errors.DataLoss: a-0 is gone. Start anew\n more"
    assert reason_of(RuntimeError(text)) == "a-0 is gone. Start anew"
    assert reason_of(RuntimeError("one\n\ntwo\nthree")) == "one two"


def pipeline(bootstrap: str, name: str = "orders") -> Any:
    import tomllib

    return read(tomllib.loads(template("enrich", name, bootstrap)))


def status(state: str, batch: int = 0, **more: Any) -> Status:
    progress = {"orders": Progress(batch, 10, 9, 12.5, 800, {"orders": 3})}
    return Status("orders", "r1", state, 1000, "local[2]", progress, **more)


def test_a_report_has_every_field_of_its_page() -> None:
    found = json.loads(report_of(pipeline("127.0.0.1:9"), status("failed", error="a reason"), 5000))
    assert found == {
        "name": "orders", "run_id": "r1", "state": "failed", "started_ms": 1000, "reported_ms": 5000, "batch_id": 0,
        "batch_ms": 800, "input_rows": 10, "output_rows": 9, "rows_per_second": 12.5,
        "lag": {"total": 3, "topics": {"orders": 3}}, "sources": ["topic orders", "table topic:customers"],
        "sinks": ["topic orders-enriched", "topic orders-dead"], "last_error": "a reason", "master": "local[2]",
    }  # fmt: skip
    page = Path(__file__).parents[2] / "docs" / "formats" / "pipeline-reports.md"
    assert all(f"`{field}`" in page.read_text() for field in found)


def test_batches_are_reported_once_a_second_and_states_at_once(client: Client, bootstrap: str) -> None:
    clock = [0.0]
    reporter = Reporter(pipeline(bootstrap), lambda: clock[0])
    now_ms = 1_000_000
    for state, batch, passed_ms in (
        ("starting", 0, 0), ("running", 0, 0), ("running", 1, 300), ("running", 2, 999), ("running", 3, 1000),
        ("running", 3, 5000), ("running", 3, 11_000), ("finished", 4, 11_001),
    ):  # fmt: skip
        reporter.tell(status(state, batch), now_ms + passed_ms)
    reporter.close()
    found = [(each["state"], each["batch_id"]) for each in values_of(client, TOPIC) if each and each["run_id"] == "r1"]
    assert found == [("starting", 0), ("running", 0), ("running", 3), ("running", 3), ("finished", 4)]
    assert reports(client)["orders"]["state"] == "finished"
    forget(client, "orders")
    assert "orders" not in reports(client)


def test_a_pipeline_whose_reports_cannot_be_sent_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    clock = [0.0]
    reporter = Reporter(pipeline("127.0.0.1:9"), lambda: clock[0])
    for _ in range(3):
        reporter.tell(status("running"), 0)
    assert [record.getMessage().split(":")[0] for record in caplog.records] == ["pipeline orders could not report"]
    clock[0] = 60.0
    reporter.tell(status("failed"), 0)
    assert len(caplog.records) == 2
