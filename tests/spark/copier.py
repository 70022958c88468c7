"""A query in a process of its own, to be killed: reads a topic, changes every value, writes another topic.

python -m tests.spark.copier BOOTSTRAP SOURCE SINK CHECKPOINT [SEED]

With a seed one task in five fails when it has written everything, and is tried again.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from typing import Any

from pyspark import TaskContext

from pyspark_twinlog import twinlog_session

FAILS = 0.2


def failing(seed: str) -> Any:
    def pass_on(batches: Iterator[Any]) -> Iterator[Any]:
        yield from batches
        context = TaskContext.get()
        assert context is not None
        chance = random.Random(f"{seed}-{context.taskAttemptId()}")
        if context.attemptNumber() == 0 and chance.random() < FAILS:
            raise RuntimeError("injected")

    return pass_on


def main() -> None:
    bootstrap, source, sink, checkpoint, *seed = sys.argv[1:]
    spark = twinlog_session("copier", "local[2,4]", settings={"spark.ui.enabled": "false"})
    spark.sparkContext.setLogLevel("OFF")
    frame = (
        spark.readStream.format("twinlog").option("kafka.bootstrap.servers", bootstrap).option("subscribe", source)
        .option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", "200").option("minPartitions", "3").load()
    )  # fmt: skip
    changed = frame.selectExpr("key", "cast(concat('made-', cast(value as string)) as binary) as value")
    if seed:
        changed = changed.mapInArrow(failing(seed[0]), "key binary, value binary")
    query = (
        changed.writeStream.format("twinlog").option("kafka.bootstrap.servers", bootstrap).option("topic", sink)
        .option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    )  # fmt: skip
    query.awaitTermination()


if __name__ == "__main__":
    main()
