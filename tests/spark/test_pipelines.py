"""Every kind of ready pipeline, from the file that ``init`` writes, over a real broker."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.dataset
import pyarrow.parquet
import pytest

from pyspark_twinlog.pipelines import TEMPLATES, SpecWrong, dry_run, load, read, run, template
from tests.spark.test_source import read as read_topic
from twinlog.client import Client, Producer

ORDERS = [
    {"id": 1, "customer": "ann", "amount": 10.5, "at": "2024-05-01T10:00:05Z"},
    {"id": 2, "customer": "bob", "amount": 7.0, "at": "2024-05-01T10:00:20Z"},
    {"id": 2, "customer": "bob", "amount": 7.0, "at": "2024-05-01T10:00:21Z"},
    {"id": 3, "customer": "ann", "amount": 2.5, "at": "2024-05-01T10:01:10Z"},
]
BAD = b"no order at all"


def produce(client: Client, topic: str, values: list[tuple[bytes | None, bytes | None]]) -> None:
    producer = Producer(client)
    for key, value in values:
        producer.add(topic, value, key)
    producer.flush()


def orders_of(client: Client, topic: str) -> None:
    records = [(str(order["id"]).encode(), json.dumps(order).encode()) for order in ORDERS]
    produce(client, topic, [*records, (b"x", BAD)])


def pipeline_of(kind: str, bootstrap: str, home: Path, topics: dict[str, str], **changes: dict[str, Any]) -> Any:
    document = tomllib.loads(template(kind, f"p-{kind}", bootstrap))
    document["sources"]["orders"]["topic"] = topics["orders"]
    document["trigger"] = "available now"
    for section, change in changes.items():
        document[section].update(change)
    if "topic" in document["sink"]:
        document["sink"]["topic"] = topics["out"]
    if "dead_letters" in document:
        document["dead_letters"]["topic"] = topics["dead"]
    return read(document, home)


@pytest.fixture
def topics(client: Client, topic: Callable[..., str]) -> dict[str, str]:
    made = {"orders": topic(1), "out": topic(1), "dead": topic(1)}
    orders_of(client, made["orders"])
    return made


def values(spark: Any, bootstrap: str, topic: str) -> list[Any]:
    rows = read_topic(spark, bootstrap, topic).orderBy("offset").collect()
    return [json.loads(bytes(row.value)) for row in rows]


def check_dead_letter(spark: Any, bootstrap: str, topics: dict[str, str]) -> None:
    (letter,) = read_topic(spark, bootstrap, topics["dead"], includeHeaders="true").collect()
    assert bytes(letter.value) == BAD
    told = {pair.key: bytes(pair.value).decode() for pair in letter.headers}
    assert told.pop("twinlog.reason") == "json: the value does not fit the schema"
    assert told == {"twinlog.topic": topics["orders"], "twinlog.partition": "0", "twinlog.offset": "4"}


def test_aggregate_counts_in_windows_and_sets_bad_values_aside(
    spark: Any, bootstrap: str, topics: dict[str, str], tmp_path: Path
) -> None:
    pipeline = pipeline_of("aggregate", bootstrap, tmp_path, topics)
    run(spark, pipeline)
    found = {(each["customer"], each["start"][:16]): each["orders"] for each in values(spark, bootstrap, topics["out"])}
    assert found == {("ann", "2024-05-01T10:00"): 1, ("bob", "2024-05-01T10:00"): 2, ("ann", "2024-05-01T10:01"): 1}
    check_dead_letter(spark, bootstrap, topics)
    run(spark, pipeline)
    assert len(values(spark, bootstrap, topics["out"])) == 3


def test_deduplicate_passes_the_first_of_each_key(
    spark: Any, bootstrap: str, topics: dict[str, str], tmp_path: Path
) -> None:
    run(spark, pipeline_of("deduplicate", bootstrap, tmp_path, topics))
    assert sorted(each["id"] for each in values(spark, bootstrap, topics["out"])) == [1, 2, 3]


def test_enrich_joins_the_state_of_a_topic(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str], topics: dict[str, str], tmp_path: Path
) -> None:
    customers = topic(1)
    states = [(b"ann", b'{"customer": "ann", "country": "NO"}'), (b"ann", b'{"customer": "ann", "country": "SE"}')]
    produce(client, customers, states)
    document = tomllib.loads(template("enrich", "p-enrich", bootstrap))
    sources = {**document["sources"], "customers": {**document["sources"]["customers"], "table": f"topic:{customers}"}}
    run(spark, pipeline_of("enrich", bootstrap, tmp_path, topics, sources={"customers": sources["customers"]}))
    found = {(each["customer"], each.get("country")) for each in values(spark, bootstrap, topics["out"])}
    assert found == {("ann", "SE"), ("bob", None)}


@pytest.mark.parametrize("kind", ["parquet", "delta", "iceberg"])
def test_project_keeps_the_last_value_of_each_key(
    spark: Any, bootstrap: str, client: Client, topics: dict[str, str], tmp_path: Path, kind: str
) -> None:
    pipeline = pipeline_of("project", bootstrap, tmp_path, topics, sink=sink_of(kind, tmp_path))
    run(spark, pipeline)
    changed = {**ORDERS[0], "amount": 99.0}
    produce(client, topics["orders"], [(b"1", json.dumps(changed).encode()), (b"3", None)])
    run(spark, pipeline)
    assert rows_of(kind, pipeline, tmp_path) == [(1, 99.0), (2, 7.0)]


def sink_of(kind: str, home: Path, **more: Any) -> dict[str, Any]:
    if kind != "iceberg":
        return {"type": kind, "path": "table", **more}
    catalog = {"type": "sql", "uri": f"sqlite:///{home}/catalog.db", "warehouse": f"file://{home}/warehouse"}
    return {"type": kind, "path": "", "table": "shop.orders", "catalog": catalog, **more}


def rows_of(kind: str, pipeline: Any, home: Path) -> list[tuple[int, float]]:
    return sorted((row["id"], row["amount"]) for row in table_of(kind, pipeline, home).to_pylist())


def table_of(kind: str, pipeline: Any, home: Path) -> Any:
    if kind == "delta":
        from deltalake import DeltaTable

        return DeltaTable(str(home / "table")).to_pyarrow_table()
    if kind == "iceberg":
        from pyiceberg.catalog import load_catalog

        return load_catalog("twinlog", **pipeline.sink.catalog).load_table("shop.orders").scan().to_arrow()
    current = home / "table" / "CURRENT"
    if current.exists():
        return pyarrow.parquet.read_table(home / "table" / json.loads(current.read_text())["snapshot"])
    return pyarrow.dataset.dataset(home / "table", partitioning="hive").to_table()


@pytest.mark.parametrize("kind", ["parquet", "delta", "iceberg"])
def test_archive_writes_each_record_once(
    spark: Any, bootstrap: str, topics: dict[str, str], tmp_path: Path, kind: str
) -> None:
    pipeline = pipeline_of(
        "archive", bootstrap, tmp_path, topics, sink=sink_of(kind, tmp_path, partition_by=["customer"])
    )
    run(spark, pipeline)
    # As if the driver had died before Spark wrote down that the batch was done: the table knows that it has it.
    for path in tmp_path.glob("checkpoints/*/table/commits/*"):
        path.unlink()
    run(spark, pipeline)
    found = sorted((row["id"], row["customer"]) for row in table_of(kind, pipeline, tmp_path).to_pylist())
    assert found == [(1, "ann"), (2, "bob"), (2, "bob"), (3, "ann")]
    if kind != "iceberg":
        assert {path.name for path in (tmp_path / "table").glob("customer=*")} == {"customer=ann", "customer=bob"}
    else:
        assert len(list((tmp_path / "warehouse").rglob("customer=ann"))) == 1


def test_rows_behind_the_watermark_are_dropped_and_windows_stay_as_they_were(
    spark: Any, bootstrap: str, client: Client, topics: dict[str, str], tmp_path: Path
) -> None:
    pipeline = pipeline_of("aggregate", bootstrap, tmp_path, topics)
    run(spark, pipeline)
    later = {**ORDERS[0], "id": 9, "at": "2024-05-01T12:00:00Z"}
    produce(client, topics["orders"], [(b"9", json.dumps(later).encode())])
    run(spark, pipeline)
    late = {**ORDERS[0], "id": 10, "at": "2024-05-01T10:00:06Z"}
    produce(client, topics["orders"], [(b"10", json.dumps(late).encode())])
    run(spark, pipeline)
    found = [
        (each["customer"], each["start"][11:16], each["orders"]) for each in values(spark, bootstrap, topics["out"])
    ]
    assert sorted(found) == [("ann", "10:00", 1), ("ann", "10:01", 1), ("ann", "12:00", 1), ("bob", "10:00", 2)]


def test_a_python_function_gets_a_frame_and_returns_one(
    spark: Any, bootstrap: str, topics: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "doubling.py").write_text(
        "def transform(orders):\n    return orders.selectExpr('id', 'amount * 2 AS d')\n"
    )
    how = {"function": "doubling:transform"}
    run(spark, pipeline_of("python", bootstrap, tmp_path, topics, transform=how, sink={"key": "id"}))
    assert [each["d"] for each in values(spark, bootstrap, topics["out"])] == [21.0, 14.0, 14.0, 5.0]


def test_replay_copies_a_range(spark: Any, bootstrap: str, topics: dict[str, str], tmp_path: Path) -> None:
    run(spark, pipeline_of("replay", bootstrap, tmp_path, topics, transform={"start": "1", "stop": "3"}))
    assert values(spark, bootstrap, topics["out"]) == ORDERS[1:3]


def test_sql_and_a_dry_run_that_writes_nothing(
    spark: Any, bootstrap: str, topics: dict[str, str], tmp_path: Path
) -> None:
    pipeline = pipeline_of("sql", bootstrap, tmp_path, topics)
    assert dry_run(spark, pipeline).result_columns == ["customer string", "cents double", "at timestamp"]
    assert values(spark, bootstrap, topics["out"]) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", sorted(TEMPLATES))
def test_every_template_is_a_pipeline(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "made.toml"
    file.write_text(template(kind, "made", "127.0.0.1:9"))
    assert load(file).transform.kind == kind


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("name = 7", "name must be text"),
        ('name = "a"\nbad = 1', "there is no source"),
        ('name = "a"\n[sources.x]\ntopic = "t"', "format json needs schema"),
        ('name = "a"\n[sources.x]\ntopic = "t"\nformat = "text"\ncolour = 1', "there is no 'colour'"),
        ('name = "a"\n[sources.x]\ntopic = "t"\nformat = "text"\n[transform]\nkind = "aggregate"', "needs window"),
        ("name = ", "Invalid value"),
    ],
)
def test_a_wrong_file_is_told_what_is_wrong(tmp_path: Path, change: str, told: str) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(change)
    with pytest.raises(SpecWrong, match=told):
        load(file)
