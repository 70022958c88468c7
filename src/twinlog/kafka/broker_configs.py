"""The broker configs that clients, consoles and tools read, with the values of this node.

Two sorts. Those a topic falls back on (``log.retention.ms`` for ``retention.ms``) are derived from
the table of topics and can be changed while the cluster runs. All others are told by the node at start: what
``app`` knows better than the default (addresses, directories, limits) it hands over as static values.
"""

from __future__ import annotations

from typing import Final

from twinlog.kafka.config_definition import ConfigType, Definition, Table, Update, table
from twinlog.kafka.topic_configs import TOPIC_CONFIGS


def _fallback(of: Definition) -> Definition:
    assert of.synonym is not None
    return Definition(
        name=of.synonym,
        type=of.type,
        default=of.default,
        rule=of.rule,
        effect=of.effect,
        update=Update.CLUSTER,
        doc=f"The '{of.name}' of topics that do not set it. {of.doc}",
    )


def _broker(name: str, kind: ConfigType, default: str | None, doc: str, *, effect: bool = False) -> Definition:
    return Definition(name=name, type=kind, default=default, doc=doc, effect=effect, update=Update.NEVER)


BROKER_CONFIGS: Final[Table] = table(
    *(_fallback(each) for each in TOPIC_CONFIGS.values() if each.synonym is not None),
    _broker(
        "advertised.listeners",
        ConfigType.LIST,
        "",
        "Where clients are told to find the listeners of this node.",
        effect=True,
    ),
    _broker(
        "authorizer.class.name",
        ConfigType.STRING,
        "",
        "Kafka's place for an authorizer; empty means that none is in force.",
    ),
    _broker(
        "auto.create.topics.enable",
        ConfigType.BOOLEAN,
        "true",
        "Creates a topic when a client asks for one that does not exist and allows it.",
        effect=True,
    ),
    _broker(
        "auto.leader.rebalance.enable",
        ConfigType.BOOLEAN,
        "true",
        "Moves leadership back to the preferred replicas from time to time.",
    ),
    _broker("broker.id", ConfigType.INT, "-1", "The number of this node, under its old name.", effect=True),
    _broker(
        "broker.rack",
        ConfigType.STRING,
        None,
        "Where this node stands, so that replicas can be spread and readers can read nearby.",
        effect=True,
    ),
    _broker(
        "connections.max.idle.ms",
        ConfigType.LONG,
        "600000",
        "A connection that sends nothing for this long is closed.",
        effect=True,
    ),
    _broker("controlled.shutdown.enable", ConfigType.BOOLEAN, "true", "Hands leadership over before a planned stop."),
    _broker(
        "controller.listener.names",
        ConfigType.LIST,
        "",
        "Listeners for controllers alone; a node of its own needs none.",
    ),
    _broker(
        "default.replication.factor",
        ConfigType.INT,
        "1",
        "Replicas of a topic whose creator did not say how many.",
        effect=True,
    ),
    _broker("delete.topic.enable", ConfigType.BOOLEAN, "true", "Lets clients delete topics.", effect=True),
    _broker("fetch.max.bytes", ConfigType.INT, "57671680", "About the largest answer to one fetch.", effect=True),
    _broker(
        "group.consumer.assignors",
        ConfigType.LIST,
        "uniform,range",
        "How the new group protocol can share partitions out; the first is the usual one.",
    ),
    _broker("group.consumer.heartbeat.interval.ms", ConfigType.INT, "5000", "How often members of new groups report."),
    _broker(
        "group.consumer.max.heartbeat.interval.ms",
        ConfigType.INT,
        "15000",
        "The longest heartbeat interval that a group may be given.",
    ),
    _broker(
        "group.consumer.max.session.timeout.ms",
        ConfigType.INT,
        "60000",
        "The longest session timeout that a group may be given.",
    ),
    _broker("group.consumer.max.size", ConfigType.INT, "2147483647", "Members that a new group may have."),
    _broker(
        "group.consumer.migration.policy",
        ConfigType.STRING,
        "bidirectional",
        "Whether live groups may move between the classic and the new protocol.",
    ),
    _broker(
        "group.consumer.min.heartbeat.interval.ms",
        ConfigType.INT,
        "5000",
        "The shortest heartbeat interval that a group may be given.",
    ),
    _broker(
        "group.consumer.min.session.timeout.ms",
        ConfigType.INT,
        "45000",
        "The shortest session timeout that a group may be given.",
    ),
    _broker(
        "group.consumer.session.timeout.ms",
        ConfigType.INT,
        "45000",
        "A member of a new group that is silent for this long is out.",
    ),
    _broker(
        "group.coordinator.rebalance.protocols",
        ConfigType.LIST,
        "classic,consumer",
        "Group protocols that this node speaks.",
    ),
    _broker(
        "group.initial.rebalance.delay.ms",
        ConfigType.INT,
        "3000",
        "How long an empty classic group waits for more members before it starts.",
    ),
    _broker(
        "group.max.session.timeout.ms",
        ConfigType.INT,
        "1800000",
        "The longest session timeout that a classic member may ask for.",
    ),
    _broker("group.max.size", ConfigType.INT, "2147483647", "Members that a classic group may have."),
    _broker(
        "group.min.session.timeout.ms",
        ConfigType.INT,
        "6000",
        "The shortest session timeout that a classic member may ask for.",
    ),
    _broker("inter.broker.listener.name", ConfigType.STRING, "PLAINTEXT", "The listener that other nodes use."),
    _broker(
        "inter.broker.protocol.version",
        ConfigType.STRING,
        "4.3-IV0",
        "Kafka's old word for the level of a cluster; consoles read the version from it.",
    ),
    _broker(
        "listener.security.protocol.map",
        ConfigType.STRING,
        "PLAINTEXT:PLAINTEXT",
        "The security of each listener.",
        effect=True,
    ),
    _broker(
        "listeners",
        ConfigType.LIST,
        "PLAINTEXT://:9092",
        "The addresses this node listens on for Kafka clients.",
        effect=True,
    ),
    _broker(
        "log.cleaner.backoff.ms",
        ConfigType.LONG,
        "15000",
        "How often compacted topics are looked at for work to do.",
        effect=True,
    ),
    _broker(
        "log.cleaner.dedupe.buffer.size",
        ConfigType.LONG,
        "134217728",
        "The most memory that the map of keys takes while a log is compacted.",
        effect=True,
    ),
    _broker("log.cleaner.enable", ConfigType.BOOLEAN, "true", "Lets compacted topics be compacted. Always on."),
    _broker("log.dir", ConfigType.LIST, "./twinlog-data", "The first directory with data.", effect=True),
    _broker("log.dirs", ConfigType.LIST, "./twinlog-data", "All directories with data.", effect=True),
    _broker(
        "log.retention.check.interval.ms",
        ConfigType.LONG,
        "10000",
        "How often old segments are looked for.",
        effect=True,
    ),
    _broker("max.connections", ConfigType.INT, "10000", "Open connections of a listener.", effect=True),
    _broker("max.connections.per.ip", ConfigType.INT, "1000", "Open connections from one address.", effect=True),
    _broker(
        "max.incremental.fetch.session.cache.slots",
        ConfigType.INT,
        "1000",
        "Fetch sessions kept at a time.",
        effect=True,
    ),
    _broker(
        "max.request.partition.size.limit",
        ConfigType.INT,
        "2000",
        "Partitions described in one answer to DescribeTopicPartitions.",
        effect=True,
    ),
    _broker("node.id", ConfigType.INT, "-1", "The number of this node.", effect=True),
    _broker(
        "num.partitions", ConfigType.INT, "1", "Partitions of a topic whose creator did not say how many.", effect=True
    ),
    _broker(
        "offset.metadata.max.bytes",
        ConfigType.INT,
        "4096",
        "How much text a consumer may store with a committed offset.",
    ),
    _broker("offsets.commit.timeout.ms", ConfigType.INT, "5000", "How long a commit waits to become durable."),
    _broker(
        "offsets.retention.check.interval.ms",
        ConfigType.LONG,
        "600000",
        "How often committed offsets are looked at for their age.",
    ),
    _broker("offsets.retention.minutes", ConfigType.INT, "10080", "How long the offsets of an empty group are kept."),
    _broker(
        "offsets.topic.compression.codec",
        ConfigType.INT,
        "0",
        "How records of committed offsets are compressed; 0 is not at all.",
    ),
    _broker(
        "offsets.topic.num.partitions",
        ConfigType.INT,
        "50",
        "Partitions of the topic that holds committed offsets, when it is made.",
        effect=True,
    ),
    _broker(
        "offsets.topic.replication.factor",
        ConfigType.SHORT,
        "1",
        "Replicas of the topic that holds committed offsets, when it is made.",
        effect=True,
    ),
    _broker(
        "offsets.topic.segment.bytes",
        ConfigType.INT,
        "104857600",
        "Segment size of the topic that holds committed offsets, when it is made.",
        effect=True,
    ),
    _broker(
        "process.roles", ConfigType.LIST, "broker,controller", "A Twinlog node serves clients and keeps the metadata."
    ),
    _broker(
        "producer.id.expiration.ms",
        ConfigType.INT,
        "86400000",
        "A producer that is silent for this long is forgotten.",
        effect=True,
    ),
    _broker("remote.log.storage.system.enable", ConfigType.BOOLEAN, "false", "Tiered storage; not part of Twinlog."),
    _broker(
        "replica.lag.time.max.ms",
        ConfigType.LONG,
        "30000",
        "A follower that has not caught up for this long leaves the in-sync set.",
    ),
    _broker("sasl.enabled.mechanisms", ConfigType.LIST, "", "How clients may log in."),
    _broker("security.inter.broker.protocol", ConfigType.STRING, "PLAINTEXT", "The security between nodes."),
    _broker(
        "share.coordinator.state.topic.num.partitions",
        ConfigType.INT,
        "50",
        "Partitions of the topic that holds the state of share groups, when it is made.",
    ),
    _broker(
        "share.coordinator.state.topic.replication.factor",
        ConfigType.SHORT,
        "1",
        "Replicas of the topic that holds the state of share groups, when it is made.",
    ),
    _broker(
        "socket.request.max.bytes", ConfigType.INT, "104857600", "A longer request closes its connection.", effect=True
    ),
    _broker(
        "transaction.max.timeout.ms", ConfigType.INT, "900000", "The longest transaction that a producer may ask for."
    ),
    _broker(
        "transaction.state.log.min.isr",
        ConfigType.INT,
        "1",
        "In-sync replicas that the topic of transactions needs, when it is made.",
        effect=True,
    ),
    _broker(
        "transaction.state.log.num.partitions",
        ConfigType.INT,
        "50",
        "Partitions of the topic that holds the state of transactions, when it is made.",
        effect=True,
    ),
    _broker(
        "transaction.state.log.replication.factor",
        ConfigType.SHORT,
        "1",
        "Replicas of the topic that holds the state of transactions, when it is made.",
        effect=True,
    ),
    _broker(
        "transaction.state.log.segment.bytes",
        ConfigType.INT,
        "104857600",
        "Segment size of the topic that holds the state of transactions, when it is made.",
        effect=True,
    ),
    _broker(
        "transaction.two.phase.commit.enable",
        ConfigType.BOOLEAN,
        "false",
        "Lets an outside coordinator hold transactions open.",
    ),
    _broker(
        "transactional.id.expiration.ms",
        ConfigType.INT,
        "604800000",
        "A transactional id that is not used for this long is forgotten.",
    ),
)
