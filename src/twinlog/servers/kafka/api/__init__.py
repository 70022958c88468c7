"""Every API key that is served, one module each. ApiVersions answers what stands here, and nothing else.

A module opens with ``KEY``, ``VERSIONS`` (first and last served), ``RIGHTS`` (what the principal needs: resource kind
and operation, for the authorizer) and perhaps ``ADVERTISED_MIN``, then ``handle(broker, request, context)``, which
returns the response or None when ``context`` answers later. The two data paths have ``handle_bytes`` instead, which
works on the read buffer.
"""

from __future__ import annotations

from types import ModuleType
from typing import Final

from twinlog.servers.kafka.api import (
    add_offsets_to_txn,
    add_partitions_to_txn,
    alter_client_quotas,
    alter_configs,
    api_versions,
    consumer_group_describe,
    consumer_group_heartbeat,
    create_partitions,
    create_topics,
    delete_groups,
    delete_records,
    delete_topics,
    describe_client_quotas,
    describe_cluster,
    describe_configs,
    describe_groups,
    describe_log_dirs,
    describe_producers,
    describe_topic_partitions,
    describe_transactions,
    end_txn,
    fetch,
    find_coordinator,
    heartbeat,
    incremental_alter_configs,
    init_producer_id,
    join_group,
    leave_group,
    list_config_resources,
    list_groups,
    list_offsets,
    list_transactions,
    metadata,
    offset_commit,
    offset_delete,
    offset_fetch,
    offset_for_leader_epoch,
    produce,
    sync_group,
    txn_offset_commit,
    write_txn_markers,
)

HANDLERS: Final[dict[int, ModuleType]] = {
    module.KEY: module
    for module in (
        produce,
        fetch,
        list_offsets,
        metadata,
        api_versions,
        create_topics,
        delete_topics,
        delete_records,
        init_producer_id,
        offset_for_leader_epoch,
        describe_configs,
        alter_configs,
        describe_log_dirs,
        create_partitions,
        incremental_alter_configs,
        describe_cluster,
        list_config_resources,
        describe_client_quotas,
        alter_client_quotas,
        describe_topic_partitions,
        find_coordinator,
        join_group,
        sync_group,
        heartbeat,
        leave_group,
        offset_commit,
        offset_fetch,
        offset_delete,
        describe_groups,
        list_groups,
        delete_groups,
        consumer_group_heartbeat,
        consumer_group_describe,
        add_partitions_to_txn,
        add_offsets_to_txn,
        end_txn,
        write_txn_markers,
        txn_offset_commit,
        describe_producers,
        describe_transactions,
        list_transactions,
    )
}

# What clients are told. Produce says 0, although versions before 3 are refused: older librdkafka takes the presence
# of version 0 as the sign that compression works (facts in docs/adr/0006 name the clients).
ADVERTISED: Final[dict[int, tuple[int, int]]] = {
    key: (getattr(module, "ADVERTISED_MIN", module.VERSIONS[0]), module.VERSIONS[1])
    for key, module in sorted(HANDLERS.items())
}
