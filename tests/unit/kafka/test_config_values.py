"""Which value counts: the topic's, this node's, all nodes', the settings', the default; in this order."""

from __future__ import annotations

import pytest

from tests.kit.cluster import Metadata
from twinlog.cluster import Image, apply
from twinlog.cluster.records import ConfigsChanged
from twinlog.kafka.config_definition import BadConfig
from twinlog.kafka.config_values import ConfigValues, Source
from twinlog.kafka.topic_configs import TOPIC_CONFIGS

STATIC = {"log.retention.ms": "4000", "num.partitions": "3"}
LEVELS = [
    ConfigsChanged("topic", "orders", {"retention.ms": "1000"}),
    ConfigsChanged("broker", "1", {"log.retention.ms": "2000"}),
    ConfigsChanged("broker", "", {"log.retention.ms": "3000"}),
]


@pytest.fixture
def configs() -> ConfigValues:
    return ConfigValues(1, STATIC)


@pytest.fixture
def image() -> Image:
    metadata = Metadata()
    metadata.topic("orders")
    metadata.topic("plain")
    return metadata.image


def with_records(image: Image, *records: ConfigsChanged) -> Image:
    return apply(image, records)[0]


@pytest.mark.parametrize(
    ("levels", "value", "source"),
    [
        (LEVELS, 1000, Source.TOPIC),
        (LEVELS[1:], 2000, Source.BROKER),
        (LEVELS[2:], 3000, Source.ALL_BROKERS),
        ([], 4000, Source.STATIC),
    ],
)
def test_the_nearest_value_counts(
    configs: ConfigValues, image: Image, levels: list[ConfigsChanged], value: int, source: Source
) -> None:
    image = with_records(image, *levels)
    assert configs.topic(image, "orders")["retention.ms"] == value
    (entry,) = configs.topic_entries(image, "orders", {"retention.ms"})
    assert (entry.value, entry.source) == (str(value), source)


def test_the_default_counts_last(image: Image) -> None:
    (entry,) = ConfigValues(1).topic_entries(image, "orders", {"retention.ms"})
    assert (entry.value, entry.source) == ("604800000", Source.DEFAULT)


def test_the_chain_shows_every_level_under_the_name_it_has_there(configs: ConfigValues, image: Image) -> None:
    (entry,) = configs.topic_entries(with_records(image, *LEVELS), "orders", {"retention.ms"})
    assert entry.synonyms == (
        ("retention.ms", "1000", Source.TOPIC),
        ("log.retention.ms", "2000", Source.BROKER),
        ("log.retention.ms", "3000", Source.ALL_BROKERS),
        ("log.retention.ms", "4000", Source.STATIC),
        ("log.retention.ms", "604800000", Source.DEFAULT),
    )


def test_another_brokers_values_are_not_ours(configs: ConfigValues, image: Image) -> None:
    image = with_records(image, ConfigsChanged("broker", "2", {"log.retention.ms": "9"}))
    assert configs.topic(image, "plain")["retention.ms"] == 4000


def test_every_topic_config_has_a_value_and_plain_topics_share_them(configs: ConfigValues, image: Image) -> None:
    values = configs.topic(image, "plain")
    assert values.keys() == TOPIC_CONFIGS.keys()
    assert configs.topic(image, "orders") is values
    changed = with_records(image, LEVELS[0])
    assert configs.topic(changed, "plain") is values
    assert configs.topic(changed, "orders") is not values


def test_a_change_for_all_nodes_reaches_plain_topics(configs: ConfigValues, image: Image) -> None:
    before = configs.topic(image, "plain")
    after = configs.topic(with_records(image, LEVELS[2]), "plain")
    assert (before["retention.ms"], after["retention.ms"]) == (4000, 3000)
    assert configs.topic(image, "plain")["retention.ms"] == 4000


def test_a_stored_value_that_is_no_longer_taken_gives_way_to_the_next(configs: ConfigValues, image: Image) -> None:
    odd = ConfigsChanged("topic", "orders", {"retention.ms": "for ever", "no.such.config": "1", "flush.ms": "7"})
    values = configs.topic(with_records(image, odd), "orders")
    assert (values["retention.ms"], values["flush.ms"]) == (4000, 7)
    assert "no.such.config" not in values


def test_broker_configs_are_told_with_what_can_be_changed(configs: ConfigValues, image: Image) -> None:
    entries = {entry.definition.name: entry for entry in configs.broker_entries(image)}
    assert entries["num.partitions"].value == "3" and entries["num.partitions"].source == Source.STATIC
    assert entries["num.partitions"].read_only and not entries["log.retention.ms"].read_only
    assert entries["broker.rack"].value is None and entries["broker.rack"].synonyms == ()
    assert entries["delete.topic.enable"].value == "true"
    assert "inter.broker.protocol.version" in entries
    assert configs.broker(image, "num.partitions") == 3 and configs.broker(image, "broker.rack") is None


def test_the_default_of_all_brokers_is_only_what_was_set(configs: ConfigValues, image: Image) -> None:
    assert list(configs.all_broker_entries(image)) == []
    (entry,) = configs.all_broker_entries(with_records(image, *LEVELS))
    assert (entry.definition.name, entry.value, entry.source) == ("log.retention.ms", "3000", Source.ALL_BROKERS)


def test_a_groups_value_counts_before_the_brokers(configs: ConfigValues, image: Image) -> None:
    name = "consumer.session.timeout.ms"
    (plain,) = configs.group_entries(image, "billing", {name})
    assert (plain.value, plain.source) == ("45000", Source.DEFAULT)
    image = with_records(image, ConfigsChanged("group", "billing", {name: "50000"}))
    (own,) = configs.group_entries(image, "billing", {name})
    assert (own.value, own.source) == ("50000", Source.GROUP)
    assert own.synonyms[1] == ("group.consumer.session.timeout.ms", "45000", Source.DEFAULT)


@pytest.mark.parametrize("static", [{"no.such.config": "1"}, {"num.partitions": "many"}])
def test_settings_that_cannot_be_stop_the_start(static: dict[str, str]) -> None:
    with pytest.raises(BadConfig):
        ConfigValues(1, static)
