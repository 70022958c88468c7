"""What config requests can be about, in Kafka's numbers, the rights they take, and how values are changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Final, Protocol, TypeVar

from twinlog.base import Refused
from twinlog.cluster import ConfigOp, ConfigsWanted, Outcome
from twinlog.kafka.rights import CLUSTER_NAME, Operation, Resource
from twinlog.servers.kafka.admin_ports import AdminBroker, Context
from twinlog.servers.kafka.later import Later
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.message import Message


class ConfigResourceType(IntEnum):
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


KINDS: Final[Mapping[int, str]] = {
    ConfigResourceType.TOPIC: "topic",
    ConfigResourceType.BROKER: "broker",
    ConfigResourceType.GROUP: "group",
}


ALTER_TIMEOUT_MS: Final = 30_000  # these requests bring no time of their own


def not_served(resource_type: int) -> str:
    return f"configs of resource type {resource_type} are not served"


def rights_fault(
    broker: AdminBroker, context: Context, operation: Operation, resource_type: int, name: str
) -> ErrorCode | None:
    """The code for somebody who may not do this."""
    if resource_type == ConfigResourceType.TOPIC:
        allowed = broker.rights.allows(context, operation, Resource.TOPIC, name)
        return None if allowed else ErrorCode.TOPIC_AUTHORIZATION_FAILED
    if resource_type == ConfigResourceType.GROUP:
        allowed = broker.rights.allows(context, operation, Resource.GROUP, name)
        return None if allowed else ErrorCode.GROUP_AUTHORIZATION_FAILED
    allowed = broker.rights.allows(context, operation, Resource.CLUSTER, CLUSTER_NAME)
    return None if allowed else ErrorCode.CLUSTER_AUTHORIZATION_FAILED


class AlterResource(Protocol):
    @property
    def resource_type(self) -> int: ...
    @property
    def resource_name(self) -> str: ...


class AlterResult(Protocol):
    error_code: int
    error_message: str | None


ResourceT = TypeVar("ResourceT", bound=AlterResource)
ResultT = TypeVar("ResultT", bound=AlterResult)


def alter(
    broker: AdminBroker,
    context: Context,
    resources: Sequence[ResourceT],
    operations_of: Callable[[ResourceT], list[ConfigOp]],
    result_of: Callable[[ResourceT], ResultT],
    response_of: Callable[[list[ResultT]], Message],
    *,
    replace: bool,
    validate_only: bool,
) -> Message | None:
    """Asks the controller for every change that is allowed. One result a resource; each changes whole or not at all."""
    results: list[ResultT] = []
    altering: list[tuple[ConfigsWanted, ResultT]] = []
    for each in resources:
        result = result_of(each)
        results.append(result)
        fault = rights_fault(broker, context, Operation.ALTER_CONFIGS, each.resource_type, each.resource_name)
        if fault is not None:
            result.error_code, result.error_message = fault, fault.message
        elif each.resource_type not in KINDS:
            result.error_code, result.error_message = ErrorCode.INVALID_REQUEST, not_served(each.resource_type)
        else:
            result.error_code = ErrorCode.REQUEST_TIMED_OUT  # until we know better
            kind = KINDS[each.resource_type]
            altering.append((ConfigsWanted(kind, each.resource_name, operations_of(each), replace), result))

    def on_decided(outcomes: list[Outcome[None]]) -> None:
        for (_, result), outcome in zip(altering, outcomes, strict=True):
            result.error_code = outcome.code if isinstance(outcome, Refused) else ErrorCode.NONE
            result.error_message = outcome.message if isinstance(outcome, Refused) else None
        later.give(response_of(results))

    later = Later(context, lambda: response_of(results))
    broker.controller.alter_configs([each for each, _ in altering], on_decided, validate_only=validate_only)
    return later.response_or_wait(ALTER_TIMEOUT_MS)
