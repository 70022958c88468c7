"""The quota of partitions made and deleted (KIP-599): refused where clients know the error, told to the others."""

from __future__ import annotations

import pytest

from tests.kit.admin import AdminNode
from tests.unit.servers.kafka.test_quota_requests import alter, setting
from tests.unit.servers.kafka.test_topics import codes, creating, deleting, wanted
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic

REFUSED = ErrorCode.THROTTLING_QUOTA_EXCEEDED
BURST_S = 11


@pytest.fixture
def node() -> AdminNode:
    """Whose client may make two partitions a second."""
    node = AdminNode()
    assert alter(node, setting((("client-id", "client"),), controller_mutation_rate=2.0)) == [0]
    return node


def growing(**counts: int) -> CreatePartitionsRequest:
    return CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name=name, count=count, assignments=None) for name, count in counts.items()],
        timeout_ms=1000,
    )


def test_a_new_client_is_refused_topic_by_topic_while_it_is_above_its_rate(node: AdminNode) -> None:
    context = node.start(creating(wanted("a", 2 * BURST_S), wanted("b", 10), wanted("c", 1)), 7)
    node.metadata.journal.sync()
    assert codes(context.answer) == {"a": 0, "b": 0, "c": REFUSED}
    assert "come again in 5000 ms" in context.answer.topics[2].error_message
    assert context.throttled_ms == [5000]
    assert "c" not in node.image.topics_by_name


def test_an_old_client_gets_what_it_asked_for_and_is_told_to_be_quiet(node: AdminNode) -> None:
    context = node.start(creating(wanted("a", 2 * BURST_S), wanted("b", 10), wanted("c", 1)), 5)
    node.metadata.journal.sync()
    assert codes(context.answer) == {"a": 0, "b": 0, "c": 0}
    assert context.throttled_ms[-1] == 5500


@pytest.mark.parametrize(("version", "code"), [(3, REFUSED), (2, 0)])
def test_more_partitions_are_counted_by_what_is_added(node: AdminNode, version: int, code: int) -> None:
    node.ask(creating(wanted("a", 1), wanted("b", 1)))
    assert codes(node.ask(growing(a=31), version)) == {"a": 0}
    assert codes(node.ask(growing(b=2), version)) == {"b": code}


@pytest.mark.parametrize(("version", "code"), [(6, REFUSED), (5, REFUSED), (4, 0)])
def test_deleted_topics_are_counted_by_their_partitions(node: AdminNode, version: int, code: int) -> None:
    node.ask(creating(wanted("a", 40), wanted("b", 1)), 5)
    answer = node.ask(deleting("a", version=version), version)
    assert [each.error_code for each in answer.responses] == [code]
    assert ("a" in node.image.topics_by_name) == bool(code)


def test_what_is_only_checked_costs_nothing(node: AdminNode) -> None:
    for _ in range(5):
        assert codes(node.ask(creating(wanted("a", 100), validate_only=True))) == {"a": 0}
    assert codes(node.ask(creating(wanted("a", 1)))) == {"a": 0}


def test_topics_that_cannot_be_made_cost_nothing(node: AdminNode) -> None:
    for _ in range(5):
        assert codes(node.ask(creating(wanted("a", 9_999_999)))) == {"a": ErrorCode.POLICY_VIOLATION}
    context = node.start(creating(wanted("a", 1)), 7)
    assert context.throttled_ms == []
