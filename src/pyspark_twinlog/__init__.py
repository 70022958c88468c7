"""PySpark reads and writes topics: ``spark.read.format("twinlog")``, without a jar.

Spark finds this module by its name and registers ``DefaultSource``. Options and columns are those of Spark's own Kafka
connector; a stream is written exactly once, over Kafka's standard transactions. ``twinlog_session`` starts Spark well,
``pyspark_twinlog.pipelines`` holds pipelines that need no code.

The brokers may be Twinlog's or Apache Kafka's. Executors open sockets and keep connections as long as their Python
worker lives; nothing is stored on their disks. What is stored is stored in the cluster: the decisions of the sink
(docs/formats/spark-decisions.md); and in Spark's checkpoint, the offsets of the source.
"""

from __future__ import annotations

from pyspark_twinlog.datasource import TwinlogDataSource
from pyspark_twinlog.foreach import each_batch
from pyspark_twinlog.session import twinlog_session

DefaultSource = TwinlogDataSource

__all__ = ["DefaultSource", "TwinlogDataSource", "each_batch", "twinlog_session"]
