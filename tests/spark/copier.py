"""A query in a process of its own, to be killed: reads a topic, changes every value, writes another topic.

python -m tests.spark.copier BOOTSTRAP SOURCE SINK CHECKPOINT
"""

from __future__ import annotations

import sys

from pyspark_twinlog import twinlog_session


def main() -> None:
    bootstrap, source, sink, checkpoint = sys.argv[1:]
    spark = twinlog_session("copier", "local[2]", settings={"spark.ui.enabled": "false"})
    spark.sparkContext.setLogLevel("OFF")
    frame = (
        spark.readStream.format("twinlog").option("kafka.bootstrap.servers", bootstrap).option("subscribe", source)
        .option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", "200").option("minPartitions", "3").load()
    )  # fmt: skip
    changed = frame.selectExpr("key", "concat('made-', cast(value as string)) as value")
    query = (
        changed.writeStream.format("twinlog").option("kafka.bootstrap.servers", bootstrap).option("topic", sink)
        .option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    )  # fmt: skip
    query.awaitTermination()


if __name__ == "__main__":
    main()
