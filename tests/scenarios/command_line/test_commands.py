"""The commands against a running broker, as a person or a script uses them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from twinlog.testing import Broker


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as running:
        yield running


class Shell:
    """Runs ``twinlog`` words against one broker."""

    def __init__(self, bootstrap: str) -> None:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("TWINLOG_")}
        self.environment = {**inherited, "TWINLOG_BOOTSTRAP": bootstrap, "NO_COLOR": "1", "TZ": "UTC"}

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", "twinlog", *words]
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=self.environment)

    def run(self, *words: str, given: bytes = b"") -> tuple[int, str, str]:
        with self.start(*words) as process:
            out, err = process.communicate(given, timeout=60)
            return process.returncode, out.decode(), err.decode()

    def __call__(self, *words: str, given: bytes = b"") -> str:
        code, out, err = self.run(*words, given=given)
        assert code == 0, err
        return out


@pytest.fixture
def twinlog(broker: Broker) -> Shell:
    return Shell(broker.kafka)


def test_a_topic_s_life(twinlog: Shell) -> None:
    made = twinlog("topic", "create", "life", "-p", "3", "-c", "retention.ms=1000", "-c", "cleanup.policy=compact")
    assert made == "Created topic life with 3 partitions.\n"
    listed = {topic["topic"]: topic for topic in json.loads(twinlog("topic", "list", "--json"))}
    assert listed["life"]["partition_count"] == 3
    assert "life" in twinlog("topic", "list")
    twinlog("topic", "alter", "life", "-p", "4", "-c", "retention.ms=2000", "--unset", "cleanup.policy")
    told = json.loads(twinlog("topic", "describe", "life", "--json"))
    assert [each["partition"] for each in told["partitions"]] == [0, 1, 2, 3]
    assert told["configs"] == [{"name": "retention.ms", "value": "2000", "source": "topic"}]
    assert "cleanup.policy" in twinlog("topic", "describe", "life", "--configs")
    assert twinlog("topic", "delete", "life", "--yes") == "Deleted life.\n"
    assert "life" not in twinlog("topic", "list")


def test_refusals_say_what_to_do_next(twinlog: Shell) -> None:
    twinlog("topic", "create", "taken")
    for words, what, step in (
        (("topic", "create", "taken"), "TOPIC_ALREADY_EXISTS", "twinlog topic alter"),
        (("topic", "describe", "absent"), "UNKNOWN_TOPIC_OR_PARTITION", "twinlog topic list"),
        (("topic", "delete", "-y", "absent"), "UNKNOWN_TOPIC_OR_PARTITION", "twinlog topic list"),
        (("topic", "create", "x", "-c", "no.such=1"), "INVALID_CONFIG", "--configs"),
        (("topic", "alter", "taken", "-p", "1"), "INVALID_PARTITIONS", "more partitions"),
        (("consume", "absent", "-e"), "UNKNOWN_TOPIC_OR_PARTITION", "twinlog topic list"),
        (("consume", "taken", "-f", "99", "-n", "1"), "OFFSET_OUT_OF_RANGE", "twinlog topic describe"),
    ):
        code, _, err = twinlog.run(*words)
        assert code == 1, words
        assert what in err
        assert step in err
        assert "Traceback" not in err


def test_nothing_is_deleted_without_a_yes(twinlog: Shell) -> None:
    twinlog("topic", "create", "kept")
    code, _, err = twinlog.run("topic", "delete", "kept", given=b"n\n")
    assert code == 1
    assert "nothing was deleted" in err
    assert "kept" in twinlog("topic", "list")


def test_lines_go_in_and_come_out(twinlog: Shell, tmp_path: Path) -> None:
    file = tmp_path / "lines"
    file.write_bytes(b"a:1\nb:2\n\nno key\nlast")
    for words in (("-z", "lz4"), ("--acks", "1"), ("--acks", "0"), ("-z", "zstd")):
        twinlog("produce", "lines", str(file), "-k", ":", "-H", "from=test", *words)
    shown = twinlog("consume", "lines", "-e", "-o", r"%k|%s|%h\n")
    assert (
        shown.splitlines()
        == ["a|1|from=test", "b|2|from=test", "||from=test", "|no key|from=test", "|last|from=test"] * 4
    )


def test_bytes_pass_unchanged(twinlog: Shell) -> None:
    given = bytes(value for value in range(256) if value != 10)
    twinlog("produce", "bytes", "-q", given=given)
    with twinlog.start("consume", "bytes", "-n", "1", "-o", "%s") as process:
        assert process.communicate(timeout=60)[0] == given


def test_reading_starts_where_it_is_told(twinlog: Shell) -> None:
    twinlog("produce", "places", given=b"0\n1\n2\n3\n4\n")
    between = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
    assert twinlog("consume", "places", "-f", "3", "-e").split() == ["3", "4"]
    assert twinlog("consume", "places", "-f", "-1", "-e").split() == ["4"]
    assert twinlog("consume", "places", "-n", "2").split() == ["0", "1"]
    assert twinlog("consume", "places", "-f", "end", "-e") == ""
    assert twinlog("consume", "places", "-f", between, "-e") == ""
    assert twinlog("consume", "places", "-f", "2020-01-01", "-e").split() == ["0", "1", "2", "3", "4"]


def test_keys_keep_to_their_partition_and_partitions_can_be_chosen(twinlog: Shell) -> None:
    twinlog("topic", "create", "keyed", "-p", "4")
    twinlog("produce", "keyed", "-k", ":", given=b"".join(b"%d:x\n" % (number % 10) for number in range(100)))
    records = [json.loads(line) for line in twinlog("consume", "keyed", "-e", "--json").splitlines()]
    assert len(records) == 100
    assert len({(record["key"], record["partition"]) for record in records}) == 10
    chosen = [json.loads(line) for line in twinlog("consume", "keyed", "-e", "--json", "-p", "1,2").splitlines()]
    assert {record["partition"] for record in chosen} <= {1, 2}
    twinlog("produce", "keyed", "-p", "3", given=b"there")
    assert "there" in twinlog("consume", "keyed", "-e", "-p", "3")
    code, _, err = twinlog.run("produce", "keyed", "-p", "9", given=b"nowhere")
    assert code == 1
    assert "has 4 partitions" in err


def test_a_follower_sees_what_is_written_and_control_c_ends_it(twinlog: Shell) -> None:
    twinlog("topic", "create", "followed")
    with twinlog.start("consume", "followed") as reader, twinlog.start("produce", "followed") as writer:
        assert writer.stdin is not None
        assert reader.stdout is not None
        for line in (b"one\n", b"two\n"):
            writer.stdin.write(line)
            writer.stdin.flush()
            assert reader.stdout.readline() == line  # without waiting for more lines, or for the end
        reader.send_signal(signal.SIGINT)
        assert reader.wait(30) in (0, 130)
        assert reader.stderr is not None
        assert b"Traceback" not in reader.stderr.read()
        writer.stdin.close()
        assert writer.wait(30) == 0


def test_a_reader_that_has_enough_is_no_error(twinlog: Shell) -> None:
    twinlog("produce", "many", given=b"".join(b"%d\n" % number for number in range(100_000)))
    with twinlog.start("consume", "many", "-e") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(30) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_a_large_input_arrives_whole(twinlog: Shell) -> None:
    code, _, err = twinlog.run("produce", "large", given=b"".join(b"%d\n" % number for number in range(200_000)))
    assert code == 0
    assert "200,000 records" in err
    assert twinlog("consume", "large", "-e").split() == [str(number) for number in range(200_000)]


def test_a_broker_that_comes_back_is_met_again(tmp_path: Path) -> None:
    broker = Broker(tmp_path / "data").start()
    twinlog = Shell(broker.kafka)
    twinlog("topic", "create", "back")
    with twinlog.start("produce", "back") as writer, twinlog.start("consume", "back") as reader:
        assert writer.stdin is not None
        assert reader.stdout is not None
        writer.stdin.write(b"before\n")
        writer.stdin.flush()
        assert reader.stdout.readline() == b"before\n"
        broker.kill()
        broker.start()
        writer.stdin.write(b"after\n")
        writer.stdin.flush()
        assert reader.stdout.readline() == b"after\n"
        writer.stdin.close()
        assert writer.wait(30) == 0
        reader.kill()
    broker.stop()
    broker.remove()
