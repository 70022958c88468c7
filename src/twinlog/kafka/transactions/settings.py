"""What transactions can be told."""

from __future__ import annotations

from dataclasses import dataclass

from twinlog.base.settings import setting
from twinlog.base.units import DAY_MS, GIB, HOUR_MS, MIB, MINUTE_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionSettings:
    """Limits of transactions, and how long their producers are remembered."""

    timeout_max_ms: int = setting(
        15 * MINUTE_MS, unit="ms", min=1, max=DAY_MS, doc="The longest timeout a transactional producer may ask for."
    )
    ids_max: int = setting(
        100_000,
        min=1,
        max=10_000_000,
        doc="Transactional ids that the node remembers; one more is refused until others are forgotten.",
    )
    id_expiration_ms: int = setting(
        7 * DAY_MS, unit="ms", min=1, doc="A transactional id that is not used for this long is forgotten."
    )
    id_expiry_check_ms: int = setting(
        HOUR_MS, unit="ms", min=1, max=DAY_MS, doc="How often unused transactional ids are looked for."
    )
    end_wait_max_ms: int = setting(
        2_000,
        unit="ms",
        min=0,
        max=MINUTE_MS,
        doc="A request that meets a transaction whose end is under way waits for it this long before it is sent away.",
    )
    state_partitions: int = setting(
        50, min=1, max=10_000, doc="Partitions of __transaction_state; counts only until the topic exists."
    )
    state_segment_bytes: int = setting(
        100 * MIB, unit="bytes", min=MIB, max=GIB, doc="The size of its segments; counts only until the topic exists."
    )
