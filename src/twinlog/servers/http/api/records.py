"""Records of topics over HTTP: look at some, write one. For people; programs use the Kafka port."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from twinlog import _kernel
from twinlog.base import Refused
from twinlog.cluster import Topic
from twinlog.kafka.offsets import led_partition, offset_at
from twinlog.kafka.partition import Partition
from twinlog.kafka.rights import Operation
from twinlog.servers.http.api.topics import check, kafka_refusal, known_topic
from twinlog.servers.http.bodies import body_of, number, text
from twinlog.servers.http.message import HttpError, Request, Response, bad_request, ok
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import ADMINISTRATOR, LARGE, Routes
from twinlog.servers.http.waiting import breath, outcome_of
from twinlog.storage.types import BATCH_HEADER, CONTROL, batch_size

routes = Routes("records")

Headers: TypeAlias = Sequence[tuple[str, bytes | None]]

COUNT_MAX: Final = 500
READ_BYTES: Final = 1 << 20
INFLATED_MAX: Final = 64 << 20
SHOWN_BYTES_MAX: Final = 64 * 1024
PARTITIONS_MERGED_MAX: Final = 100
SEARCHED_BYTES_MAX: Final = 256 << 20
"""How much of a log one search reads, before it says where to go on."""


@routes.get(
    "/api/topics/{topic}/records",
    ADMINISTRATOR,
    "Records of one partition, from an offset or a time on.",
    query=(
        ("partition", "number, 0 when it is not told; all: of each partition, in the order of their times"),
        ("offset", "the first one; negative: so many before the end"),
        ("time", "instead of offset: milliseconds since 1970"),
        ("count", f"up to {COUNT_MAX}"),
        ("key", "only records with this key, as text"),
        ("contains", "only records whose value holds this text"),
    ),
)
async def records(managed: Managed, request: Request) -> Response:
    topic = known_topic(managed, request)
    check(managed, request, Operation.READ, topic.name)
    if request.query.get("partition") == "all":
        return await records_of_all(managed, request, topic)
    index = request.number("partition", 0, 0, 1_000_000)
    found, partition, offset = await found_in(managed, request, topic, index, SEARCHED_BYTES_MAX)
    return ok(
        {
            "topic": topic.name,
            "partition": index,
            "offset_start": partition.log.offset_start,
            "high_watermark": partition.high_watermark,
            "offset_next": offset,
            "records": found,
        }
    )


async def records_of_all(managed: Managed, request: Request, topic: Topic) -> Response:
    """As many of each partition, merged: the first of them all, or from the end the last."""
    if len(topic.partitions) > PARTITIONS_MERGED_MAX:
        raise bad_request(f"records of more than {PARTITIONS_MERGED_MAX} partitions are not merged: name one")
    if request.number("offset", -1, -(2**62), 2**62) > 0:
        raise bad_request("offsets are a partition's own: name one, or begin at 0, at the end or at a time")
    share = SEARCHED_BYTES_MAX // len(topic.partitions)
    merged: list[dict[str, Any]] = []
    records_there = 0
    for index in range(len(topic.partitions)):
        found, partition, _ = await found_in(managed, request, topic, index, share)
        merged += found
        records_there += partition.high_watermark - partition.log.offset_start
    merged.sort(key=lambda each: (each["timestamp_ms"], each["partition"], each["offset"]))
    count = request.number("count", 50, 1, COUNT_MAX)
    is_from_end = not request.query.get("time") and request.query.get("offset") != "0"
    shown = merged[-count:] if is_from_end else merged[:count]
    return ok({"topic": topic.name, "partition": None, "records_there": records_there, "records": shown})


async def found_in(
    managed: Managed, request: Request, topic: Topic, index: int, searched_max: int
) -> tuple[list[dict[str, Any]], Partition, int]:
    """What was asked for in one partition, and the offset behind what was looked at."""
    try:
        partition = led_partition(managed.broker.partitions, topic.name, index)
        offset = first_offset(partition, request)
    except Refused as refused:
        raise kafka_refusal(refused) from None
    count = request.number("count", 50, 1, COUNT_MAX)
    key, contains = request.query.get("key"), request.query.get("contains", "").encode()
    found: list[dict[str, Any]] = []
    searched = 0
    while len(found) < count and offset < partition.high_watermark and searched < searched_max:
        try:
            data = partition.log.read_bytes(offset, READ_BYTES, partition.high_watermark)
        except Refused as refused:
            raise kafka_refusal(refused) from None
        if not data:
            break
        searched += len(data)
        offset = take(data, offset, count, key, contains, found, partition.high_watermark)
        await breath(managed.tasks)
    for each in found:
        each["partition"] = index
    return found, partition, offset


def first_offset(partition: Partition, request: Request) -> int:
    start, end = partition.log.offset_start, partition.high_watermark
    if request.query.get("time"):
        time_ms = request.number("time", 0, 0, 2**62)
        at = offset_at(partition, time_ms, committed=False)
        return at.offset if at.offset >= 0 else end
    if "offset" not in request.query:
        return max(start, end - request.number("count", 50, 1, COUNT_MAX))
    offset = request.number("offset", 0, -(2**62), 2**62)
    return max(start, min(end, end + offset if offset < 0 else offset))


def take(
    data: bytes, offset: int, count: int, key: str | None, contains: bytes, found: list[dict[str, Any]], below: int
) -> int:
    """Adds the records of whole batches to ``found``; returns where to go on."""
    at = 0
    while at + BATCH_HEADER.size <= len(data) and len(found) < count:
        header = BATCH_HEADER.unpack_from(data, at)
        size = batch_size(header)
        next_offset = header[0] + header[6] + 1
        if header[5] & CONTROL:
            at, offset = at + size, next_offset
            continue
        for each in _kernel.decode_records(data, at, len(data), INFLATED_MAX):
            record_offset, timestamp_ms, record_key, value, headers = each
            if record_offset < offset or record_offset >= below:
                continue
            if len(found) == count:
                return record_offset
            if key is not None and record_key != key.encode():
                continue
            if contains and contains not in (value or b""):
                continue
            found.append(record_view(record_offset, timestamp_ms, record_key, value, headers))
        at, offset = at + size, next_offset
    return offset


def record_view(
    offset: int, timestamp_ms: int, key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes | None]]
) -> dict[str, Any]:
    shown = value[:SHOWN_BYTES_MAX] if value is not None else None
    return {
        "offset": offset,
        "timestamp_ms": timestamp_ms,
        "key": as_text(key),
        "value": as_text(shown),
        "value_bytes": len(value) if value is not None else None,
        "headers": [{"name": name, "value": as_text(each)} for name, each in headers],
        "form": form_of(shown),
    }


def as_text(data: bytes | None) -> dict[str, str] | None:
    """Text where it is text, else base64 under that name."""
    if data is None:
        return None
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def form_of(data: bytes | None) -> str:
    """What a value looks like, for the page that shows it: json, text, avro (with a registry's id) or bytes."""
    if data is None:
        return "null"
    if data[:1] in (b"{", b"[", b'"') and len(data) < SHOWN_BYTES_MAX:
        try:
            json.loads(data)
            return "json"
        except (ValueError, RecursionError):
            pass
    if data[:1] == b"\0" and len(data) > 5:
        return "avro"
    try:
        data.decode()
        return "text"
    except UnicodeDecodeError:
        return "bytes"


def data_of(value: Any, name: str) -> bytes | None:
    """A text, null, or {"base64": ...}."""
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return str(value["text"]).encode()
    if isinstance(value, dict) and isinstance(value.get("base64"), str):
        try:
            return base64.b64decode(value["base64"], validate=True)
        except (binascii.Error, ValueError):
            raise bad_request(f"{name} is not base64") from None
    raise bad_request(f'{name} must be text, null, or an object with "base64"')


class Stored:
    """A ``Waiter`` for one batch."""

    def __init__(self, done: Any) -> None:
        self.waiting = 0
        self._done = done

    def stored(self, token: object) -> None:
        self._done(None)

    def failed(self, token: object, code: int) -> None:
        self._done(Refused(code, "the record could not be stored"))


@routes.post(
    "/api/topics/{topic}/records",
    ADMINISTRATOR,
    "Writes one record and waits until it is on stable storage.",
    body=(
        ("key", 'text, null, or {"base64": ...}'),
        ("value", "likewise"),
        ("headers", "list of {name, value}"),
        ("partition", "number; none: by key, else the emptiest"),
    ),
    body_size=LARGE,
)
async def produce(managed: Managed, request: Request) -> Response:
    topic = known_topic(managed, request)
    check(managed, request, Operation.WRITE, topic.name)
    body = body_of(request)
    if topic.name.startswith("__"):
        raise HttpError(400, "bad_request", "the broker's own topics are not written by hand")
    key, value = data_of(body.get("key"), "key"), data_of(body.get("value"), "value")
    headers = headers_of(body)
    index = partition_of(managed, topic.name, body, key)
    try:
        partition = led_partition(managed.broker.partitions, topic.name, index)
        if key is None and partition.rules.compacted:
            raise bad_request("the topic is compacted: its records need keys")
        offset = await store_record(managed, partition, key, value, headers)
    except Refused as refused:
        raise kafka_refusal(refused) from None
    return ok({"partition": index, "offset": offset})


async def store_record(
    managed: Managed, partition: Partition, key: bytes | None, value: bytes | None, headers: Headers = ()
) -> int:
    """Its offset, when it is on stable storage."""
    now_ms = managed.now_ms()
    batch = _kernel.build_batch([(now_ms, key, value, list(headers))])
    if len(batch) > partition.rules.message_max_bytes:
        raise bad_request(f"a batch of this topic has at most {partition.rules.message_max_bytes} bytes")
    end = partition.append_own(batch, now_ms)

    def begin(done: Any) -> None:
        if not partition.when_stable(end, Stored(done), None):
            done(None)

    await outcome_of(managed.tasks, begin)
    return end - 1


def headers_of(body: dict[str, Any]) -> list[tuple[str, bytes | None]]:
    headers = body.get("headers", [])
    if isinstance(headers, dict):
        headers = [{"name": name, "value": value} for name, value in headers.items()]
    if not isinstance(headers, list) or not all(isinstance(each, dict) for each in headers):
        raise bad_request("headers must be a list of {name, value}")
    return [(text(each, "name"), data_of(each.get("value"), "a header")) for each in headers]


def partition_of(managed: Managed, topic: str, body: dict[str, Any], key: bytes | None) -> int:
    partitions = managed.broker.partitions.of_topic(topic) or ()
    if body.get("partition") is not None:
        return number(body, "partition", 0, 0, max(0, len(partitions) - 1))
    if key is None:
        return min(range(len(partitions)), key=lambda index: partitions[index].log.offset_end, default=0)
    from twinlog.client.partitioner import partition_for_key

    return partition_for_key(key, len(partitions))
