"""Ready pipelines over Structured Streaming, described by a small file or put together from ordinary PySpark.

``load`` reads a file, ``run`` runs it, ``dry_run`` only checks it; ``build`` holds the steps for programs that need
more than a file says. A pipeline owns its checkpoint directory and, with a topic as sink, one sink id in the cluster.
What it writes, it writes once: topics by transactions, tables by the batch number that the table itself remembers.
Values that cannot be read go to the dead-letter topic, in the topic's own commit or by a query of their own beside a
table.
"""

from __future__ import annotations

from pyspark_twinlog.pipelines.progress import Progress, Status, reason_of
from pyspark_twinlog.pipelines.run import dry_run, run, session_for, start, state_of
from pyspark_twinlog.pipelines.spec import Pipeline, SpecWrong, load, read
from pyspark_twinlog.pipelines.templates import TEMPLATES, template

__all__ = [
    "TEMPLATES",
    "Pipeline",
    "Progress",
    "SpecWrong",
    "Status",
    "dry_run",
    "load",
    "read",
    "reason_of",
    "run",
    "session_for",
    "start",
    "state_of",
    "template",
]
