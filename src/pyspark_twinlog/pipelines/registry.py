"""Values with a schema from a registry: Avro and Protobuf in the usual framing (a zero byte, the schema's id, data).

Decoded in Spark's Python workers, a column at a time, to JSON text that Spark then parses by the pipeline's schema.
"""

from __future__ import annotations

import base64
import io
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any, Final

ANSWER_BYTES_MAX: Final = 8 * 1024 * 1024
TIMEOUT_S: Final = 10.0
HEAD_BYTES: Final = 5


class SchemaUnknown(Exception):
    """The registry does not have the schema that a value names: a bad value."""


class RegistryAway(Exception):
    """The registry gives no schemas now. The query stops: its values may be good."""


class Registry:
    """Schemas by id; each is asked for once."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._known: dict[tuple[int, str], dict[str, Any]] = {}
        self._lock = threading.Lock()

    def schema(self, number: int, form: str = "") -> dict[str, Any]:
        with self._lock:
            found = self._known.get((number, form))
            if found is None:
                found = self._known[number, form] = self._ask(number, form)
            return found

    def _ask(self, number: int, form: str) -> dict[str, Any]:
        address = f"{self._url}/schemas/ids/{number}" + (f"?format={form}" if form else "")
        try:
            with urllib.request.urlopen(address, timeout=TIMEOUT_S) as answer:
                document = json.loads(answer.read(ANSWER_BYTES_MAX))
        except urllib.error.HTTPError as refused:
            if refused.code == 404:
                raise SchemaUnknown(f"the registry has no schema {number}") from None
            raise RegistryAway(f"the registry at {self._url} answers HTTP {refused.code}") from None
        except (OSError, ValueError) as wrong:
            raise RegistryAway(f"the registry at {self._url} gave no schema {number}: {wrong}") from None
        if not isinstance(document, dict):
            raise RegistryAway(f"the registry's answer for schema {number} is no object")
        return document


def split_frame(value: bytes) -> tuple[int, bytes]:
    """(schema id, data)"""
    if len(value) < HEAD_BYTES or value[0] != 0:
        raise ValueError("the value does not begin with a zero byte and a schema id")
    return int.from_bytes(value[1:HEAD_BYTES], "big"), value[HEAD_BYTES:]


def avro_decoder(registry: Registry) -> Callable[[bytes], str]:
    import fastavro

    parsed: dict[int, Any] = {}

    def decode(value: bytes) -> str:
        number, data = split_frame(value)
        schema = parsed.get(number)
        if schema is None:
            schema = parsed[number] = fastavro.parse_schema(json.loads(registry.schema(number)["schema"]))
        return json.dumps(fastavro.schemaless_reader(io.BytesIO(data), schema, None), default=_plain)

    return decode


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _message_indexes(data: bytes) -> tuple[list[int], bytes]:
    """Which message of its file a Protobuf value is; a single zero byte stands for the first."""

    def varint(at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            if at >= len(data) or shift > 28:
                raise ValueError("the message index is cut off")
            byte = data[at]
            value |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1), at

    count, at = varint(0)
    if not 0 <= count <= 32:
        raise ValueError("the message index is too long")
    indexes = []
    for _ in range(count):
        index, at = varint(at)
        indexes.append(index)
    return indexes or [0], data[at:]


def protobuf_decoder(registry: Registry) -> Callable[[bytes], str]:
    from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

    classes: dict[tuple[int, tuple[int, ...]], Any] = {}

    def class_of(number: int, indexes: tuple[int, ...]) -> Any:
        raw = registry.schema(number, "serialized")["schema"]
        file = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(raw))
        pool = descriptor_pool.DescriptorPool()
        found: Any = pool.AddSerializedFile(file.SerializeToString()) or pool.FindFileByName(file.name)
        names, nested = [], file.message_type
        for index in indexes:
            if not 0 <= index < len(nested):
                raise ValueError("the schema has no such message")
            names.append(nested[index].name)
            nested = nested[index].nested_type
        full = ".".join([*([file.package] if file.package else []), *names])
        del found
        return message_factory.GetMessageClass(pool.FindMessageTypeByName(full))

    def decode(value: bytes) -> str:
        number, data = split_frame(value)
        indexes, body = _message_indexes(data)
        place = (number, tuple(indexes))
        made = classes.get(place)
        if made is None:
            made = classes[place] = class_of(number, tuple(indexes))
        document = json_format.MessageToDict(
            made.FromString(body), preserving_proto_field_name=True, always_print_fields_with_no_presence=True
        )
        return json.dumps(_with_numbers(document, made.DESCRIPTOR))

    return decode


def _with_numbers(document: dict[str, Any], descriptor: Any) -> dict[str, Any]:
    """Protobuf's JSON has integers of 64 bits as text; Spark's parser wants numbers."""

    def value_of(value: Any, field: Any) -> Any:
        if field.cpp_type in (field.CPPTYPE_INT64, field.CPPTYPE_UINT64):
            return int(value)
        if field.message_type is not None and isinstance(value, dict):
            return _with_numbers(value, field.message_type)
        return value

    for field in descriptor.fields:
        value = document.get(field.name)
        if value is None:
            continue
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            entry = field.message_type.fields_by_name["value"]
            document[field.name] = {key: value_of(each, entry) for key, each in value.items()}
        elif isinstance(value, list):
            document[field.name] = [value_of(each, field) for each in value]
        else:
            document[field.name] = value_of(value, field)
    return document


def json_column(format_name: str, url: str) -> Callable[[Any], Any]:
    """A function of Spark's workers: values in, (json, error) out."""

    import pandas

    def decode_column(values: Any) -> Any:
        decoder = _decoder(format_name, url)
        texts: list[str | None] = []
        errors: list[str | None] = []
        for value in values:
            try:
                texts.append(None if value is None else decoder(bytes(value)))
                errors.append(None)
            except RegistryAway:
                raise
            except Exception as wrong:
                texts.append(None)
                errors.append(f"{format_name}: {wrong}"[:500])
        return pandas.DataFrame({"json": texts, "error": errors})

    # Spark asks the types of a function what kind of function it is, and wants them as objects.
    decode_column.__annotations__ = {"values": pandas.Series, "return": pandas.DataFrame}
    return decode_column


_decoders: dict[tuple[str, str], Callable[[bytes], str]] = {}


def _decoder(format_name: str, url: str) -> Callable[[bytes], str]:
    """Kept as long as the worker lives, with the schemas it has seen."""
    made = _decoders.get((format_name, url))
    if made is None:
        build = avro_decoder if format_name == "avro" else protobuf_decoder
        made = _decoders[format_name, url] = build(Registry(url))
    return made
