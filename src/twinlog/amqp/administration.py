"""Vhosts, users, rights and policies: what those who run a broker change. Each change is records of the metadata log.

Whether the asker may is decided at the door (HTTP, command line), by the tags of users; here only whether it can be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from twinlog.amqp.arguments import is_int
from twinlog.amqp.codes import NOT_FOUND, PRECONDITION_FAILED, refuse
from twinlog.amqp.policies import check_pattern, check_policy
from twinlog.amqp.ports import CLASSIC, STREAM, Done
from twinlog.amqp.users import ADMINISTRATOR, GUEST, HASH_SHA256, SALT_SIZE, check_hash, hash_password
from twinlog.base import HostFault, Refused
from twinlog.cluster import Image, MetadataLog
from twinlog.cluster.core.topics import delete_topics
from twinlog.cluster.kinds.policies import POLICIES, PolicyDeleted, PolicyPut
from twinlog.cluster.kinds.users import (
    PERMISSIONS,
    TOPIC_PERMISSIONS,
    USERS,
    PermissionDeleted,
    PermissionPut,
    TopicPermissionDeleted,
    TopicPermissionPut,
    UserDeleted,
    UserPut,
)
from twinlog.cluster.kinds.vhosts import FIRST_VHOST, VHOSTS, FirstVhostMade, VhostDeleted, VhostPut
from twinlog.cluster.record import Record
from twinlog.cluster.streams import place_of
from twinlog.host import Chance

FIRST: Final = "/"
NAME_SIZE_MAX: Final = 255
VHOST_LIMITS: Final = ("max-connections", "max-queues")
USER_LIMITS: Final = ("max-connections", "max-channels")
EVERYTHING: Final = ".*"


class Administration:
    """All calls answer ``done`` when the change is on stable storage: None, or why not."""

    def __init__(self, metadata: MetadataLog, chance: Chance) -> None:
        self._metadata = metadata
        self._chance = chance

    @property
    def image(self) -> Image:
        return self._metadata.image_decided

    def make_first_vhost(self, done: Done[None]) -> None:
        """Gives a new node what every tutorial expects: the vhost ``/`` and the user ``guest``. Only ever once."""
        if self.image.part(FIRST_VHOST):
            self._write([], done)
            return
        records: list[Record] = [
            FirstVhostMade(),
            VhostPut(FIRST, "Default virtual host"),
            UserPut(GUEST, self.hashed(GUEST), HASH_SHA256, (ADMINISTRATOR,)),
            PermissionPut(FIRST, GUEST, EVERYTHING, EVERYTHING, EVERYTHING),
        ]
        self._write(records, done)

    def hashed(self, password: str) -> str:
        return hash_password(password, self._chance.bytes(SALT_SIZE))

    # ---- vhosts -----------------------------------------------------------------------------------------------

    def put_vhost(self, vhost: VhostPut, done: Done[None], *, creator: str | None = None) -> None:
        """``creator`` gets every right in a vhost that is new."""
        try:
            check_vhost(vhost)
        except Refused as refused:
            done(refused)
            return
        records: list[Record] = [vhost]
        if vhost.name not in self.image.part(VHOSTS) and creator in self.image.part(USERS):
            assert creator is not None
            records.append(PermissionPut(vhost.name, creator, EVERYTHING, EVERYTHING, EVERYTHING))
        self._write(records, done)

    def delete_vhost(self, name: str, done: Done[None]) -> None:
        if name not in self.image.part(VHOSTS):
            done(Refused(NOT_FOUND, f"there is no vhost '{name}'"))
            return
        # Its streams go with it. Not those of the first one: they are everybody's topics, and only lose their place.
        image = self.image
        own = [topic.topic_id for topic in image.topics_by_name.values() if place_of(topic.name).vhost == name != FIRST]
        self._write([*delete_topics(image, own).records, VhostDeleted(name)], done)

    def set_vhost_limits(self, name: str, limits: Mapping[str, Any], done: Done[None]) -> None:
        """Replaces those that are named; a value below 0 is no limit."""
        try:
            vhost = self._vhost(name)
            vhost = VhostPut(
                vhost.name, vhost.description, vhost.tags, vhost.default_queue_type, merged(vhost.limits, limits)
            )
            check_vhost(vhost)
        except Refused as refused:
            done(refused)
            return
        self._write([vhost], done)

    # ---- users ------------------------------------------------------------------------------------------------

    def put_user(self, user: UserPut, done: Done[None]) -> None:
        try:
            check_user(user)
        except Refused as refused:
            done(refused)
            return
        self._write([user], done)

    def delete_users(self, names: Sequence[str], done: Done[None]) -> None:
        missing = [name for name in names if name not in self.image.part(USERS)]
        if missing:
            done(Refused(NOT_FOUND, f"there is no user '{missing[0]}'"))
            return
        self._write([UserDeleted(name) for name in names], done)

    def put_permission(self, permission: PermissionPut | TopicPermissionPut, done: Done[None]) -> None:
        try:
            self._vhost(permission.vhost)
            if permission.user not in self.image.part(USERS):
                refuse(NOT_FOUND, f"there is no user '{permission.user}'")
            check_permission(permission)
        except Refused as refused:
            done(refused)
            return
        self._write([permission], done)

    def delete_permission(self, vhost: str, user: str, done: Done[None]) -> None:
        if (vhost, user) not in self.image.part(PERMISSIONS):
            done(Refused(NOT_FOUND, f"user '{user}' has no permissions in vhost '{vhost}'"))
            return
        self._write([PermissionDeleted(vhost, user)], done)

    def delete_topic_permissions(self, vhost: str, user: str, done: Done[None], exchange: str | None = None) -> None:
        """Of one exchange, or of all."""
        records: list[Record] = [
            TopicPermissionDeleted(*key)
            for key in self.image.part(TOPIC_PERMISSIONS)
            if key[:2] == (vhost, user) and exchange in (None, key[2])
        ]
        self._write(records, done)

    # ---- policies ---------------------------------------------------------------------------------------------

    def put_policy(self, policy: PolicyPut, done: Done[None]) -> None:
        try:
            self._vhost(policy.vhost)
            check_policy(policy)
        except Refused as refused:
            done(refused)
            return
        self._write([policy], done)

    def delete_policy(self, vhost: str, name: str, done: Done[None], *, operator: bool = False) -> None:
        if (vhost, operator, name) not in self.image.part(POLICIES):
            kind = "operator policy" if operator else "policy"
            done(Refused(NOT_FOUND, f"there is no {kind} '{name}' in vhost '{vhost}'"))
            return
        self._write([PolicyDeleted(vhost, operator, name)], done)

    def write(self, records: Sequence[Record], done: Done[None]) -> None:
        """Records that somebody else decided on ``image``, in this same call."""
        self._write(records, done)

    def _vhost(self, name: str) -> VhostPut:
        vhost = self.image.part(VHOSTS).get(name)
        if vhost is None:
            refuse(NOT_FOUND, f"there is no vhost '{name}'")
        return vhost

    def _write(self, records: Sequence[Record], done: Done[None]) -> None:
        def on_written(fault: Exception | None) -> None:
            if fault is None or isinstance(fault, HostFault):
                done(fault)
            else:
                done(HostFault("metadata log", str(fault)))

        self._metadata.propose(records, on_written)


def check_name(kind: str, name: str) -> None:
    if not name:
        refuse(PRECONDITION_FAILED, f"a {kind} needs a name")
    if len(name.encode()) > NAME_SIZE_MAX:
        refuse(PRECONDITION_FAILED, f"a {kind} name has at most {NAME_SIZE_MAX} bytes")


def check_vhost(vhost: VhostPut) -> None:
    check_name("vhost", vhost.name)
    if vhost.default_queue_type not in ("", CLASSIC, STREAM):
        refuse(
            PRECONDITION_FAILED, f"the default queue type can be classic or stream, not '{vhost.default_queue_type}'"
        )
    check_limits(vhost.limits, VHOST_LIMITS)


def check_user(user: UserPut) -> None:
    check_name("user", user.name)
    if any(not tag.strip() or len(tag) > NAME_SIZE_MAX for tag in user.tags):
        refuse(PRECONDITION_FAILED, "a tag is a word")
    check_hash(user.password_hash, user.hashing)
    check_limits(user.limits, USER_LIMITS)


def check_permission(permission: PermissionPut | TopicPermissionPut) -> None:
    if isinstance(permission, PermissionPut):
        check_pattern(permission.configure)
    check_pattern(permission.write)
    check_pattern(permission.read)


def check_limits(limits: Mapping[str, Any], known: Sequence[str]) -> None:
    for name, value in limits.items():
        if name not in known:
            refuse(PRECONDITION_FAILED, f"'{name}' is no limit; known are {', '.join(known)}")
        if not is_int(value):
            refuse(PRECONDITION_FAILED, f"the limit '{name}' is a number")


def merged(limits: Mapping[str, int], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A negative value, or None, takes a limit away."""
    after = {**limits, **changes}
    return {name: value for name, value in after.items() if value is not None and not (is_int(value) and value < 0)}
