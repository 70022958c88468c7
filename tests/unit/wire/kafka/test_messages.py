"""The message classes: one per type, compared by value, imported by name when needed."""

from __future__ import annotations

import importlib

import pytest

from tests.kit.kafka_messages import every_message, name_of, schema_of
from twinlog.wire.kafka import Message, Struct, messages
from twinlog.wire.kafka.messages import (
    CreatableTopic,
    CreateTopicsRequest,
    FetchResponsePartitionData,
    HeartbeatRequest,
    HeartbeatResponse,
    MetadataRequest,
)

NEWEST = [message for message in every_message() if message[1] == message[0].VERSIONS[1]]


@pytest.mark.parametrize("message", NEWEST, ids=name_of)
def test_a_new_message_is_what_the_kernel_makes_of_its_defaults(message: tuple[type[Message], int]) -> None:
    schema = schema_of(*message)
    fresh = message[0]()

    if not any(row[1] == "records" for row in message[0].LAYOUT):
        assert schema.decode(schema.encode(fresh)) == fresh


def test_every_name_leads_to_its_class() -> None:
    for name, module in messages._MODULES.items():
        found = getattr(messages, name)
        assert issubclass(found, Struct)
        assert found is getattr(importlib.import_module(f"{messages.__name__}.{module}"), name)
    assert set(messages._MODULES) <= set(dir(messages))


def test_a_name_that_is_none_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="NoSuchRequest"):
        messages.NoSuchRequest  # noqa: B018


def test_messages_are_compared_by_value_and_by_class() -> None:
    assert HeartbeatRequest(group_id="g") == HeartbeatRequest(group_id="g")
    assert HeartbeatRequest(group_id="g") != HeartbeatRequest(group_id="h")
    assert HeartbeatRequest() != HeartbeatResponse()
    assert HeartbeatRequest() != "HeartbeatRequest()"


def test_messages_change_and_so_cannot_be_hashed() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(HeartbeatRequest())


def test_two_messages_do_not_share_their_lists() -> None:
    first, second = CreateTopicsRequest(), CreateTopicsRequest()

    first.topics.append(CreatableTopic(name="t"))

    assert second.topics == []


def test_a_message_shows_only_what_differs_from_the_default() -> None:
    message = CreateTopicsRequest(topics=[CreatableTopic(name="t", num_partitions=3)])

    assert repr(message) == "CreateTopicsRequest(topics=[CreatableTopic(name='t', num_partitions=3)])"
    assert repr(MetadataRequest()) == "MetadataRequest()"
    assert repr(MetadataRequest(topics=None)) == "MetadataRequest(topics=None)"


def test_a_message_has_no_room_for_fields_of_others() -> None:
    with pytest.raises(AttributeError):
        HeartbeatRequest().grup_id = "g"  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        FetchResponsePartitionData(grup_id="g")  # type: ignore[call-arg]
