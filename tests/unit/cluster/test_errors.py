from __future__ import annotations

from twinlog.cluster import Reason
from twinlog.wire.kafka.errors import ErrorCode


def test_reasons_are_kafkas_codes_of_the_same_name() -> None:
    for reason in Reason:
        assert reason == ErrorCode[reason.name]
