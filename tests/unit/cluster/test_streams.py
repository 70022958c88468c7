"""Which names of AMQP a topic has, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.cluster import Metadata
from twinlog.cluster.streams import find_stream, find_super_stream, place_of, queue_names, topic_of


@pytest.mark.parametrize(
    ("vhost", "name", "topic"),
    [
        ("/", "orders", "orders"),
        ("/", "a.b_c-d", "a.b_c-d"),
        ("/", "two words", "vhost.-2f.two-20words"),
        ("/", "..", "vhost.-2f..."),
        ("dev", "orders", "vhost.dev.orders"),
        ("dev", "a.b-1", "vhost.dev.a.b-2d1"),
        ("a.b", "é", "vhost.a-2eb.-c3-a9"),
        ("/", "vhost.dev.orders", "vhost.-2f.vhost.dev.orders"),
        ("/", "vhost.dev", "vhost.dev"),
        ("/", "vhost.dev.-61", "vhost.dev.-61"),
    ],
)
def test_a_stream_has_a_topic_of_its_own(vhost: str, name: str, topic: str) -> None:
    assert topic_of(vhost, name) == topic
    assert place_of(topic) == (vhost, name)


@given(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20))
def test_every_name_of_a_stream_leads_to_a_topic_and_back(vhost: str, name: str) -> None:
    assert place_of(topic_of(vhost, name)) == (vhost, name)


@given(st.text("vhost.-2f_a/", min_size=1, max_size=24) | st.builds("vhost.{}".format, st.text("a.-2f1e", max_size=12)))
def test_every_name_of_a_topic_leads_to_a_stream_and_back(topic: str) -> None:
    place = place_of(topic)
    assert topic_of(*place) == topic or "/" in topic or topic in (".", "..")  # which no topic has as its name


def test_a_topic_of_one_partition_goes_before_the_partition_of_another() -> None:
    metadata = Metadata()
    several, one = metadata.topic("a", 3), metadata.topic("b-1")
    image = metadata.image
    assert find_stream(image, "/", "a-2") == (several, 2)
    assert find_stream(image, "/", "b-1") == (one, 0)
    for missing in ("a", "a-3", "a-02", "a--1", "a-", "c", "b-1-0"):
        assert find_stream(image, "/", missing) is None, missing
    assert find_super_stream(image, "/", "a") == several
    assert find_super_stream(image, "/", "b-1") is None
    assert list(queue_names("a", 2)) == ["a-0", "a-1"] and list(queue_names("a", 1)) == ["a"]
