"""What a user of the data source may have to mend. Every text names what to do."""

from __future__ import annotations


class TwinlogSparkError(Exception):
    """Base of what this module raises on purpose."""


class OptionWrong(TwinlogSparkError):
    """An option is missing, unknown, or contradicts another."""


class DataLoss(TwinlogSparkError):
    """Records that the query still had to read are gone."""


class ForeignCheckpoint(TwinlogSparkError):
    """The checkpoint was written by another kind of source, or for other topics."""


class SinkInUse(TwinlogSparkError):
    """Another query writes under the same sink id, or the checkpoint was replaced."""


class CommittedRecordsLost(TwinlogSparkError):
    """A decided commit could not be finished, because the broker had rolled back a part of it before."""


class WrongRows(TwinlogSparkError):
    """Rows that the sink cannot write: a column is missing or has another type."""


class BadRecord(TwinlogSparkError):
    """A pipeline without dead letters met a value that cannot be read."""
