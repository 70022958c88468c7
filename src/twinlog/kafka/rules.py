"""What Kafka says about names and config values, in the words of the controller (``cluster.ports.Rules``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from twinlog.kafka import names
from twinlog.kafka.broker_configs import BROKER_CONFIGS
from twinlog.kafka.config_definition import BadConfig, ConfigType, Definition, Table, Update
from twinlog.kafka.group_configs import GROUP_CONFIGS
from twinlog.kafka.topic_configs import TOPIC_CONFIGS

TABLES: Final[Mapping[str, Table]] = {"topic": TOPIC_CONFIGS, "broker": BROKER_CONFIGS, "group": GROUP_CONFIGS}


class KafkaRules:
    def topic_name_fault(self, name: str) -> str | None:
        if name == names.CLUSTER_METADATA:
            return f"the name '{name}' belongs to the broker"
        return names.topic_name_fault(name)

    def topic_name_key(self, name: str) -> str | None:
        return names.topic_name_key(name)

    def config_fault(self, kind: str, values: Mapping[str, str]) -> str | None:
        definitions = TABLES[kind]
        for name, text in values.items():
            definition = definitions.get(name)
            if definition is None:
                return f"there is no {kind} config '{name}'"
            try:
                definition.read(text)
            except BadConfig as bad:
                return str(bad)
        return _contradiction(values, definitions) if kind == "topic" else None

    def config_change_fault(self, kind: str, resource: str, config: str) -> str | None:
        if kind != "broker":
            return None
        definition = BROKER_CONFIGS.get(config)
        if definition is None:
            return None  # config_fault says so
        if definition.update == Update.NEVER:
            return f"broker config '{config}' is set when the node starts and cannot be changed while it runs"
        if definition.update == Update.BROKER and not resource:
            return f"broker config '{config}' can only be changed broker by broker"
        return None

    def config_is_list(self, kind: str, config: str) -> bool:
        definition = self._definition(kind, config)
        return definition is not None and definition.type == ConfigType.LIST

    def config_default(self, kind: str, config: str) -> str | None:
        definition = self._definition(kind, config)
        return definition.default if definition is not None else None

    def _definition(self, kind: str, config: str) -> Definition | None:
        return TABLES[kind].get(config)


def _contradiction(values: Mapping[str, str], definitions: Table) -> str | None:
    """Values that are right one by one and wrong together."""

    def number(name: str) -> int:
        value = definitions[name].read(values.get(name) or definitions[name].default or "")
        assert isinstance(value, int)
        return value

    low, high = "min.compaction.lag.ms", "max.compaction.lag.ms"
    if number(low) > number(high):
        return f"config '{low}' ({number(low)}) is above '{high}' ({number(high)})"
    return None


KAFKA_RULES: Final = KafkaRules()
