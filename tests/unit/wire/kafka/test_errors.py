"""Error codes are Kafka's, and each has a sentence of ours."""

from __future__ import annotations

import pytest

from twinlog.wire.kafka import ErrorCode


def test_the_codes_are_without_a_gap() -> None:
    assert [int(code) for code in ErrorCode] == list(range(-1, 134))


def test_a_code_is_a_number_on_the_wire() -> None:
    assert ErrorCode.UNSUPPORTED_VERSION == 35
    assert ErrorCode(35) is ErrorCode.UNSUPPORTED_VERSION


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_code_has_a_sentence_of_its_own(code: ErrorCode) -> None:
    assert code.message.endswith(".")
    assert [other for other in ErrorCode if other.message == code.message] == [code]


def test_what_a_client_may_try_again() -> None:
    again = [ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.UNKNOWN_TOPIC_ID]
    never = [ErrorCode.NONE, ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.PRODUCER_FENCED, ErrorCode.REBALANCE_IN_PROGRESS]

    assert all(code.retriable for code in again)
    assert not any(code.retriable for code in never)
