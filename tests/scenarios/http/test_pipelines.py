"""Pipelines report to a topic; over HTTP they are listed, and forgotten."""

from __future__ import annotations

import json
import time
from typing import Any

import confluent_kafka

from tests.kit.http import Api
from tests.scenarios.http.test_metrics import scraped
from twinlog.testing import Broker

TOPIC = "__twinlog_pipelines"


def report(broker: Broker, name: str | bytes, value: Any) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.kafka, "linger.ms": 0})
    data = value if value is None or isinstance(value, bytes) else json.dumps(value).encode()
    producer.produce(TOPIC, key=name, value=data, partition=0)
    assert producer.flush(20) == 0


def running(**more: Any) -> dict[str, Any]:
    return {
        "state": "running",
        "run_id": "r",
        "reported_ms": int(time.time() * 1000),
        "batch_id": 0,
        "rows_per_second": 10.0,
        "lag": {"total": 3, "topics": {"orders": 3}},
        **more,
    }


def test_without_the_topic_there_are_none(api: Api) -> None:
    if api.call("GET", f"/api/topics/{TOPIC}").status == 200:
        api.delete(f"/api/topics/{TOPIC}")
    assert api.get("/api/pipelines") == []
    assert api.call("GET", "/api/pipelines/any").status == 404
    assert api.call("DELETE", "/api/pipelines/any").status == 404


def test_the_last_report_of_each_name_is_shown_until_it_is_forgotten(http_broker: Broker, api: Api, name: str) -> None:
    api.call("PUT", f"/api/topics/{TOPIC}", {"partitions": 1, "configs": {"cleanup.policy": "compact"}})
    report(http_broker, name, running(state="starting"))
    report(http_broker, name, running(batch_id=7, sinks=["topic totals"]))
    found = api.get(f"/api/pipelines/{name}")
    assert (found["name"], found["state"], found["batch_id"], found["lag_by_topic"]) == (
        name,
        "running",
        7,
        {"orders": 3},
    )
    assert found["silent_ms"] < 60_000
    assert name in [each["name"] for each in api.get("/api/pipelines")]
    page = api.get(f"/api/pipelines?page=1&name={name}")
    assert (page["filtered_count"], page["items"][0]["sinks"]) == (1, ["topic totals"])
    assert {"pipeline": name} in [labels for labels, _ in scraped(api, "/metrics/per-object")["twinlog_pipeline_lag"]]
    states = {labels["state"]: value for labels, value in scraped(api)["twinlog_pipelines"]}
    assert states["running"] >= 1
    api.delete(f"/api/pipelines/{name}")
    assert api.call("GET", f"/api/pipelines/{name}").status == 404
    report(http_broker, name, running(batch_id=8))
    assert api.get(f"/api/pipelines/{name}")["batch_id"] == 8, "what runs comes back by its next report"
    assert TOPIC not in [each["name"] for each in api.get("/api/topics")]
    assert TOPIC in [each["name"] for each in api.get("/api/topics?internal=true")]
    report(http_broker, name, None)
    assert api.call("GET", f"/api/pipelines/{name}").status == 404


def test_what_is_no_report_is_counted_and_passed_over(http_broker: Broker, api: Api, name: str) -> None:
    api.call("PUT", f"/api/topics/{TOPIC}", {"partitions": 1, "configs": {"cleanup.policy": "compact"}})
    api.get("/api/pipelines")
    (before,) = scraped(api)["twinlog_pipeline_reports_bad_total"]
    report(http_broker, name, b"{")
    report(http_broker, b"\xff", running())
    report(http_broker, name, running(batch_id=2))
    assert api.get(f"/api/pipelines/{name}")["batch_id"] == 2
    (after,) = scraped(api)["twinlog_pipeline_reports_bad_total"]
    assert after[1] - before[1] == 2
    api.delete(f"/api/pipelines/{name}")


def test_forgetting_needs_an_administrator(http_broker: Broker, api: Api, name: str) -> None:
    api.call("PUT", f"/api/topics/{TOPIC}", {"partitions": 1, "configs": {"cleanup.policy": "compact"}})
    report(http_broker, name, running())
    api.put(f"/api/users/{name}", {"password": "x", "tags": "monitoring"})
    watcher = Api(http_broker.http, user=name, password="x")
    assert watcher.get(f"/api/pipelines/{name}")["lag"] == 3
    assert watcher.call("DELETE", f"/api/pipelines/{name}").status == 401
    api.delete(f"/api/pipelines/{name}")
    api.delete(f"/api/users/{name}")
