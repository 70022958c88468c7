"""Changing configs: one by one, by replacing all, as lists; and never half a resource."""

from __future__ import annotations

import pytest

from tests.kit.cluster import Metadata, codes
from twinlog.cluster import ConfigOp, ConfigOperation, ConfigsWanted, Reason

SET, DELETE, APPEND, SUBTRACT = ConfigOperation


def alter(metadata: Metadata, *wanted: ConfigsWanted, validate_only: bool = False) -> list:
    return metadata.run(lambda done: metadata.controller.alter_configs(wanted, done, validate_only=validate_only))


def on_topic(*operations: ConfigOp, replace: bool = False, name: str = "orders") -> ConfigsWanted:
    return ConfigsWanted("topic", name, operations, replace)


@pytest.fixture
def metadata() -> Metadata:
    metadata = Metadata()
    metadata.topic("orders", 1, retention_ms="1000")
    return metadata


def values(metadata: Metadata, kind: str = "topic", name: str = "orders") -> dict[str, str]:
    return dict(metadata.image.configs.of(kind, name))


def test_a_value_is_set_and_deleted(metadata: Metadata) -> None:
    alter(metadata, on_topic(ConfigOp("segment.bytes", SET, "2000000")))
    assert values(metadata) == {"retention.ms": "1000", "segment.bytes": "2000000"}
    alter(metadata, on_topic(ConfigOp("retention.ms", DELETE, None), ConfigOp("flush.ms", DELETE, None)))
    assert values(metadata) == {"segment.bytes": "2000000"}
    assert values(metadata.restarted(registered=False)) == {"segment.bytes": "2000000"}


def test_replacing_forgets_what_is_not_given(metadata: Metadata) -> None:
    alter(metadata, on_topic(ConfigOp("segment.bytes", SET, "2000000"), replace=True))
    assert values(metadata) == {"segment.bytes": "2000000"}
    alter(metadata, on_topic(replace=True))
    assert values(metadata) == {}


def test_a_list_starts_from_its_default_and_holds_each_item_once(metadata: Metadata) -> None:
    alter(metadata, on_topic(ConfigOp("cleanup.policy", APPEND, "compact,delete,compact")))
    assert values(metadata)["cleanup.policy"] == "delete,compact"
    alter(metadata, on_topic(ConfigOp("cleanup.policy", SUBTRACT, "delete")))
    assert values(metadata)["cleanup.policy"] == "compact"
    alter(metadata, on_topic(ConfigOp("cleanup.policy", SUBTRACT, "compact")))
    assert values(metadata)["cleanup.policy"] == ""


@pytest.mark.parametrize(
    ("operation", "code"),
    [
        (ConfigOp("nope", SET, "1"), Reason.INVALID_CONFIG),
        (ConfigOp("retention.ms", SET, "soon"), Reason.INVALID_CONFIG),
        (ConfigOp("retention.ms", SET, None), Reason.INVALID_REQUEST),
        (ConfigOp("cleanup.policy", APPEND, None), Reason.INVALID_REQUEST),
        (ConfigOp("cleanup.policy", APPEND, "burn"), Reason.INVALID_CONFIG),
        (ConfigOp("retention.ms", APPEND, "1"), Reason.INVALID_CONFIG),
        (ConfigOp("retention.ms", SUBTRACT, "1"), Reason.INVALID_CONFIG),
        (ConfigOp("nope", APPEND, "1"), Reason.INVALID_CONFIG),
        (ConfigOp("retention.ms", 9, "1"), Reason.INVALID_REQUEST),
    ],
)
@pytest.mark.parametrize("replace", [False, True])
def test_a_change_that_cannot_be_leaves_the_resource_as_it_was(
    metadata: Metadata, operation: ConfigOp, code: int, replace: bool
) -> None:
    (refused,) = alter(metadata, on_topic(ConfigOp("flush.ms", SET, "5"), operation, replace=replace))
    assert refused.code == code and refused.message
    assert values(metadata) == {"retention.ms": "1000"}


def test_deleting_a_name_that_does_not_exist_is_no_error(metadata: Metadata) -> None:
    entries = len(metadata.journal.entries)
    assert alter(metadata, on_topic(ConfigOp("nope", DELETE, None))) == [None]
    assert len(metadata.journal.entries) == entries


def test_values_that_contradict_each_other_are_refused_also_when_only_one_is_new(metadata: Metadata) -> None:
    alter(metadata, on_topic(ConfigOp("max.compaction.lag.ms", SET, "50")))
    (refused,) = alter(metadata, on_topic(ConfigOp("min.compaction.lag.ms", SET, "100")))
    assert refused.code == Reason.INVALID_CONFIG


def test_a_config_or_a_resource_named_twice_is_refused(metadata: Metadata) -> None:
    twice = on_topic(ConfigOp("flush.ms", SET, "5"), ConfigOp("flush.ms", DELETE, None))
    assert codes(alter(metadata, twice)) == [Reason.INVALID_REQUEST]
    once = on_topic(ConfigOp("flush.ms", SET, "5"))
    metadata.topic("other")
    fine = on_topic(ConfigOp("flush.ms", SET, "5"), name="other")
    assert codes(alter(metadata, once, once, fine)) == [Reason.INVALID_REQUEST, Reason.INVALID_REQUEST, 0]
    assert values(metadata, name="other") == {"flush.ms": "5"}


@pytest.mark.parametrize(
    ("kind", "name", "code"),
    [
        ("topic", "nope", Reason.UNKNOWN_TOPIC_OR_PARTITION),
        ("topic", "", Reason.INVALID_REQUEST),
        ("group", "", Reason.INVALID_REQUEST),
        ("broker", "7", Reason.INVALID_REQUEST),
        ("broker", "x", Reason.INVALID_REQUEST),
        ("broker", "01", Reason.INVALID_REQUEST),
    ],
)
def test_a_resource_that_does_not_exist(metadata: Metadata, kind: str, name: str, code: int) -> None:
    assert codes(alter(metadata, ConfigsWanted(kind, name, [ConfigOp("retention.ms", SET, "1")]))) == [code]


def test_brokers_have_values_each_and_together(metadata: Metadata) -> None:
    change = [ConfigOp("log.retention.ms", SET, "5")]
    assert codes(alter(metadata, ConfigsWanted("broker", "1", change), ConfigsWanted("broker", "", change))) == [0, 0]
    assert values(metadata, "broker", "1") == values(metadata, "broker", "") == {"log.retention.ms": "5"}


@pytest.mark.parametrize("config", ["num.partitions", "listeners", "no.such.config"])
def test_a_broker_config_that_cannot_be_changed_in_service(metadata: Metadata, config: str) -> None:
    for name in ("1", ""):
        wanted = ConfigsWanted("broker", name, [ConfigOp(config, SET, "5")])
        assert codes(alter(metadata, wanted)) == [Reason.INVALID_REQUEST]
        assert codes(alter(metadata, ConfigsWanted("broker", name, [ConfigOp(config, DELETE, None)]))) == [0]


def test_groups_have_values_before_they_exist(metadata: Metadata) -> None:
    wanted = ConfigsWanted("group", "billing", [ConfigOp("consumer.session.timeout.ms", SET, "50000")])
    assert codes(alter(metadata, wanted)) == [0]
    assert values(metadata, "group", "billing") == {"consumer.session.timeout.ms": "50000"}


def test_a_check_and_a_change_to_the_same_value_write_nothing(metadata: Metadata) -> None:
    entries = len(metadata.journal.entries)
    assert alter(metadata, on_topic(ConfigOp("flush.ms", SET, "5")), validate_only=True) == [None]
    assert alter(metadata, on_topic(ConfigOp("retention.ms", SET, "1000"))) == [None]
    assert len(metadata.journal.entries) == entries and values(metadata) == {"retention.ms": "1000"}
