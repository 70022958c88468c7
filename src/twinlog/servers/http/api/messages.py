"""Messages of queues over HTTP: publish one, look at some, move many. For people and tools, not for traffic."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, NamedTuple

from twinlog import _kernel
from twinlog.amqp.durability import when_all_durable
from twinlog.amqp.ports import WRITE, Appending, Queue, QueueInfo
from twinlog.base import HostFault, Refused
from twinlog.servers.http.api.exchanges import known_exchange
from twinlog.servers.http.api.queues import check_read, known_queue, messages_of
from twinlog.servers.http.api.things import caller_of
from twinlog.servers.http.bodies import body_of, check_table, number, table, text
from twinlog.servers.http.message import HttpError, Request, Response, bad_request, not_found, ok
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import LARGE, VHOST, Routes
from twinlog.servers.http.views import plain
from twinlog.servers.http.waiting import breath, outcome_of
from twinlog.wire.amqp import Properties, decode_properties, encode_properties

routes = Routes("messages")

GET_MAX: Final = 1000
GET_BYTES_MAX: Final = 32 << 20
MOVE_MAX: Final = 1_000_000
MOVE_STEP: Final = 100
MESSAGE_MAX: Final = 16 << 20
PERSISTENT: Final = 4
HAS_HEADERS: Final = 8
HAS_COPIES: Final = 16
NUMBERS: Final = ("delivery_mode", "priority", "timestamp")
PROPERTY_NAMES: Final = tuple(field.name for field in fields(Properties))
ACK_MODES: Final = ("ack_requeue_true", "reject_requeue_true", "ack_requeue_false", "reject_requeue_false")


class Message(NamedTuple):
    """One message, taken out of its run."""

    exchange: str
    key: str
    flags: int
    properties: bytes
    body: bytes


# ---- publish --------------------------------------------------------------------------------------------------------


@routes.post(
    "/api/exchanges/{vhost}/{name}/publish",
    VHOST,
    "Publishes one message and waits until it is where it belongs.",
    body=(
        ("routing_key", "text"),
        ("payload", "the body"),
        ("payload_encoding", "string or base64"),
        ("properties", "object: delivery_mode, headers, content_type and so on"),
    ),
    body_size=LARGE,
)
async def publish(managed: Managed, request: Request) -> Response:
    body = body_of(request)
    part, node = known_exchange(managed, request)
    messages = messages_of(managed)
    exchange, key = node.info.name, text(body, "routing_key")
    if len(key.encode()) > 255:
        raise bad_request("a routing key has at most 255 bytes")
    if node.info.internal:
        raise Refused(403, f"clients cannot publish to the internal exchange '{exchange}'")
    caller = caller_of(request)
    managed.rights.check(caller.user, part.name, WRITE, exchange, kind="exchange")
    if node.info.kind == "topic":
        managed.rights.check_topic(caller.user, part.name, WRITE, exchange, key)
    payload = payload_of(body)
    properties = properties_of(body)
    if properties.user_id is not None and properties.user_id != caller.user:
        raise bad_request("user_id is not the user who publishes")
    targets = managed.router.route(part.name, exchange, key, properties, copies_of(properties))
    managed.counts.publish += 1
    node.info.traffic.publish_in += 1
    if targets:
        run = _kernel.build_run(exchange, key, flags_of(properties), [(encode_properties(properties), payload)])
        outcome = messages.publish(run, targets)
        if not outcome.accepted:
            raise bad_request("a queue refused the message: it is full")
        node.info.traffic.publish_out += len(targets)
        for info in targets:
            info.traffic.publish += 1
        await durable(managed, outcome.mark, outcome.appendings)
    else:
        managed.counts.drop_unroutable += 1
    return ok({"routed": bool(targets)})


async def durable(managed: Managed, mark: int, appendings: Sequence[Appending]) -> None:
    fault = await outcome_of(
        managed.tasks, lambda done: when_all_durable(messages_of(managed), mark, appendings, lambda fault: done(fault))
    )
    assert not isinstance(fault, HostFault)


def payload_of(body: dict[str, Any]) -> bytes:
    payload = text(body, "payload")
    encoding = text(body, "payload_encoding", "string")
    if encoding == "string":
        data = payload.encode()
    elif encoding == "base64":
        try:
            data = base64.b64decode(payload, validate=True)
        except (binascii.Error, ValueError):
            raise bad_request("the payload is not base64") from None
    else:
        raise bad_request("payload_encoding must be string or base64")
    if len(data) > MESSAGE_MAX:
        raise bad_request(f"a message has at most {MESSAGE_MAX} bytes")
    return data


def properties_of(body: dict[str, Any]) -> Properties:
    asked = table(body, "properties")
    properties = Properties()
    for name, value in asked.items():
        if name not in PROPERTY_NAMES:
            raise bad_request("properties hold a name that AMQP does not know")
        if name == "headers":
            if not isinstance(value, dict):
                raise bad_request("headers must be an object")
            check_table(value)
        elif name in NUMBERS:
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < (1 << 63):
                raise bad_request(f"{name} must be a whole number")
            if name != "timestamp" and value > 255:
                raise bad_request(f"{name} must be from 0 to 255")
        elif not isinstance(value, str) or len(value.encode()) > 255:
            raise bad_request(f"{name} must be a text of at most 255 bytes")
        setattr(properties, name, value)
    return properties


def copies_of(properties: Properties) -> tuple[str, ...]:
    found: list[str] = []
    for name in ("CC", "BCC"):
        value = (properties.headers or {}).get(name)
        if value is None:
            continue
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise bad_request(f"{name} must be a list of texts")
        found += value
    return tuple(found)


def flags_of(properties: Properties) -> int:
    headers = properties.headers or {}
    return (
        (PERSISTENT if properties.delivery_mode == 2 else 0)
        | (HAS_HEADERS if headers else 0)
        | (HAS_COPIES if "CC" in headers or "BCC" in headers else 0)
    )


# ---- get ------------------------------------------------------------------------------------------------------------


@routes.post(
    "/api/queues/{vhost}/{name}/get",
    VHOST,
    "Takes messages to look at. With ack_requeue_true they go back to their places, marked as redelivered.",
    body=(
        ("count", f"up to {GET_MAX}"),
        ("ackmode", "ack_requeue_true, ack_requeue_false, reject_requeue_true or reject_requeue_false"),
        ("encoding", "auto or base64"),
        ("truncate", "bytes of each payload to show"),
    ),
)
def get(managed: Managed, request: Request) -> Response:
    body = body_of(request)
    _, info = known_queue(managed, request)
    check_read(managed, request, info)
    count = number(body, "count", 1, 1, GET_MAX)
    mode = text(body, "ackmode", "ack_requeue_true")
    if mode not in ACK_MODES:
        raise bad_request(f"ackmode must be one of {', '.join(ACK_MODES)}")
    encoding = text(body, "encoding", "auto")
    if encoding not in ("auto", "base64"):
        raise bad_request("encoding must be auto or base64")
    truncate = number(body, "truncate", MESSAGE_MAX, 0, MESSAGE_MAX)
    queue = messages_of(managed).queue(info)
    numbers: list[int] = []
    views = []
    size = 0
    while len(numbers) < count and size < GET_BYTES_MAX:
        got = queue.get(no_ack=False)
        if got is None:
            break
        for counts in (managed.counts, info.traffic):
            counts.get += 1
            counts.redeliver += got.redelivered
        numbers.append(got.number)
        message = message_at(got.blob, got.position)
        size += len(message.body)
        views.append(message_view(message, got.redelivered, got.ready_after, encoding, truncate))
    finish = {
        "ack_requeue_true": queue.requeue,
        "reject_requeue_true": queue.requeue,
        "ack_requeue_false": queue.settle,
        "reject_requeue_false": queue.reject,
    }[mode]
    for low, high in ranges(numbers):
        finish(low, high)
    if mode == "ack_requeue_false":
        managed.counts.ack += len(numbers)
        info.traffic.ack += len(numbers)
    return ok(views)


def message_at(blob: bytes, position: int) -> Message:
    exchange, key, flags, _, first, _ = _kernel.run_info(blob)
    ((_, properties, body),) = _kernel.split_run(blob, position or first, 1)
    return Message(exchange, key, flags, properties, body)


def message_view(message: Message, redelivered: bool, left: int, encoding: str, truncate: int) -> dict[str, Any]:
    shown = message.body[:truncate]
    payload, payload_encoding = as_payload(shown, encoding, cut=truncate < len(message.body))
    return {
        "exchange": message.exchange,
        "message_count": left,
        "payload": payload,
        "payload_bytes": len(message.body),
        "payload_encoding": payload_encoding,
        "properties": properties_view(message.properties),
        "redelivered": redelivered,
        "routing_key": message.key,
    }


def as_payload(data: bytes, encoding: str, *, cut: bool = False) -> tuple[str, str]:
    if encoding == "auto":
        for end in range(len(data), max(len(data) - 4, 0) - 1, -1):
            try:
                return data[:end].decode(), "string"
            except UnicodeDecodeError:
                if not cut:
                    break
    return base64.b64encode(data).decode(), "base64"


def properties_view(encoded: bytes) -> dict[str, Any]:
    properties = decode_properties(encoded)
    return {name: plain(getattr(properties, name)) for name in PROPERTY_NAMES if getattr(properties, name) is not None}


def ranges(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbours together; a queue answers for numbers in any order."""
    found: list[tuple[int, int]] = []
    for each in sorted(numbers):
        if found and found[-1][1] + 1 == each:
            found[-1] = (found[-1][0], each)
        else:
            found.append((each, each))
    return found


# ---- move -----------------------------------------------------------------------------------------------------------


@routes.post(
    "/api/queues/{vhost}/{name}/move",
    VHOST,
    "Moves messages to another queue, or dead letters back to where they came from. What cannot be stored stays.",
    body=(
        ("destination", "a queue of the same vhost; none: back to where each was dead-lettered from"),
        ("count", "how many; all that are ready when it is not told"),
    ),
)
async def move(managed: Managed, request: Request) -> Response:
    body = body_of(request)
    part, info = known_queue(managed, request)
    check_read(managed, request, info)
    messages = messages_of(managed)
    source = messages.queue(info)
    target: QueueInfo | None = None
    if body.get("destination") is not None:
        target = part.queues.get(text(body, "destination"))
        if target is None:
            raise not_found()
        if target is info:
            raise bad_request("the messages are there already")
        managed.rights.check(request.user, part.name, WRITE, target.name)
    left = min(number(body, "count", MOVE_MAX, 1, MOVE_MAX), messages.status(info).ready)
    moved, stayed = 0, 0
    while left > 0:
        step = min(MOVE_STEP, left)
        took, stored = await move_some(managed, request, source, target, step)
        moved += stored
        stayed += took - stored
        left -= step
        if took < step or stored < took:
            break
        await breath(managed.tasks)
    return ok({"moved": moved, "stayed": stayed})


async def move_some(
    managed: Managed, request: Request, source: Queue, target: QueueInfo | None, count: int
) -> tuple[int, int]:
    """Taken, and of those stored elsewhere. A message leaves its queue only when it is durable in the other."""
    messages = messages_of(managed)
    stored: list[int] = []
    back: list[int] = []
    mark = 0
    appendings: list[Appending] = []
    for _ in range(count):
        got = source.get(no_ack=False)
        if got is None:
            break
        message = message_at(got.blob, got.position)
        goal = target or origin_of(managed, request, source.info, message)
        accepted = 0
        if goal is not None:
            try:
                run = _kernel.build_run(
                    message.exchange, message.key, message.flags & ~3, [(message.properties, message.body)]
                )
                outcome = messages.publish(run, [goal])
            except HostFault:
                back.append(got.number)
                break
            accepted = outcome.accepted
            mark = max(mark, outcome.mark)
            appendings += outcome.appendings
        (stored if accepted else back).append(got.number)
    try:
        await durable(managed, mark, appendings)
    except (HostFault, HttpError):
        back, stored = [*stored, *back], []
    for low, high in ranges(stored):
        source.settle(low, high)
    for low, high in ranges(back):
        source.requeue(low, high)
    return len(stored) + len(back), len(stored)


def origin_of(managed: Managed, request: Request, info: QueueInfo, message: Message) -> QueueInfo | None:
    """The queue that dead-lettered the message first; None when it cannot be told, or the user may not write there."""
    deaths = (decode_properties(message.properties).headers or {}).get("x-death")
    if not isinstance(deaths, list) or not deaths or not isinstance(deaths[-1], Mapping):
        return None
    name = deaths[-1].get("queue")
    found = managed.topology.find_queue(info.vhost, name) if isinstance(name, str) else None
    if found is None or found is info:
        return None
    try:
        managed.rights.check(request.user, info.vhost, WRITE, found.name)
    except Refused:
        return None
    return found
