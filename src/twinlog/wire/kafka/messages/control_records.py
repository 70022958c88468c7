"""Control records.

Made from spec/kafka/control_records.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import NEVER, Message


class ControlRecordTypeSchema(Message):
    __slots__ = ("type",)
    KEY = -1
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (("type", "int16", None, 0, 0, 0, -1, -1, False, 0),)

    def __init__(
        self,
        *,
        type: int = 0,
    ) -> None:
        self.type: int = type


class EndTxnMarker(Message):
    __slots__ = ("coordinator_epoch",)
    KEY = -1
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (("coordinator_epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),)

    def __init__(
        self,
        *,
        coordinator_epoch: int = 0,
    ) -> None:
        self.coordinator_epoch: int = coordinator_epoch
