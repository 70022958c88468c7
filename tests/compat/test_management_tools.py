"""RabbitMQ's own tools on the HTTP API, unmodified: rabbitmqadmin of crates.io and Celery's Flower."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.http import Api
from twinlog.base.address import parse_address
from twinlog.testing import Broker

# `make rabbitmqadmin` builds it there.
BUILT = Path(__file__).parents[2] / ".compat" / "rabbitmqadmin" / "bin" / "rabbitmqadmin"
RABBITMQADMIN = str(BUILT) if BUILT.exists() else shutil.which("rabbitmqadmin")
FLOWER_START_S = 40


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker(settings={"http.listen": "127.0.0.1:0", "amqp.listen": "127.0.0.1:0"}) as broker:
        yield broker


@pytest.fixture
def api(broker: Broker) -> Api:
    return Api(broker.http)


def admin(broker: Broker, *words: str) -> str:
    assert RABBITMQADMIN is not None
    host, port = parse_address(broker.http)
    done = subprocess.run(
        [RABBITMQADMIN, "--host", host, "--port", str(port), "--non-interactive", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


@pytest.mark.skipif(RABBITMQADMIN is None, reason="needs rabbitmqadmin: make rabbitmqadmin")
def test_rabbitmqadmin_declares_lists_and_deletes(broker: Broker, api: Api, tmp_path: Path) -> None:
    def run(line: str, *more: str) -> str:
        return admin(broker, *line.split(), *more)

    run("declare vhost --name shop")
    run("declare queue --vhost shop --name orders --type classic --durable true")
    run("declare exchange --vhost shop --name events --type topic --durable true")
    bind = "--vhost shop --source events --destination-type queue --destination orders --routing-key order.#"
    run(f"declare binding {bind}")
    run("declare user --name bob --password secret --tags management")
    run("declare permissions --vhost shop --user bob", "--configure", ".*", "--read", ".*", "--write", ".*")
    run("declare policy --vhost shop --name p --apply-to queues --priority 1", "--pattern", "^o", "--definition",
        '{"max-length": 10}')  # fmt: skip
    assert "orders" in run("list queues --vhost shop")
    assert "order.#" in run("list bindings --vhost shop")
    assert "bob" in run("list users")
    assert "events" in run("list exchanges --vhost shop")
    assert api.get("/api/queues/shop/orders")["policy"] == "p"
    file = tmp_path / "definitions.json"
    run("definitions export --file", str(file))
    assert {each["name"] for each in json.loads(file.read_text())["queues"]} == {"orders"}
    for what in ("overview", "churn"):
        run(f"show {what}")
    for what in ("nodes", "vhosts", "connections", "channels", "consumers", "policies", "permissions", "feature_flags",
                 "vhost_limits", "user_limits", "parameters", "operator_policies", "deprecated_features"):  # fmt: skip
        run(f"list {what}")
    run("health_check local_alarms")
    run("health_check node_is_quorum_critical")
    run(f"delete binding {bind}")
    run("delete queue --vhost shop --name orders")
    run("delete exchange --vhost shop --name events")
    run("delete vhost --name shop")
    run("definitions import --file", str(file))
    assert api.get("/api/queues/shop/orders")["name"] == "orders"
    run("delete vhost --name shop")
    run("delete user --name bob")


def fetched(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        body: bytes = answer.read()
    return body.decode()


def test_flower_shows_the_queues_of_a_celery_broker(broker: Broker, api: Api, tmp_path: Path) -> None:
    api.put("/api/queues/%2F/celery")
    message = {"routing_key": "celery", "payload": "{}", "payload_encoding": "string", "properties": {}}
    for _ in range(3):
        api.post("/api/exchanges/%2F/amq.default/publish", message)
    (tmp_path / "app.py").write_text(
        f"from celery import Celery\napp = Celery('app', broker='amqp://guest:guest@{broker.amqp}//')\n"
        "app.conf.task_default_queue = 'celery'\n"
    )
    command = [sys.executable, "-m", "celery", "-A", "app", "flower", "--address=127.0.0.1", "--port=0"]
    command += [f"--broker_api=http://guest:guest@{broker.http}/api/", "--inspect_timeout=500", "--logging=info"]
    log = tmp_path / "log"
    with log.open("wb") as output:
        flower = subprocess.Popen(
            command,
            cwd=tmp_path,
            stdout=output,
            stderr=output,
            env={**os.environ, "FLOWER_UNAUTHENTICATED_API": "true"},
        )
    try:
        port = listening_port(flower, log)
        cells: list[str] = []
        deadline = time.monotonic() + FLOWER_START_S
        while "celery" not in cells and time.monotonic() < deadline:
            cells = re.findall(r"<td[^>]*>([^<]*)</td>", fetched(f"http://127.0.0.1:{port}/broker"))
        assert cells[:5] == ["celery", "3", "0", "3", "0"], "name, messages, unacked, ready, consumers"
    finally:
        flower.terminate()
        flower.wait(20)


def listening_port(flower: subprocess.Popen[Any], log: Path) -> int:
    """Port 0 is not told in its log, so it is read from the operating system."""
    deadline = time.monotonic() + FLOWER_START_S
    while time.monotonic() < deadline:
        assert flower.poll() is None, log.read_text()[-3000:]
        mine = {os.readlink(each) for each in Path(f"/proc/{flower.pid}/fd").iterdir() if each.is_symlink()}
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in mine:
                return int(fields[1].partition(":")[2], 16)
        time.sleep(0.05)
    raise AssertionError(log.read_text()[-3000:])
