"""Durable bindings, found from either end. A binding is named by all that it is; declared twice, it is one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias, TypeVar

from twinlog.cluster.kinds.base import Kind
from twinlog.cluster.kinds.exchanges import ExchangeDeleted
from twinlog.cluster.kinds.queues import QueueDeleted
from twinlog.cluster.kinds.vhosts import VhostDeleted
from twinlog.cluster.record import Record

KeyT = TypeVar("KeyT")


class Binding(NamedTuple):
    """``arguments`` is an AMQP field table in wire form."""

    vhost: str
    source: str
    to_queue: bool  # else to an exchange
    destination: str
    key: str
    arguments: bytes


SourceKey: TypeAlias = tuple[str, str]  # vhost, exchange
DestinationKey: TypeAlias = tuple[str, bool, str]  # vhost, whether it is a queue, name


class Bound(Record, frozen=True, array_like=True, tag="binding.made/1"):
    vhost: str
    source: str
    to_queue: bool
    destination: str
    key: str
    arguments: bytes


class Unbound(Record, frozen=True, array_like=True, tag="binding.undone/1"):
    vhost: str
    source: str
    to_queue: bool
    destination: str
    key: str
    arguments: bytes


def binding_of(record: Bound | Unbound) -> Binding:
    return Binding(record.vhost, record.source, record.to_queue, record.destination, record.key, record.arguments)


NO_BINDINGS: Final[Mapping[Binding, None]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Bindings:
    by_source: Mapping[SourceKey, Mapping[Binding, None]] = field(default_factory=dict)
    by_destination: Mapping[DestinationKey, Mapping[Binding, None]] = field(default_factory=dict)

    def leaving(self, vhost: str, exchange: str) -> Mapping[Binding, None]:
        return self.by_source.get((vhost, exchange), NO_BINDINGS)

    def reaching(self, vhost: str, to_queue: bool, name: str) -> Mapping[Binding, None]:
        return self.by_destination.get((vhost, to_queue, name), NO_BINDINGS)

    def __contains__(self, binding: Binding) -> bool:
        return binding in self.leaving(binding.vhost, binding.source)


@dataclass(frozen=True, slots=True)
class BindingsChange:
    made: tuple[Binding, ...] = ()
    undone: tuple[Binding, ...] = ()


class BindingsEdit:
    def __init__(self, part: Bindings) -> None:
        self.before = part
        self.by_source = dict(part.by_source)
        self.by_destination = dict(part.by_destination)
        self.copied_sources: dict[SourceKey, dict[Binding, None]] = {}
        self.copied_destinations: dict[DestinationKey, dict[Binding, None]] = {}
        self.touched: dict[Binding, None] = {}

    def apply(self, record: Record) -> None:
        if isinstance(record, Bound):
            self._add(binding_of(record))
        elif isinstance(record, Unbound):
            self._remove(binding_of(record))
        elif isinstance(record, QueueDeleted):
            self._remove_all(self.by_destination.get((record.vhost, True, record.name)))
        elif isinstance(record, ExchangeDeleted):
            self._remove_all(self.by_destination.get((record.vhost, False, record.name)))
            self._remove_all(self.by_source.get((record.vhost, record.name)))
        else:
            assert isinstance(record, VhostDeleted)
            for source in [each for each in self.by_source if each[0] == record.name]:
                self._remove_all(self.by_source.get(source))

    def finish(self) -> tuple[Bindings, BindingsChange]:
        made: list[Binding] = []
        undone: list[Binding] = []
        for binding in self.touched:
            before = binding in self.before
            after = binding in self.by_source.get((binding.vhost, binding.source), NO_BINDINGS)
            if before != after:
                (made if after else undone).append(binding)
        part = Bindings(MappingProxyType(self.by_source), MappingProxyType(self.by_destination))
        return part, BindingsChange(tuple(made), tuple(undone))

    def _add(self, binding: Binding) -> None:
        self._of_source(binding)[binding] = None
        self._of_destination(binding)[binding] = None
        self.touched[binding] = None

    def _remove(self, binding: Binding) -> None:
        of_source, of_destination = self._of_source(binding), self._of_destination(binding)
        of_source.pop(binding, None)
        of_destination.pop(binding, None)
        if not of_source:
            del self.by_source[binding.vhost, binding.source]
        if not of_destination:
            del self.by_destination[binding.vhost, binding.to_queue, binding.destination]
        self.touched[binding] = None

    def _remove_all(self, bindings: Mapping[Binding, None] | None) -> None:
        for binding in list(bindings or ()):
            self._remove(binding)

    # A map inside is copied when it is first changed.

    def _of_source(self, binding: Binding) -> dict[Binding, None]:
        return _own(self.by_source, self.copied_sources, (binding.vhost, binding.source))

    def _of_destination(self, binding: Binding) -> dict[Binding, None]:
        key = (binding.vhost, binding.to_queue, binding.destination)
        return _own(self.by_destination, self.copied_destinations, key)


def _own(
    maps: dict[KeyT, Mapping[Binding, None]], copied: dict[KeyT, dict[Binding, None]], key: KeyT
) -> dict[Binding, None]:
    own = copied.get(key)
    if own is None or maps.get(key) is not own:
        own = copied[key] = dict(maps.get(key, NO_BINDINGS))
        maps[key] = own
    return own


def dump(part: Bindings) -> Iterator[Record]:
    for bindings in part.by_source.values():
        for binding in bindings:
            yield Bound(*binding)


BINDINGS: Final[Kind[Bindings, BindingsChange]] = Kind(
    "bindings",
    records=(Bound, Unbound),
    reads=(QueueDeleted, ExchangeDeleted, VhostDeleted),
    empty=Bindings(),
    unchanged=BindingsChange(),
    edit=BindingsEdit,
    dump=dump,
)
