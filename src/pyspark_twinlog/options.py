"""Options of ``format("twinlog")``: named and meant like those of Spark's own Kafka connector, plus a few of ours."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark_twinlog.errors import OptionWrong
from twinlog.base.address import Address, parse_address
from twinlog.client.blocking import EARLIEST, LATEST
from twinlog.client.outbox import CODECS

COLUMNS: Final = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers")
COMMITTED: Final = "read_committed"
EVERYTHING: Final = "read_uncommitted"

READ: Final = (
    "kafka.bootstrap.servers",
    "subscribe",
    "subscribePattern",
    "assign",
    "startingOffsets",
    "startingOffsetsByTimestamp",
    "startingTimestamp",
    "startingOffsetsByTimestampStrategy",
    "endingOffsets",
    "endingOffsetsByTimestamp",
    "endingTimestamp",
    "maxOffsetsPerTrigger",
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
    "minPartitions",
    "maxRecordsPerPartition",
    "failOnDataLoss",
    "includeHeaders",
    "columns",
    "pushdown",
    "groupOffsets",
    "kafka.isolation.level",
    "kafkaConsumer.pollTimeoutMs",
)
WRITE: Final = (
    "kafka.bootstrap.servers",
    "topic",
    "includeHeaders",
    "exactlyOnce",
    "sinkId",
    "decisionTopic",
    "transactionTimeoutMs",
    "acceptLostBatch",
    "queryId",
    "batchId",
    "kafka.compression.type",
    "kafka.batch.size",
)
# Of the official connector and of Kafka's clients; without a meaning here, and without harm.
PASSED_OVER: Final = (
    "path",
    "queryname",
    "checkpointlocation",
    "fetchoffset.numretries",
    "fetchoffset.retryintervalms",
    "groupidprefix",
    "kafka.",
)
PARTITION_KEY: Final = re.compile(r"\d{1,9}")


class Options:
    """Looks options up without regard to case, and says what is wrong in their own words."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = {name.lower(): str(value) for name, value in given.items()}

    def get(self, name: str, default: str = "") -> str:
        return self._given.get(name.lower(), default).strip()

    def has(self, name: str) -> bool:
        return name.lower() in self._given

    def flag(self, name: str, default: bool) -> bool:
        text = self.get(name, str(default)).lower()
        if text not in ("true", "false"):
            raise OptionWrong(f"{name} is true or false, not {text!r}")
        return text == "true"

    def number(self, name: str, default: int | None = None, least: int = 1) -> int | None:
        if not self.has(name):
            return default
        text = self.get(name)
        if not re.fullmatch(r"-?\d{1,18}", text) or int(text) < least:
            raise OptionWrong(f"{name} is a whole number from {least} on, not {text!r}")
        return int(text)

    def document(self, name: str) -> dict[str, Any]:
        try:
            read = json.loads(self.get(name))
        except ValueError:
            read = None
        if not isinstance(read, dict):
            raise OptionWrong(f'{name} is JSON like {{"topic": {{"0": 23, "1": -2}}}}, not {self.get(name)!r}')
        return read

    def places(self, name: str) -> dict[tuple[str, int], int]:
        """{"topic": {"0": 23}} as (topic, partition) to number."""
        found: dict[tuple[str, int], int] = {}
        for topic, partitions in self.document(name).items():
            if not isinstance(partitions, dict):
                raise OptionWrong(f"{name} gives no partitions for {topic!r}")
            for partition, value in partitions.items():
                if not PARTITION_KEY.fullmatch(partition) or not isinstance(value, int):
                    raise OptionWrong(f"{name}: {topic!r} has {partition!r}: {value!r}, no partition and offset")
                found[topic, int(partition)] = value
        return found

    def duration_ms(self, name: str, default: str) -> int:
        text = self.get(name, default)
        match = re.fullmatch(r"(\d{1,9})\s*(ms|s|m|min|h|d)?", text)
        if not match:
            raise OptionWrong(f"{name} is a time like 15m or 30s, not {text!r}")
        unit = {"ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
        return int(match[1]) * unit[match[2] or "ms"]

    def refuse_unknown(self, known: tuple[str, ...]) -> None:
        names = {name.lower() for name in known}
        for name in self._given:
            if name not in names and not name.startswith(PASSED_OVER) and not name.startswith("twinlog."):
                raise OptionWrong(f"there is no option {name!r}; there are {', '.join(known)}")


@dataclass(frozen=True)
class Cluster:
    """Where the brokers are, and how to get in. Hashable: connections are kept by it."""

    bootstrap: tuple[Address, ...]
    client_id: str = "twinlog-spark"
    timeout_ms: int = 30_000
    tls: bool = False
    tls_ca: str = ""
    tls_certificate: str = ""
    tls_key: str = ""

    def context(self) -> ssl.SSLContext | None:
        if not self.tls:
            return None
        context = ssl.create_default_context(cafile=self.tls_ca or None)
        if self.tls_certificate:
            context.load_cert_chain(self.tls_certificate, self.tls_key or None)
        return context


def cluster_of(options: Options) -> Cluster:
    text = options.get("kafka.bootstrap.servers") or options.get("bootstrap.servers")
    if not text:
        raise OptionWrong('kafka.bootstrap.servers is missing: .option("kafka.bootstrap.servers", "HOST:PORT")')
    try:
        bootstrap = tuple(parse_address(each) for each in text.split(","))
    except ValueError as wrong:
        raise OptionWrong(f"kafka.bootstrap.servers: {wrong}") from None
    protocol = options.get("kafka.security.protocol", "PLAINTEXT").upper()
    if protocol not in ("PLAINTEXT", "SSL"):
        raise OptionWrong(f"kafka.security.protocol {protocol} is not spoken yet: PLAINTEXT and SSL are")
    location = options.get("kafka.ssl.truststore.location")
    store = options.get("kafka.ssl.truststore.type", "PEM").upper()
    if location and store != "PEM":
        raise OptionWrong("kafka.ssl.truststore.type must be PEM: this source runs without Java's key stores")
    return Cluster(
        bootstrap=bootstrap,
        client_id=options.get("kafka.client.id", "twinlog-spark"),
        timeout_ms=options.number("kafka.request.timeout.ms", 30_000) or 30_000,
        tls=protocol == "SSL",
        tls_ca=location,
        tls_certificate=options.get("kafka.ssl.keystore.location"),
        tls_key=options.get("kafka.ssl.keystore.key.location"),
    )


@dataclass(frozen=True)
class Bound:
    """Where reading starts or ends: one of EARLIEST and LATEST, offsets by place, a time, or times by place."""

    mark: int | None = None
    offsets: Mapping[tuple[str, int], int] = field(default_factory=dict)
    time_ms: int | None = None
    times_ms: Mapping[tuple[str, int], int] = field(default_factory=dict)
    younger: str = "error"  # what to do where no record is that young


@dataclass(frozen=True)
class ReadOptions:
    """What to read, checked."""

    cluster: Cluster
    topics: tuple[str, ...]
    pattern: str
    assigned: Mapping[str, tuple[int, ...]]
    start: Bound
    end: Bound
    columns: tuple[str, ...]
    committed: bool
    fail_on_loss: bool
    max_offsets: int | None
    min_offsets: int | None
    max_delay_ms: int
    min_partitions: int | None
    max_records: int | None
    pushdown: bool
    group: str
    patience_ms: int

    def reads(self, topic: str) -> bool:
        return (
            topic in self.topics or topic in self.assigned or bool(self.pattern and re.fullmatch(self.pattern, topic))
        )


def read_options(given: Mapping[str, str], *, streaming: bool) -> ReadOptions:
    options = Options(given)
    options.refuse_unknown(READ)
    ways = [name for name in ("subscribe", "subscribePattern", "assign") if options.get(name)]
    if len(ways) != 1:
        raise OptionWrong(f"one of subscribe, subscribePattern and assign says what to read; given: {ways or 'none'}")
    assigned: dict[str, tuple[int, ...]] = {}
    if ways == ["assign"]:
        for topic, partitions in options.document("assign").items():
            if not isinstance(partitions, list) or not all(isinstance(each, int) for each in partitions):
                raise OptionWrong('assign is JSON like {"topic": [0, 1]}')
            assigned[topic] = tuple(sorted(set(partitions)))
    pattern = options.get("subscribePattern")
    try:
        re.compile(pattern)
    except re.error as wrong:
        raise OptionWrong(f"subscribePattern {pattern!r} is no regular expression: {wrong}") from None
    if streaming and any(
        options.has(name) for name in ("endingOffsets", "endingOffsetsByTimestamp", "endingTimestamp")
    ):
        raise OptionWrong("a stream has no end: leave out endingOffsets, or use spark.read")
    isolation = options.get("kafka.isolation.level", COMMITTED)
    if isolation not in (COMMITTED, EVERYTHING):
        raise OptionWrong(f"kafka.isolation.level is {COMMITTED} or {EVERYTHING}, not {isolation!r}")
    max_offsets, min_offsets = options.number("maxOffsetsPerTrigger"), options.number("minOffsetsPerTrigger")
    if max_offsets and min_offsets and min_offsets > max_offsets:
        raise OptionWrong("minOffsetsPerTrigger is greater than maxOffsetsPerTrigger")
    return ReadOptions(
        cluster=cluster_of(options),
        topics=tuple(sorted({name.strip() for name in options.get("subscribe").split(",") if name.strip()})),
        pattern=pattern,
        assigned=assigned,
        start=_start(options, streaming),
        end=_end(options),
        columns=_columns(options),
        committed=isolation == COMMITTED,
        fail_on_loss=options.flag("failOnDataLoss", True),
        max_offsets=max_offsets,
        min_offsets=min_offsets,
        max_delay_ms=options.duration_ms("maxTriggerDelay", "15m"),
        min_partitions=options.number("minPartitions"),
        max_records=options.number("maxRecordsPerPartition"),
        pushdown=options.flag("pushdown", False),
        group=options.get("groupOffsets"),
        patience_ms=options.number("kafkaConsumer.pollTimeoutMs", 120_000) or 120_000,
    )


def _start(options: Options, streaming: bool) -> Bound:
    younger = options.get("startingOffsetsByTimestampStrategy", "error").lower()
    if younger not in ("error", "latest"):
        raise OptionWrong("startingOffsetsByTimestampStrategy is error or latest")
    if options.has("startingTimestamp"):
        return Bound(time_ms=options.number("startingTimestamp", least=0), younger=younger)
    if options.has("startingOffsetsByTimestamp"):
        return Bound(times_ms=options.places("startingOffsetsByTimestamp"), younger=younger)
    text = options.get("startingOffsets", "latest" if streaming else "earliest").lower()
    if text in ("earliest", "latest"):
        if text == "latest" and not streaming:
            raise OptionWrong("startingOffsets latest leaves a batch nothing to read")
        return Bound(mark=EARLIEST if text == "earliest" else LATEST)
    offsets = options.places("startingOffsets")
    if not streaming and LATEST in offsets.values():
        raise OptionWrong("startingOffsets -1 (latest) leaves a batch nothing to read")
    return Bound(offsets=offsets)


def _end(options: Options) -> Bound:
    if options.has("endingTimestamp"):
        return Bound(time_ms=options.number("endingTimestamp", least=0), younger="latest")
    if options.has("endingOffsetsByTimestamp"):
        return Bound(times_ms=options.places("endingOffsetsByTimestamp"), younger="latest")
    text = options.get("endingOffsets", "latest").lower()
    if text == "latest":
        return Bound(mark=LATEST)
    if text == "earliest":
        raise OptionWrong("endingOffsets earliest leaves nothing to read")
    offsets = options.places("endingOffsets")
    if EARLIEST in offsets.values():
        raise OptionWrong("endingOffsets -2 (earliest) leaves nothing to read")
    return Bound(offsets=offsets)


def _columns(options: Options) -> tuple[str, ...]:
    headers = options.flag("includeHeaders", False)
    text = options.get("columns")
    if not text:
        return COLUMNS if headers else COLUMNS[:-1]
    known = {name.lower(): name for name in COLUMNS}
    chosen = []
    for name in (each.strip().lower() for each in text.split(",")):
        if name not in known:
            raise OptionWrong(f"columns: there is no column {name!r}; there are {', '.join(COLUMNS)}")
        chosen.append(known[name])
    if headers and "headers" not in chosen:
        chosen.append("headers")
    if not chosen:
        raise OptionWrong("columns names none")
    return tuple(name for name in COLUMNS if name in chosen)


@dataclass(frozen=True)
class WriteOptions:
    """Where to write to, checked."""

    cluster: Cluster
    topic: str
    exactly_once: bool
    sink_id: str
    decision_topic: str
    timeout_ms: int | None
    codec: str
    batch_bytes: int | None
    checkpoint: str
    accepted_loss: int | None
    epoch: tuple[str, int] | None = None  # (query, batch) of a write inside foreachBatch


def write_options(given: Mapping[str, str], *, streaming: bool) -> WriteOptions:
    options = Options(given)
    options.refuse_unknown(WRITE)
    codec = options.get("kafka.compression.type", "none")
    if codec not in CODECS:
        raise OptionWrong(f"kafka.compression.type is one of {', '.join(CODECS)}, not {codec!r}")
    return WriteOptions(
        cluster=cluster_of(options),
        topic=options.get("topic"),
        exactly_once=options.flag("exactlyOnce", streaming),
        sink_id=options.get("sinkId"),
        decision_topic=options.get("decisionTopic", "twinlog-spark-decisions"),
        timeout_ms=options.number("transactionTimeoutMs", least=1000),
        codec=codec,
        batch_bytes=options.number("kafka.batch.size"),
        checkpoint=options.get("checkpointLocation"),
        accepted_loss=options.number("acceptLostBatch", least=0),
        epoch=_epoch(options),
    )


def _epoch(options: Options) -> tuple[str, int] | None:
    batch = options.number("batchId", least=0)
    if batch is None:
        return None
    if not options.get("queryId") or not options.get("sinkId"):
        raise OptionWrong("batchId, for a write inside foreachBatch, goes together with queryId and sinkId")
    return options.get("queryId"), batch
