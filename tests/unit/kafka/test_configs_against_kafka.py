"""Configs as Kafka 4.3.1 has them.

``kafka_4_3_configs.jsonl`` was taken from a broker of that release: DescribeConfigs v4 for names, types, defaults and
synonyms, IncrementalAlterConfigs with validate_only for which of some seventy texts each config accepts.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from twinlog.kafka.config_definition import BadConfig
from twinlog.kafka.group_configs import GROUP_CONFIGS
from twinlog.kafka.topic_configs import TOPIC_CONFIGS

CAPTURED = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "golden/cluster/kafka_4_3_configs.jsonl").read_text().splitlines()
]
TABLES = {"topic": TOPIC_CONFIGS, "group": GROUP_CONFIGS}

# Where we know better than to follow: Kafka takes "not a number" for a ratio, and never compacts such a topic.
NOT_TAKEN = {("min.cleanable.dirty.ratio", "NaN")}


def ids(captured: dict) -> str:
    return captured["name"]


@pytest.mark.parametrize("kind", TABLES)
def test_the_names_are_kafkas(kind: str) -> None:
    assert sorted(TABLES[kind]) == [each["name"] for each in CAPTURED if each["kind"] == kind]


@pytest.mark.parametrize("captured", CAPTURED, ids=ids)
def test_type_and_default_are_kafkas(captured: dict) -> None:
    definition = TABLES[captured["kind"]][captured["name"]]
    assert definition.type.name == captured["type"]
    assert definition.default == captured["default"]


@pytest.mark.parametrize("captured", [each for each in CAPTURED if each["kind"] == "topic"], ids=ids)
def test_a_topics_synonym_is_kafkas(captured: dict) -> None:
    definition = TOPIC_CONFIGS[captured["name"]]
    # Kafka shows none where the broker's config has no value of its own (log.retention.ms); ours always have one.
    assert captured["synonym"] in (None, definition.synonym)


@pytest.mark.parametrize("captured", CAPTURED, ids=ids)
def test_it_takes_what_kafka_takes_and_refuses_the_rest(captured: dict) -> None:
    definition = TABLES[captured["kind"]][captured["name"]]
    accepted, refused = [], []
    for text in captured["accepted"] + captured["refused"]:
        try:
            definition.read(text)
        except BadConfig:
            refused.append(text)
        else:
            accepted.append(text)
    expected = [text for text in captured["accepted"] if (captured["name"], text) not in NOT_TAKEN]
    assert accepted == expected
    assert len(refused) == len(captured["accepted"]) + len(captured["refused"]) - len(expected)
