"""Topics as subscriptions see them, and patterns whose time is linear."""

from __future__ import annotations

import time

import pytest

from tests.kit.cluster import Metadata
from twinlog.base import Refused
from twinlog.kafka.groups.topics import PATTERN_LENGTH_MAX, ImageTopics
from twinlog.wire.kafka.errors import ErrorCode


@pytest.fixture
def metadata() -> Metadata:
    return Metadata()


@pytest.fixture
def topics(metadata: Metadata) -> ImageTopics:
    found = ImageTopics()
    metadata.log.subscribe(found.follow)
    return found


def test_names_ids_and_counts_follow_the_metadata(metadata: Metadata, topics: ImageTopics) -> None:
    assert topics.find("a") is None
    made = metadata.topic("a", 3)
    assert topics.find("a") == (made.topic_id, 3)
    assert topics.name_of(made.topic_id) == "a"
    assert topics.name_of(bytes(16)) is None


def test_a_pattern_matches_whole_names_and_sees_new_topics(metadata: Metadata, topics: ImageTopics) -> None:
    metadata.topic("logs-1")
    before = topics.version
    assert topics.matching("logs-[0-9]+") == {"logs-1"}
    assert topics.matching("logs") == frozenset(), "a part of the name is no match"
    metadata.topic("logs-22")
    assert topics.version != before
    assert topics.matching("logs-[0-9]+") == {"logs-1", "logs-22"}


@pytest.mark.parametrize("pattern", ["(", "a{2", "*", "(?=a)", "\\", "a" * (PATTERN_LENGTH_MAX + 1), "(a{1000}){1000}"])
def test_row_51_what_is_no_pattern_is_refused(metadata: Metadata, topics: ImageTopics, pattern: str) -> None:
    metadata.topic("a")
    if pattern == "a{2":
        assert topics.matching(pattern) == frozenset(), "RE2 takes it literally"
        return
    with pytest.raises(Refused) as refused:
        topics.matching(pattern)
    assert refused.value.code == ErrorCode.INVALID_REGULAR_EXPRESSION


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(.*)*x", "(a?){100}a{100}"])
def test_k16_a_clever_pattern_takes_no_longer(metadata: Metadata, topics: ImageTopics, pattern: str) -> None:
    """Python's own matcher needs seconds for 30 letters here, and doubles with each."""
    metadata.topic("a" * 240 + "c")
    started = time.perf_counter()
    assert topics.matching(pattern) == frozenset()
    assert time.perf_counter() - started < 0.1
