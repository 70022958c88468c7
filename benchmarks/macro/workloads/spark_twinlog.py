"""The workload program for Spark with our data source, in the two places where Spark treats sinks in Python otherwise.

Spark grants a sink in Python neither ``save()`` without a mode nor the output mode "update". So a batch is written in
the mode "append", and an updating query writes inside ``foreachBatch``, where it is exactly once, too.

    SPARK_BENCH=bench.py python spark_twinlog.py [arguments of bench.py]
"""

from __future__ import annotations

import importlib.util
import os
from typing import Any, Final

from pyspark.sql import DataFrameWriter

from pyspark_twinlog import each_batch

PROGRAM: Final = "SPARK_BENCH"


def load(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("spark_bench", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    bench = load(os.environ[PROGRAM])
    bench.HERE = __file__  # it starts itself anew for what it kills and for cold starts
    plain = bench.sink

    def sink(arguments: Any, writer: Any, topic: str) -> Any:
        if isinstance(writer, DataFrameWriter):
            return plain(arguments, writer, topic).mode("append")
        return Sink(writer, plain, arguments, topic)

    bench.sink = sink
    bench.main()


class Sink:
    """Gathers what is set on a stream writer until the output mode is known."""

    def __init__(self, writer: Any, plain: Any, arguments: Any, topic: str) -> None:
        self._writer, self._plain, self._arguments, self._topic = writer, plain, arguments, topic
        self._updates = False

    def outputMode(self, mode: str) -> Sink:
        self._updates = mode == "update"
        self._writer = self._writer.outputMode(mode)
        return self

    def option(self, name: str, value: Any) -> Sink:
        self._writer = self._writer.option(name, value)
        return self

    def trigger(self, **how: Any) -> Sink:
        self._writer = self._writer.trigger(**how)
        return self

    def start(self) -> Any:
        if not self._updates:
            return self._plain(self._arguments, self._writer, self._topic).start()
        options = dict(each.split("=", 1) for each in self._arguments.wopt)
        options |= {"kafka.bootstrap.servers": self._arguments.bootstrap, "topic": self._topic}
        return self._writer.foreachBatch(each_batch(f"bench-{self._topic}", **options)).start()


if __name__ == "__main__":
    main()
