"""The topology of a node. What is asked is decided on what is *decided*: durable records that are written, whether
or not they are on stable storage yet, and what is local to the node. What is seen is the graph, which follows records
only once they count."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from twinlog.amqp.arguments import (
    DEAD_LETTER_EXCHANGE,
    check_queue_arguments,
    queue_type_of,
)
from twinlog.amqp.codes import NOT_ALLOWED, PRECONDITION_FAILED, no_exchange, no_queue, refuse
from twinlog.amqp.ports import (
    CLASSIC,
    CONFIGURE,
    READ,
    STREAM,
    WRITE,
    Caller,
    Done,
    ExchangeInfo,
    QueueInfo,
    QueueKeeper,
    T,
)
from twinlog.amqp.routing import Edge, Graph, VhostGraph
from twinlog.amqp.routing.types import exchange_type
from twinlog.amqp.topology import rules
from twinlog.amqp.topology.follower import Follower
from twinlog.amqp.topology.keeper import NoKeeper
from twinlog.amqp.topology.rules import ALTERNATE, PREDECLARED_NAMES, encode_arguments, stripped
from twinlog.amqp.topology.stream_topics import StreamTopics, check_may_go, is_own
from twinlog.amqp.users import MetadataRights
from twinlog.base import HostFault, Refused
from twinlog.cluster import Controller, MetadataLog
from twinlog.cluster.kinds.bindings import BINDINGS, Binding, Bound, Unbound
from twinlog.cluster.kinds.exchanges import EXCHANGES, ExchangeDeclared, ExchangeDeleted
from twinlog.cluster.kinds.policies import PolicyPut
from twinlog.cluster.kinds.queues import QUEUE_IDS, QUEUES, QueueDeclared, QueueDeleted
from twinlog.cluster.kinds.vhosts import VHOSTS
from twinlog.cluster.record import Record
from twinlog.wire.amqp import Table

# Ids of local queues: a bit of their own, the start they belong to (metadata grows with every start), a number.
LOCAL_ID: Final = 1 << 62
LOCAL_STARTS: Final = 1 << 30
QUEUES_MAX: Final = 10_000


class LiveTopology:
    """Keeps the promises of ``ports.Topology``. ``start`` it when the metadata log is open and ``keeper`` is set."""

    def __init__(
        self,
        metadata: MetadataLog,
        rights: MetadataRights,
        keeper: QueueKeeper | None = None,
        queues_max: int = QUEUES_MAX,
        controller: Controller | None = None,
        internal_topics: frozenset[str] = frozenset(),
    ) -> None:
        self.graph: Final = Graph()
        self.rights: Final = rights
        self._metadata = metadata
        self._follower = Follower(self.graph, self._sources_lost_edges, internal_topics)
        self._streams = StreamTopics(metadata, controller, self.graph, self._follower.twins)
        self._owned: dict[int, dict[QueueInfo, None]] = {}
        self._local_id_next = 0
        self._queues_max = queues_max
        self.keeper = keeper or NoKeeper()
        if controller is not None:
            controller.names_taken = self

    @property
    def keeper(self) -> QueueKeeper:
        return self._follower.keeper

    @keeper.setter
    def keeper(self, keeper: QueueKeeper) -> None:
        self._follower.keeper = keeper

    @property
    def on_vhost_deleted(self) -> Callable[[str], None]:
        """Hears of a vhost whose queues and exchanges are gone."""
        return self._follower.on_vhost_deleted

    @on_vhost_deleted.setter
    def on_vhost_deleted(self, listener: Callable[[str], None]) -> None:
        self._follower.on_vhost_deleted = listener

    def start(self) -> None:
        offset = self._metadata.image_decided.offset + 1
        self._local_id_next = LOCAL_ID | offset % LOCAL_STARTS << 32
        self._metadata.subscribe(self._follower.follow)

    # ---- finding ----------------------------------------------------------------------------------------------

    def has_vhost(self, vhost: str) -> bool:
        return vhost in self.graph.vhosts

    def find_queue(self, vhost: str, name: str) -> QueueInfo | None:
        return self.graph.queue(vhost, name)

    def find_exchange(self, vhost: str, name: str) -> ExchangeInfo | None:
        return self.graph.exchange(vhost, name)

    def policies_of_queue(self, info: QueueInfo) -> tuple[PolicyPut | None, PolicyPut | None]:
        """The user's policy and the operator's that the queue obeys."""
        return self._follower.policies_of_queue(info)

    def policy_of_exchange(self, info: ExchangeInfo) -> PolicyPut | None:
        return self._follower.policy_of_exchange(info)

    # ---- queues -----------------------------------------------------------------------------------------------

    def declare_queue(
        self,
        caller: Caller,
        name: str,
        *,
        passive: bool,
        durable: bool,
        exclusive: bool,
        auto_delete: bool,
        arguments: Table,
        server_named: bool,
        done: Done[QueueInfo],
    ) -> None:
        name = stripped(name)

        def decide() -> None:
            found, settled = self._queue(caller.vhost, name)
            if found is None and not passive:
                self._create_queue(
                    caller,
                    name,
                    durable=durable and not exclusive,
                    exclusive=exclusive,
                    auto_delete=auto_delete,
                    arguments=arguments,
                    server_named=server_named,
                    done=done,
                    again=decide,
                    settled=settled,
                )
                return
            if passive:
                self._check_any_right(caller, name)
            else:
                self.rights.check(caller.user, caller.vhost, CONFIGURE, name)
            if found is None:
                raise no_queue(caller.vhost, name)
            rules.check_owner(found, caller)
            if not passive:
                kind = queue_type_of(arguments, found.type)
                check_queue_arguments(name, caller.vhost, kind, arguments)
                rules.check_same_queue(
                    found,
                    caller,
                    kind,
                    durable=durable,
                    exclusive=exclusive,
                    auto_delete=auto_delete,
                    arguments=arguments,
                )
            if settled:
                self.keeper.on_queue_used(found)
                done(found)
            else:
                self._when_written(done, decide)

        self._decide(done, decide)

    def _create_queue(
        self,
        caller: Caller,
        name: str,
        *,
        durable: bool,
        exclusive: bool,
        auto_delete: bool,
        arguments: Table,
        server_named: bool,
        done: Done[QueueInfo],
        again: Callable[[], None],
        settled: bool,
    ) -> None:
        vhost = caller.vhost
        part = self._vhost(vhost)
        self.rights.check(caller.user, vhost, CONFIGURE, name)
        if not server_named:
            rules.check_name("queue", name)
        kind = queue_type_of(arguments, self._default_type(vhost, durable, exclusive or auto_delete))
        check_queue_arguments(name, vhost, kind, arguments)
        rules.check_queue_flags(
            name,
            vhost,
            kind,
            durable=durable,
            exclusive=exclusive,
            auto_delete=auto_delete,
            server_named=server_named,
        )
        dead_letters = arguments.get(DEAD_LETTER_EXCHANGE)
        if dead_letters is not None:
            self.rights.check(caller.user, vhost, READ, name)
            self.rights.check(caller.user, vhost, WRITE, dead_letters, kind="exchange")
        self._check_room(part)
        stored = encode_arguments(arguments)
        if kind == STREAM:
            self._streams.create(vhost, name, arguments, done)
        elif durable:
            queue_id = self._metadata.image_decided.part(QUEUE_IDS)
            record = QueueDeclared(queue_id, vhost, name, kind, auto_delete, stored)
            self._write([record], done, lambda: part.queues[name])
        elif not settled:
            self._when_written(done, again)
        else:
            owner = caller.connection if exclusive else None
            self._local_id_next += 1
            info = QueueInfo(self._local_id_next, vhost, name, False, owner, auto_delete, dict(arguments), {}, kind)
            self._follower.add_queue(info)
            if owner is not None:
                self._owned.setdefault(owner, {})[info] = None
            self.keeper.on_queue_created(info)
            done(info)

    def declare_super_stream(
        self, caller: Caller, name: str, partitions: int, arguments: Table, done: Done[None]
    ) -> None:
        """Makes a topic of several partitions, unless it is there with as many."""

        def decide() -> None:
            self.rights.check(caller.user, caller.vhost, CONFIGURE, name, kind="exchange")
            self._vhost(caller.vhost)
            check_queue_arguments(name, caller.vhost, STREAM, arguments)
            self._streams.create_super_stream(caller.vhost, name, partitions, arguments, done)

        self._decide(done, decide)

    def delete_queue(self, caller: Caller, name: str, *, if_unused: bool, if_empty: bool, done: Done[int]) -> None:
        name = stripped(name)

        def decide() -> None:
            self.rights.check(caller.user, caller.vhost, CONFIGURE, name)
            found, settled = self._queue(caller.vhost, name)
            if not settled:
                self._when_written(done, decide)
                return
            if found is None:
                done(0)
                return
            rules.check_owner(found, caller)
            counts = self.keeper.counts(found)
            if if_unused and counts.consumers:
                refuse(PRECONDITION_FAILED, f"queue '{name}' in vhost '{caller.vhost}' in use")
            if if_empty and counts.ready:
                refuse(PRECONDITION_FAILED, f"queue '{name}' in vhost '{caller.vhost}' not empty")
            self._delete_queue(found, "deleted", done, lambda: counts.ready)

        self._decide(done, decide)

    def remove_queue(self, info: QueueInfo, reason: str) -> None:
        found, _ = self._queue(info.vhost, info.name)
        if found is info:
            self._delete_queue(info, reason, lambda outcome: None, lambda: None)

    def release_owner(self, connection: int) -> None:
        for info in self._owned.pop(connection, ()):
            if self.graph.queue(info.vhost, info.name) is not info:
                continue  # its vhost went first
            self._delete_queue(info, "its connection ended", lambda outcome: None, lambda: None)

    def _delete_queue(self, info: QueueInfo, reason: str, done: Done[T], outcome: Callable[[], T]) -> None:
        if info.twin is not None:
            self._streams.delete(info, info.twin, done, outcome)
            return
        if info.durable:
            self._follower.reasons[info.vhost, info.name] = reason
            self._write([QueueDeleted(info.vhost, info.name)], done, outcome)
            return
        owned = self._owned.get(info.exclusive_owner) if info.exclusive_owner is not None else None
        if owned is not None:
            owned.pop(info, None)
        answer = outcome()
        lost = self.graph.vhosts[info.vhost].remove_queue(info.name)
        self.keeper.on_queue_deleted(info, reason)
        self._sources_lost_edges(lost)
        done(answer)

    # ---- exchanges --------------------------------------------------------------------------------------------

    def declare_exchange(
        self,
        caller: Caller,
        name: str,
        kind: str,
        *,
        passive: bool,
        durable: bool,
        auto_delete: bool,
        internal: bool,
        arguments: Table,
        done: Done[None],
    ) -> None:
        name = stripped(name)

        def decide() -> None:
            rules.check_not_default(name)
            found, settled = self._exchange(caller.vhost, name)
            if passive:
                self._check_any_right(caller, name, "exchange")
                if found is None:
                    raise no_exchange(caller.vhost, name)
            else:
                self.rights.check(caller.user, caller.vhost, CONFIGURE, name, kind="exchange")
                self._check_exchange_kind(caller, name, kind, arguments)
                if found is not None:
                    rules.check_same_exchange(
                        found, kind, durable=durable, auto_delete=auto_delete, internal=internal, arguments=arguments
                    )
            if found is not None and settled:
                done(None)
                return
            if found is None:
                rules.check_name("exchange", name)
                part = self._vhost(caller.vhost)
                stored = encode_arguments(arguments)
                if durable:
                    record = ExchangeDeclared(caller.vhost, name, kind, auto_delete, internal, stored)
                    self._write([record], done, lambda: None)
                    return
                if settled:
                    info = ExchangeInfo(caller.vhost, name, kind, False, auto_delete, internal, dict(arguments))
                    self._follower.add_exchange(part, info)
                    done(None)
                    return
            self._when_written(done, decide)

        self._decide(done, decide)

    def _check_exchange_kind(self, caller: Caller, name: str, kind: str, arguments: Table) -> None:
        exchange_type(kind, arguments).check_arguments(arguments)
        alternate = arguments.get(ALTERNATE)
        if alternate is None:
            return
        if not isinstance(alternate, str):
            refuse(
                PRECONDITION_FAILED,
                f"invalid arg '{ALTERNATE}' for exchange '{name}' in vhost '{caller.vhost}': it names no exchange",
            )
        self.rights.check(caller.user, caller.vhost, READ, name, kind="exchange")
        self.rights.check(caller.user, caller.vhost, WRITE, alternate, kind="exchange")

    def delete_exchange(self, caller: Caller, name: str, *, if_unused: bool, done: Done[None]) -> None:
        name = stripped(name)

        def decide() -> None:
            rules.check_not_default(name)
            self.rights.check(caller.user, caller.vhost, CONFIGURE, name, kind="exchange")
            if name.startswith(rules.RESERVED):
                rules.check_name("exchange", name)
            found, settled = self._exchange(caller.vhost, name)
            if not settled:
                self._when_written(done, decide)
                return
            if found is None:
                done(None)
                return
            if if_unused and self._has_edges(found):
                refuse(PRECONDITION_FAILED, f"exchange '{name}' in vhost '{caller.vhost}' in use")
            self._delete_exchange(found, done)

        self._decide(done, decide)

    def _delete_exchange(self, info: ExchangeInfo, done: Done[None]) -> None:
        check_may_go(info)
        if info.durable:
            self._write([ExchangeDeleted(info.vhost, info.name)], done, lambda: None)
            return
        lost = self.graph.vhosts[info.vhost].remove_exchange(info.name)
        self._sources_lost_edges(lost)
        done(None)

    # ---- bindings ---------------------------------------------------------------------------------------------

    def bind_queue(
        self, caller: Caller, queue: str, exchange: str, key: str, arguments: Table, done: Done[None]
    ) -> None:
        self._bind(caller, True, queue, exchange, key, arguments, done)

    def bind_exchange(
        self, caller: Caller, destination: str, source: str, key: str, arguments: Table, done: Done[None]
    ) -> None:
        self._bind(caller, False, destination, source, key, arguments, done)

    def unbind_queue(
        self, caller: Caller, queue: str, exchange: str, key: str, arguments: Table, done: Done[None]
    ) -> None:
        self._unbind(caller, True, queue, exchange, key, arguments, done)

    def unbind_exchange(
        self, caller: Caller, destination: str, source: str, key: str, arguments: Table, done: Done[None]
    ) -> None:
        self._unbind(caller, False, destination, source, key, arguments, done)

    def _bind(
        self, caller: Caller, to_queue: bool, name: str, exchange: str, key: str, arguments: Table, done: Done[None]
    ) -> None:
        name, exchange = stripped(name), stripped(exchange)

        def decide() -> None:
            self._check_binding_rights(caller, to_queue, name, exchange)
            source, source_settled = self._exchange(caller.vhost, exchange)
            target, target_settled = self._target(caller, to_queue, name)
            if source is None:
                raise no_exchange(caller.vhost, exchange)
            if target is None:
                raise no_queue(caller.vhost, name) if to_queue else no_exchange(caller.vhost, name)
            self._check_binding_key(caller, source, key, arguments)
            binding = Binding(caller.vhost, exchange, to_queue, name, key, encode_arguments(arguments))
            if source.durable and target.durable:
                is_there = binding in self._metadata.image_decided.part(BINDINGS) or is_own(binding, source, target)
                self._write([] if is_there else [Bound(*binding)], done, lambda: None)
            elif not (source_settled and target_settled):
                self._when_written(done, decide)
            else:
                part = self.graph.vhosts[caller.vhost]
                if binding not in part.edges:
                    part.add_edge(binding, dict(arguments))
                done(None)

        self._decide(done, decide)

    def _unbind(
        self, caller: Caller, to_queue: bool, name: str, exchange: str, key: str, arguments: Table, done: Done[None]
    ) -> None:
        name, exchange = stripped(name), stripped(exchange)

        def decide() -> None:
            self._check_binding_rights(caller, to_queue, name, exchange)
            source, source_settled = self._exchange(caller.vhost, exchange)
            target, target_settled = self._target(caller, to_queue, name)
            binding = Binding(caller.vhost, exchange, to_queue, name, key, encode_arguments(arguments))
            if is_own(binding, source, target):
                refuse(PRECONDITION_FAILED, f"queue '{name}' is a partition of topic '{exchange}': they stay together")
            if binding in self._metadata.image_decided.part(BINDINGS):
                self._write([Unbound(*binding)], done, lambda: None)
            elif not (source_settled and target_settled):
                self._when_written(done, decide)
            else:
                part = self._vhost(caller.vhost)
                edge = part.edges.get(binding)
                if edge is not None and not _is_durable(edge):
                    part.remove_edge(edge)
                    self._sources_lost_edges([edge])
                self._write([], done, lambda: None)

        self._decide(done, decide)

    def _check_binding_rights(self, caller: Caller, to_queue: bool, name: str, exchange: str) -> None:
        rules.check_not_default(exchange)
        if not to_queue:
            rules.check_not_default(name)
        self.rights.check(caller.user, caller.vhost, WRITE, name, kind="queue" if to_queue else "exchange")
        self.rights.check(caller.user, caller.vhost, READ, exchange, kind="exchange")

    def _check_binding_key(self, caller: Caller, source: ExchangeInfo, key: str, arguments: Table) -> None:
        if source.kind == "topic":
            self.rights.check_topic(caller.user, caller.vhost, READ, source.name, key)
        exchange_type(source.kind, source.arguments).check_binding(key, arguments)

    def _target(self, caller: Caller, to_queue: bool, name: str) -> tuple[QueueInfo | ExchangeInfo | None, bool]:
        if not to_queue:
            return self._exchange(caller.vhost, name)
        found, settled = self._queue(caller.vhost, name)
        if found is not None:
            rules.check_owner(found, caller)
        return found, settled

    # ---- what is decided --------------------------------------------------------------------------------------

    def _queue(self, vhost: str, name: str) -> tuple[QueueInfo | None, bool]:
        """The queue as decided, and whether the graph shows just that."""
        seen = self.graph.queue(vhost, name)
        if seen is not None and not seen.durable:
            return seen, True
        record = self._metadata.image_decided.part(QUEUES).get((vhost, name))
        if record is None:
            return self._streams.queue(vhost, name, seen)
        if seen is not None and seen.id == record.queue_id:
            return seen, True
        return self._follower.queue_of(record), False

    def sees(self, topic: str) -> bool:
        """``NamesTaken``, for the controller."""
        return self._follower.twins.sees(topic)

    def holder(self, vhost: str, queues: Iterable[str], exchange: str | None) -> str | None:
        for name in queues:
            queue, _ = self._queue(vhost, name)
            if queue is not None and queue.twin is None:
                return f"queue '{name}'"
        if exchange is not None:
            found, _ = self._exchange(vhost, exchange)
            if found is not None and found.twin is None:
                return f"exchange '{exchange}'"
        return None

    def _exchange(self, vhost: str, name: str) -> tuple[ExchangeInfo | None, bool]:
        seen = self.graph.exchange(vhost, name)
        if seen is not None and (not seen.durable or name in PREDECLARED_NAMES):
            return seen, True
        record = self._metadata.image_decided.part(EXCHANGES).get((vhost, name))
        if record is None:
            return self._streams.exchange(vhost, name, seen)
        if seen is not None and record is self._metadata.image.part(EXCHANGES).get((vhost, name)):
            return seen, True
        return self._follower.exchange_of(record), False

    def _vhost(self, vhost: str) -> VhostGraph:
        part = self.graph.vhosts.get(vhost)
        if part is None or vhost not in self._metadata.image_decided.part(VHOSTS):
            raise Refused(NOT_ALLOWED, f"vhost '{vhost}' not found")
        return part

    def _default_type(self, vhost: str, durable: bool, is_passing: bool) -> str:
        wanted = self._metadata.image_decided.part(VHOSTS)[vhost].default_queue_type
        return wanted if wanted and durable and not is_passing else CLASSIC

    def _check_room(self, part: VhostGraph) -> None:
        limit = self._metadata.image_decided.part(VHOSTS)[part.name].limits.get("max-queues", -1)
        if 0 <= limit <= len(part.queues):
            refuse(PRECONDITION_FAILED, f"cannot declare queue: vhost '{part.name}' has its limit of {limit} queues")
        queues = sum(len(each.queues) for each in self.graph) - self._follower.twins.queue_count
        if queues >= self._queues_max:
            refuse(PRECONDITION_FAILED, f"cannot declare queue: this node has its limit of {self._queues_max} queues")

    def _check_any_right(self, caller: Caller, name: str, kind: str = "queue") -> None:
        if not any(self.rights.may(caller.user, caller.vhost, right, name) for right in (CONFIGURE, WRITE, READ)):
            self.rights.check(caller.user, caller.vhost, CONFIGURE, name, kind=kind)

    # ---- carrying out -----------------------------------------------------------------------------------------

    def _decide(self, done: Done[T], decide: Callable[[], None]) -> None:
        try:
            decide()
        except Refused as refused:
            done(refused)

    def _when_written(self, done: Done[T], decide: Callable[[], None]) -> None:
        """Decides again when everything that is being written now is on stable storage."""

        def on_written(fault: Exception | None) -> None:
            if fault is None:
                self._decide(done, decide)
            else:
                done(_as_host_fault(fault))

        self._metadata.propose([], on_written)

    def _write(self, records: list[Record], done: Done[T], outcome: Callable[[], T]) -> None:
        def on_written(fault: Exception | None) -> None:
            done(outcome() if fault is None else _as_host_fault(fault))

        self._metadata.propose(records, on_written)

    def _has_edges(self, info: ExchangeInfo) -> bool:
        node = self.graph.vhosts[info.vhost].exchanges.get(info.name)
        if node is not None and any(not _is_durable(edge) for edge in node.edges):
            return True
        return bool(self._metadata.image_decided.part(BINDINGS).leaving(info.vhost, info.name))

    def _sources_lost_edges(self, edges: Iterable[Edge]) -> None:
        """Deletes exchanges that delete themselves when the last binding from them goes."""
        for edge in edges:
            info = edge.source.info
            found, _ = self._exchange(info.vhost, info.name)
            if found is info and info.auto_delete and not self._has_edges(info):
                self._delete_exchange(info, lambda outcome: None)


def _is_durable(edge: Edge) -> bool:
    target = edge.target if isinstance(edge.target, QueueInfo) else edge.target.info
    return edge.source.info.durable and target.durable


def _as_host_fault(fault: Exception) -> HostFault:
    return fault if isinstance(fault, HostFault) else HostFault("metadata log", str(fault))
