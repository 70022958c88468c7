"""Micro-batches into tables, each batch once: the table itself remembers the last batch that it holds.

``append`` adds rows; ``upsert`` keeps one row a key, and a null value deletes it. Parquet keeps whole snapshots and a
file ``CURRENT`` that names the valid one, replaced by a rename; Delta and Iceberg remember in their own logs.
"""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pyspark_twinlog.pipelines.spec import Pipeline

DELETED: Final = "_deleted"
BATCH_PROPERTY: Final = "twinlog.batch"


def _any(found: Any) -> Any:
    """pyiceberg's types know its expressions only in their bound form."""
    return found


class Table(Protocol):
    """What every kind of table can do. A batch that it already holds changes nothing."""

    def append(self, rows: pa.Table, batch: int) -> None: ...
    def upsert(self, rows: pa.Table, keys: Sequence[str], batch: int) -> None: ...


def open_table(pipeline: Pipeline) -> Table:
    sink = pipeline.sink
    if sink.type == "delta":
        return DeltaFiles(sink.path, pipeline.name, sink.partition_by)
    if sink.type == "iceberg":
        return IcebergFiles(dict(sink.catalog), sink.table, pipeline.name, sink.partition_by)
    return ParquetFiles(sink.path, sink.partition_by)


def last_by_key(rows: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The last row of each key, in the order of the rows."""
    numbered = rows.append_column("_row", pa.array(range(rows.num_rows)))
    last = numbered.group_by(list(keys)).aggregate([("_row", "max")]).column("_row_max")
    return rows.take(last)


def _split(rows: pa.Table, keys: Sequence[str]) -> tuple[pa.Table, pa.Table]:
    """(rows to keep, keys to delete)"""
    last = last_by_key(rows, keys)
    gone = pc.fill_null(last.column(DELETED), False)
    return last.filter(pc.invert(gone)).drop_columns([DELETED]), last.filter(gone).select(list(keys))


class ParquetFiles:
    """A directory: ``batch-N`` for what batch N added, or ``snapshot-N`` for the whole state behind it."""

    def __init__(self, path: str, partition_by: Sequence[str]) -> None:
        self._home = Path(path)
        self._partition_by = list(partition_by)

    def append(self, rows: pa.Table, batch: int) -> None:
        name = f"part-{batch:012d}" + "-{i}.parquet"
        # The same batch writes the same files again: none is added by a repetition.
        for stale in self._home.rglob(f"part-{batch:012d}-*.parquet"):
            stale.unlink()
        pq.write_to_dataset(
            rows, str(self._home), partition_cols=self._partition_by or None, basename_template=name,
            existing_data_behavior="overwrite_or_ignore",
        )  # fmt: skip

    def upsert(self, rows: pa.Table, keys: Sequence[str], batch: int) -> None:
        current = self._current()
        if current.get("batch", -1) >= batch:
            return
        kept, deleted = _split(rows, keys)
        if current:
            old = pq.read_table(self._home / current["snapshot"])
            touched = pa.concat_tables([kept.select(list(keys)), deleted])
            old = old.join(touched, keys=list(keys), join_type="left anti")
            kept = pa.concat_tables([old.select(kept.column_names).cast(kept.schema), kept])
        snapshot = f"snapshot-{batch:012d}.parquet"
        self._home.mkdir(parents=True, exist_ok=True)
        pq.write_table(kept, self._home / snapshot)
        fresh = self._home / "CURRENT.new"
        with open(fresh, "w", encoding="utf-8") as file:
            json.dump({"version": 1, "batch": batch, "snapshot": snapshot}, file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._home / "CURRENT")
        for old_file in self._home.glob("snapshot-*.parquet"):
            if old_file.name not in (snapshot, current.get("snapshot")):
                old_file.unlink()

    def _current(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads((self._home / "CURRENT").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        return found

    def remove(self) -> None:
        shutil.rmtree(self._home, ignore_errors=True)


class DeltaFiles:
    """A Delta table; its log holds the last batch of this pipeline (``txn``)."""

    def __init__(self, path: str, name: str, partition_by: Sequence[str]) -> None:
        self._path = path
        self._name = f"twinlog:{name}"
        self._partition_by = list(partition_by)

    def append(self, rows: pa.Table, batch: int) -> None:
        from deltalake import write_deltalake

        if self._held(batch):
            return
        write_deltalake(
            self._path, rows, mode="append", partition_by=self._partition_by or None,
            commit_properties=self._properties(batch),
        )  # fmt: skip

    def upsert(self, rows: pa.Table, keys: Sequence[str], batch: int) -> None:
        from deltalake import DeltaTable, write_deltalake

        if self._held(batch):
            return
        if not DeltaTable.is_deltatable(self._path):
            kept, _ = _split(rows, keys)
            write_deltalake(
                self._path, kept, partition_by=self._partition_by or None, commit_properties=self._properties(batch)
            )
            return
        last = last_by_key(rows, keys)
        same = " AND ".join(f"target.{key} = source.{key}" for key in keys)
        values = {name: f"source.{name}" for name in last.column_names if name != DELETED}
        (
            DeltaTable(self._path)
            .merge(last, same, source_alias="source", target_alias="target", commit_properties=self._properties(batch))
            .when_matched_delete(f"source.{DELETED}")
            .when_matched_update(values, f"NOT source.{DELETED}")
            .when_not_matched_insert(values, f"NOT source.{DELETED}")
            .execute()
        )

    def _held(self, batch: int) -> bool:
        from deltalake import DeltaTable

        if not DeltaTable.is_deltatable(self._path):
            return False
        version = DeltaTable(self._path).transaction_version(self._name)
        return version is not None and version >= batch

    def _properties(self, batch: int) -> Any:
        from deltalake import CommitProperties, Transaction

        return CommitProperties(app_transactions=[Transaction(self._name, batch)])


class IcebergFiles:
    """An Iceberg table; every snapshot of ours says which batch it holds."""

    def __init__(self, catalog: dict[str, str], table: str, name: str, partition_by: Sequence[str]) -> None:
        self._catalog = catalog
        self._partition_by = list(partition_by)
        self._table = table
        self._property = f"{BATCH_PROPERTY}.{name}"

    def append(self, rows: pa.Table, batch: int) -> None:
        table = self._open(rows.schema)
        if self._held(table, batch):
            return
        table.append(rows, snapshot_properties={self._property: str(batch)})

    def upsert(self, rows: pa.Table, keys: Sequence[str], batch: int) -> None:
        from pyiceberg.expressions import And, EqualTo, In, Or

        kept, deleted = _split(rows, keys)
        table = self._open(kept.schema)
        if self._held(table, batch):
            return
        touched = pa.concat_tables([kept.select(list(keys)), deleted])
        with table.transaction() as transaction:
            if len(keys) == 1:
                which: Any = _any(In)(keys[0], touched.column(keys[0]).to_pylist())
            else:
                each = [[_any(EqualTo)(key, row[key]) for key in keys] for row in touched.to_pylist()]
                matches = [And(*parts) for parts in each]
                which = Or(*matches) if len(matches) > 1 else matches[0]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # that nothing matched is what is new
                transaction.delete(which)
            transaction.append(kept, snapshot_properties={self._property: str(batch)})

    def _open(self, schema: Any) -> Any:
        from pyiceberg.catalog import load_catalog

        catalog = load_catalog("twinlog", **self._catalog)
        namespace = self._table.rpartition(".")[0]
        catalog.create_namespace_if_not_exists(namespace)
        table = catalog.create_table_if_not_exists(self._table, schema=schema)
        missing = {*self._partition_by} - {field.name for field in table.spec().fields}
        if missing:
            with table.update_spec() as update:
                for name in self._partition_by:
                    if name in missing:
                        update.add_identity(name)
        return table

    def _held(self, table: Any, batch: int) -> bool:
        for snapshot in reversed(table.metadata.snapshots):
            told = snapshot.summary.additional_properties.get(self._property) if snapshot.summary else None
            if told is not None:
                return int(told) >= batch
        return False
