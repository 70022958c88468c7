"""Exactly once inside ``foreachBatch``: for output modes that Spark grants to no sink in Python, above all "update"."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from pyspark_twinlog.errors import OptionWrong
from pyspark_twinlog.sink import QUERY_ID


def each_batch(name: str, **options: object) -> Callable[[Any, int], None]:
    """A function for ``writeStream.foreachBatch`` that writes each micro-batch once, as ``format("twinlog")`` does.

    ``options`` are those of the sink. Over Spark Connect the query has to have this name.
    """
    return EachBatch(name, {option: str(value) for option, value in options.items()})


class EachBatch:
    """What ``each_batch`` makes. Over Spark Connect it is pickled and runs beside the server."""

    def __init__(self, name: str, options: dict[str, str]) -> None:
        self._name = name
        self._options = options
        self._root: Any = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "SPARK_CONNECT_MODE_ENABLED" in os.environ:
            from pyspark.sql.connect.session import SparkSession

            # Batches come in a session of their own; the one that knows the query is active only now.
            self._root = SparkSession.getActiveSession()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_root": None}

    def __call__(self, batch: Any, number: int) -> None:
        writer = batch.write.format("twinlog").mode("append")
        query = self._query_of(batch.sparkSession)
        epoch = {"sinkId": f"{self._name}-{query}", "queryId": query, "batchId": str(number)}
        for key, value in {**epoch, **self._options}.items():
            writer = writer.option(key, value)
        writer.save()

    def _query_of(self, session: Any) -> str:
        """The id of the query that runs this batch. A query with a new checkpoint has another id."""
        found: Any
        if hasattr(session, "_jsparkSession"):
            found = session.sparkContext.getLocalProperty(QUERY_ID)
        else:
            named = self._root.streams.active if self._root else ()
            found = next((query.id for query in named if query.name == self._name), None)
        if not found:
            raise OptionWrong(f"no query {self._name!r} is known here: call it so by queryName")
        return str(found)
