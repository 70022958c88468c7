"""Rows of the sink: which columns it takes, and their memory as the kernel reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    StringType,
    StructType,
    TimestampType,
)

from pyspark_twinlog.errors import WrongRows
from twinlog.client.staging import Staging

TEXT_OR_BYTES = (StringType, BinaryType)


def check_schema(schema: StructType, topic: str) -> None:
    """Says what is wrong before a query starts."""
    columns = {field.name: field.dataType for field in schema.fields}
    if "value" not in columns:
        raise WrongRows(f"the sink needs a column 'value' of type string or binary; there are {sorted(columns)}")
    _expect(columns, "value", TEXT_OR_BYTES, "string or binary")
    _expect(columns, "key", TEXT_OR_BYTES, "string or binary")
    _expect(columns, "topic", (StringType,), "string")
    _expect(columns, "partition", (IntegerType,), "int")
    _expect(columns, "timestamp", (TimestampType,), "timestamp")
    _expect(columns, "headers", (ArrayType,), "array<struct<key:string,value:binary>>")
    headers = columns.get("headers")
    if isinstance(headers, ArrayType):
        pair = headers.elementType
        fits = isinstance(pair, StructType) and [type(each.dataType) for each in pair.fields] == [
            StringType,
            BinaryType,
        ]
        if not fits:
            raise WrongRows("column 'headers' must be array<struct<key:string,value:binary>>")
    if not topic and "topic" not in columns:
        raise WrongRows("name the topic by the option 'topic' or by a column 'topic' of type string")


def _expect(columns: dict[str, DataType], name: str, kinds: tuple[type[DataType], ...], told: str) -> None:
    if name in columns and not isinstance(columns[name], kinds):
        raise WrongRows(f"column {name!r} must be of type {told}, not {columns[name].simpleString()}")


def _narrow(array: Any) -> Any:
    """Text and bytes with offsets of 32 bits."""
    if pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type):
        return array.cast(pa.binary() if pa.types.is_large_binary(array.type) else pa.string())
    return array


def _bytes(buffer: Any) -> memoryview:
    """Arrow calls its memory signed bytes; the kernel reads plain ones."""
    return memoryview(b"" if buffer is None else buffer).cast("B")


def _bits(buffer: Any) -> memoryview | None:
    return None if buffer is None else _bytes(buffer)


def _binary(array: Any) -> tuple[Any, Any, Any, int]:
    array = _narrow(array)
    validity, offsets, data = array.buffers()
    return _bits(validity), _bytes(offsets), _bytes(data), array.offset


def _numbers(array: Any) -> tuple[Any, Any, int]:
    validity, values = array.buffers()
    return _bits(validity), _bytes(values), array.offset


def _headers(array: Any) -> tuple[Any, Any, int, Any, Any]:
    if pa.types.is_large_list(array.type):
        array = array.cast(pa.list_(array.type.value_field))
    validity, offsets = array.buffers()[:2]
    pairs = array.values
    names, values = (pairs.field(0), pairs.field(1)) if len(pairs) else (pa.array([], pa.string()),) * 2
    return _bits(validity), _bytes(offsets), array.offset, _binary(names), _binary(values)


def add_rows(staging: Staging, batch: Any, topic: str) -> None:
    """Hands one of Spark's Arrow batches to the brokers' side."""
    for name, rows in _by_topic(batch, topic):
        columns: dict[str, Any] = dict(zip(rows.schema.names, rows.columns))
        timestamps = columns.get("timestamp")
        if timestamps is not None and timestamps.type.unit != "us":
            timestamps = timestamps.cast(pa.timestamp("us", tz=timestamps.type.tz))
        staging.add(
            name,
            rows.num_rows,
            keys=_binary(columns["key"]) if "key" in columns else None,
            values=_binary(columns["value"]),
            partitions=_numbers(columns["partition"]) if "partition" in columns else None,
            timestamps_us=None if timestamps is None else _numbers(timestamps),
            headers=_headers(columns["headers"]) if "headers" in columns else None,
        )


def _by_topic(batch: Any, topic: str) -> Iterator[tuple[str, Any]]:
    if batch.num_rows == 0:
        return
    if topic:
        yield topic, batch
        return
    named = batch.column("topic")
    if named.null_count:
        raise WrongRows("a row names no topic: column 'topic' is null")
    for each in pc.unique(named).to_pylist():
        chosen = batch.filter(pc.equal(named, each))
        yield each, chosen
