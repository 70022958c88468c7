"""The tables themselves: complete, consistent, and read without surprises."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlog.cluster import EMPTY, Image
from twinlog.kafka.broker_configs import BROKER_CONFIGS
from twinlog.kafka.config_definition import BadConfig, ConfigType, Definition, Update, Value, table
from twinlog.kafka.config_page import topic_configs_page
from twinlog.kafka.config_values import ConfigValues
from twinlog.kafka.group_configs import GROUP_CONFIGS
from twinlog.kafka.topic_configs import TOPIC_CONFIGS
from twinlog.kafka.topic_plan import TopicPlans

ALL = [*TOPIC_CONFIGS.values(), *BROKER_CONFIGS.values(), *GROUP_CONFIGS.values()]


@pytest.mark.parametrize("definition", ALL, ids=lambda each: each.name)
def test_a_default_is_a_value_that_would_be_taken(definition: Definition) -> None:
    if definition.default is not None:
        definition.read(definition.default)


@pytest.mark.parametrize("definition", ALL, ids=lambda each: each.name)
def test_a_sentence_says_what_it_means(definition: Definition) -> None:
    assert definition.doc.endswith(".") and len(definition.doc) > 15


def test_every_synonym_is_a_broker_config_of_the_same_kind_that_can_be_changed() -> None:
    for each in TOPIC_CONFIGS.values():
        if each.synonym is not None:
            broker = BROKER_CONFIGS[each.synonym]
            assert (broker.type, broker.default, broker.rule) == (each.type, each.default, each.rule)
            assert broker.update == Update.CLUSTER
    for each in GROUP_CONFIGS.values():
        assert each.synonym is None or each.synonym in BROKER_CONFIGS


def test_the_page_names_every_config_and_says_which_have_no_effect() -> None:
    page = topic_configs_page()
    for each in ALL:
        assert f"### {each.name}\n" in page or f"`{each.name}`" in page
    assert page.count("- No effect yet.") == sum(
        not each.effect for each in [*TOPIC_CONFIGS.values(), *GROUP_CONFIGS.values()]
    )


def test_what_is_said_to_have_an_effect_is_what_the_broker_reads() -> None:
    read: set[str] = set()

    class Noting(dict[str, Value]):
        def __getitem__(self, name: str) -> Value:
            read.add(name)
            return super().__getitem__(name)

    class Configs(ConfigValues):
        def topic(self, image: Image, name: str) -> Mapping[str, Value]:
            return Noting(super().topic(image, name))

    TopicPlans(Configs(1), flush_interval_ms=1000, inflated_max_bytes=1).of(EMPTY, "t")
    assert read == {each.name for each in TOPIC_CONFIGS.values() if each.effect}


def test_a_config_cannot_be_declared_twice() -> None:
    definition = TOPIC_CONFIGS["flush.ms"]
    with pytest.raises(AssertionError):
        table(definition, definition)


@given(st.sampled_from(ALL), st.text())
def test_any_text_is_taken_or_refused_in_words(definition: Definition, text: str) -> None:
    try:
        definition.read(text)
    except BadConfig as bad:
        assert definition.name in str(bad)


@pytest.mark.parametrize("text", ["9" * 100_000, "-" + "9" * 100_000, "0." + "1" * 100_000, "1e" + "9" * 100_000])
def test_endless_numbers_are_refused_without_being_computed(text: str) -> None:
    for name in ("retention.ms", "segment.bytes", "min.cleanable.dirty.ratio"):
        with pytest.raises(BadConfig) as bad:
            TOPIC_CONFIGS[name].read(text)
        assert len(str(bad.value)) < 300


@pytest.mark.parametrize("text", ["٣", "1_000", "0x10", "1e3", "½", "--1", "+-1", ""])
def test_a_whole_number_has_ascii_digits_and_nothing_else(text: str) -> None:
    with pytest.raises(BadConfig):
        TOPIC_CONFIGS["retention.ms"].read(text)


def test_a_secret_is_not_repeated_in_its_refusal() -> None:
    secret = Definition(name="s", type=ConfigType.INT, default=None, doc="A secret.", sensitive=True)
    with pytest.raises(BadConfig) as bad:
        secret.read("hunter2")
    assert "hunter2" not in str(bad.value)


def test_values_are_read_in_their_type() -> None:
    assert TOPIC_CONFIGS["cleanup.policy"].read("compact, delete") == ("compact", "delete")
    assert TOPIC_CONFIGS["cleanup.policy"].read("") == ()
    assert TOPIC_CONFIGS["preallocate"].read("TRUE") is True
    assert TOPIC_CONFIGS["segment.bytes"].read(" 2000000 ") == 2_000_000
    assert TOPIC_CONFIGS["min.cleanable.dirty.ratio"].read("1e-3") == 0.001
