"""A topology on metadata in memory: every call answers at once unless the journal is held."""

from __future__ import annotations

from typing import Any

from tests.kit.cluster import MemoryJournal, Metadata, SeededChance
from twinlog.amqp.administration import Administration
from twinlog.amqp.ports import Caller, QueueCounts, QueueInfo
from twinlog.amqp.routing import RouteFinder
from twinlog.amqp.topology import LiveTopology
from twinlog.amqp.users import MetadataRights
from twinlog.cluster.kinds.users import UserPut
from twinlog.kafka.names import INTERNAL_TOPICS
from twinlog.wire.amqp import Properties

GUEST = "guest"
MINE = 7  # a connection


class Keeper:
    """Remembers what it was told, and counts what a test says."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []
        self.used: list[str] = []
        self.ready: dict[str, int] = {}
        self.consumers: dict[str, int] = {}

    def on_queue_created(self, info: QueueInfo) -> None:
        self.heard.append(("created", info.name))

    def on_queue_deleted(self, info: QueueInfo, reason: str) -> None:
        self.heard.append(("deleted", info.name))

    def on_queue_changed(self, info: QueueInfo) -> None:
        self.heard.append(("changed", info.name))

    def on_queue_used(self, info: QueueInfo) -> None:
        self.used.append(info.name)

    def counts(self, info: QueueInfo) -> QueueCounts:
        return QueueCounts(self.ready.get(info.name, 0), self.consumers.get(info.name, 0))


class World:
    """One vhost as its clients see it. What a call was answered is returned: None, a value, or the refusal."""

    def __init__(self, journal: MemoryJournal | None = None, *, vhost: str = "/", queues_max: int = 1000) -> None:
        self.metadata = Metadata(journal)
        self.keeper = Keeper()
        self.rights = MetadataRights(lambda: self.metadata.image)
        self.topology = LiveTopology(
            self.metadata.log, self.rights, self.keeper, queues_max, self.metadata.controller, INTERNAL_TOPICS
        )
        self.administration = Administration(self.metadata.log, SeededChance())
        self.router = RouteFinder(self.topology.graph)
        self.metadata.run(self.administration.make_first_vhost)
        self.topology.start()
        self.caller = Caller(GUEST, vhost, MINE)

    def restarted(self) -> World:
        self.metadata.journal.crash()
        return World(self.metadata.journal, vhost=self.caller.vhost)

    def run(self, method: str, *arguments: Any, caller: Caller | None = None, **named: Any) -> Any:
        call = getattr(self.topology, method)
        return self.metadata.run(lambda done: call(caller or self.caller, *arguments, **named, done=done))

    def administer(self, method: str, *arguments: Any, **named: Any) -> Any:
        call = getattr(self.administration, method)
        return self.metadata.run(lambda done: call(*arguments, **named, done=done))

    def queue(self, name: str, caller: Caller | None = None, **changes: Any) -> Any:
        named = {
            "passive": False,
            "durable": True,
            "exclusive": False,
            "auto_delete": False,
            "arguments": {},
            "server_named": False,
        }
        return self.run("declare_queue", name, caller=caller, **{**named, **changes})

    def delete_queue(self, name: str, caller: Caller | None = None, **changes: Any) -> Any:
        return self.run("delete_queue", name, caller=caller, **{"if_unused": False, "if_empty": False, **changes})

    def exchange(self, name: str, kind: str = "direct", caller: Caller | None = None, **changes: Any) -> Any:
        named = {"passive": False, "durable": True, "auto_delete": False, "internal": False, "arguments": {}}
        return self.run("declare_exchange", name, kind, caller=caller, **{**named, **changes})

    def delete_exchange(self, name: str, *, if_unused: bool = False, caller: Caller | None = None) -> Any:
        return self.run("delete_exchange", name, if_unused=if_unused, caller=caller)

    def bind(
        self, queue: str, exchange: str, key: str = "", arguments: Any = None, caller: Caller | None = None
    ) -> Any:
        return self.run("bind_queue", queue, exchange, key, arguments or {}, caller=caller)

    def unbind(self, queue: str, exchange: str, key: str = "", arguments: Any = None) -> Any:
        return self.run("unbind_queue", queue, exchange, key, arguments or {})

    def bind_exchange(self, destination: str, source: str, key: str = "", arguments: Any = None) -> Any:
        return self.run("bind_exchange", destination, source, key, arguments or {})

    def unbind_exchange(self, destination: str, source: str, key: str = "", arguments: Any = None) -> Any:
        return self.run("unbind_exchange", destination, source, key, arguments or {})

    def route(
        self, exchange: str, key: str = "", headers: dict[str, Any] | None = None, copies: tuple[str, ...] = ()
    ) -> list[str]:
        properties = None if headers is None else Properties(headers=headers)
        return [info.name for info in self.router.route(self.caller.vhost, exchange, key, properties, copies)]

    def user(self, name: str, *tags: str) -> None:
        assert self.administer("put_user", UserPut(name, "", "rabbit_password_hashing_sha256", tags)) is None


def code(outcome: object) -> int:
    """0 for a success, the code of a refusal."""
    return int(getattr(outcome, "code", 0))
