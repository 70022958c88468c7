"""Every page of the console over a node at work, in light and dark: what it shows, and whether everybody can use it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.console.browser import LOGIN, NEEDED, ROOT, drive
from tests.console.busy_node import busy
from tests.kit.http import Api
from twinlog.testing import Broker

pytestmark = NEEDED

# Name, address, what to do there first, what is then to be seen.
PAGES: list[tuple[str, str, list[list[Any]], str]] = [
    ("overview", "#/", [], "Messages a second"),
    ("topics", "#/topics", [], "payments"),
    ("topic", "#/topics/orders", [["choose", "From", "start"], ["click", "Look"], ["click", "0"]], "customer"),
    ("topic-partitions", "#/topics/clicks", [["tab", "Partitions"]], "12 partitions"),
    ("topic-configs", "#/topics/customers", [["tab", "Configs"]], "compact"),
    ("topic-groups", "#/topics/orders", [["tab", "Groups"]], "dashboards"),
    ("topic-charts", "#/topics/orders", [["tab", "Charts"]], "Records in, a second"),
    ("topic-produce", "#/topics/orders", [["click", "Produce"]], "Produce one record"),
    ("groups", "#/groups", [], "billing"),
    ("group", "#/groups/billing", [], "payments"),
    ("group-members", "#/groups/billing", [["tab", "Members"]], "billing-1"),
    ("group-lag", "#/groups/billing", [["tab", "Lag over time"]], "Records dealt with"),
    ("transactions", "#/transactions", [], "transactional ids"),
    ("pipelines", "#/pipelines", [], "payments-by-hour"),
    ("pipeline", "#/pipelines/orders-to-lake", [], "1,204"),
    ("pipeline-failed", "#/pipelines/payments-by-hour", [], "OutOfMemoryError"),
    ("queues", "#/queues", [], "warehouse"),
    ("queue", "#/queues/%2F/audit", [["click", "Look at the first messages"], ["click", "1"]], "delivery_mode"),
    ("queue-charts", "#/queues/%2F/mail", [["tab", "Charts"]], "acknowledged"),
    ("queue-bindings", "#/queues/%2F/mail", [["tab", "Bindings"]], "eu"),
    ("queue-consumers", "#/queues/%2F/mail", [["tab", "Consumers"]], "by hand"),
    ("queue-about", "#/queues/%2F/warehouse", [["tab", "About"]], "x-max-length"),
    ("stream", "#/queues/%2F/customers", [["tab", "AMQP"]], "are one log"),
    ("super-stream", "#/topics/clicks", [["tab", "AMQP"]], "a stream for each partition"),
    ("dead-letters", "#/queues/%2F/work.dead", [["click", "Look at the first messages"]], "rejected in work"),
    ("exchanges", "#/exchanges", [], "amq.topic"),
    (
        "exchange",
        "#/exchanges/%2F/events",
        [["fill", "Routing key", "order.eu.paid"], ["click", "Show the way"]],
        "warehouse",
    ),
    ("connections", "#/connections", [], "shop frontend"),
    ("alarms", "#/alarms", [], "Data directory"),
    ("people", "#/people", [], "anna"),
    ("people-policies", "#/people", [["tab", "Policies"]], "keep-short"),
]


@pytest.fixture
def at_work(broker: Broker, api: Api) -> Any:
    with busy(broker, api):
        deadline = time.monotonic() + 30
        while api.get("/api/overview")["twinlog"]["totals"]["kafka_records"] < 2000 or not api.get("/api/groups"):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield


def test_the_list_of_pages_is_whole() -> None:
    places = (ROOT / "console" / "src" / "App.svelte").read_text()
    shown = {address.removeprefix("#/").partition("/")[0] for _, address, _, _ in PAGES}
    for line in places.splitlines():
        if "{ id: '" in line:
            assert line.partition("{ id: '")[2].partition("'")[0] in shown


@pytest.mark.usefixtures("at_work")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_shows_itself_to_everybody(broker: Broker, api: Api, tmp_path: Path, scheme: str) -> None:
    steps: list[list[Any]] = [["scheme", scheme], *LOGIN]
    (frontend,) = [each["name"] for each in api.get("/api/connections") if each["protocol"] == "AMQP 0-9-1"]
    pages = [*PAGES, ("connection", f"#/connections/{quote(frontend, safe='')}", [], "acknowledged")]
    for name, address, first, seen in pages:
        steps += [["open", address], ["until", "document.querySelector('main h1') !== null"], *first, ["see", seen]]
        steps += [["shoot", f"{name}-{scheme}"], ["check", name, scheme == "dark"]]
    steps += [["size", 420, 800], ["open", "#/"], ["see", "Messages a second"], ["shoot", f"overview-narrow-{scheme}"]]
    steps += [["open", "#/queues"], ["see", "warehouse"], ["shoot", f"queues-narrow-{scheme}"]]
    found = drive(broker, tmp_path, steps)
    wrong = [f"{name}: {each}" for name, told in found.items() for each in told]
    assert not wrong, "\n".join(wrong)
    assert len(found) == len(pages)
