"""``twinlog txn`` against a running broker, with producers spoken by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.scenarios.command_line.test_commands import Shell
from tests.scenarios.kafka.raw import Connection
from tests.scenarios.kafka.transactions import Producer, committed_values, until_stable
from twinlog.testing import Broker
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import delete_topics


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as running:
        yield running


@pytest.fixture
def twinlog(broker: Broker) -> Shell:
    return Shell(broker.kafka)


@pytest.fixture
def kafka(broker: Broker) -> Iterator[Connection]:
    with Connection(broker.kafka) as connection:
        yield connection


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return str(request.node.name).removeprefix("test_").replace("_", "-")


@pytest.fixture
def producer(kafka: Connection, name: str) -> Producer:
    """One with a transaction open in a topic of its own name."""
    kafka.create_topic(name)
    made = Producer(kafka, name)
    assert made.produce(name, b"open").error_code == 0
    return made


def fails(twinlog: Shell, *words: str) -> str:
    code, _, err = twinlog.run(*words)
    assert code != 0
    return err


def test_transactions_are_listed(twinlog: Shell, producer: Producer) -> None:
    def names(*words: str) -> list[str]:
        return [each["id"] for each in json.loads(twinlog("txn", "list", *words, "--json"))]

    assert producer.name in names("--state", "Ongoing")
    assert producer.name not in names("--state", "Empty")
    assert producer.name not in names("--running", "3600")
    assert names("--match", producer.name) == [producer.name]
    shown = [line.split() for line in twinlog("txn", "list").splitlines()]
    assert [producer.name, "Ongoing", str(producer.id)] in shown


def test_one_is_described(twinlog: Shell, producer: Producer) -> None:
    told = json.loads(twinlog("txn", "describe", producer.name, "--json"))
    assert (told["state"], told["producer_id"], told["epoch"]) == ("Ongoing", producer.id, producer.epoch)
    assert told["partitions"] == [{"topic": producer.name, "partition": 0}]
    assert told["timeout_ms"] == 60_000 and told["started"] is not None
    shown = twinlog("txn", "describe", producer.name).splitlines()
    assert shown[0].split()[:2] == [producer.name, "Ongoing"]
    assert shown[-1].split() == [producer.name, "0"]


def test_an_unknown_one_is_said_to_be_unknown(twinlog: Shell) -> None:
    assert "TRANSACTIONAL_ID_NOT_FOUND" in fails(twinlog, "txn", "describe", "nobody")
    assert "TRANSACTIONAL_ID_NOT_FOUND" in fails(twinlog, "txn", "abort", "nobody", "--yes")
    assert "nobody" not in twinlog("txn", "list"), "and asking does not make it"


def test_an_open_one_is_aborted_by_its_id(twinlog: Shell, kafka: Connection, producer: Producer) -> None:
    assert twinlog("txn", "abort", producer.name, "--yes").startswith("Aborted")
    until_stable(kafka, producer.name, 2)
    assert committed_values(kafka, producer.name) == []
    assert producer.end(commit=True).error_code == ErrorCode.PRODUCER_FENCED


def test_an_open_one_does_not_hang(twinlog: Shell, producer: Producer) -> None:
    assert twinlog("txn", "find-hanging", "--topic", producer.name) == "None hangs.\n"
    place = ("--topic", producer.name, "--partition", "0", "--start-offset", "0")
    assert "does not hang" in fails(twinlog, "txn", "abort", *place, "--yes")
    assert "no transaction is open" in fails(twinlog, "txn", "abort", *place[:-1], "7", "--yes")
    assert "abort wants" in fails(twinlog, "txn", "abort")


def test_one_that_hangs_is_found_and_aborted(twinlog: Shell, kafka: Connection, producer: Producer, name: str) -> None:
    """It hangs because the state of all transactions was deleted under it."""
    request = delete_topics.DeleteTopicsRequest(topic_names=["__transaction_state"], timeout_ms=10_000)
    assert kafka.call(request, 5).responses[0].error_code == 0
    (found,) = json.loads(twinlog("txn", "find-hanging", "--topic", name, "--json"))
    assert (found["topic"], found["partition"], found["start_offset"]) == (name, 0, 0)
    assert found["producer_id"] == producer.id
    shown = twinlog("txn", "find-hanging", "--topic", name).splitlines()
    assert shown[1].split()[:4] == [name, "0", "0", str(producer.id)]
    place = ("--topic", name, "--partition", "0", "--start-offset", "0")
    assert twinlog("txn", "abort", *place, "--yes") == f"Aborted it in {name}-0.\n"
    assert kafka.offset(name, -1, isolation_level=1).offset == 2
    assert committed_values(kafka, name) == []
    assert twinlog("txn", "find-hanging", "--topic", name) == "None hangs.\n"
