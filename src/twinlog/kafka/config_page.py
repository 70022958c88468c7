"""The page ``docs/operate/topic-configs.md``, made from the tables that the broker answers with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from twinlog.kafka.broker_configs import BROKER_CONFIGS
from twinlog.kafka.config_definition import LONG_MAX, ConfigType, Definition
from twinlog.kafka.group_configs import GROUP_CONFIGS
from twinlog.kafka.topic_configs import TOPIC_CONFIGS

HEAD: Final = """# Kafka configs

Made from the program by `make docs`: change the tables, not this page.

Every config of Apache Kafka 4.3 can be read, and set where Kafka lets it be set, so that tools find what they
look for. Not every one of them does something in this release: "No effect yet" says which do not.

The value that counts for a topic is the first of these that is set:

1. the config on the topic (`twinlog topic alter`, or any client's IncrementalAlterConfigs),
2. the "node-wide" config on this node,
3. the "node-wide" config for all nodes,
4. the "node-wide" config in the settings of the node,
5. the default.

Unknown names and values out of range are refused with INVALID_CONFIG; broker configs that Twinlog does not know are
refused as well, where Kafka would keep them unseen.
"""

UNITS: Final = {
    ConfigType.BOOLEAN: "true or false",
    ConfigType.STRING: "text",
    ConfigType.INT: "whole number",
    ConfigType.SHORT: "whole number",
    ConfigType.LONG: "whole number",
    ConfigType.DOUBLE: "number",
    ConfigType.LIST: "list",
    ConfigType.CLASS: "text",
    ConfigType.PASSWORD: "secret text",
}


def topic_configs_page() -> str:
    plain_broker = [each for each in BROKER_CONFIGS.values() if each.name not in _fallbacks()]
    return "".join(
        [
            HEAD,
            *_section("Topic configs", "", "No effect yet.", TOPIC_CONFIGS.values()),
            *_section(
                "Broker configs",
                "The node-wide configs above belong here, too. The others are told by the settings of the node at "
                "start (`docs/operate/settings.md`), and clients can only read them.",
                "Told to clients, and nothing else yet.",
                sorted(plain_broker, key=lambda each: each.name),
            ),
            *_section("Group configs", "", "No effect yet.", GROUP_CONFIGS.values()),
        ]
    )


def _fallbacks() -> set[str]:
    return {each.synonym for each in TOPIC_CONFIGS.values() if each.synonym is not None}


def _section(title: str, text: str, without_effect: str, definitions: Iterable[Definition]) -> Iterator[str]:
    yield f"\n## {title}\n"
    if text:
        yield f"\n{text}\n"
    for each in definitions:
        yield _entry(each, without_effect)


def _entry(definition: Definition, without_effect: str) -> str:
    facts = [UNITS[definition.type]]
    if definition.rule is not None:
        facts[0] += f" ({definition.rule.words})"
    facts.append(f"default {_shown(definition.default)}")
    if definition.synonym is not None:
        facts.append(f"node-wide `{definition.synonym}`")
    lines = [f"\n### {definition.name}\n\n{definition.doc}\n", f"- {'; '.join(facts)}"]
    if definition.note:
        lines.append(f"- {definition.note}")
    if not definition.effect:
        lines.append(f"- {without_effect}")
    return "\n".join(lines) + "\n"


def _shown(default: str | None) -> str:
    if not default:
        return "nothing"
    return "no limit" if default == str(LONG_MAX) else f"`{default}`"
