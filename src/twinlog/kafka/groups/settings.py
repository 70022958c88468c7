"""What consumer groups can be told."""

from __future__ import annotations

from dataclasses import dataclass

from twinlog.base.settings import setting
from twinlog.base.units import DAY_MS, GIB, HOUR_MS, MIB, MINUTE_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSettings:
    """Limits and delays of groups, and how long their offsets are kept."""

    session_timeout_min_ms: int = setting(
        6_000, unit="ms", min=1, max=DAY_MS, doc="The shortest session a classic member may ask for."
    )
    session_timeout_max_ms: int = setting(
        30 * MINUTE_MS, unit="ms", min=1, max=DAY_MS, doc="The longest session a classic member may ask for."
    )
    initial_rebalance_delay_ms: int = setting(
        300,
        unit="ms",
        min=0,
        max=HOUR_MS,
        doc="An empty group's first round waits this long for more members; each of them makes it wait again.",
    )
    new_member_timeout_ms: int = setting(
        5 * MINUTE_MS, unit="ms", min=1, max=DAY_MS, doc="A member that waits in its first join is dropped after this."
    )
    size_max: int = setting(10_000, min=1, max=1_000_000, doc="Members that a classic group may have.")
    groups_max: int = setting(
        50_000, min=1, max=10_000_000, doc="Groups that a node keeps; a new one beyond that is refused."
    )
    metadata_max_bytes: int = setting(
        16 * MIB,
        unit="bytes",
        min=1024,
        max=GIB,
        doc="Metadata or subscriptions that the members of one group may have together; assignments likewise.",
    )
    consumer_session_timeout_ms: int = setting(
        45_000, unit="ms", min=1, max=DAY_MS, doc="A consumer-protocol member not heard of for this long is out."
    )
    consumer_heartbeat_interval_ms: int = setting(
        5_000, unit="ms", min=1, max=HOUR_MS, doc="How often members of the consumer protocol are told to report."
    )
    consumer_heartbeat_interval_min_ms: int = setting(
        500,
        unit="ms",
        min=1,
        max=HOUR_MS,
        doc="How often they are told to report just after their group changed; more seldom the longer it is quiet.",
    )
    consumer_size_max: int = setting(
        10_000, min=1, max=1_000_000, doc="Members that a consumer-protocol group may have."
    )
    offsets_retention_ms: int = setting(
        7 * DAY_MS, unit="ms", min=1, doc="Offsets of a group without members are kept for this long."
    )
    offsets_expiry_check_ms: int = setting(
        10 * MINUTE_MS, unit="ms", min=1, max=DAY_MS, doc="How often offsets past their time are looked for."
    )
    offset_metadata_max_bytes: int = setting(
        4096, unit="bytes", min=0, max=MIB, doc="Text that may come along with a committed offset."
    )
    offsets_partitions: int = setting(
        50, min=1, max=10_000, doc="Partitions of __consumer_offsets; counts only until the topic exists."
    )
    offsets_segment_bytes: int = setting(
        100 * MIB,
        unit="bytes",
        min=MIB,
        max=GIB,
        doc="The size of its segments; counts only until the topic exists.",
    )
