"""Avro and Protobuf by a schema registry, which here is a small server of HTTP."""

from __future__ import annotations

import base64
import io
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import fastavro
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from pyspark_twinlog.pipelines import read, run
from pyspark_twinlog.pipelines.registry import Registry, RegistryAway, SchemaUnknown, avro_decoder, protobuf_decoder
from tests.spark.records import records_of, values_of
from tests.spark.test_pipelines import produce
from twinlog.client import Client

AVRO = {
    "type": "record", "name": "Order",
    "fields": [{"name": "id", "type": "long"}, {"name": "customer", "type": "string"},
               {"name": "note", "type": ["null", "bytes"]}],
}  # fmt: skip
AVRO_ID, PROTOBUF_ID = 11, 12


def protobuf_file() -> descriptor_pb2.FileDescriptorProto:
    """package shop; message Box { message Order { int64 id = 1; string customer = 2; } }"""
    file = descriptor_pb2.FileDescriptorProto(name="shop.proto", package="shop", syntax="proto3")
    order = file.message_type.add(name="Box").nested_type.add(name="Order")
    optional = descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL
    order.field.add(name="id", number=1, type=descriptor_pb2.FieldDescriptorProto.TYPE_INT64, label=optional)
    order.field.add(name="customer", number=2, type=descriptor_pb2.FieldDescriptorProto.TYPE_STRING, label=optional)
    return file


class FakeRegistry(BaseHTTPRequestHandler):
    """Schemas by id, as registries for Kafka give them."""

    def do_GET(self) -> None:
        schemas = {
            f"/schemas/ids/{AVRO_ID}": json.dumps(AVRO),
            f"/schemas/ids/{PROTOBUF_ID}?format=serialized": base64.b64encode(
                protobuf_file().SerializeToString()
            ).decode(),
        }
        found = schemas.get(self.path)
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        self.send_response(200 if found else 404)
        self.end_headers()
        self.wfile.write(json.dumps({"schema": found} if found else {"error_code": 40403}).encode())

    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module")
def registry() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), FakeRegistry) as server:
        server.asked = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def url(registry: ThreadingHTTPServer) -> str:
    return f"http://127.0.0.1:{registry.server_port}"


def framed(number: int, data: bytes) -> bytes:
    return b"\0" + number.to_bytes(4, "big") + data


def avro(number: int, customer: str) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(AVRO), {"id": number, "customer": customer, "note": b"\x01"})
    return framed(AVRO_ID, out.getvalue())


def protobuf(number: int, customer: str) -> bytes:
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(protobuf_file().SerializeToString())
    order: Any = message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Box.Order"))
    # The second message of the file's first one: two indexes, 0 and 0, each a zigzag number.
    return framed(PROTOBUF_ID, b"\x04\x00\x00" + order(id=number, customer=customer).SerializeToString())


def test_values_are_decoded_by_the_schema_that_they_name(registry: ThreadingHTTPServer, url: str) -> None:
    decode = avro_decoder(Registry(url))
    asked = len(registry.asked)  # type: ignore[attr-defined]
    assert json.loads(decode(avro(1, "ann"))) == {"id": 1, "customer": "ann", "note": "AQ=="}
    assert json.loads(decode(avro(2, "bob")))["id"] == 2
    assert len(registry.asked) == asked + 1, "a schema is asked for once"  # type: ignore[attr-defined]
    assert json.loads(protobuf_decoder(Registry(url))(protobuf(3, "eve"))) == {"id": 3, "customer": "eve"}


@pytest.mark.parametrize("value", [b"", b"\0", b"\1\0\0\0\x0bxx", framed(AVRO_ID, b"")])
def test_what_is_no_framed_value_is_told(url: str, value: bytes) -> None:
    with pytest.raises((ValueError, EOFError)):
        avro_decoder(Registry(url))(value)


@pytest.mark.parametrize(
    "value", [framed(PROTOBUF_ID, b""), framed(PROTOBUF_ID, b"\x02\x10x"), framed(12, b"\xff" * 9)]
)
def test_what_is_no_protobuf_is_told(url: str, value: bytes) -> None:
    with pytest.raises(ValueError):
        protobuf_decoder(Registry(url))(value)


def test_an_unknown_schema_and_a_registry_that_is_away_are_told(url: str) -> None:
    with pytest.raises(SchemaUnknown, match="the registry has no schema 99"):
        avro_decoder(Registry(url))(framed(99, b"x"))
    with pytest.raises(RegistryAway, match=r"the registry at http://127\.0\.0\.1:9 gave no schema 11"):
        avro_decoder(Registry("http://127.0.0.1:9"))(framed(11, b"x"))


@pytest.mark.parametrize(("form", "encode"), [("avro", avro), ("protobuf", protobuf)])
def test_a_pipeline_reads_values_with_schemas(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str], tmp_path: Path, url: str,
    form: str, encode: Callable[[int, str], bytes],
) -> None:  # fmt: skip
    source, out, dead = topic(1), topic(1), topic(1)
    produce(client, source, [(b"1", encode(1, "ann")), (b"2", b"\0nonsense"), (b"3", encode(3, "bob"))])
    document = {
        "name": f"read-{form}", "bootstrap": bootstrap, "dead_letters": {"topic": dead},
        "sources": {"orders": {"topic": source, "format": form, "registry": url, "schema": "id long, customer string"}},
        "transform": {"kind": "sql", "sql": "SELECT customer, id FROM orders"}, "sink": {"topic": out, "key": "id"},
    }  # fmt: skip
    run(spark, read(document, tmp_path))
    assert sorted((each["id"], each["customer"]) for each in values_of(client, out)) == [(1, "ann"), (3, "bob")]
    (letter,) = records_of(client, dead)
    assert letter.value == b"\0nonsense"
    assert dict(letter.headers)["twinlog.reason"].startswith(f"{form}: ".encode())
