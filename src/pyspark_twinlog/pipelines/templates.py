"""One file for each kind, to begin with: ``twinlog pipeline init FILE.toml --kind KIND``. The tests run every one."""

from __future__ import annotations

from typing import Final

HEAD: Final = """\
name = "{name}"
bootstrap = "{bootstrap}"
# Where Spark keeps how far it is. Keep it as long as the pipeline lives, and do not share it.
checkpoint = "checkpoints/{name}"
# "available now" reads what there is and ends; "5 seconds" goes on for ever, a batch every five seconds.
trigger = "available now"

[sources.orders]
topic = "orders"
starting = "earliest"
format = "json"
schema = "id long, customer string, amount double, at timestamp"
# max_offsets_per_trigger = 100000
# group = "orders-pipeline"    # shows the lag to every tool that lists consumer groups
"""

DEAD: Final = """
# What cannot be read goes here as it came, with the reason and the origin as headers.
[dead_letters]
topic = "orders-dead"
"""

TOPIC: Final = """
[sink]
type = "topic"
topic = "{topic}"
key = "{key}"
"""

TEMPLATES: Final[dict[str, str]] = {
    "sql": HEAD
    + """
[transform]
kind = "sql"
sql = "SELECT customer, amount * 100 AS cents, at FROM orders WHERE amount > 0"
"""
    + TOPIC.format(topic="order-cents", key="customer")
    + DEAD,
    "python": HEAD
    + """
# A function that takes a DataFrame and returns one, in a module beside this file.
[transform]
kind = "python"
function = "orders_pipeline:transform"
"""
    + TOPIC.format(topic="order-cents", key="customer")
    + DEAD,
    "project": HEAD
    + """
# The last value of each key as a table; a record without a value deletes its key.
[transform]
kind = "project"
keys = ["id"]

[sink]
type = "delta"                 # or "parquet", or "iceberg" with table = "..." and [sink.catalog]
path = "tables/orders"
"""
    + DEAD,
    "deduplicate": HEAD
    + """
[transform]
kind = "deduplicate"
keys = ["id"]
time = "at"
watermark = "1 hour"           # repetitions further apart than this pass
"""
    + TOPIC.format(topic="orders-once", key="id")
    + DEAD,
    "aggregate": HEAD
    + """
[transform]
kind = "aggregate"
time = "at"
window = "1 minute"
watermark = "10 minutes"       # later rows are dropped
keys = ["customer"]
aggregates = ["count(*) AS orders", "sum(amount) AS total"]
"""
    + TOPIC.format(topic="orders-by-minute", key="customer")
    + DEAD,
    "enrich": HEAD
    + """
# The state of a topic, read when the pipeline starts; or a path to Parquet or Delta.
[sources.customers]
table = "topic:customers"
format = "json"
schema = "customer string, country string"

[transform]
kind = "enrich"
join = "customers"
on = ["customer"]
"""
    + TOPIC.format(topic="orders-enriched", key="id")
    + DEAD,
    "archive": HEAD
    + """
# A stream queue of AMQP is a topic of its name and is archived the same way.
[transform]
kind = "archive"

[sink]
type = "parquet"               # or "delta", or "iceberg"
path = "archive/orders"
partition_by = ["customer"]
"""
    + DEAD,
    "replay": """\
name = "{name}"
bootstrap = "{bootstrap}"
# A replay has a checkpoint of its own: a new one begins again.
checkpoint = "checkpoints/{name}"
trigger = "1 second"

[sources.orders]
topic = "orders"
starting = "earliest"
format = "bytes"
max_offsets_per_trigger = 10000    # with trigger = "1 second": at most so many records a second

[transform]
kind = "replay"
start = "2024-01-01T00:00:00Z"     # a time, or an offset; empty for the beginning
stop = "2100-01-01T00:00:00Z"      # the first that is left out

[sink]
type = "topic"
topic = "orders-again"
""",
}


def template(kind: str, name: str, bootstrap: str) -> str:
    return TEMPLATES[kind].replace("{name}", name).replace("{bootstrap}", bootstrap)
