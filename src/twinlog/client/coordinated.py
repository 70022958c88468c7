"""Requests that one broker has to answer: the coordinator of a group, or of a transactional id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from twinlog.client.blocking import PAUSE_MS, Client
from twinlog.client.errors import ConnectionLost, check
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.message import Message
from twinlog.wire.kafka.messages import FindCoordinatorRequest, FindCoordinatorResponse

# The coordinator is being made, reads its log, or just moved: ask again.
PASSING: Final = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)

M = TypeVar("M", bound=Message)


class Coordinated:
    """Finds the coordinator of a name, and asks it patiently."""

    def __init__(self, client: Client, key_type: int, what: str) -> None:
        self._client = client
        self._key_type = key_type
        self._what = what

    def coordinator(self, name: str) -> int:
        """The node that answers for the name."""
        request = FindCoordinatorRequest(key_type=self._key_type, coordinator_keys=[name])
        found = self._patiently(
            lambda: self._client.call(request, FindCoordinatorResponse),
            lambda response: response.coordinators[0].error_code,
        ).coordinators[0]
        check(found.error_code, f"looking for the coordinator of {self._what} {name}", found.error_message)
        if found.node_id not in self._client.view.brokers:
            self._client.refresh([])
        return found.node_id

    def _ask(self, name: str, request: Callable[[], Message], answer_type: type[M], error_of: Callable[[M], int]) -> M:
        return self._patiently(
            lambda: self._client.call(request(), answer_type, self.coordinator(name)),
            error_of,
        )

    def _patiently(self, ask: Callable[[], M], error_of: Callable[[M], int]) -> M:
        """Asks again while the error is one that passes, and once more where a connection just broke."""
        deadline_ms = self._client.door.monotonic_ms() + self._client.timeout_ms
        may_break = True
        while True:
            try:
                answer = ask()
                if error_of(answer) not in PASSING or self._client.door.monotonic_ms() > deadline_ms:
                    return answer
            except ConnectionLost:
                if not may_break:
                    raise
                may_break = False
            self._client.door.pause(PAUSE_MS)
