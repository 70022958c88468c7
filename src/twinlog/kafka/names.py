"""What a topic may be called, and which topics are the broker's own."""

from __future__ import annotations

import re
from typing import Final

NAME_LENGTH_MAX: Final = 249  # Kafka's limit: a file name of 255 less the room for a partition number
ALLOWED: Final = re.compile(r"[a-zA-Z0-9._-]+", re.ASCII)

CONSUMER_OFFSETS: Final = "__consumer_offsets"
TRANSACTION_STATE: Final = "__transaction_state"
SHARE_GROUP_STATE: Final = "__share_group_state"
INTERNAL_TOPICS: Final = frozenset({CONSUMER_OFFSETS, TRANSACTION_STATE, SHARE_GROUP_STATE})

# Kafka keeps its metadata under this name, and its tools treat it apart. Ours is elsewhere; nobody may pretend.
CLUSTER_METADATA: Final = "__cluster_metadata"


def topic_name_fault(name: str) -> str | None:
    """Why no topic can have this name."""
    if not name:
        return "a topic name cannot be empty"
    if name in (".", ".."):
        return f"a topic cannot be called '{name}'"
    if len(name) > NAME_LENGTH_MAX:
        return f"a topic name has at most {NAME_LENGTH_MAX} characters, and this one has {len(name)}"
    if not ALLOWED.fullmatch(name):
        return f"a topic name has only letters, digits, '.', '_' and '-': {name!r}"
    return None


def topic_name_key(name: str) -> str | None:
    """Names with the same key look the same in metrics, where '.' becomes '_'. None: this name has neither."""
    if "." not in name and "_" not in name:
        return None
    return name.replace(".", "_")


def is_internal(name: str) -> bool:
    return name in INTERNAL_TOPICS
