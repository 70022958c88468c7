"""A pipeline as its file says it: checked, and without anything started."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pyspark_twinlog.errors import TwinlogSparkError

KINDS: Final = ("sql", "python", "project", "deduplicate", "aggregate", "enrich", "archive", "replay")
FORMATS: Final = ("json", "avro", "protobuf", "text", "bytes")
SINKS: Final = ("topic", "parquet", "delta", "iceberg", "console", "memory")
TABLE_SINKS: Final = ("parquet", "delta", "iceberg")


class SpecWrong(TwinlogSparkError):
    """The file of a pipeline is wrong; the text names the place."""


@dataclass(frozen=True)
class Source:
    """A topic, or a stream queue of AMQP, which is the same. ``table`` reads files or the state of a topic once."""

    name: str
    topic: str = ""
    pattern: str = ""
    starting: str = "earliest"
    format: str = "json"
    schema: str = ""
    message: str = ""
    registry: str = ""
    table: str = ""
    group: str = ""
    rate: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def may_be_bad(self) -> bool:
        """Whether there are values that its format cannot read."""
        return self.format not in ("bytes", "text")


@dataclass(frozen=True)
class Sink:
    """Where results go."""

    type: str = "topic"
    topic: str = ""
    key: str = ""
    path: str = ""
    catalog: Mapping[str, str] = field(default_factory=dict)
    table: str = ""
    partition_by: tuple[str, ...] = ()
    mode: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Transform:
    """What happens in between; which fields count depends on the kind."""

    kind: str
    sql: str = ""
    function: str = ""
    keys: tuple[str, ...] = ()
    time: str = "timestamp"
    watermark: str = "10 minutes"
    window: str = ""
    slide: str = ""
    aggregates: tuple[str, ...] = ()
    join: str = ""
    on: tuple[str, ...] = ()
    how: str = "left"
    start: str = ""
    stop: str = ""


@dataclass(frozen=True)
class Pipeline:
    """Everything a run needs."""

    name: str
    bootstrap: str
    checkpoint: str
    sources: tuple[Source, ...]
    transform: Transform
    sink: Sink
    dead_letters: str = ""
    trigger: str = "available now"
    settings: Mapping[str, str] = field(default_factory=dict)
    home: Path = Path(".")


def load(path: str | Path) -> Pipeline:
    """Reads and checks a file; ``SpecWrong`` names what to mend."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as fault:
        raise SpecWrong(f"{path}: {fault.strerror}") from None
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise SpecWrong(f"{path}: {wrong}") from None
    return read(document, home=Path(path).resolve().parent)


def read(document: Mapping[str, Any], home: Path = Path(".")) -> Pipeline:
    top = _Table("the file", document)
    name = top.text("name", needed=True)
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,100}", name):
        raise SpecWrong(f"name {name!r}: letters, digits, '.', '_' and '-', at most 100 of them")
    sources = tuple(_source(each, table) for each, table in top.tables("sources").items())
    if not sources:
        raise SpecWrong("there is no source: add [sources.NAME] with topic = ...")
    transform = _transform(top.table("transform"))
    sink = _sink(top.table("sink"))
    found = Pipeline(
        name=name,
        bootstrap=top.text("bootstrap", "127.0.0.1:9092"),
        checkpoint=top.text("checkpoint", f"checkpoints/{name}"),
        sources=sources,
        transform=transform,
        sink=sink,
        dead_letters=top.table("dead_letters").text("topic") if "dead_letters" in document else "",
        trigger=top.text("trigger", "available now"),
        settings={key: str(value) for key, value in top.plain("spark").items()},
        home=home,
    )
    top.refuse_rest()
    _check(found)
    return found


def _source(name: str, table: _Table) -> Source:
    made = Source(
        name=name,
        topic=table.text("topic"),
        pattern=table.text("pattern"),
        starting=table.text("starting", "earliest"),
        format=table.choice("format", FORMATS, "json"),
        schema=table.text("schema"),
        message=table.text("message"),
        registry=table.text("registry"),
        table=table.text("table"),
        group=table.text("group"),
        rate=table.number("max_offsets_per_trigger"),
        options={key: str(value) for key, value in table.plain("options").items()},
    )
    table.refuse_rest()
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise SpecWrong(f"[sources.{name}]: the name is used in SQL: letters, digits and '_'")
    if sum(1 for each in (made.topic, made.pattern, made.table) if each) != 1:
        raise SpecWrong(f"[sources.{name}] needs exactly one of topic, pattern and table")
    if made.format in ("json", "avro", "protobuf") and not made.table and not made.schema:
        raise SpecWrong(f'[sources.{name}]: format {made.format} needs schema = "id long, amount double, ..."')
    if made.format in ("avro", "protobuf") and not made.registry:
        raise SpecWrong(f'[sources.{name}]: format {made.format} needs registry = "http://..."')
    return made


def _transform(table: _Table) -> Transform:
    made = Transform(
        kind=table.choice("kind", KINDS, "sql"),
        sql=table.text("sql"),
        function=table.text("function"),
        keys=table.texts("keys"),
        time=table.text("time", "timestamp"),
        watermark=table.text("watermark", "10 minutes"),
        window=table.text("window"),
        slide=table.text("slide"),
        aggregates=table.texts("aggregates"),
        join=table.text("join"),
        on=table.texts("on"),
        how=table.choice("how", ("left", "inner"), "left"),
        start=table.text("start"),
        stop=table.text("stop"),
    )
    table.refuse_rest()
    needed: dict[str, tuple[tuple[str, object], ...]] = {
        "sql": (("sql", made.sql),),
        "python": (("function", made.function),),
        "project": (("keys", made.keys),),
        "deduplicate": (("keys", made.keys),),
        "aggregate": (("window", made.window), ("aggregates", made.aggregates)),
        "enrich": (("join", made.join), ("on", made.on)),
    }
    for field_name, value in needed.get(made.kind, ()):
        if not value:
            raise SpecWrong(f"[transform]: kind {made.kind} needs {field_name}")
    return made


def _sink(table: _Table) -> Sink:
    made = Sink(
        type=table.choice("type", SINKS, "topic"),
        topic=table.text("topic"),
        key=table.text("key"),
        path=table.text("path"),
        catalog={key: str(value) for key, value in table.plain("catalog").items()},
        table=table.text("table"),
        partition_by=table.texts("partition_by"),
        mode=table.choice("mode", ("", "append", "update"), ""),
        options={key: str(value) for key, value in table.plain("options").items()},
    )
    table.refuse_rest()
    if made.type == "topic" and not made.topic:
        raise SpecWrong("[sink]: type topic needs topic")
    if made.type in ("parquet", "delta") and not made.path:
        raise SpecWrong(f"[sink]: type {made.type} needs path")
    if made.type == "iceberg" and not (made.table and made.catalog):
        raise SpecWrong('[sink]: type iceberg needs table = "namespace.name" and [sink.catalog] as pyiceberg reads it')
    return made


def _check(found: Pipeline) -> None:
    kind, sink = found.transform.kind, found.sink.type
    if kind in ("project", "archive") and sink not in TABLE_SINKS:
        raise SpecWrong(f"kind {kind} writes tables: [sink] type = one of {', '.join(TABLE_SINKS)}")
    if kind == "replay" and sink != "topic":
        raise SpecWrong('kind replay writes a topic: [sink] type = "topic"')
    if kind == "enrich" and found.transform.join not in {each.name for each in found.sources if each.table}:
        raise SpecWrong(f"[transform] join = {found.transform.join!r} is no source with table = ...")
    if not any(not each.table for each in found.sources):
        raise SpecWrong("at least one source must be a topic")
    if found.trigger != "available now" and not re.fullmatch(r"\d+ (second|minute|hour)s?", found.trigger):
        raise SpecWrong('trigger is "available now", or like "5 seconds"')


class _Table:
    """A table of the file; remembers what was asked for, so that the rest can be refused."""

    def __init__(self, where: str, content: Mapping[str, Any]) -> None:
        self._where = where
        self._content = content
        self._asked: set[str] = set()

    def _get(self, name: str, kind: type, told: str) -> Any:
        self._asked.add(name)
        value = self._content.get(name)
        if value is not None and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
            raise SpecWrong(f"{self._where}: {name} must be {told}")
        return value

    def text(self, name: str, default: str = "", *, needed: bool = False) -> str:
        value = self._get(name, str, "text")
        if needed and not value:
            raise SpecWrong(f"{self._where}: {name} is missing")
        return default if value is None else str(value)

    def number(self, name: str) -> int | None:
        value = self._get(name, int, "a whole number")
        if value is not None and value < 1:
            raise SpecWrong(f"{self._where}: {name} must be at least 1")
        return None if value is None else int(value)

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._get(name, list, "a list of texts") or []
        if not all(isinstance(each, str) for each in value):
            raise SpecWrong(f"{self._where}: {name} must be a list of texts")
        return tuple(value)

    def choice(self, name: str, allowed: tuple[str, ...], default: str) -> str:
        value = self.text(name, default)
        if value not in allowed:
            raise SpecWrong(
                f"{self._where}: {name} = {value!r}; there are {', '.join(each for each in allowed if each)}"
            )
        return value

    def plain(self, name: str) -> Mapping[str, Any]:
        return self._get(name, dict, "a table") or {}

    def table(self, name: str) -> _Table:
        return _Table(f"[{name}]", self.plain(name))

    def tables(self, name: str) -> dict[str, _Table]:
        found = {}
        for each, content in self.plain(name).items():
            if not isinstance(content, dict):
                raise SpecWrong(f"[{name}.{each}] must be a table")
            found[each] = _Table(f"[{name}.{each}]", content)
        return found

    def refuse_rest(self) -> None:
        for name in self._content:
            if name not in self._asked:
                raise SpecWrong(f"{self._where}: there is no {name!r}; there are {', '.join(sorted(self._asked))}")
