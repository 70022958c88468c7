"""Requests about quotas, and the reading of their answers. Nothing in here waits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias

from twinlog.client.errors import check
from twinlog.wire.kafka.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntityData,
    AlterClientQuotasRequestEntryData,
    AlterClientQuotasResponse,
    OpData,
)
from twinlog.wire.kafka.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)

# (type, name); None is everybody who has no quota of his own.
Entity: TypeAlias = tuple[tuple[str, str | None], ...]

EXACTLY: Final = 0
DEFAULT: Final = 1


class Quota(NamedTuple):
    """What was set for one entity."""

    entity: Entity
    values: dict[str, float]


def alter(entity: Entity, put: Mapping[str, float], remove: Iterable[str]) -> AlterClientQuotasRequest:
    named = [AlterClientQuotasRequestEntityData(entity_type=kind, entity_name=name) for kind, name in entity]
    operations = [OpData(key=key, value=value) for key, value in put.items()]
    operations += [OpData(key=key, remove=True) for key in remove]
    return AlterClientQuotasRequest(entries=[AlterClientQuotasRequestEntryData(entity=named, ops=operations)])


def altered(answer: AlterClientQuotasResponse) -> None:
    for entry in answer.entries:
        check(entry.error_code, "quota", entry.error_message)


def describe(entity: Entity) -> DescribeClientQuotasRequest:
    """All quotas when the entity is empty, else those of exactly this entity."""
    components = [
        ComponentData(entity_type=kind, match_type=DEFAULT if name is None else EXACTLY, match=name)
        for kind, name in entity
    ]
    return DescribeClientQuotasRequest(components=components, strict=bool(entity))


def described(answer: DescribeClientQuotasResponse) -> list[Quota]:
    check(answer.error_code, "quotas", answer.error_message)
    return [
        Quota(
            tuple((each.entity_type, each.entity_name) for each in entry.entity),
            {value.key: value.value for value in entry.values},
        )
        for entry in answer.entries or []
    ]
