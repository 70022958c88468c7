"""Requests about topics and settings, and the reading of their answers. Nothing in here waits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from twinlog.client.errors import check
from twinlog.wire.kafka.messages import (
    CreatableTopic,
    CreatableTopicConfig,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsRequestAlterableConfig,
    IncrementalAlterConfigsRequestResource,
    IncrementalAlterConfigsResponse,
)

TOPIC: Final = 2  # Kafka's number for topics among things that have configs
SET: Final = 0
REMOVE: Final = 1
TIMEOUT_MS: Final = 30_000
CONFIG_SOURCES: Final = {
    1: "topic",
    2: "broker",
    3: "all brokers",
    4: "settings",
    5: "default",
    6: "logger",
    7: "group",
    8: "metrics",
}


class Config(NamedTuple):
    """One config of a topic. ``value`` is None for a secret."""

    name: str
    value: str | None
    source: str
    documentation: str


def create_topic(
    name: str, partitions: int, replication_factor: int, configs: Mapping[str, str], *, validate_only: bool = False
) -> CreateTopicsRequest:
    """-1 for the broker's own default number of partitions or replicas."""
    topic = CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replication_factor,
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs.items()],
    )
    return CreateTopicsRequest(topics=[topic], timeout_ms=TIMEOUT_MS, validate_only=validate_only)


def created(response: CreateTopicsResponse) -> None:
    for topic in response.topics:
        check(topic.error_code, f"creating topic {topic.name}", topic.error_message)


def delete_topics(names: Iterable[str]) -> DeleteTopicsRequest:
    """Filled for old and new versions alike: up to 5 brokers read ``topic_names``, from 6 on ``topics``."""
    listed = list(names)
    return DeleteTopicsRequest(
        topics=[DeleteTopicState(name=name) for name in listed], topic_names=listed, timeout_ms=TIMEOUT_MS
    )


def deleted(response: DeleteTopicsResponse) -> None:
    for topic in response.responses:
        check(topic.error_code, f"deleting topic {topic.name}", topic.error_message)


def grow_topic(name: str, partitions: int) -> CreatePartitionsRequest:
    topic = CreatePartitionsTopic(name=name, count=partitions, assignments=None)
    return CreatePartitionsRequest(topics=[topic], timeout_ms=TIMEOUT_MS)


def grown(response: CreatePartitionsResponse) -> None:
    for topic in response.results:
        check(topic.error_code, f"adding partitions to topic {topic.name}", topic.error_message)


def alter_topic_configs(name: str, put: Mapping[str, str], remove: Iterable[str]) -> IncrementalAlterConfigsRequest:
    configs = [
        IncrementalAlterConfigsRequestAlterableConfig(name=key, config_operation=SET, value=value)
        for key, value in put.items()
    ]
    configs += [
        IncrementalAlterConfigsRequestAlterableConfig(name=key, config_operation=REMOVE, value=None) for key in remove
    ]
    resource = IncrementalAlterConfigsRequestResource(resource_type=TOPIC, resource_name=name, configs=configs)
    return IncrementalAlterConfigsRequest(resources=[resource])


def altered(response: IncrementalAlterConfigsResponse) -> None:
    for resource in response.responses:
        check(resource.error_code, f"changing configs of {resource.resource_name}", resource.error_message)


def describe_topic_configs(name: str, *, documentation: bool = False) -> DescribeConfigsRequest:
    resource = DescribeConfigsResource(resource_type=TOPIC, resource_name=name, configuration_keys=None)
    return DescribeConfigsRequest(resources=[resource], include_documentation=documentation)


def described_configs(response: DescribeConfigsResponse) -> list[Config]:
    found: list[Config] = []
    for result in response.results:
        check(result.error_code, f"describing configs of {result.resource_name}", result.error_message)
        for config in result.configs:
            source = CONFIG_SOURCES.get(config.config_source, "unknown")
            found.append(Config(config.name, config.value, source, config.documentation or ""))
    return sorted(found)
