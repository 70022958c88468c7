"""What the node is and how it does."""

from __future__ import annotations

from typing import Any, Final

from twinlog.amqp.routing.types import EXCHANGE_TYPES
from twinlog.cluster.kinds.users import USERS
from twinlog.servers.http.listing import columns_of, only
from twinlog.servers.http.message import Request, Response, bad_request, no_content, not_found, ok
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import ADMINISTRATOR, ANYBODY, MONITOR, USER, Routes
from twinlog.servers.http.views import message_stats, rate, visible_vhosts

routes = Routes("node")

RABBITMQ_VERSION: Final = "4.2.0"
"""The release whose API this is; tools choose their requests by it."""
MESSAGE_STATS: Final = (
    "ack",
    "confirm",
    "deliver",
    "deliver_get",
    "deliver_no_ack",
    "drop_unroutable",
    "get",
    "get_no_ack",
    "publish",
    "redeliver",
    "return_unroutable",
)
CHURN: Final = (
    "channel_closed",
    "channel_created",
    "connection_closed",
    "connection_created",
    "queue_created",
    "queue_declared",
    "queue_deleted",
)
PROTOCOLS: Final = {"amqp": "amqp", "kafka": "kafka", "http": "http"}


@routes.get("/api/overview", USER, "The node, its totals and rates, its listeners.", query=(("columns", "fields"),))
def overview(managed: Managed, request: Request) -> Response:
    view = overview_view(managed, request)
    return ok(only(view, columns_of(request)))


def overview_view(managed: Managed, request: Request) -> dict[str, Any]:
    assert request.asker is not None
    totals, rates = managed.figures.totals(), managed.figures.rates()
    parts = visible_vhosts(managed, request.asker)
    ready, unacked = totals.get("ready", 0), totals.get("unacked", 0)
    clients = managed.clients
    connections = sum(1 for _ in clients.connections()) if clients else 0
    return {
        "cluster_name": f"twinlog@{managed.image.cluster_id}",
        "cluster_tags": {},
        "churn_rates": {
            **{name: totals.get(name, 0) for name in CHURN},
            **{f"{name}_details": rate(rates.get(name, 0.0)) for name in CHURN},
        },
        "crypto_lib_version": "",
        "disable_stats": False,
        "enable_queue_totals": False,
        "erlang_full_version": f"none: Python {managed.machine.python()}",
        "erlang_version": "27",
        "exchange_types": [
            {"name": kind, "description": f"{kind} exchange", "enabled": True} for kind in exchange_kinds()
        ],
        "is_op_policy_updating_enabled": True,
        "listeners": listeners(managed),
        "management_version": RABBITMQ_VERSION,
        **message_stats({name: totals[name] for name in MESSAGE_STATS if name in totals}, rates),
        "node": managed.node_name,
        "node_tags": {},
        "object_totals": {
            "channels": sum(1 for _ in clients.channels()) if clients else 0,
            "connections": connections,
            "consumers": sum(1 for _ in clients.consumers()) if clients else 0,
            "exchanges": sum(len(part.exchanges) for part in parts),
            "queues": sum(len(part.queues) for part in parts),
        },
        "product_name": "Twinlog",
        "product_version": managed.version,
        "queue_totals": {
            "messages": ready + unacked,
            "messages_details": rate(rates.get("ready", 0.0) + rates.get("unacked", 0.0)),
            "messages_ready": ready,
            "messages_ready_details": rate(rates.get("ready", 0.0)),
            "messages_unacknowledged": unacked,
            "messages_unacknowledged_details": rate(rates.get("unacked", 0.0)),
        },
        "rabbitmq_version": RABBITMQ_VERSION,
        "rates_mode": "basic",
        "release_series_support_status": "supported",
        "sample_retention_policies": {"basic": [600], "detailed": [600], "global": [600]},
        "statistics_db_event_queue": 0,
        "twinlog": twinlog_view(managed),
    }


def twinlog_view(managed: Managed) -> dict[str, Any]:
    """What RabbitMQ's overview has no words for."""
    image = managed.image
    totals, rates = managed.figures.totals(), managed.figures.rates()
    return {
        "alarms": alarms(managed),
        "cluster_id": image.cluster_id,
        "groups": sum(len(shard.machine.overview()) for shard in managed.broker.groups.topic.runtime.active_shards()),
        "kafka_connections": sum(1 for _ in managed.kafka_connections()),
        "node_id": managed.node_id,
        "partitions": image.partition_count,
        "rates": rates,
        "stall_us": managed.figures.stall_us_recent,
        "topics": len(image.topics_by_name),
        "totals": dict(totals),
        "uptime_ms": managed.now_ms() - managed.started_ms,
        "users": len(image.part(USERS)),
        "version": managed.version,
    }


def exchange_kinds() -> list[str]:
    return sorted(EXCHANGE_TYPES)


def listeners(managed: Managed) -> list[dict[str, Any]]:
    return [
        {
            "node": managed.node_name,
            "protocol": PROTOCOLS.get(name, name),
            "ip_address": address[0],
            "port": address[1],
            "socket_opts": {},
            "tls": False,
        }
        for name, address in managed.addresses().items()
        if address is not None
    ]


def alarms(managed: Managed) -> list[dict[str, str]]:
    """What needs somebody's attention, worst first."""
    found = []
    for directory in managed.broker.store.directories:
        if directory.flusher.fault is not None:
            found.append({"resource": "disk", "reason": f"a data directory is offline: {directory.flusher.fault}"})
    found += [
        {"resource": name, "reason": f"the {name} alarm is raised: publishers are held back"}
        for name in (managed.clients.alarms() if managed.clients else ())
    ]
    return found


def node_view(managed: Managed) -> dict[str, Any]:
    machine = managed.machine
    descriptors, descriptors_max = machine.descriptors()
    facts = managed.broker.store.describe()
    free = min((each.usable_bytes for each in facts), default=0)
    raised = {each["resource"] for each in alarms(managed)}
    clients = managed.clients
    return {
        "applications": [{"name": "rabbit", "description": "Twinlog", "version": RABBITMQ_VERSION}],
        "auth_mechanisms": [{"name": "PLAIN", "description": "SASL PLAIN", "enabled": True}],
        "being_drained": False,
        "contexts": [],
        "db_dir": facts[0].path if facts else "",
        "disk_free": free,
        "disk_free_alarm": "disk" in raised,
        "disk_free_limit": managed.disk_free_min_bytes,
        "enabled_plugins": ["rabbitmq_management", "rabbitmq_prometheus"],
        "erlang_version": "27",
        "exchange_types": [{"name": kind, "enabled": True, "description": ""} for kind in exchange_kinds()],
        "fd_total": descriptors_max,
        "fd_used": descriptors,
        "log_files": ["stderr"],
        "mem_alarm": "memory" in raised,
        "mem_limit": managed.memory_alarm_bytes or int(machine.memory_bytes() * 0.6),
        "mem_used": machine.resident_bytes(),
        "name": managed.node_name,
        "net_ticktime": 60,
        "os_pid": str(machine.process_id),
        "partitions": [],
        "proc_total": 1,
        "proc_used": 1,
        "processors": 1,
        "rabbitmq_version": RABBITMQ_VERSION,
        "rates_mode": "basic",
        "run_queue": 0,
        "running": True,
        "sockets_total": descriptors_max,
        "sockets_used": (sum(1 for _ in clients.connections()) if clients else 0)
        + sum(1 for _ in managed.kafka_connections()),
        "type": "disc",
        "uptime": max(0, managed.now_ms() - managed.started_ms),
        "twinlog": {
            "data_dirs": [
                {"path": each.path, "total_bytes": each.total_bytes, "free_bytes": each.usable_bytes}
                | ({"fault": each.fault} if each.fault else {})
                for each in facts
            ],
            "loop_stall_us_max": managed.figures.stall_us_max,
            "python": machine.python(),
        },
    }


@routes.get("/api/nodes", MONITOR, "The nodes of the cluster.")
def nodes(managed: Managed, request: Request) -> Response:
    return ok([node_view(managed)])


@routes.get("/api/nodes/{name}", MONITOR, "One node.")
def node(managed: Managed, request: Request) -> Response:
    if request.parameters["name"] != managed.node_name:
        raise not_found()
    return ok(node_view(managed))


MEMORY_PARTS: Final = (
    *("connection_readers", "connection_writers", "connection_channels", "connection_other", "queue_procs"),
    *("quorum_queue_procs", "quorum_queue_dlx_procs", "stream_queue_procs", "stream_queue_replica_reader_procs"),
    *("stream_queue_coordinator_procs", "plugins", "metadata_store", "other_proc", "metrics", "mgmt_db", "mnesia"),
    *("quorum_ets", "metadata_store_ets", "other_ets", "binary", "msg_index", "code", "atom", "other_system"),
    *("allocated_unused", "reserved_unallocated"),
)


@routes.get("/api/nodes/{name}/memory", MONITOR, "What the node's memory is used for; one process, told as one part.")
def node_memory(managed: Managed, request: Request) -> Response:
    if request.parameters["name"] != managed.node_name:
        raise not_found()
    return ok({"memory": memory_view(managed)})


@routes.get("/api/nodes/{name}/memory/relative", MONITOR, "The same in percent.")
def node_memory_relative(managed: Managed, request: Request) -> Response:
    if request.parameters["name"] != managed.node_name:
        raise not_found()
    parts = memory_view(managed)
    total = max(parts.pop("total")["rss"], 1)
    del parts["strategy"]
    return ok({"memory": {name: round(100 * size / total) for name, size in parts.items()} | {"total": 100}})


def memory_view(managed: Managed) -> dict[str, Any]:
    resident = managed.machine.resident_bytes()
    queues = 0
    if managed.messages is not None:
        for part in managed.topology.graph:
            for info in part.queues.values():
                queues += managed.messages.status(info).memory_bytes
    parts: dict[str, Any] = dict.fromkeys(MEMORY_PARTS, 0)
    parts["queue_procs"] = queues
    parts["other_system"] = max(0, resident - queues)
    parts["strategy"] = "rss"
    parts["total"] = {"erlang": resident, "rss": resident, "allocated": resident}
    return parts


@routes.get("/api/cluster-name", USER, "The cluster's name.")
def cluster_name(managed: Managed, request: Request) -> Response:
    return ok({"name": f"twinlog@{managed.image.cluster_id}"})


@routes.put("/api/cluster-name", ADMINISTRATOR, "Refused: the name is given once.")
def put_cluster_name(managed: Managed, request: Request) -> Response:
    raise bad_request("the cluster's name is given once, when its first node starts")


@routes.get("/api/version", ANYBODY, "The release, as text.")
def version(managed: Managed, request: Request) -> Response:
    return Response(200, managed.version.encode(), "text/plain; charset=utf-8")


@routes.get("/api/extensions", USER, "RabbitMQ's management plug-ins: none.")
def extensions(managed: Managed, request: Request) -> Response:
    return ok([])


@routes.get("/api/feature-flags", USER, "RabbitMQ's feature flags: there are none to turn.")
def feature_flags(managed: Managed, request: Request) -> Response:
    return ok([])


@routes.put("/api/feature-flags/{name}/enable", ADMINISTRATOR, "Turns a feature flag on: there are none.")
def enable_feature_flag(managed: Managed, request: Request) -> Response:
    raise bad_request("there is no feature flag of that name: everything that this release can do is on")


@routes.get("/api/deprecated-features", USER, "RabbitMQ's deprecated features: none.")
def deprecated_features(managed: Managed, request: Request) -> Response:
    return ok([])


@routes.get("/api/deprecated-features/used", USER, "Deprecated features in use: none.")
def deprecated_features_used(managed: Managed, request: Request) -> Response:
    return ok([])


@routes.get("/api/auth/attempts/{node}", MONITOR, "Logins that were tried at the HTTP side.")
def auth_attempts(managed: Managed, request: Request) -> Response:
    failed = managed.guard.lockout.failed_count
    succeeded = managed.guard.lockout.succeeded_count
    return ok(
        [
            {
                "protocol": "http",
                "auth_attempts": failed + succeeded,
                "auth_attempts_failed": failed,
                "auth_attempts_succeeded": succeeded,
            }
        ]
    )


@routes.get("/api/auth", ANYBODY, "How one logs in: by name and password.")
def auth(managed: Managed, request: Request) -> Response:
    return ok({"oauth_enabled": False})


@routes.post("/api/rebalance/queues", ADMINISTRATOR, "Spreads leaders of queues: one node has them all.", answers=204)
def rebalance(managed: Managed, request: Request) -> Response:
    return no_content()


@routes.delete("/api/reset", ADMINISTRATOR, "Forgets the past that charts show; totals go on.")
def reset(managed: Managed, request: Request) -> Response:
    managed.figures.forget()
    return no_content()


@routes.delete("/api/reset/{node}", ADMINISTRATOR, "As /api/reset.")
def reset_node(managed: Managed, request: Request) -> Response:
    if request.parameters["node"] != managed.node_name:
        raise not_found()
    managed.figures.forget()
    return no_content()


@routes.get("/api/figures", USER, "Totals of the last half hour, a sample every five seconds, for charts.")
def figures(managed: Managed, request: Request) -> Response:
    return ok(managed.figures.overview.view())
