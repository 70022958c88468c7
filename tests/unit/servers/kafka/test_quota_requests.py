"""DescribeClientQuotas and AlterClientQuotas."""

from __future__ import annotations

import pytest

from tests.kit.admin import AdminNode, NoRightTo
from twinlog.kafka.rights import Operation
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntityData,
    AlterClientQuotasRequestEntryData,
    OpData,
)
from twinlog.wire.kafka.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest

Entity = tuple[tuple[str, str | None], ...]
ANN: Entity = (("user", "ann"),)
ANN_APP: Entity = (("client-id", "app"), ("user", "ann"))
EVERYBODY: Entity = (("user", None),)
EXACTLY, DEFAULT, ANY = range(3)


def setting(entity: Entity, remove: tuple[str, ...] = (), **values: float) -> AlterClientQuotasRequestEntryData:
    operations = [OpData(key=key, value=value) for key, value in values.items()]
    operations += [OpData(key=key, remove=True) for key in remove]
    named = [AlterClientQuotasRequestEntityData(entity_type=kind, entity_name=name) for kind, name in entity]
    return AlterClientQuotasRequestEntryData(entity=named, ops=operations)


def alter(
    node: AdminNode, *entries: AlterClientQuotasRequestEntryData, validate_only: bool = False, version: int = 1
) -> list[int]:
    answer = node.ask(AlterClientQuotasRequest(entries=list(entries), validate_only=validate_only), version)
    return [each.error_code for each in answer.entries]


def described(
    node: AdminNode, *components: tuple[str, int, str | None], strict: bool = False, version: int = 1
) -> dict[Entity, dict[str, float]]:
    parts = [ComponentData(entity_type=kind, match_type=how, match=name) for kind, how, name in components]
    answer = node.ask(DescribeClientQuotasRequest(components=parts, strict=strict), version)
    assert answer.error_code == 0, answer.error_message
    return {
        tuple((each.entity_type, each.entity_name) for each in entry.entity): {
            each.key: each.value for each in entry.values
        }
        for entry in answer.entries
    }


@pytest.fixture
def node() -> AdminNode:
    node = AdminNode()
    entries = [
        setting(ANN, producer_byte_rate=1000),
        setting(ANN_APP, consumer_byte_rate=2000, request_percentage=12.5),
        setting(EVERYBODY, producer_byte_rate=10),
        setting((("ip", "10.0.0.1"),), connection_creation_rate=5),
    ]
    assert alter(node, *entries) == [0, 0, 0, 0]
    return node


@pytest.mark.parametrize("version", [0, 1])
def test_quotas_are_set_described_and_removed(node: AdminNode, version: int) -> None:
    assert described(node, ("user", EXACTLY, "ann"), strict=True, version=version) == {
        ANN: {"producer_byte_rate": 1000}
    }
    assert alter(node, setting(ANN, ("producer_byte_rate",)), version=version) == [0]
    assert described(node, ("user", EXACTLY, "ann"), strict=True, version=version) == {}


def test_filters(node: AdminNode) -> None:
    assert described(node, ("user", EXACTLY, "ann")).keys() == {ANN, ANN_APP}
    assert described(node, ("user", DEFAULT, None)).keys() == {EVERYBODY}
    assert described(node, ("user", ANY, None), strict=True).keys() == {ANN, EVERYBODY}
    assert described(node, ("user", ANY, None), ("client-id", ANY, None)).keys() == {ANN_APP}
    assert described(node, ("ip", ANY, None)) == {(("ip", "10.0.0.1"),): {"connection_creation_rate": 5}}
    assert len(described(node)) == 4


def test_values_are_changed_one_by_one(node: AdminNode) -> None:
    assert alter(node, setting(ANN_APP, ("request_percentage",), producer_byte_rate=7)) == [0]
    assert described(node, ("client-id", ANY, None)) == {ANN_APP: {"consumer_byte_rate": 2000, "producer_byte_rate": 7}}


def test_a_wrong_entry_changes_nothing_and_harms_no_other(node: AdminNode) -> None:
    codes = alter(
        node,
        setting(ANN, producer_byte_rate=-1, consumer_byte_rate=5),
        setting((("group", "g"),), producer_byte_rate=1),
        setting((("user", "bob"),), producer_byte_rate=1),
        setting((("user", "eve"),), producer_byte_rate=1),
        setting((("user", "eve"),), producer_byte_rate=2),
    )
    assert codes == [42, 42, 0, 42, 42]
    assert described(node, ("user", EXACTLY, "ann"), strict=True) == {ANN: {"producer_byte_rate": 1000}}
    assert len(described(node)) == 5


def test_validating_changes_nothing(node: AdminNode) -> None:
    assert alter(node, setting(ANN, producer_byte_rate=5), validate_only=True) == [0]
    assert described(node, ("user", EXACTLY, "ann"), strict=True) == {ANN: {"producer_byte_rate": 1000}}


@pytest.mark.parametrize(
    "components",
    [
        [("group", EXACTLY, "g")],
        [("user", EXACTLY, "a"), ("user", DEFAULT, None)],
        [("user", 3, None)],
        [("user", EXACTLY, None)],
        [("user", DEFAULT, "a")],
    ],
)
def test_a_filter_without_sense_is_refused(node: AdminNode, components: list[tuple[str, int, str | None]]) -> None:
    parts = [ComponentData(entity_type=kind, match_type=how, match=name) for kind, how, name in components]
    answer = node.ask(DescribeClientQuotasRequest(components=parts))
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert answer.entries is None


def test_rights_are_asked_for(node: AdminNode) -> None:
    node.rights = NoRightTo(Operation.ALTER_CONFIGS, Operation.DESCRIBE_CONFIGS)
    assert alter(node, setting(ANN, producer_byte_rate=5)) == [ErrorCode.CLUSTER_AUTHORIZATION_FAILED]
    answer = node.ask(DescribeClientQuotasRequest())
    assert answer.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
