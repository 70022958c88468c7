"""Committers on raw sockets, and a broker that is killed under them."""

from __future__ import annotations

import random
import threading
import time

from tests.compat.target import Server
from tests.scenarios.kafka.groups import PASSING, commit, fetch_offset, ready, until
from tests.scenarios.kafka.raw import Closed, Connection
from twinlog.wire.kafka.errors import ErrorCode

TOPIC = "killed"
COMMITTERS = 4


class Committer(threading.Thread):
    """Commits 1, 2, 3, ... for its own group until the broker is gone."""

    def __init__(self, bootstrap: str, number: int, sent: int) -> None:
        super().__init__(name=f"committer {number}")
        self.bootstrap, self.number = bootstrap, number
        self.group = f"group-{number}"
        self.sent = sent
        self.confirmed = 0
        self.confirmed_before = sent
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            with Connection(self.bootstrap) as kafka:
                ready(kafka, self.group)
                while True:
                    self.sent += 1
                    code = commit(kafka, self.group, TOPIC, self.sent, self.number, metadata=f"{self.sent}")
                    if code == 0:
                        self.confirmed = self.sent
                    else:
                        assert code in PASSING, ErrorCode(code)
        except (Closed, ConnectionError):
            pass  # killed, as it should be
        except BaseException as failure:
            self.failure = failure


def committed(bootstrap: str, group: str, partition: int, topic: str = TOPIC) -> tuple[int, str]:
    """What the group finds when the coordinator has read its log; until then it must say so."""
    with Connection(bootstrap) as kafka:

        def asked() -> object:
            found = fetch_offset(kafka, group, topic, partition)
            assert found.error_code == 0 or found.error_code in PASSING, ErrorCode(found.error_code)
            return found if found.error_code == 0 else None

        found = until(asked, "the coordinator never came back")
        return found.committed_offset, found.metadata


def commit_and_kill(rounds: int, chance: random.Random) -> int:
    """Returns how many commits were confirmed."""
    with Server(settings={"groups.offsets_partitions": 3}) as server:
        with Connection(server.bootstrap) as kafka:
            kafka.create_topic(TOPIC, COMMITTERS)
        sent = [0] * COMMITTERS
        total = 0
        for turn in range(rounds):
            committers = [Committer(server.bootstrap, number, sent[number]) for number in range(COMMITTERS)]
            for each in committers:
                each.start()
            until(lambda started=committers: all(each.confirmed for each in started), "nothing was confirmed")
            time.sleep(chance.uniform(0, 0.2))  # any moment will do
            server.kill()
            for each in committers:
                each.join()
                assert each.failure is None, each.failure
            server.start()
            for each in committers:
                offset, metadata = committed(server.bootstrap, each.group, each.number)
                assert each.confirmed <= offset <= each.sent, (turn, each.name)
                assert metadata == f"{offset}"
                sent[each.number] = each.sent
                total += each.confirmed - each.confirmed_before
        assert total > 0
        return total
