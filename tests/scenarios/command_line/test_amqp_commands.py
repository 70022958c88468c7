"""The commands that move messages over AMQP, against a running broker."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from twinlog.cli.commands import app
from twinlog.testing import Broker


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    settings = {"amqp.listen": "127.0.0.1:0", "http.listen": "127.0.0.1:0", "kafka.listen": "off"}
    with Broker(settings=settings) as running:
        yield running


class Shell:
    """Runs ``twinlog`` words against one broker, in this process: the others prove that the words reach it."""

    def __init__(self, broker: Broker) -> None:
        self.runner = CliRunner(env={"TWINLOG_AMQP": broker.amqp, "TWINLOG_HTTP": broker.http, "NO_COLOR": "1"})

    def run(self, *words: str, given: bytes = b"") -> tuple[int, str, str]:
        done = self.runner.invoke(app, list(words), input=given)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.stdout, done.stderr

    def __call__(self, *words: str, given: bytes = b"") -> str:
        code, out, err = self.run(*words, given=given)
        assert code == 0, err
        return out


@pytest.fixture
def twinlog(broker: Broker) -> Shell:
    return Shell(broker)


def test_messages_go_in_and_come_out(twinlog: Shell) -> None:
    twinlog("queue", "create", "orders")
    assert twinlog("publish", "first", "--key", "orders", "-H", "n=1") == "Published 1 message.\n"
    assert twinlog("publish", "--key", "orders", given=b"second\nthird\n") == "Published 2 messages.\n"
    assert twinlog("get", "orders", "--keep") == "first\n"
    (shown,) = json.loads(twinlog("get", "orders", "--json"))
    assert (shown["body"], shown["redelivered"]) == ("first", True)
    assert shown["properties"] == {"headers": {"n": 1}, "delivery_mode": 2}
    assert twinlog("consume-queue", "orders", "--count", "2") == "second\nthird\n"
    code, _, err = twinlog.run("get", "orders")
    assert (code, "is empty" in err) == (1, True)


def test_refusals_say_what_to_do_next(twinlog: Shell) -> None:
    code, _, err = twinlog.run("get", "missing")
    assert (code, "no queue 'missing'" in err, "queue list" in err) == (1, True, True)
    code, _, err = twinlog.run("publish", "nobody cares", "--exchange", "amq.topic", "--key", "shop.info")
    assert (code, "no queue gets messages" in err) == (1, True)
    code, _, err = twinlog.run("get", "q", "--amqp", "127.0.0.1:1")
    assert (code, "twinlog serve" in err) == (1, True)
    code, _, err = twinlog.run("get", "q", "--user", "nobody")
    assert (code, "NAME:PASSWORD" in err) == (2, True)
