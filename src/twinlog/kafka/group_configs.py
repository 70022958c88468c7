"""Every group config of Kafka 4.3. A group's own values count before the broker's ``group.*`` ones."""

from __future__ import annotations

import re
from typing import Final

from twinlog.kafka.config_definition import (
    ConfigType,
    Definition,
    Rule,
    Table,
    Value,
    at_least,
    between,
    one_of,
    table,
)

DURATION: Final = re.compile(
    r"by_duration:P(?=[0-9T])([0-9]{1,9}D)?(T(?=[0-9])([0-9]{1,9}H)?([0-9]{1,9}M)?([0-9]{1,9}(\.[0-9]{1,9})?S)?)?",
    re.ASCII | re.IGNORECASE,
)


def _is_reset(value: Value) -> bool:
    return value in ("earliest", "latest") or (isinstance(value, str) and DURATION.fullmatch(value) is not None)


RESET: Final = Rule("earliest, latest, by_duration:PnDTnHnMnS", _is_reset)


def _time(name: str, default: int, rule: Rule, doc: str, synonym: str | None = None) -> Definition:
    return Definition(name=name, type=ConfigType.INT, default=str(default), rule=rule, synonym=synonym, doc=doc)


GROUP_CONFIGS: Final[Table] = table(
    _time("consumer.assignment.interval.ms", 1000, between(0, 15_000), "The shortest time between two assignments."),
    _time(
        "consumer.heartbeat.interval.ms",
        5000,
        between(5000, 15_000),
        "How often members report.",
        "group.consumer.heartbeat.interval.ms",
    ),
    _time(
        "consumer.session.timeout.ms",
        45_000,
        between(45_000, 60_000),
        "A member that is silent for this long is out.",
        "group.consumer.session.timeout.ms",
    ),
    _time("share.assignment.interval.ms", 1000, between(0, 15_000), "The shortest time between two assignments."),
    Definition(
        name="share.auto.offset.reset",
        type=ConfigType.STRING,
        default="latest",
        rule=RESET,
        doc="Where a share group starts on a partition that it has not read.",
    ),
    _time("share.delivery.count.limit", 5, between(2, 10), "How often a record is delivered before it is given up."),
    _time("share.heartbeat.interval.ms", 5000, between(5000, 15_000), "How often members of a share group report."),
    Definition(
        name="share.isolation.level",
        type=ConfigType.STRING,
        default="read_uncommitted",
        rule=one_of("read_committed", "read_uncommitted"),
        doc="Whether a share group sees records of transactions that are still open.",
    ),
    _time(
        "share.partition.max.record.locks",
        2000,
        between(100, 4000),
        "Records of a partition that may be under way to members at a time.",
    ),
    _time(
        "share.record.lock.duration.ms",
        30_000,
        between(15_000, 60_000),
        "How long a member may take over a record before it goes to another.",
    ),
    Definition(
        name="share.renew.acknowledge.enable",
        type=ConfigType.BOOLEAN,
        default="true",
        doc="Lets members ask for more time with a record.",
    ),
    _time(
        "share.session.timeout.ms",
        45_000,
        between(45_000, 60_000),
        "A member of a share group that is silent for this long is out.",
    ),
    _time("streams.assignment.interval.ms", 1000, between(0, 15_000), "The shortest time between two assignments."),
    _time("streams.heartbeat.interval.ms", 5000, between(5000, 15_000), "How often members of a streams group report."),
    _time(
        "streams.initial.rebalance.delay.ms",
        3000,
        at_least(0),
        "How long an empty streams group waits for more members before it starts.",
    ),
    _time("streams.num.standby.replicas", 0, between(0, 2), "Spare copies of each task's state."),
    _time(
        "streams.session.timeout.ms",
        45_000,
        between(45_000, 60_000),
        "A member of a streams group that is silent for this long is out.",
    ),
)
