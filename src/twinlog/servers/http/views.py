"""Things of AMQP as RabbitMQ's API shows them: the same names, the same shapes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote_plus

from twinlog.amqp.ports import ExchangeInfo, QueueInfo, QueueStatus
from twinlog.amqp.routing.graph import ExchangeNode, VhostGraph
from twinlog.cluster.kinds.bindings import Binding
from twinlog.cluster.kinds.policies import PolicyPut
from twinlog.cluster.kinds.users import PermissionPut, TopicPermissionPut, UserPut
from twinlog.cluster.kinds.vhosts import VhostPut

if TYPE_CHECKING:
    from twinlog.servers.http.message import Asker
    from twinlog.servers.http.ports import Managed

NOTHING: Final = QueueStatus(0, 0, 0, 0, 0, 0)
PROPERTIES_HASH_SIZE: Final = 10


def rate(value: float) -> dict[str, float]:
    return {"rate": value}


def message_stats(counts: Mapping[str, int], rates: Mapping[str, float]) -> dict[str, Any]:
    """RabbitMQ's ``message_stats``: what was counted, each with its rate. None at all where nothing was."""
    stats: dict[str, Any] = {}
    for name, count in counts.items():
        stats[name] = count
        stats[f"{name}_details"] = rate(rates.get(name, 0.0))
    return {"message_stats": stats} if stats else {}


def visible_vhosts(managed: Managed, asker: Asker) -> list[VhostGraph]:
    """Those whose things the asker may see in lists over all vhosts."""
    sees_all = bool(asker.tags & {"administrator", "monitoring"})
    return [part for part in managed.topology.graph if sees_all or managed.rights.may_enter(asker.user, part.name)]


def plain(value: Any) -> Any:
    """A value of a field table as JSON can hold it."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode(errors="backslashreplace")
    if value is None or isinstance(value, bool):
        return value
    # The table's own types of numbers and texts become plain ones.
    for kind in (int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return str(value)


# ---- queues ---------------------------------------------------------------------------------------------------------


def queue_status(managed: Managed, info: QueueInfo) -> QueueStatus:
    if managed.messages is None:
        return NOTHING
    try:
        return managed.messages.status(info)
    except KeyError:  # deleted in this very turn
        return NOTHING


def queue_view(managed: Managed, info: QueueInfo) -> dict[str, Any]:
    status = queue_status(managed, info)
    user_policy, operator_policy = managed.topology.policies_of_queue(info)
    rates = managed.figures.rates_of(("queue", info.vhost, info.name))
    messages = status.ready + status.unacked
    view = {
        "arguments": plain(info.arguments),
        "auto_delete": info.auto_delete,
        "consumer_capacity": 0,
        "consumer_utilisation": 0,
        "consumers": status.consumers,
        "durable": info.durable,
        "effective_policy_definition": effective_policy(user_policy, operator_policy),
        "exclusive": info.exclusive_owner is not None,
        "exclusive_consumer_tag": None,
        "head_message_timestamp": None,
        "memory": status.memory_bytes,
        "message_bytes": status.ready_bytes,
        "message_bytes_paged_out": max(0, status.ready_bytes - status.memory_bytes),
        "message_bytes_persistent": status.ready_bytes if info.durable else 0,
        "message_bytes_ram": min(status.ready_bytes, status.memory_bytes),
        "message_bytes_ready": status.ready_bytes,
        "message_bytes_unacknowledged": 0,
        "messages": messages,
        "messages_details": rate(rates.get("messages", 0.0)),
        "messages_persistent": status.persistent,
        "messages_ready": status.ready,
        "messages_ready_details": rate(rates.get("ready", 0.0)),
        "messages_unacknowledged": status.unacked,
        "messages_unacknowledged_details": rate(rates.get("unacked", 0.0)),
        "name": info.name,
        "node": managed.node_name,
        "operator_policy": operator_policy.name if operator_policy else None,
        "policy": user_policy.name if user_policy else None,
        "state": "running",
        "storage_version": 1,
        "type": info.type,
        "vhost": info.vhost,
    }
    view |= message_stats(info.traffic.told(), rates)
    if info.type != "classic":
        view |= {"leader": managed.node_name, "members": [managed.node_name], "online": [managed.node_name]}
    if info.twin is not None:
        view["twin"] = {"topic": info.twin.topic, "partition": info.twin.partition}
    return view


def effective_policy(user_policy: PolicyPut | None, operator_policy: PolicyPut | None) -> dict[str, Any]:
    return {
        **(user_policy.definition if user_policy else {}),
        **(operator_policy.definition if operator_policy else {}),
    }


# ---- exchanges and bindings -----------------------------------------------------------------------------------------


def exchange_view(managed: Managed, info: ExchangeInfo) -> dict[str, Any]:
    policy = managed.topology.policy_of_exchange(info)
    return {
        "arguments": plain(info.arguments),
        "auto_delete": info.auto_delete,
        "durable": info.durable,
        "internal": info.internal,
        "name": info.name,
        "policy": policy.name if policy else None,
        "type": info.kind,
        "user_who_performed_action": "",
        "vhost": info.vhost,
    } | message_stats(info.traffic.told(), managed.figures.rates_of(("exchange", info.vhost, info.name)))


def properties_key(binding: Binding) -> str:
    """RabbitMQ's name of a binding between two known ends: the key, and where there are arguments a mark of them."""
    key = quote_plus(binding.key)
    if has_arguments(binding):
        mark = hashlib.sha256(binding.arguments).hexdigest()[:PROPERTIES_HASH_SIZE]
        return f"{key}~{mark}"
    return key or "~"


def has_arguments(binding: Binding) -> bool:
    return len(binding.arguments) > 4  # an empty table is its size alone


def binding_view(binding: Binding, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "arguments": plain(arguments),
        "destination": binding.destination,
        "destination_type": "queue" if binding.to_queue else "exchange",
        "properties_key": properties_key(binding),
        "routing_key": binding.key,
        "source": binding.source,
        "vhost": binding.vhost,
    }


def default_binding_view(info: QueueInfo) -> dict[str, Any]:
    """Every queue is bound to the nameless exchange by its own name."""
    return {
        "arguments": {},
        "destination": info.name,
        "destination_type": "queue",
        "properties_key": quote_plus(info.name),
        "routing_key": info.name,
        "source": "",
        "vhost": info.vhost,
    }


def bindings_of_vhost(part: VhostGraph) -> Iterator[dict[str, Any]]:
    for info in part.queues.values():
        yield default_binding_view(info)
    for binding, edge in part.edges.items():
        yield binding_view(binding, edge.arguments)


def bindings_from(part: VhostGraph, node: ExchangeNode) -> Iterator[dict[str, Any]]:
    if node.info.name == "":
        for info in part.queues.values():
            yield default_binding_view(info)
    for edge in node.edges:
        yield binding_view(edge.binding, edge.arguments)


def bindings_to_exchange(node: ExchangeNode) -> Iterator[dict[str, Any]]:
    for edge in node.reaching:
        yield binding_view(edge.binding, edge.arguments)


def bindings_to_queue(part: VhostGraph, info: QueueInfo) -> Iterator[dict[str, Any]]:
    yield default_binding_view(info)
    for edge in part.queue_edges.get(info.name, ()):
        yield binding_view(edge.binding, edge.arguments)


# ---- people and rules -----------------------------------------------------------------------------------------------


def vhost_view(managed: Managed, vhost: VhostPut) -> dict[str, Any]:
    ready = unacked = 0
    part = managed.topology.graph.vhosts.get(vhost.name)
    if part is not None and managed.messages is not None:
        for info in part.queues.values():
            if info.twin is not None:
                continue  # what is in streams waits for nobody
            status = queue_status(managed, info)
            ready += status.ready
            unacked += status.unacked
    default_type = vhost.default_queue_type or "undefined"
    return {
        "cluster_state": {managed.node_name: "running"},
        "default_queue_type": default_type,
        "description": vhost.description,
        "messages": ready + unacked,
        "messages_ready": ready,
        "messages_unacknowledged": unacked,
        "metadata": {
            "description": vhost.description,
            "tags": list(vhost.tags),
            "default_queue_type": default_type,
        },
        "name": vhost.name,
        "protected_from_deletion": False,
        "tags": list(vhost.tags),
        "tracing": False,
    }


def user_view(user: UserPut, *, with_hash: bool) -> dict[str, Any]:
    view: dict[str, Any] = {
        "limits": dict(user.limits),
        "name": user.name,
        "tags": list(user.tags),
        "hashing_algorithm": user.hashing,
    }
    if with_hash:
        view["password_hash"] = user.password_hash
    return view


def permission_view(permission: PermissionPut) -> dict[str, Any]:
    return {
        "configure": permission.configure,
        "read": permission.read,
        "user": permission.user,
        "vhost": permission.vhost,
        "write": permission.write,
    }


def topic_permission_view(permission: TopicPermissionPut) -> dict[str, Any]:
    return {
        "exchange": permission.exchange,
        "read": permission.read,
        "user": permission.user,
        "vhost": permission.vhost,
        "write": permission.write,
    }


def policy_view(policy: PolicyPut) -> dict[str, Any]:
    return {
        "apply-to": policy.apply_to,
        "definition": dict(policy.definition),
        "name": policy.name,
        "pattern": policy.pattern,
        "priority": policy.priority,
        "vhost": policy.vhost,
    }
