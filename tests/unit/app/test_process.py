"""A node as a process: it starts, says where it is, stops clean, and refuses what cannot be."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from twinlog.base.address import Address
from twinlog.cli.door import SocketDoor
from twinlog.client import Client
from twinlog.testing import Broker, BrokerFailed


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_clean(tmp_path: Path, number: int) -> None:
    broker = Broker(tmp_path / "data").start()
    assert broker.signal(number) == 0
    assert "stopped clean" in broker.log
    assert (tmp_path / "data" / "clean").exists()
    broker.remove()


def test_a_second_start_takes_the_mark_away_and_keeps_the_address(tmp_path: Path) -> None:
    broker = Broker(tmp_path / "data").start()
    address = broker.kafka
    broker.stop()
    broker.start()
    assert broker.kafka == address
    assert not (tmp_path / "data" / "clean").exists()
    broker.kill()
    broker.start()
    broker.stop()
    broker.remove()


def test_it_says_what_it_listens_on(tmp_path: Path) -> None:
    with Broker(settings={"amqp.listen": "127.0.0.1:0"}) as broker:
        host, port = broker.kafka.rsplit(":", 1)
        with socket.create_connection((host, int(port)), 10):
            pass
        assert f"Kafka  {broker.kafka}" in broker.log
        assert f"AMQP   {broker.amqp}" in broker.log
        assert "HTTP   off" in broker.log


def test_one_directory_has_one_node(tmp_path: Path) -> None:
    with Broker(tmp_path / "data"), pytest.raises(BrokerFailed, match="another process"):
        Broker(tmp_path / "data").start()


def test_a_directory_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(BrokerFailed, match="no identity file"), Broker(tmp_path):
        pass
    assert {path.name for path in tmp_path.iterdir()} <= {"letter.txt", "lock"}


def test_a_port_that_is_taken_is_said_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(BrokerFailed, match=r"(?i)address already in use") as caught:
            Broker(tmp_path / "data", settings={"kafka.listen": address}).start()
    assert address in str(caught.value)
    assert "Traceback" not in str(caught.value)


def test_a_node_on_all_addresses_tells_each_client_the_one_it_came_to(tmp_path: Path) -> None:
    with Broker(tmp_path / "data", settings={"kafka.listen": "0.0.0.0:0"}) as broker:
        port = broker.kafka.split(":")[1]
        for host in ("127.0.0.1", "127.0.0.2"):
            with Client([Address(host, int(port))], SocketDoor()) as client:
                assert client.refresh([]).brokers == {1: Address(host, int(port))}


def test_what_is_advertised_is_told(tmp_path: Path) -> None:
    with Broker(tmp_path / "data", settings={"kafka.advertised": "broker.example:19092"}) as broker:
        host, port = broker.kafka.split(":")
        with Client([Address(host, int(port))], SocketDoor()) as client:
            assert client.refresh([]).brokers == {1: Address("broker.example", 19092)}


def test_closed_kafka_is_closed(tmp_path: Path) -> None:
    broker = Broker(tmp_path / "data", settings={"kafka.listen": "off"}).start()
    assert "Kafka  off" in broker.log
    assert broker.stop() == 0
    broker.remove()


def test_the_descriptor_limit_is_raised(tmp_path: Path) -> None:
    with Broker(tmp_path / "data") as broker:
        limits = Path(f"/proc/{broker.pid}/limits")
        if not limits.exists():
            pytest.skip("no /proc here")
        (line,) = [line for line in limits.read_text().splitlines() if line.startswith("Max open files")]
        soft, hard = line.split()[3:5]
        assert soft == hard


def test_several_directories_are_one_node(tmp_path: Path) -> None:
    more = [str(tmp_path / "b"), str(tmp_path / "c")]
    with Broker(tmp_path / "a", settings={"node.more_data_dirs": ",".join(more)}):
        pass
    identities = [(tmp_path / name / "identity").read_text() for name in "abc"]
    assert len(set(identities)) == 3
    with pytest.raises(BrokerFailed, match="belongs to node 1, this is node 2"):
        Broker(tmp_path / "a", settings={"node.id": 2}).start()


def test_json_lines_for_machines(tmp_path: Path) -> None:
    broker = Broker(tmp_path / "data", settings={"log.format": "json"}).start()
    broker.stop()
    events = [json.loads(line)["event"] for line in broker.log.splitlines() if line.startswith("{")]
    assert events[-1] == "stopped clean"
    broker.remove()


def test_the_idle_process_is_small(tmp_path: Path) -> None:
    with Broker(tmp_path / "data") as broker:
        status = Path(f"/proc/{broker.pid}/status")
        if not status.exists():
            pytest.skip("no /proc here")
        (line,) = [line for line in status.read_text().splitlines() if line.startswith("VmRSS")]
        assert int(line.split()[1]) < 60 * 1024


def test_what_serving_does_not_need_is_not_imported() -> None:
    # Each of these would cost a tenth of a second or ten megabytes: docs/adr/0010-light-start.md.
    code = "import sys, twinlog.cli.serve, twinlog.app.process; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"typer", "rich", "pydantic", "structlog", "click", "email", "http.client"} & set(loaded) == set()
