"""Operations and things to do them to, in Kafka's numbers, and the door at which every handler asks.

Until access lists exist, everybody may do everything; handlers ask nevertheless, so that the day they exist no path
has forgotten its check.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, Protocol

CLUSTER_NAME: Final = "kafka-cluster"  # the name under which rights on the cluster itself are given


class Operation(IntEnum):
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12


class Resource(IntEnum):
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5


TOPIC_OPERATIONS: Final = (
    Operation.READ,
    Operation.WRITE,
    Operation.CREATE,
    Operation.DELETE,
    Operation.ALTER,
    Operation.DESCRIBE,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)
CLUSTER_OPERATIONS: Final = (
    Operation.CREATE,
    Operation.ALTER,
    Operation.DESCRIBE,
    Operation.CLUSTER_ACTION,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
    Operation.IDEMPOTENT_WRITE,
)

NOT_ASKED: Final = -(2**31)  # what a response says about operations that nobody asked for


class Asker(Protocol):
    """Who asks: a request's context."""

    @property
    def principal(self) -> str: ...

    @property
    def peer(self) -> tuple[str, int]: ...


class Rights(Protocol):
    def allows(self, asker: Asker, operation: Operation, resource: Resource, name: str) -> bool: ...


class AllRights:
    """No authorizer: everybody may do everything."""

    def allows(self, asker: Asker, operation: Operation, resource: Resource, name: str) -> bool:
        return True


def allowed_operations(rights: Rights, asker: Asker, resource: Resource, name: str) -> int:
    """The operations that ``asker`` may do, one bit each."""
    operations = TOPIC_OPERATIONS if resource == Resource.TOPIC else CLUSTER_OPERATIONS
    return sum(1 << operation for operation in operations if rights.allows(asker, operation, resource, name))
