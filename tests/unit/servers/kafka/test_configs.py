"""DescribeConfigs, both AlterConfigs, ListConfigResources. Row numbers are those of the project's check list."""

from __future__ import annotations

import pytest

from tests.kit.admin import AdminNode, NoRightTo
from twinlog.kafka.broker_configs import BROKER_CONFIGS
from twinlog.kafka.group_configs import GROUP_CONFIGS
from twinlog.kafka.rights import Operation
from twinlog.kafka.topic_configs import TOPIC_CONFIGS
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsRequestAlterableConfig,
    AlterConfigsRequestResource,
)
from twinlog.wire.kafka.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from twinlog.wire.kafka.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsRequestAlterableConfig,
    IncrementalAlterConfigsRequestResource,
)
from twinlog.wire.kafka.messages.list_config_resources import ListConfigResourcesRequest

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)


@pytest.fixture
def node() -> AdminNode:
    node = AdminNode(static={"num.partitions": "3", "log.dirs": "/data"})
    node.metadata.topic("orders", 1, retention_ms="1000")
    return node


def describing(kind: int, name: str, keys: list[str] | None = None, **options: bool) -> DescribeConfigsRequest:
    resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
    return DescribeConfigsRequest(resources=[resource], **options)


def altering(
    kind: int, name: str, *operations: tuple[str, int, str | None], **options: bool
) -> IncrementalAlterConfigsRequest:
    configs = [
        IncrementalAlterConfigsRequestAlterableConfig(name=config, config_operation=operation, value=value)
        for config, operation, value in operations
    ]
    resource = IncrementalAlterConfigsRequestResource(resource_type=kind, resource_name=name, configs=configs)
    return IncrementalAlterConfigsRequest(resources=[resource], **options)


def replacing(kind: int, name: str, values: dict[str, str | None], **options: bool) -> AlterConfigsRequest:
    configs = [AlterConfigsRequestAlterableConfig(name=config, value=value) for config, value in values.items()]
    resource = AlterConfigsRequestResource(resource_type=kind, resource_name=name, configs=configs)
    return AlterConfigsRequest(resources=[resource], **options)


def code(answer: object) -> int:
    (result,) = getattr(answer, "responses", None) or answer.results  # type: ignore[attr-defined]
    assert (result.error_message is None) == (result.error_code == 0)
    assert isinstance(result.error_code, int)
    return result.error_code


# -- DescribeConfigs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(1, 5))
def test_row_13_every_topic_config_is_told_with_value_and_source(node: AdminNode, version: int) -> None:
    (result,) = node.ask(describing(TOPIC, "orders"), version).results
    assert (result.error_code, result.resource_type, result.resource_name) == (0, TOPIC, "orders")
    told = {config.name: config for config in result.configs}
    assert told.keys() == TOPIC_CONFIGS.keys()
    assert (told["retention.ms"].value, told["retention.ms"].config_source) == ("1000", 1)
    assert (told["segment.bytes"].value, told["segment.bytes"].config_source) == ("1073741824", 5)
    for config in result.configs:
        assert not config.read_only and not config.is_sensitive and config.synonyms == []
        assert config.config_type == (TOPIC_CONFIGS[config.name].type if version >= 3 else 0)


def test_row_13_synonyms_and_documentation_come_on_request(node: AdminNode) -> None:
    request = describing(TOPIC, "orders", ["retention.ms"], include_synonyms=True, include_documentation=True)
    ((config,),) = [result.configs for result in node.ask(request).results]
    assert [(each.name, each.value, each.source) for each in config.synonyms] == [
        ("retention.ms", "1000", 1),
        ("log.retention.ms", "604800000", 5),
    ]
    assert config.documentation == TOPIC_CONFIGS["retention.ms"].doc
    ((plain,),) = [result.configs for result in node.ask(describing(TOPIC, "orders", ["retention.ms"])).results]
    assert plain.documentation is None


@pytest.mark.parametrize("keys", [None, []])
def test_row_13_no_keys_mean_all(node: AdminNode, keys: list[str] | None) -> None:
    (result,) = node.ask(describing(TOPIC, "orders", keys)).results
    assert len(result.configs) == len(TOPIC_CONFIGS)


def test_row_13_keys_that_do_not_exist_are_left_out(node: AdminNode) -> None:
    (result,) = node.ask(describing(TOPIC, "orders", ["retention.ms", "nope"])).results
    assert [config.name for config in result.configs] == ["retention.ms"]


def test_row_13_broker_configs_include_what_consoles_read(node: AdminNode) -> None:
    (result,) = node.ask(describing(BROKER, "1")).results
    told = {config.name: config for config in result.configs}
    assert told.keys() == BROKER_CONFIGS.keys()
    assert (told["num.partitions"].value, told["num.partitions"].config_source) == ("3", 4)
    assert told["num.partitions"].read_only and not told["log.retention.ms"].read_only
    assert told["inter.broker.protocol.version"].value == "4.3-IV0"
    assert told["delete.topic.enable"].value == "true"
    assert told["log.dirs"].value == "/data" and told["broker.rack"].value is None


def test_a_broker_without_name_is_what_was_set_for_all(node: AdminNode) -> None:
    (result,) = node.ask(describing(BROKER, "")).results
    assert (result.error_code, result.configs) == (0, [])
    node.ask(altering(BROKER, "", ("log.retention.ms", SET, "5")))
    (result,) = node.ask(describing(BROKER, "")).results
    assert [(config.name, config.value, config.config_source) for config in result.configs] == [
        ("log.retention.ms", "5", 3)
    ]


def test_group_configs_are_told_for_any_name(node: AdminNode) -> None:
    (result,) = node.ask(describing(GROUP, "billing")).results
    assert {config.name for config in result.configs} == GROUP_CONFIGS.keys()


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        (TOPIC, "nope", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "a b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (TOPIC, "", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (BROKER, "7", ErrorCode.INVALID_REQUEST),
        (BROKER, "x", ErrorCode.INVALID_REQUEST),
        (GROUP, "", ErrorCode.INVALID_REQUEST),
        (LOGGER, "1", ErrorCode.INVALID_REQUEST),
        (METRICS, "m", ErrorCode.INVALID_REQUEST),
        (99, "x", ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_cannot_be_described(node: AdminNode, kind: int, name: str, expected: int) -> None:
    assert code(node.ask(describing(kind, name))) == expected


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        (TOPIC, "orders", ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        (TOPIC, "nope", ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        (BROKER, "1", ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
        (GROUP, "g", ErrorCode.GROUP_AUTHORIZATION_FAILED),
    ],
)
def test_without_the_right_configs_are_neither_told_nor_changed(
    node: AdminNode, kind: int, name: str, expected: int
) -> None:
    node.rights = NoRightTo(Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS)
    entries = len(node.metadata.journal.entries)
    assert code(node.ask(describing(kind, name))) == expected
    assert code(node.ask(altering(kind, name, ("retention.ms", SET, "1")))) == expected
    assert code(node.ask(replacing(kind, name, {"retention.ms": "1"}))) == expected
    assert len(node.metadata.journal.entries) == entries


# -- IncrementalAlterConfigs and AlterConfigs --------------------------------------------------------------------


@pytest.mark.parametrize("version", range(2))
def test_row_14_values_are_set_deleted_appended_and_subtracted(node: AdminNode, version: int) -> None:
    request = altering(
        TOPIC, "orders", ("retention.ms", DELETE, None), ("flush.ms", SET, "5"), ("cleanup.policy", APPEND, "compact")
    )
    context = node.start(request, version)
    assert context.answer is None, "not before it is durable"
    node.metadata.journal.sync()
    assert code(context.answer) == 0
    assert node.image.configs.of("topic", "orders") == {"flush.ms": "5", "cleanup.policy": "delete,compact"}
    assert code(node.ask(altering(TOPIC, "orders", ("cleanup.policy", SUBTRACT, "delete")), version)) == 0
    assert node.configs.topic(node.image, "orders")["cleanup.policy"] == ("compact",)


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (("nope", SET, "1"), ErrorCode.INVALID_CONFIG),
        (("retention.ms", SET, "soon"), ErrorCode.INVALID_CONFIG),
        (("retention.ms", APPEND, "1"), ErrorCode.INVALID_CONFIG),
        (("retention.ms", SET, None), ErrorCode.INVALID_REQUEST),
        (("retention.ms", 9, "1"), ErrorCode.INVALID_REQUEST),
    ],
)
def test_row_14_what_is_wrong_is_said_and_changes_nothing(
    node: AdminNode, operation: tuple[str, int, str | None], expected: int
) -> None:
    assert code(node.ask(altering(TOPIC, "orders", ("flush.ms", SET, "5"), operation))) == expected
    assert node.image.configs.of("topic", "orders") == {"retention.ms": "1000"}
    assert code(node.ask(altering(TOPIC, "orders", ("flush.ms", SET, "5")))) == 0, "the next request is served"


def test_row_14_a_check_changes_nothing(node: AdminNode) -> None:
    assert code(node.ask(altering(TOPIC, "orders", ("flush.ms", SET, "5"), validate_only=True))) == 0
    assert code(node.ask(replacing(TOPIC, "orders", {"flush.ms": "5"}, validate_only=True))) == 0
    assert node.image.configs.of("topic", "orders") == {"retention.ms": "1000"}


@pytest.mark.parametrize("version", range(3))
def test_row_14_the_older_request_replaces_all(node: AdminNode, version: int) -> None:
    assert code(node.ask(replacing(TOPIC, "orders", {"flush.ms": "5"}), version)) == 0
    assert node.image.configs.of("topic", "orders") == {"flush.ms": "5"}
    assert code(node.ask(replacing(TOPIC, "orders", {"flush.ms": None}), version)) == ErrorCode.INVALID_REQUEST
    assert code(node.ask(replacing(TOPIC, "orders", {"nope": "5"}), version)) == ErrorCode.INVALID_CONFIG
    assert node.image.configs.of("topic", "orders") == {"flush.ms": "5"}


def test_a_broker_config_that_is_read_at_start_cannot_be_changed(node: AdminNode) -> None:
    assert code(node.ask(altering(BROKER, "1", ("num.partitions", SET, "5")))) == ErrorCode.INVALID_REQUEST
    assert code(node.ask(altering(BROKER, "1", ("log.retention.ms", SET, "5")))) == 0
    assert node.configs.topic(node.image, "orders")["retention.ms"] == 1000
    node.metadata.topic("plain")
    assert node.configs.topic(node.image, "plain")["retention.ms"] == 5


@pytest.mark.parametrize("kind", [LOGGER, METRICS, 99])
def test_resources_without_configs_here_are_refused(node: AdminNode, kind: int) -> None:
    assert code(node.ask(altering(kind, "1", ("a", SET, "b")))) == ErrorCode.INVALID_REQUEST


def test_every_resource_has_its_own_result(node: AdminNode) -> None:
    one = altering(TOPIC, "orders", ("flush.ms", SET, "5")).resources
    two = altering(TOPIC, "nope", ("flush.ms", SET, "5")).resources
    answer = node.ask(IncrementalAlterConfigsRequest(resources=[*two, *one]))
    assert [(each.resource_name, each.error_code) for each in answer.responses] == [
        ("nope", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("orders", 0),
    ]
    answer = node.ask(IncrementalAlterConfigsRequest(resources=[*one, *one]))
    assert [each.error_code for each in answer.responses] == [ErrorCode.INVALID_REQUEST] * 2


# -- ListConfigResources -----------------------------------------------------------------------------------------


def test_everything_with_configs_is_listed_by_type(node: AdminNode) -> None:
    node.ask(altering(GROUP, "billing", ("consumer.session.timeout.ms", SET, "50000")))

    def listed(*types: int) -> list[tuple[int, str]]:
        answer = node.ask(ListConfigResourcesRequest(resource_types=list(types)), 1)
        assert answer.error_code == 0
        return [(each.resource_type, each.resource_name) for each in answer.config_resources]

    assert listed() == [(TOPIC, "orders"), (BROKER, "1"), (GROUP, "billing")]
    assert listed(GROUP, METRICS) == [(GROUP, "billing")]
    assert node.ask(ListConfigResourcesRequest(resource_types=[99]), 1).error_code == ErrorCode.UNSUPPORTED_VERSION


def test_version_0_lists_client_metrics_of_which_there_are_none(node: AdminNode) -> None:
    answer = node.ask(ListConfigResourcesRequest(), 0)
    assert (answer.error_code, answer.config_resources) == (0, [])


def test_listing_needs_a_right(node: AdminNode) -> None:
    node.rights = NoRightTo(Operation.DESCRIBE_CONFIGS)
    assert node.ask(ListConfigResourcesRequest(), 1).error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
