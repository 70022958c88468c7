"""H2: names of strangers are text on every page of the console, whatever they hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import confluent_kafka
import pika  # type: ignore[import-untyped]

from tests.console.browser import LOGIN, NEEDED, ROOT, drive
from tests.kit.http import Api
from twinlog.testing import Broker

pytestmark = NEEDED

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
TURNED = "/[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.querySelector('main').innerText)"
MADE = "document.querySelectorAll('main script, main img, main svg[onload], main [onerror]').length"


def at(*parts: str) -> str:
    return "#/" + "/".join(quote(each, safe="") for each in parts)


@contextmanager
def amqp_client(broker: Broker, name: str) -> Iterator[None]:
    """Who calls itself and its consumer so."""
    host, _, port = broker.amqp.rpartition(":")
    told = {"connection_name": name, "product": name, name[:100]: name}
    connection = pika.BlockingConnection(pika.ConnectionParameters(host, int(port), client_properties=told))
    connection.channel().basic_consume("consumed", lambda *_: None, consumer_tag=name)
    yield
    connection.close()


@contextmanager
def kafka_client(broker: Broker, name: str) -> Iterator[None]:
    """A member of a group of that name."""
    names = {"bootstrap.servers": broker.kafka, "group.id": name, "client.id": name}
    consumer = confluent_kafka.Consumer({**names, "auto.offset.reset": "earliest"})
    consumer.subscribe(["hostile-records"])
    message = consumer.poll(30)
    assert message is not None
    assert message.error() is None
    consumer.commit(message, asynchronous=False)
    yield
    consumer.close()


def declare(broker: Broker, api: Api) -> list[str]:
    """Things of every name; where the console shows them."""
    pages = []
    api.put("/api/topics/hostile-records")
    api.put("/api/queues/%2F/consumed")
    api.call("PUT", "/api/topics/__twinlog_pipelines", {"partitions": 1})
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.kafka})
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
            api.put(f"/api/policies/%2F/{path}", {"pattern": "^no$", "definition": {"max-length": 1}})
            pages.append(at("exchanges", "/", name))
        pages += [at("queues", "/", name), at("pipelines", name), at("groups", name)]
        record = {"key": name, "value": f'{{"a": {json.dumps(name)}}}', "headers": [{"name": name, "value": name}]}
        api.post("/api/topics/hostile-records/records", record)
        told = {"state": "failed", "run_id": name, "sources": [name], "sinks": [name], "master": name}
        told |= {"last_error": name, "lag": {"total": 1, "topics": {name: 1}}}
        producer.produce("__twinlog_pipelines", key=name, value=json.dumps(told), partition=0)
    assert producer.flush(20) == 0
    return pages


def first_on(page: str) -> list[list[Any]]:
    if page.startswith("#/queues/"):
        return [["click", "Look at the first messages"], ["click", "1"]]
    if page in [at("groups", name) for name in HOSTILE[:4]]:  # the others are told that there is no such group
        return [["look"], ["tab", "Members"]]
    return []


def test_h02_hostile_names_are_text_on_every_page(broker: Broker, api: Api, tmp_path: Path) -> None:
    app = (ROOT / "console" / "src" / "App.svelte").read_text()
    places = [line.partition("{ id: '")[2].partition("'")[0] for line in app.splitlines() if "{ id: '" in line]
    assert len(places) >= 10
    pages = [at(place) for place in places] + declare(broker, api)
    with ExitStack() as clients:
        for name in HOSTILE[:4]:
            clients.enter_context(amqp_client(broker, name))
            clients.enter_context(kafka_client(broker, name))
        pages += [at("connections", each["name"]) for each in api.get("/api/connections")]
        steps: list[list[Any]] = [*LOGIN]
        for number, page in enumerate(pages):
            steps += [
                ["open", page],
                ["until", "document.querySelector('main h1') !== null"],
                *first_on(page),
                ["look"],
            ]
            steps += [["shoot", f"hostile-{number:02}"], ["forgive"]]
        steps += [["open", at("queues", "/", "consumed")], ["tab", "Consumers"], ["see", "script"], ["look"]]
        for tab in ("Permissions", "Vhosts", "Policies"):
            steps += [["open", at("people")], ["tab", tab], ["look"]]
        steps += [["open", at("topics", "hostile-records")], ["see", "javascript:alert"], ["click", "0"], ["look"]]
        steps += [["shoot", "hostile-records"]]
        looks = 0
        plan: list[list[Any]] = []
        for step in steps:
            if step == ["look"]:
                looks += 1
                plan += [["ask", f"turned {looks}", TURNED], ["ask", f"made {looks}", MADE]]
            else:
                plan.append(step)
        seen = drive(broker, tmp_path, plan)
    assert len(seen) == 2 * looks
    assert {name: value for name, value in seen.items() if value} == {}
