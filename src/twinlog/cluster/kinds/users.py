"""Users and what they may do in which vhost."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from twinlog.cluster.kinds.keyed import KeyedKind, keyed_kind
from twinlog.cluster.kinds.vhosts import VhostDeleted, vhost_is_gone
from twinlog.cluster.record import Record


class UserPut(Record, frozen=True, array_like=True, tag="user.put/1"):
    """The whole new state. No ``password_hash``: nobody comes in by a password. ``hashing`` names the method."""

    name: str
    password_hash: str
    hashing: str
    tags: tuple[str, ...] = ()
    limits: dict[str, int] = msgspec.field(default_factory=dict)


class UserDeleted(Record, frozen=True, array_like=True, tag="user.deleted/1"):
    """Takes the user's rights along."""

    name: str


class PermissionPut(Record, frozen=True, array_like=True, tag="permission.put/1"):
    """Regular expressions over names of queues and exchanges."""

    vhost: str
    user: str
    configure: str
    write: str
    read: str


class PermissionDeleted(Record, frozen=True, array_like=True, tag="permission.deleted/1"):
    vhost: str
    user: str


class TopicPermissionPut(Record, frozen=True, array_like=True, tag="permission.topic_put/1"):
    """Regular expressions over the keys of messages and bindings of one exchange."""

    vhost: str
    user: str
    exchange: str
    write: str
    read: str


class TopicPermissionDeleted(Record, frozen=True, array_like=True, tag="permission.topic_deleted/1"):
    vhost: str
    user: str
    exchange: str


def user_is_gone(record: Any, key: tuple[Any, ...]) -> bool:
    return bool(key[1] == record.name)


USERS: Final[KeyedKind[str, UserPut]] = keyed_kind(
    "users", put=UserPut, deleted=UserDeleted, key=lambda record: record.name
)
PERMISSIONS: Final[KeyedKind[tuple[str, str], PermissionPut]] = keyed_kind(
    "permissions",
    put=PermissionPut,
    deleted=PermissionDeleted,
    key=lambda record: (record.vhost, record.user),
    takers={VhostDeleted: vhost_is_gone, UserDeleted: user_is_gone},
)
TOPIC_PERMISSIONS: Final[KeyedKind[tuple[str, str, str], TopicPermissionPut]] = keyed_kind(
    "topic_permissions",
    put=TopicPermissionPut,
    deleted=TopicPermissionDeleted,
    key=lambda record: (record.vhost, record.user, record.exchange),
    takers={VhostDeleted: vhost_is_gone, UserDeleted: user_is_gone},
)
