"""Transactions: what one producer writes to several partitions, and the offsets it commits, count together or not.

Promises: a transaction is decided once, by a durable record, and what was decided is carried out whatever stops in
between; a producer that was replaced or timed out writes nothing more; nothing of an earlier transaction joins a later
one. What follows a transaction waits until its end is complete and is then served, rather than being sent away.

- ``machine`` decides: states and moves (``types``), records in Kafka's own formats (``transaction``).
- ``coordinator`` finds the machine of a transactional id, holds what has to wait, and begins the endings.
- ``finishing`` writes the markers into the partitions of a decided transaction.
- ``joining`` lets produce requests in.

Owns on disk: the partitions of ``__transaction_state``, which the floor of all coordinators writes.
"""

from twinlog.kafka.transactions.coordinator import TransactionCoordinator
from twinlog.kafka.transactions.machine import TransactionMachine
from twinlog.kafka.transactions.settings import TransactionSettings
from twinlog.kafka.transactions.transaction import Transaction
from twinlog.kafka.transactions.types import EndReply, InitReply, Place, ProducerKey, TransactionState

__all__ = [
    "EndReply",
    "InitReply",
    "Place",
    "ProducerKey",
    "Transaction",
    "TransactionCoordinator",
    "TransactionMachine",
    "TransactionSettings",
    "TransactionState",
]
