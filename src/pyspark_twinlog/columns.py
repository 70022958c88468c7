"""The source's columns: Spark's schema for them, and Arrow's record batches out of the kernel's blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from twinlog import _kernel

HEADER: Final = StructType([StructField("key", StringType()), StructField("value", BinaryType())])
TYPES: Final[dict[str, DataType]] = {
    "key": BinaryType(),
    "value": BinaryType(),
    "topic": StringType(),
    "partition": IntegerType(),
    "offset": LongType(),
    "timestamp": TimestampType(),
    "timestampType": IntegerType(),
    "headers": ArrayType(HEADER),
}
WANTED: Final = {
    "key": _kernel.COLUMN_KEY,
    "value": _kernel.COLUMN_VALUE,
    "topic": _kernel.COLUMN_TOPIC,
    "partition": _kernel.COLUMN_PARTITION,
    "offset": _kernel.COLUMN_OFFSET,
    "timestamp": _kernel.COLUMN_TIMESTAMP,
    "timestampType": _kernel.COLUMN_TIMESTAMP_TYPE,
    "headers": _kernel.COLUMN_HEADERS,
}
ARROW_HEADER: Final = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
ARROW: Final[dict[str, Any]] = {
    "key": pa.binary(),
    "value": pa.binary(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestampType": pa.int32(),
    "headers": pa.list_(pa.field("element", ARROW_HEADER)),
}


def spark_schema(columns: Sequence[str]) -> StructType:
    return StructType([StructField(name, TYPES[name]) for name in columns])


def wanted(columns: Sequence[str]) -> int:
    """The kernel's name for a set of columns."""
    return sum(WANTED[name] for name in columns)


def arrow_schema(columns: Sequence[str]) -> Any:
    return pa.schema([pa.field(name, ARROW[name]) for name in columns])


def _buffer(block: Any) -> Any:
    return None if block is None else pa.py_buffer(block)


def _binary(kind: Any, rows: int, blocks: _kernel.BinaryBlocks) -> Any:
    return pa.Array.from_buffers(kind, rows, [_buffer(block) for block in blocks])


def record_batch(columns: Sequence[str], schema: Any, blocks: _kernel.ColumnBlocks) -> Any:
    """Without a copy: the arrays read the kernel's memory."""
    rows, key, value, topic, partition, offset, timestamp, timestamp_type, headers = blocks
    arrays = []
    for name in columns:
        if name in ("key", "value", "topic"):
            found = {"key": key, "value": value, "topic": topic}[name]
            arrays.append(_binary(ARROW[name], rows, found))
        elif name == "headers":
            validity, ends, names, values = headers
            count = len(values[1]) // 4 - 1
            pairs = pa.StructArray.from_arrays(
                [_binary(pa.string(), count, names), _binary(pa.binary(), count, values)], fields=list(ARROW_HEADER)
            )
            buffers = [_buffer(validity), _buffer(ends)]
            arrays.append(pa.Array.from_buffers(ARROW[name], rows, buffers, children=[pairs]))
        else:
            numbers = {
                "partition": partition,
                "offset": offset,
                "timestamp": timestamp,
                "timestampType": timestamp_type,
            }[name]
            arrays.append(pa.Array.from_buffers(ARROW[name], rows, [None, _buffer(numbers)]))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
