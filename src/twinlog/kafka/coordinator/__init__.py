"""State machines that live on a partition log: the floor under groups and transactions.

Promises: a request becomes records plus a reply, and the reply leaves only when the records are durable on every
in-sync replica. Only ``replay`` changes state, so loading after a restart, taking over and normal running share one
path. Until a shard is loaded it answers COORDINATOR_LOAD_IN_PROGRESS, never with a guess. Reads wait for the writes
before them: no answer shows what a crash could take back.
Owns nothing on disk: the topic's partition logs are storage's.
"""

from twinlog.kafka.coordinator.ports import CoordinatorLog, StoredRecord, TimerPort
from twinlog.kafka.coordinator.runtime import CoordinatorRuntime, Shard
from twinlog.kafka.coordinator.types import Decision, Machine

__all__ = [
    "CoordinatorLog",
    "CoordinatorRuntime",
    "Decision",
    "Machine",
    "Shard",
    "StoredRecord",
    "TimerPort",
]
