"""Consumer groups: who shares a topic, who owns which partition, how far everybody has come.

Promises: one owner for each partition and generation; a stale member is refused with the code that tells its client
what to do; a committed offset is durable before it is confirmed and never goes back.
Owns the meaning of the records in ``__consumer_offsets`` (Kafka's own formats). Pure: the time and new ids come in as
arguments; ``kafka.coordinator`` runs the machine on a partition's log.
"""

from twinlog.kafka.groups.machine import GroupMachine
from twinlog.kafka.groups.offsets import Wish
from twinlog.kafka.groups.settings import GroupSettings
from twinlog.kafka.groups.types import Caller, GroupState, JoinAnswer, SyncAnswer

__all__ = [
    "Caller",
    "GroupMachine",
    "GroupSettings",
    "GroupState",
    "JoinAnswer",
    "SyncAnswer",
    "Wish",
]
