"""The console in Chromium, page by page: it works, nothing comes from elsewhere, and no name does anything.

Screenshots of every page are written to ``.screenshots`` (or to what ``TWINLOG_TEST_SCREENSHOTS`` names).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.kit.http import Api
from twinlog.testing import Broker

ROOT = Path(__file__).parents[2]
DRIVER = Path(__file__).parent / "drive.mjs"
BUILT = ROOT / "src" / "twinlog" / "servers" / "http" / "static" / "index.html"
SHOTS = Path(os.environ.get("TWINLOG_TEST_SCREENSHOTS", ROOT / ".screenshots"))
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PLAYWRIGHT = ROOT / "console" / "node_modules" / "playwright-core"

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium"),
    pytest.mark.skipif(not BUILT.exists() or not PLAYWRIGHT.exists(), reason="needs `make console`, which needs npm"),
    pytest.mark.timeout(180),
]

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "'\"><svg onload=alert(1)>",
    "\u202eevil\u202c\u2066name\u2069",
    "a" * 255,
    "${7*7}{{7*7}}",
    "javascript:alert(1)",
    "bell\u0007 escape\u001b[31m",
]


@pytest.fixture
def broker() -> Iterator[Broker]:
    """One a test: the ten thousand queues of one would push the few of another out of sight."""
    with Broker(settings={"http.listen": "127.0.0.1:0", "amqp.listen": "127.0.0.1:0"}) as broker:
        yield broker
        assert "Traceback" not in broker.log


@pytest.fixture
def api(broker: Broker) -> Api:
    return Api(broker.http)


def drive(broker: Broker, folder: Path, steps: list[list[Any]]) -> dict[str, Any]:
    SHOTS.mkdir(parents=True, exist_ok=True)
    plan = folder / "plan.json"
    plan.write_text(json.dumps(steps))
    done = subprocess.run(
        ["node", str(DRIVER), f"http://{broker.http}", str(SHOTS), str(plan)],
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
        env={**os.environ, "CHROMIUM": str(CHROMIUM)},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert "failed" not in seen, seen["failed"]
    assert seen["dialogs"] == []
    assert seen["elsewhere"] == [], "the console needs no internet"
    assert seen["errors"] == [], "no error, and no report of the content security policy"
    answers: dict[str, Any] = seen["answers"]
    return answers


SCROLL_DOWN = """(() => {
    const box = document.querySelector('.body')
    box.scrollTop = box.scrollHeight
    return box.scrollHeight
})()"""
LOGIN = [["open", ""], ["see", "One broker"], ["shoot", "login"], ["login", "guest", "guest"]]


def test_somebody_works_through_topics_and_groups(broker: Broker, api: Api, tmp_path: Path) -> None:
    steps = [
        *LOGIN,
        ["see", "Messages a second"],
        ["until", "document.querySelector('canvas') !== null"],
        ["shoot", "overview"],
        ["open", "#/topics"],
        ["click", "New topic"],
        ["fill", "Name", "orders"],
        ["fill", "Partitions", "3"],
        ["answer", "Create"],
        ["see", "topic"],
        ["click", "Produce"],
        ["fill", "Key", "customer 1"],
        ["fill", "Value", '{"order": 1, "lines": [{"sku": "A"}]}'],
        ["fill", "Headers", "source=shop"],
        ["fill", "Partition (empty", "0"],
        ["answer", "Produce"],
        ["see", "customer 1"],
        ["click", "0"],
        ["see", '"sku": "A"'],
        ["shoot", "topic"],
        ["tab", "Partitions"],
        ["until", "document.querySelectorAll('.space .line').length === 3"],
        ["shoot", "topic-partitions"],
        ["tab", "Configs"],
        ["see", "Nothing is set"],
        ["tab", "Charts"],
        ["see", "Records, in all"],
        ["open", "#/topics"],
        ["see", "orders"],
        ["shoot", "topics"],
        ["open", "#/transactions"],
        ["see", "transactional ids"],
        ["shoot", "transactions"],
        ["open", "#/alarms"],
        ["see", "Data directory"],
        ["shoot", "alarms"],
        ["open", "#/connections"],
        ["see", "connections"],
        ["shoot", "connections"],
        ["open", "#/people"],
        ["see", "administrator"],
        ["shoot", "people"],
    ]
    drive(broker, tmp_path, steps)
    assert api.get("/api/topics/orders")["partitions"] == 3
    (record,) = api.get("/api/topics/orders/records?offset=0")["records"]
    assert record["headers"] == [{"name": "source", "value": {"text": "shop"}}]


def test_offsets_of_a_group_are_reset_after_a_look_at_what_would_be(broker: Broker, api: Api, tmp_path: Path) -> None:
    api.put("/api/topics/clicks", {"partitions": 1})
    for number in range(10):
        api.post("/api/topics/clicks/records", {"value": str(number)})
    # A group without members is made by its first commit.
    while api.call("POST", "/api/groups/readers/offsets", {"topic": "clicks", "to": "latest"}).status == 503:
        pass
    steps = [
        *LOGIN,
        ["open", "#/groups"],
        ["follow", "readers"],
        ["see", "Reset offsets"],
        ["click", "Reset offsets"],
        ["click", "Show what would be"],
        ["see", "Offset then"],
        ["shoot", "group-reset"],
        ["answer", "Set them"],
        ["tab", "Lag over time"],
        ["see", "Lag while this page is open"],
        ["shoot", "group"],
        ["open", "#/groups"],
        ["see", "readers"],
        ["shoot", "groups"],
    ]
    drive(broker, tmp_path, steps)
    assert api.get("/api/groups/readers")["lag"] == 10


def test_somebody_works_through_queues_and_exchanges(broker: Broker, api: Api, tmp_path: Path) -> None:
    api.put("/api/exchanges/%2F/events", {"type": "topic"})
    api.put("/api/exchanges/%2F/eu", {"type": "fanout"})
    for queue in ("mail", "warehouse", "audit", "dead"):
        api.put(f"/api/queues/%2F/{queue}")
    api.put("/api/queues/%2F/work", {"arguments": {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"}})
    api.post("/api/bindings/%2F/e/events/e/eu", {"routing_key": "eu.#"})
    for queue in ("mail", "warehouse"):
        api.post(f"/api/bindings/%2F/e/eu/q/{queue}")
    api.post("/api/bindings/%2F/e/events/q/audit", {"routing_key": "#"})
    message = {"routing_key": "work", "payload": "poison", "payload_encoding": "string", "properties": {}}
    api.post("/api/exchanges/%2F/amq.default/publish", message)
    api.post("/api/queues/%2F/work/get", {"count": 1, "ackmode": "reject_requeue_false"})
    steps = [
        *LOGIN,
        ["open", "#/exchanges/%2F/events"],
        ["fill", "Routing key", "eu.order"],
        ["click", "Show the way"],
        ["see", "warehouse"],
        ["until", "document.querySelectorAll('path.lit').length === 4"],
        ["shoot", "exchange"],
        ["click", "Publish it"],
        ["fill", "Payload", "from the console"],
        ["answer", "Publish"],
        ["open", "#/exchanges"],
        ["see", "amq.topic"],
        ["shoot", "exchanges"],
        ["open", "#/queues"],
        ["follow", "audit"],
        ["click", "Look at the first messages"],
        ["see", "from the console"],
        ["shoot", "queue"],
        ["tab", "Bindings"],
        ["see", "events"],
        ["tab", "About"],
        ["see", "Durable"],
        ["click", "Move messages"],
        ["fill", "To the queue", "mail"],
        ["answer", "Move"],
        ["open", "#/queues/%2F/dead"],
        ["click", "Look at the first messages"],
        ["see", "rejected in work"],
        ["shoot", "dead-letters"],
        ["click", "Requeue dead letters"],
        ["answer", "Move"],
        ["open", "#/queues"],
        ["see", "warehouse"],
        ["shoot", "queues"],
        ["scheme", "dark"],
        ["shoot", "queues-dark"],
        ["open", "#/"],
        ["see", "Messages a second"],
        ["shoot", "overview-dark"],
        ["size", 420, 800],
        ["shoot", "overview-narrow"],
    ]
    drive(broker, tmp_path, steps)
    assert api.get("/api/queues/%2F/audit")["messages"] == 0
    assert api.get("/api/queues/%2F/mail")["messages"] == 2
    assert api.get("/api/queues/%2F/work")["messages"] == 1
    assert api.get("/api/queues/%2F/dead")["messages"] == 0


def test_hostile_names_are_text_on_every_page(broker: Broker, api: Api, tmp_path: Path) -> None:
    pages = ["#/", "#/queues", "#/exchanges", "#/people", "#/connections", "#/alarms", "#/topics", "#/groups"]
    for name in HOSTILE:
        path = quote(name, safe="")
        api.put(f"/api/queues/%2F/{path}")
        properties = {"app_id": name[:200], "headers": {name[:100]: name}}
        message = {"routing_key": name, "payload": name, "payload_encoding": "string", "properties": properties}
        api.post("/api/exchanges/%2F/amq.default/publish", message)
        if len(name) < 128:
            api.put(f"/api/exchanges/%2F/{path}", {"type": "topic"})
            api.post(f"/api/bindings/%2F/e/{path}/q/{path}", {"routing_key": name})
            api.put(f"/api/vhosts/{path}", {"description": name})
            api.put(f"/api/users/{path}", {"password": "x", "tags": "management"})
            pages.append(f"#/exchanges/%2F/{path}")
        pages.append(f"#/queues/%2F/{path}")
    api.put("/api/topics/hostile-records")
    for name in HOSTILE:
        record = {"key": name, "value": f'{{"a": {json.dumps(name)}}}', "headers": [{"name": name, "value": name}]}
        api.post("/api/topics/hostile-records/records", record)
    steps: list[list[Any]] = [*LOGIN]
    for number, page in enumerate(pages):
        steps += [["open", page], ["until", "document.querySelector('main h1') !== null"]]
        if page.startswith("#/queues/%2F"):
            steps += [["click", "Look at the first messages"], ["click", "1"]]
        steps.append(["shoot", f"hostile-{number:02}"])
    steps += [
        ["open", "#/topics/hostile-records"],
        ["see", "javascript:alert"],
        ["click", "0"],
        ["shoot", "hostile-records"],
    ]
    steps += [
        ["open", "#/queues"],
        ["see", "javascript:alert(1)"],
        ["ask", "turned", "/[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.querySelector('main').innerText)"],
        ["ask", "made", "document.querySelectorAll('main script, main img, main svg[onload]').length"],
    ]
    seen = drive(broker, tmp_path, steps)
    assert seen == {"turned": False, "made": 0}


def test_ten_thousand_queues_and_five_thousand_partitions_are_quick(broker: Broker, api: Api, tmp_path: Path) -> None:
    made = [{"name": f"many-{number:05}", "vhost": "/", "durable": False} for number in range(10_000)]
    api.post("/api/definitions", {"queues": made})
    api.put("/api/topics/wide", {"partitions": 5000})
    steps = [
        *LOGIN,
        ["ask", "began", "performance.now()"],
        ["open", "#/queues"],
        ["see", "many-00001"],
        ["ask", "shown", "performance.now()"],
        ["ask", "rows", "document.querySelectorAll('.space .line').length"],
        ["ask", "scrolled", SCROLL_DOWN],
        ["see", "many-09999"],
        ["fill", "Filter queues by name", "many-0777"],
        ["see", "many-07777"],
        ["shoot", "many-queues"],
        ["click", "Ready"],
        ["see", "many-0777"],
        ["open", "#/topics/wide"],
        ["tab", "Partitions"],
        ["see", "5,000 partitions"],
        ["ask", "partition rows", "document.querySelectorAll('.space .line').length"],
    ]
    seen = drive(broker, tmp_path, steps)
    assert seen["scrolled"] > 300_000
    assert seen["rows"] < 100, "only the rows in sight are in the page"
    assert seen["partition rows"] < 100


def test_everything_is_reached_by_keyboard_and_has_a_name(broker: Broker, api: Api, tmp_path: Path) -> None:
    api.put("/api/queues/%2F/by-keyboard")
    unnamed = """[...document.querySelectorAll('button, a, input, select, textarea')].filter((each) =>
        !(each.innerText || each.getAttribute('aria-label') || each.labels?.[0]?.innerText || each.title ||
          each.querySelector('[aria-label], text'))).map((each) => each.outerHTML)"""
    steps: list[list[Any]] = [
        ["open", ""],
        ["see", "One broker"],
        ["ask", "focus", "document.activeElement.name"],
        ["login", "guest", "guest"],
        ["open", "#/queues"],
        ["see", "by-keyboard"],
        ["ask", "_", "document.querySelector('input[type=search]').focus()"],
        ["tabs", "document.activeElement.closest('.space') !== null"],
        ["ask", "reached", "document.activeElement.innerText"],
    ]
    for number, page in enumerate(
        ("#/", "#/queues", "#/queues/%2F/by-keyboard", "#/exchanges/%2F/amq.topic", "#/people")
    ):
        steps += [
            ["open", page],
            ["until", "document.querySelector('main h1') !== null"],
            ["ask", f"unnamed {number}", unnamed],
        ]
        steps.append(
            [
                "ask",
                f"landmarks {number}",
                "['main', 'nav', 'header', 'h1'].every((each) => document.querySelector(each))",
            ]
        )
    seen = drive(broker, tmp_path, steps)
    assert seen["focus"] == "user"
    assert seen["reached"], "a row's link has the focus"
    assert all(value == [] for name, value in seen.items() if name.startswith("unnamed")), seen
    assert all(value for name, value in seen.items() if name.startswith("landmarks"))
