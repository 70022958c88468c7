"""Users: whose password it is, and who may do what. The rights of a name are regular expressions, as in RabbitMQ."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Callable
from typing import Final

from twinlog.amqp.codes import ACCESS_REFUSED, PRECONDITION_FAILED, refuse
from twinlog.amqp.policies import matches
from twinlog.amqp.ports import CONFIGURE, READ, WRITE
from twinlog.cluster import Image
from twinlog.cluster.kinds.users import PERMISSIONS, TOPIC_PERMISSIONS, USERS, PermissionPut, UserPut

GUEST: Final = "guest"
SALT_SIZE: Final = 4
HASH_SHA256: Final = "rabbit_password_hashing_sha256"
HASHES: Final = {
    HASH_SHA256: hashlib.sha256,
    "rabbit_password_hashing_sha512": hashlib.sha512,
    "rabbit_password_hashing_md5": hashlib.md5,
}
ADMINISTRATOR: Final = "administrator"
MONITORING: Final = "monitoring"
POLICYMAKER: Final = "policymaker"
MANAGEMENT: Final = "management"
IMPERSONATOR: Final = "impersonator"
NO_SALT: Final = bytes(SALT_SIZE)


def hash_password(password: str, salt: bytes) -> str:
    """RabbitMQ's form, so that files of definitions move both ways: base64 of the salt and of salted SHA-256."""
    assert len(salt) == SALT_SIZE
    return base64.b64encode(salt + hashlib.sha256(salt + password.encode()).digest()).decode()


def check_hash(password_hash: str, hashing: str) -> None:
    """``Refused`` 406 for what no password could ever match."""
    if hashing not in HASHES:
        refuse(PRECONDITION_FAILED, f"'{hashing}' is no way of hashing; known are {', '.join(HASHES)}")
    try:
        raw = base64.b64decode(password_hash, validate=True)
    except (binascii.Error, ValueError):
        refuse(PRECONDITION_FAILED, "a password hash is base64")
    if password_hash and len(raw) != SALT_SIZE + HASHES[hashing]().digest_size:
        refuse(PRECONDITION_FAILED, f"a password hash of {hashing} has {SALT_SIZE} bytes of salt before the hash")


def fits_password(user: UserPut | None, password: bytes) -> bool:
    """Takes about as long for a user who does not exist, so that names cannot be found out by time."""
    make = HASHES[user.hashing if user else HASH_SHA256]
    raw = base64.b64decode(user.password_hash) if user else b""
    salt, wanted = (raw[:SALT_SIZE], raw[SALT_SIZE:]) if raw else (NO_SALT, b"")
    return hmac.compare_digest(make(salt + password).digest(), wanted)


class MetadataRights:
    """Keeps the promises of ``ports.Rights`` by the users and permissions of the image."""

    def __init__(self, image: Callable[[], Image]) -> None:
        self._image = image

    def login(self, user: str, password: bytes, *, loopback: bool) -> bool:
        found = self._image().part(USERS).get(user)
        fits = fits_password(found, password)
        return fits and (loopback or user != GUEST)

    def may_enter(self, user: str, vhost: str) -> bool:
        return self._permission(user, vhost) is not None

    def has_tag(self, user: str, tag: str) -> bool:
        return tag in self.tags(user)

    def tags(self, user: str) -> tuple[str, ...]:
        found = self._image().part(USERS).get(user)
        return found.tags if found else ()

    def may(self, user: str, vhost: str, right: str, name: str) -> bool:
        permission = self._permission(user, vhost)
        if permission is None:
            return False
        pattern = {CONFIGURE: permission.configure, WRITE: permission.write, READ: permission.read}[right]
        return pattern != "" and matches(pattern, name or "amq.default")

    def check(self, user: str, vhost: str, right: str, name: str, *, kind: str = "queue") -> None:
        if not self.may(user, vhost, right, name):
            refuse(
                ACCESS_REFUSED,
                f"{right} access to {kind} '{name or 'amq.default'}' in vhost '{vhost}' refused for user '{user}'",
            )

    def check_topic(self, user: str, vhost: str, right: str, exchange: str, key: str) -> None:
        """For topic exchanges, publishing (``WRITE``) and binding (``READ``): whether the user may use this key."""
        limit = self._image().part(TOPIC_PERMISSIONS).get((vhost, user, exchange))
        if limit is None:
            return
        pattern = limit.write if right == WRITE else limit.read
        pattern = pattern.replace("{username}", re.escape(user)).replace("{vhost}", re.escape(vhost))
        if pattern == "" or not matches(pattern, key):
            refuse(
                ACCESS_REFUSED,
                f"{right} access to topic '{key}' in exchange '{exchange}' in vhost '{vhost}' "
                f"refused for user '{user}'",
            )

    def _permission(self, user: str, vhost: str) -> PermissionPut | None:
        return self._image().part(PERMISSIONS).get((vhost, user))
