"""Which value of a config counts, and where it comes from.

A topic's value is the first of: decided by a policy of AMQP for the stream that the topic is; set on the topic; set on
this node; set for all nodes; told by the node's settings at start; the default. DescribeConfigs shows the whole chain,
everybody else asks for the value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from twinlog.cluster import Image
from twinlog.kafka.broker_configs import BROKER_CONFIGS
from twinlog.kafka.config_definition import BadConfig, Definition, Table, Update, Value
from twinlog.kafka.group_configs import GROUP_CONFIGS
from twinlog.kafka.topic_configs import TOPIC_CONFIGS


class Source(IntEnum):
    """The numbers that DescribeConfigs uses."""

    TOPIC = 1
    BROKER = 2
    ALL_BROKERS = 3
    STATIC = 4
    DEFAULT = 5
    GROUP = 8


class Synonym(NamedTuple):
    name: str
    value: str
    source: Source


class ConfigEntry(NamedTuple):
    """One config of a resource. ``synonyms`` is the chain of values, the one that counts first."""

    definition: Definition
    value: str | None
    source: Source
    read_only: bool
    synonyms: tuple[Synonym, ...]


# Image and topic -> configs that others decide for this topic, whatever was set on it.
Overruled: TypeAlias = Callable[[Image, str], Mapping[str, str]]


def nothing_overruled(image: Image, topic: str) -> Mapping[str, str]:
    return MappingProxyType({})


class ConfigValues:
    """Answers for one node. ``static`` holds broker configs as the node's settings have them."""

    def __init__(self, node_id: int, static: Mapping[str, str] = MappingProxyType({})) -> None:
        for name, value in static.items():
            if name not in BROKER_CONFIGS:
                raise BadConfig(f"there is no broker config '{name}'")
            BROKER_CONFIGS[name].read(value)
        self.node_name: Final = str(node_id)
        self.overruled: Overruled = nothing_overruled
        self.static: Final = dict(static)
        self._plain: tuple[Mapping[str, str], Mapping[str, str], Mapping[str, Value]] | None = None

    def topic(self, image: Image, name: str) -> Mapping[str, Value]:
        """Every value that counts for a topic, read. Topics that set nothing share one mapping."""
        own = image.configs.of("topic", name)
        common = self._common(image)
        overruled = self.overruled(image, name)
        if overruled:
            own = {**own, **overruled}
        if not own:
            return common
        # A value that this release no longer takes must not stop the node: the one below it counts.
        values = dict(common)
        for config, text in own.items():
            value = _read(TOPIC_CONFIGS, config, text)
            if value is not None:
                values[config] = value
        return values

    def broker(self, image: Image, name: str) -> Value | None:
        """The value of one broker config."""
        definition = BROKER_CONFIGS[name]
        for each in self._broker_chain(image, name):
            value = _read(BROKER_CONFIGS, name, each.value)
            if value is not None:
                return value
        assert definition.default is None, name
        return None

    def topic_entries(self, image: Image, name: str, only: Collection[str] | None = None) -> Iterator[ConfigEntry]:
        own, overruled = image.configs.of("topic", name), self.overruled(image, name)
        for entry in self._entries(image, TOPIC_CONFIGS, own, Source.TOPIC, only):
            config = entry.definition.name
            if config not in overruled:
                yield entry
                continue
            first = Synonym(config, overruled[config], Source.ALL_BROKERS)
            yield entry._replace(value=first.value, source=first.source, synonyms=(first, *entry.synonyms))

    def entries_of_topic_with(self, image: Image, own: Mapping[str, str]) -> Iterator[ConfigEntry]:
        """The same for a topic that may not exist yet, given what is set on it."""
        return self._entries(image, TOPIC_CONFIGS, own, Source.TOPIC, None)

    def group_entries(self, image: Image, name: str, only: Collection[str] | None = None) -> Iterator[ConfigEntry]:
        return self._entries(image, GROUP_CONFIGS, image.configs.of("group", name), Source.GROUP, only)

    def broker_entries(self, image: Image, only: Collection[str] | None = None) -> Iterator[ConfigEntry]:
        """All broker configs, as this node has them."""
        for name, definition in BROKER_CONFIGS.items():
            if only is None or name in only:
                yield self._entry(definition, list(self._broker_chain(image, name)))

    def all_broker_entries(self, image: Image, only: Collection[str] | None = None) -> Iterator[ConfigEntry]:
        """What was set for all brokers, and nothing else."""
        for name, value in sorted(image.configs.of("broker", "").items()):
            definition = BROKER_CONFIGS.get(name)
            if definition is not None and (only is None or name in only):
                yield self._entry(definition, [Synonym(name, value, Source.ALL_BROKERS)])

    def _entries(
        self, image: Image, definitions: Table, own: Mapping[str, str], source: Source, only: Collection[str] | None
    ) -> Iterator[ConfigEntry]:
        for name, definition in definitions.items():
            if only is not None and name not in only:
                continue
            chain = [Synonym(name, own[name], source)] if name in own else []
            if definition.synonym is not None:
                chain += self._broker_chain(image, definition.synonym)
            yield self._entry(definition, chain)

    def _entry(self, definition: Definition, chain: list[Synonym]) -> ConfigEntry:
        read_only = definition.name in BROKER_CONFIGS and definition.update == Update.NEVER
        if not chain:
            return ConfigEntry(definition, definition.default, Source.DEFAULT, read_only, ())
        return ConfigEntry(definition, chain[0].value, chain[0].source, read_only, tuple(chain))

    def _broker_chain(self, image: Image, name: str) -> Iterator[Synonym]:
        for values, source in (
            (image.configs.of("broker", self.node_name), Source.BROKER),
            (image.configs.of("broker", ""), Source.ALL_BROKERS),
            (self.static, Source.STATIC),
        ):
            if name in values:
                yield Synonym(name, values[name], source)
        default = BROKER_CONFIGS[name].default
        if default is not None:
            yield Synonym(name, default, Source.DEFAULT)

    def _common(self, image: Image) -> Mapping[str, Value]:
        mine, everyone = image.configs.of("broker", self.node_name), image.configs.of("broker", "")
        if self._plain is None or self._plain[0] is not mine or self._plain[1] is not everyone:
            self._plain = (mine, everyone, MappingProxyType(self._read_common(image)))
        return self._plain[2]

    def _read_common(self, image: Image) -> dict[str, Value]:
        values: dict[str, Value] = {}
        for name, definition in TOPIC_CONFIGS.items():
            value = self.broker(image, definition.synonym) if definition.synonym is not None else None
            if value is None:
                assert definition.default is not None, name
                value = definition.read(definition.default)
            values[name] = value
        return values


def _read(definitions: Table, name: str, text: str) -> Value | None:
    definition = definitions.get(name)
    if definition is None:
        return None
    try:
        return definition.read(text)
    except BadConfig:
        return None
