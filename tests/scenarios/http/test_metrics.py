"""Metrics, read by Prometheus's own parser."""

from __future__ import annotations

import json
import re
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from tests.kit.http import Api
from twinlog.servers.http.families import FAMILIES
from twinlog.testing import Broker

DASHBOARDS = Path(__file__).parents[3] / "ops" / "grafana"
NAME = re.compile(r"\b((?:rabbitmq|twinlog)_[a-z0-9_]+)\b")


def scraped(api: Api, path: str = "/metrics") -> dict[str, list[tuple[dict[str, str], float]]]:
    answer = api.call("GET", path)
    assert answer.status == 200
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(answer.body.decode()):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def test_every_declared_family_is_there_and_no_other(api: Api) -> None:
    api.put("/api/topics/metrics-1")
    api.post("/api/topics/metrics-1/records", {"value": "v"})
    answer = api.call("GET", "/metrics").body.decode()
    told = set(re.findall(r"^# TYPE (\S+)", answer, re.MULTILINE))
    declared = {family.name for family in FAMILIES.values() if not family.per_object}
    # Kafka's requests are counted when there was one.
    assert declared - {"twinlog_kafka_request_seconds", "twinlog_metric_objects_left_out"} <= told <= declared


def test_figures_follow_what_happens(api: Api, vhost: str, name: str) -> None:
    api.put(f"/api/queues/{vhost}/q")
    before = scraped(api)
    body = {"routing_key": "q", "payload": "m", "payload_encoding": "string", "properties": {"delivery_mode": 2}}
    for _ in range(3):
        api.post(f"/api/exchanges/{vhost}/amq.default/publish", body)
    api.put(f"/api/topics/{name}")
    api.post(f"/api/topics/{name}/records", {"value": "v"})
    after = scraped(api)
    for metric, grown in (
        ("rabbitmq_queue_messages_ready", 3),
        ("twinlog_kafka_records_total", 1),
        ("twinlog_topics", 1),
    ):
        assert after[metric][0][1] - before[metric][0][1] == grown, metric
    assert after["twinlog_sync_seconds_count"][0][1] > before["twinlog_sync_seconds_count"][0][1]
    buckets = [value for labels, value in after["twinlog_sync_seconds_bucket"]]
    assert buckets == sorted(buckets)
    assert buckets[-1] == after["twinlog_sync_seconds_count"][0][1]


def test_single_queues_topics_and_groups_have_lines_elsewhere(api: Api, vhost: str) -> None:
    hostile = 'a"b\\c\nd'
    api.put(f"/api/queues/{vhost}/q")
    api.put(f"/api/queues/{vhost}/a%22b%5Cc")
    found = scraped(api, "/metrics/per-object")
    names = {labels["queue"] for labels, _ in found["rabbitmq_queue_messages"] if labels["vhost"] == vhost}
    assert names == {"q", hostile.partition("\n")[0]}
    assert all("queue" in labels for labels, _ in found["rabbitmq_queue_messages"]), "or sums count twice"
    detailed = scraped(api, f"/metrics/detailed?family=queue_coarse_metrics&vhost={vhost}")
    assert {labels["queue"] for labels, _ in detailed["rabbitmq_detailed_queue_messages"]} == names


def test_lines_of_single_things_are_bounded_and_metrics_can_be_opened() -> None:
    settings = {"http.listen": "127.0.0.1:0", "http.metric_labels_max": 3, "http.metrics_open": True}
    with Broker(settings=settings) as broker:
        api = Api(broker.http)
        for number in range(8):
            api.put(f"/api/queues/%2F/q{number}", {"durable": False})
        nobody = api.as_user(None)
        found = scraped(nobody, "/metrics/per-object")
        assert len(found["rabbitmq_queue_messages"]) == 3
        assert found["twinlog_metric_objects_left_out"][0][1] == 5
        assert nobody.call("GET", "/api/overview").status == 401


def test_metrics_take_a_login_of_somebody_who_watches(api: Api, name: str) -> None:
    assert api.as_user(None).call("GET", "/metrics").status == 401
    api.put(f"/api/users/{name}", {"password": "secret", "tags": "management"})
    assert api.as_user(name).call("GET", "/metrics").status == 401
    api.put(f"/api/users/{name}", {"password": "secret", "tags": "monitoring"})
    assert api.as_user(name).call("GET", "/metrics").status == 200
    api.delete(f"/api/users/{name}")


def test_dashboards_draw_only_what_is_told() -> None:
    names = {f"{name}{end}" for name in FAMILIES for end in ("", "_bucket", "_sum", "_count")}
    boards = sorted(DASHBOARDS.glob("*.json"))
    assert len(boards) == 2
    for board in boards:
        panels = json.loads(board.read_text())["panels"]
        used = {name for panel in panels for target in panel["targets"] for name in NAME.findall(target["expr"])}
        assert used <= names, board.name
        assert len(used) > 10
