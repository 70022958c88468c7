"""Whether the node is well, for probes; 503 with a reason when it is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from twinlog import _kernel
from twinlog.amqp.ports import Caller
from twinlog.servers.http.api.overview import alarms
from twinlog.servers.http.api.queues import messages_of
from twinlog.servers.http.api.things import NO_CONNECTION
from twinlog.servers.http.message import Request, Response, bad_request, ok
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import ANYBODY, USER, VHOST, Routes
from twinlog.servers.http.waiting import outcome_of
from twinlog.wire.amqp import Properties, encode_properties

routes = Routes("health")

WELL: Final = {"status": "ok"}
ALIVENESS: Final = "aliveness-test"


def failed(reason: str, **more: Any) -> Response:
    return ok({"status": "failed", "reason": reason, **more}, 503)


@routes.get("/health/live", ANYBODY, "The process answers; nothing else is told.")
def live(managed: Managed, request: Request) -> Response:
    return ok(WELL)


@routes.get("/health/ready", ANYBODY, "Clients are served and the disks work; without reasons, for probes.")
def ready(managed: Managed, request: Request) -> Response:
    faults = any(each.flusher.fault is not None for each in managed.broker.store.directories)
    return ok({"status": "failed"}, 503) if faults else ok(WELL)


def add_check(name: str, summary: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return routes.get(f"/api/health/checks/{name}", USER, summary)


@add_check("alarms", "No alarm anywhere in the cluster.")
def cluster_alarms(managed: Managed, request: Request) -> Response:
    found = alarms(managed)
    if not found:
        return ok(WELL)
    named = [{"node": managed.node_name, "resource": each["resource"]} for each in found]
    return failed("There are alarms in effect in the cluster", alarms=named)


@add_check("local-alarms", "No alarm at this node.")
def local_alarms(managed: Managed, request: Request) -> Response:
    return cluster_alarms(managed, request)  # type: ignore[no-any-return]


def well(managed: Managed, request: Request) -> Response:
    return ok(WELL)


for check, told in (
    ("node-is-quorum-critical", "Whether queues lose their majority without this node; with one node there is none."),
    ("node-is-mirror-sync-critical", "Mirrors, which there are none of."),
    ("metadata-store/initialized", "The metadata were read: without that nobody would answer."),
    ("metadata-store/initialized/with-data", "As metadata-store/initialized."),
    ("quorum-queues-without-elected-leaders/all-vhosts", "Leaders, which one node always has."),
    ("quorum-queues-without-elected-leaders/all-vhosts/pattern/{pattern}", "Leaders of some queues."),
):
    add_check(check, told)(well)
routes.get(
    "/api/health/checks/quorum-queues-without-elected-leaders/vhost/{vhost}/pattern/{pattern}",
    VHOST,
    "Leaders of some queues of a vhost.",
)(well)


def serving(managed: Managed, request: Request) -> Response:
    """Clients come in, and what they bring can be stored."""
    faults = [each.flusher.fault for each in managed.broker.store.directories if each.flusher.fault is not None]
    if faults:
        return failed(f"a data directory is offline: {faults[0]}")
    addresses = managed.addresses()
    if all(addresses.get(name) is None for name in ("kafka", "amqp")):
        return failed("Neither Kafka nor AMQP clients are listened to")
    return ok(WELL)


for check, told in (
    ("ready-to-serve-clients", "A listener is open, and the disks work."),
    ("is-in-service", "As ready-to-serve-clients: a node that is drained answers nobody."),
):
    add_check(check, told)(serving)
for path in ("/api/healthchecks/node", "/api/healthchecks/node/{node}"):
    routes.get(path, USER, "RabbitMQ's old check: as ready-to-serve-clients.")(serving)


@add_check("below-node-connection-limit", "There is room for more AMQP connections.")
def below_limit(managed: Managed, request: Request) -> Response:
    count = sum(1 for _ in managed.clients.connections()) if managed.clients else 0
    if count < managed.connections_max:
        return ok({**WELL, "current": count, "limit": managed.connections_max})
    return failed("the limit of AMQP connections is reached", current=count, limit=managed.connections_max)


@add_check("virtual-hosts", "All vhosts run.")
def virtual_hosts(managed: Managed, request: Request) -> Response:
    if managed.messages is None:
        names = [part.name for part in managed.topology.graph]
        return failed("Some virtual hosts are down: the queues could not be read", **{"virtual-hosts": names})
    return ok(WELL)


@add_check("certificate-expiration/{within}/{unit}", "Certificates of listeners; there is no TLS listener.")
def certificates(managed: Managed, request: Request) -> Response:
    return ok(WELL)


@add_check("port-listener/{port}", "Somebody listens on the port.")
def port_listener(managed: Managed, request: Request) -> Response:
    text = request.parameters["port"]
    if not (text.isascii() and text.isdecimal() and len(text) < 6):
        raise bad_request("the port must be a number")
    ports = [address[1] for address in managed.addresses().values() if address is not None]
    if int(text) in ports:
        return ok({"status": "ok", "port": int(text)})
    return failed("No active listener", missing=int(text), ports=ports)


@add_check("protocol-listener/{protocol}", "Somebody listens for the protocol: amqp, amqp091, kafka, http.")
def protocol_listener(managed: Managed, request: Request) -> Response:
    wanted = request.parameters["protocol"].lower()
    known = {"amqp091": "amqp", "amqp0-9-1": "amqp", "amqp": "amqp", "kafka": "kafka", "http": "http"}
    active = [name for name, address in managed.addresses().items() if address is not None]
    if known.get(wanted) in active:
        return ok({"status": "ok", "protocol": wanted})
    return failed("No active listener", missing=[wanted[:50]], protocols=active)


@routes.get("/api/aliveness-test/{vhost}", VHOST, "Declares, publishes and gets in a vhost.")
async def aliveness(managed: Managed, request: Request) -> Response:
    caller = Caller(request.user, request.parameters["vhost"], NO_CONNECTION)
    await outcome_of(
        managed.tasks,
        lambda done: managed.topology.declare_queue(
            caller,
            ALIVENESS,
            passive=False,
            durable=False,
            exclusive=False,
            auto_delete=False,
            arguments={},
            server_named=False,
            done=done,
        ),
    )
    messages = messages_of(managed)
    info = managed.topology.find_queue(caller.vhost, ALIVENESS)
    assert info is not None
    run = _kernel.build_run("", ALIVENESS, 0, [(encode_properties(Properties()), b"test_message")])
    messages.publish(run, [info])
    if messages.queue(info).get(no_ack=True) is None:
        return failed("a message that was published could not be taken")
    return ok(WELL)
