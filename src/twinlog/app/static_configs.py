"""The node's settings in Kafka's words, as clients and consoles read them by DescribeConfigs."""

from __future__ import annotations

from twinlog.app.settings import NodeSettings


def static_configs(settings: NodeSettings) -> dict[str, str]:
    """Broker configs that this node was told; what the operator wrote in ``kafka.configs`` comes on top."""
    identity, kafka = settings.identity, settings.kafka
    listen = settings.kafka_listen
    told = {
        "broker.id": str(identity.id),
        "node.id": str(identity.id),
        "log.dirs": ",".join([identity.data_dir, *identity.more_data_dirs]),
        "num.partitions": str(settings.topics.partition_count_default),
        "default.replication.factor": str(settings.topics.replication_factor_default),
        "connections.max.idle.ms": str(kafka.connection_idle_max_ms),
        "max.connections": str(kafka.connections_max),
        "max.connections.per.ip": str(kafka.connections_per_address_max),
        "max.incremental.fetch.session.cache.slots": str(kafka.fetch_sessions_max),
        "fetch.max.bytes": str(kafka.fetch_size_max_bytes),
        "log.retention.check.interval.ms": str(settings.storage.retention_check_interval_ms),
        "log.cleaner.backoff.ms": str(settings.storage.compaction_check_interval_ms),
        "log.cleaner.dedupe.buffer.size": str(settings.storage.compaction_map_bytes),
        "transaction.max.timeout.ms": str(settings.transactions.timeout_max_ms),
        "transaction.state.log.num.partitions": str(settings.transactions.state_partitions),
        "transaction.state.log.segment.bytes": str(settings.transactions.state_segment_bytes),
        "transactional.id.expiration.ms": str(settings.transactions.id_expiration_ms),
        "socket.request.max.bytes": str(kafka.request_size_max_bytes),
        "listeners": "" if listen.listen == "off" else f"PLAINTEXT://{listen.listen}",
        "advertised.listeners": f"PLAINTEXT://{listen.advertised}" if listen.advertised else "",
    }
    return told | dict(pair.split("=", 1) for pair in listen.configs)
