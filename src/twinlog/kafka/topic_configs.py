"""Every topic config of Kafka 4.3: what it means, what it takes, and whether Twinlog obeys it yet.

``docs/operate/topic-configs.md`` is made from this table. ``TopicConfigs`` gives the values that count as
Python values; ``config_values`` says where they come from.
"""

from __future__ import annotations

from typing import Final

from twinlog.kafka.config_definition import (
    LONG_MAX,
    ConfigType,
    Definition,
    Rule,
    Table,
    Value,
    at_least,
    between,
    either,
    nothing_but,
    one_of,
    some_of,
    table,
)


def _is_throttled_list(value: Value) -> bool:
    if not isinstance(value, tuple):
        return False
    if value == ("*",):
        return True
    pairs = [item.split(":") for item in value]
    return all(len(pair) == 2 and all(part.isascii() and part.isdigit() for part in pair) for pair in pairs)


THROTTLED: Final = Rule("'*', or a list of partition:broker", _is_throttled_list)

TOPIC_CONFIGS: Final[Table] = table(
    Definition(
        name="cleanup.policy",
        type=ConfigType.LIST,
        default="delete",
        rule=some_of("compact", "delete"),
        synonym="log.cleanup.policy",
        effect=True,
        doc="What becomes of old data: 'delete' drops old segments, 'compact' keeps the last record of every key. "
        "A compacted topic refuses records without a key.",
    ),
    Definition(
        name="compression.gzip.level",
        type=ConfigType.INT,
        default="-1",
        rule=either(-1, between(1, 9)),
        synonym="compression.gzip.level",
        doc="How hard gzip tries when the broker compresses a batch itself; -1 leaves it to gzip.",
    ),
    Definition(
        name="compression.lz4.level",
        type=ConfigType.INT,
        default="9",
        rule=between(1, 17),
        synonym="compression.lz4.level",
        doc="How hard lz4 tries when the broker compresses a batch itself.",
    ),
    Definition(
        name="compression.type",
        type=ConfigType.STRING,
        default="producer",
        rule=one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
        synonym="compression.type",
        doc="How batches are stored. 'producer' keeps each batch as its producer packed it.",
    ),
    Definition(
        name="compression.zstd.level",
        type=ConfigType.INT,
        default="3",
        rule=between(-131072, 22),
        synonym="compression.zstd.level",
        doc="How hard zstd tries when the broker compresses a batch itself.",
    ),
    Definition(
        name="delete.retention.ms",
        type=ConfigType.LONG,
        default="86400000",
        rule=at_least(0),
        synonym="log.cleaner.delete.retention.ms",
        effect=True,
        doc="How long a compacted topic keeps the marker of a deleted key, so that slow readers see it too.",
    ),
    Definition(
        name="file.delete.delay.ms",
        type=ConfigType.LONG,
        default="60000",
        rule=at_least(0),
        synonym="log.segment.delete.delay.ms",
        effect=True,
        doc="How long the files of a dropped segment stay, for readers that are still inside.",
    ),
    Definition(
        name="flush.messages",
        type=ConfigType.LONG,
        default=str(LONG_MAX),
        rule=at_least(1),
        synonym="log.flush.interval.messages",
        effect=True,
        doc="Asks for a sync to disk after this many records, whatever the producers asked for. Records written with "
        "acks=all are synced before they are confirmed in any case.",
    ),
    Definition(
        name="flush.ms",
        type=ConfigType.LONG,
        default=str(LONG_MAX),
        rule=at_least(0),
        synonym="log.flush.interval.ms",
        effect=True,
        doc="Asks for a sync to disk within this time. Twinlog syncs within a second in any case; a shorter time is "
        "answered with a sync at once.",
    ),
    Definition(
        name="follower.replication.throttled.replicas",
        type=ConfigType.LIST,
        default="",
        rule=THROTTLED,
        doc="Replicas whose followers copy under a rate limit, as partition:broker, or '*' for all.",
    ),
    Definition(
        name="index.interval.bytes",
        type=ConfigType.INT,
        default="4096",
        rule=at_least(0),
        synonym="log.index.interval.bytes",
        effect=True,
        doc="About how many bytes of data lie between two entries of the offset index.",
    ),
    Definition(
        name="leader.replication.throttled.replicas",
        type=ConfigType.LIST,
        default="",
        rule=THROTTLED,
        doc="Replicas that leaders serve under a rate limit, as partition:broker, or '*' for all.",
    ),
    Definition(
        name="local.retention.bytes",
        type=ConfigType.LONG,
        default="-2",
        rule=at_least(-2),
        synonym="log.local.retention.bytes",
        doc="For tiered storage: how much of a partition stays on local disks; -2 means what retention.bytes says.",
    ),
    Definition(
        name="local.retention.ms",
        type=ConfigType.LONG,
        default="-2",
        rule=at_least(-2),
        synonym="log.local.retention.ms",
        doc="For tiered storage: how long data stays on local disks; -2 means what retention.ms says.",
    ),
    Definition(
        name="max.compaction.lag.ms",
        type=ConfigType.LONG,
        default=str(LONG_MAX),
        rule=at_least(1),
        synonym="log.cleaner.max.compaction.lag.ms",
        effect=True,
        doc="A compacted topic compacts a record at the latest when it is this old.",
    ),
    Definition(
        name="max.message.bytes",
        type=ConfigType.INT,
        default="1048588",
        rule=at_least(0),
        synonym="message.max.bytes",
        effect=True,
        doc="The largest record batch that is accepted, as it lies on the wire (compressed, with its header).",
    ),
    Definition(
        name="message.timestamp.after.max.ms",
        type=ConfigType.LONG,
        default="3600000",
        rule=at_least(0),
        synonym="log.message.timestamp.after.max.ms",
        effect=True,
        doc="How far in the broker's future a producer's timestamp may lie. Not looked at with LogAppendTime.",
    ),
    Definition(
        name="message.timestamp.before.max.ms",
        type=ConfigType.LONG,
        default=str(LONG_MAX),
        rule=at_least(0),
        synonym="log.message.timestamp.before.max.ms",
        effect=True,
        doc="How far in the broker's past a producer's timestamp may lie. Not looked at with LogAppendTime.",
    ),
    Definition(
        name="message.timestamp.type",
        type=ConfigType.STRING,
        default="CreateTime",
        rule=one_of("CreateTime", "LogAppendTime"),
        synonym="log.message.timestamp.type",
        effect=True,
        doc="Whose clock stamps a record: the producer's (CreateTime) or the broker's (LogAppendTime).",
    ),
    Definition(
        name="min.cleanable.dirty.ratio",
        type=ConfigType.DOUBLE,
        default="0.5",
        rule=between(0, 1),
        synonym="log.cleaner.min.cleanable.ratio",
        effect=True,
        doc="A compacted log is compacted once this share of it was written since the last time.",
    ),
    Definition(
        name="min.compaction.lag.ms",
        type=ConfigType.LONG,
        default="0",
        rule=at_least(0),
        synonym="log.cleaner.min.compaction.lag.ms",
        effect=True,
        doc="A record stays uncompacted for at least this long.",
    ),
    Definition(
        name="min.insync.replicas",
        type=ConfigType.INT,
        default="1",
        rule=at_least(1),
        synonym="min.insync.replicas",
        effect=True,
        doc="With acks=all a write is refused unless at least this many replicas are in sync.",
    ),
    Definition(
        name="preallocate",
        type=ConfigType.BOOLEAN,
        default="false",
        synonym="log.preallocate",
        doc="Asks for segment files to get their full size when they are made.",
    ),
    Definition(
        name="remote.log.copy.disable",
        type=ConfigType.BOOLEAN,
        default="false",
        doc="For tiered storage: stops copying this topic's segments to remote storage.",
    ),
    Definition(
        name="remote.log.delete.on.disable",
        type=ConfigType.BOOLEAN,
        default="false",
        doc="For tiered storage: deletes the remote segments when tiering of the topic is switched off.",
    ),
    Definition(
        name="remote.storage.enable",
        type=ConfigType.BOOLEAN,
        default="false",
        rule=nothing_but(False),
        doc="Tiered storage of a topic. Twinlog keeps all data on its own disks, so it cannot be switched on.",
    ),
    Definition(
        name="retention.bytes",
        type=ConfigType.LONG,
        default="-1",
        synonym="log.retention.bytes",
        effect=True,
        doc="How large a partition may grow before its oldest segments are dropped; negative means no limit.",
    ),
    Definition(
        name="retention.ms",
        type=ConfigType.LONG,
        default="604800000",
        rule=at_least(-1),
        synonym="log.retention.ms",
        effect=True,
        doc="How old data may get before its segment is dropped; -1 means for ever.",
    ),
    Definition(
        name="segment.bytes",
        type=ConfigType.INT,
        default="1073741824",
        rule=at_least(1024 * 1024),
        synonym="log.segment.bytes",
        effect=True,
        doc="A new segment file starts when the next batch would make the old one larger than this.",
    ),
    Definition(
        name="segment.index.bytes",
        type=ConfigType.INT,
        default="10485760",
        rule=at_least(4),
        synonym="log.index.size.max.bytes",
        doc="The largest size of a segment's offset index. Twinlog's indexes are as small as they can be.",
    ),
    Definition(
        name="segment.jitter.ms",
        type=ConfigType.LONG,
        default="0",
        rule=at_least(0),
        synonym="log.roll.jitter.ms",
        doc="Shortens segment.ms by a random time up to this, so that not all segments roll in one moment.",
    ),
    Definition(
        name="segment.ms",
        type=ConfigType.LONG,
        default="604800000",
        rule=at_least(1),
        synonym="log.roll.ms",
        effect=True,
        doc="A new segment starts when the old one is this old, so that retention can drop it.",
    ),
    Definition(
        name="unclean.leader.election.enable",
        type=ConfigType.BOOLEAN,
        default="false",
        synonym="unclean.leader.election.enable",
        doc="Lets a replica lead that is not in sync when no other is left, at the price of losing records.",
    ),
)
