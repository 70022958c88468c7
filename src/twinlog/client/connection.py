"""One conversation with one broker, as bytes: frames, correlation ids, version negotiation.

The caller sends ``hello()`` first and everything else once ``versions`` is known. Answers come in the order of the
requests; anything else is a ``ProtocolViolation``.
"""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

from twinlog.base import ProtocolViolation
from twinlog.base.units import MIB
from twinlog.client.errors import ClientError
from twinlog.wire.kafka.api import APIS, decode_response, encode_request
from twinlog.wire.kafka.message import Message
from twinlog.wire.kafka.messages import ApiVersionsRequest, ApiVersionsResponse

ANSWER_BYTES_MAX: Final = 512 * MIB
HELLO_VERSION: Final = 3
# From these versions on, topics are known by id alone. Names do for us, and are the same in every version below.
# AddPartitionsToTxn is for brokers among themselves from version 4 on.
VERSION_CAPS: Final = {0: 12, 1: 12, 8: 9, 9: 9, 24: 3}
SCRATCH_BYTES: Final = 64 * 1024


class Answer(NamedTuple):
    """A response, and the buffer that its record fields are (offset, size) of."""

    correlation_id: int
    message: Message
    buffer: bytes | bytearray


class Connection:
    """The core of a connection; it holds no socket."""

    def __init__(self, client_id: str = "twinlog", software_version: str = "") -> None:
        self.client_id = client_id
        self.versions: dict[int, tuple[int, int]] | None = None
        self._software_version = software_version
        self._correlation_id = 0
        self._waiting: deque[tuple[int, int, int]] = deque()  # (correlation id, key, version)
        self._received = bytearray()
        self._scratch = memoryview(bytearray(SCRATCH_BYTES))
        self._large: bytearray | None = None  # an answer of which the rest goes straight to its place
        self._large_filled = 0
        self.features: dict[str, int] = {}  # what the cluster has agreed on, with its level

    @property
    def waiting(self) -> int:
        """Requests without their answer."""
        return len(self._waiting)

    def hello(self) -> bytes:
        """Asks which versions the broker speaks; the answer goes to ``receive`` like any other."""
        request = ApiVersionsRequest(
            client_software_name="twinlog", client_software_version=self._software_version or "unknown"
        )
        return self._encode(request, HELLO_VERSION)[1]

    def request(self, message: Message, *, answered: bool = True, version_max: int | None = None) -> tuple[int, bytes]:
        """Correlation id and bytes of a request in the newest version both sides know, up to ``version_max``.

        ``answered=False`` for what brokers do not answer (a produce request with acks 0).
        """
        return self._encode(message, self.version_for(message.KEY, version_max), answered=answered)

    def version_for(self, key: int, version_max: int | None = None) -> int:
        assert self.versions is not None, "hello() and its answer come first"
        ours = APIS[key]
        low, high = self.versions.get(key, (0, -1))
        version = min(high, ours.version_max, VERSION_CAPS.get(key, ours.version_max))
        if version_max is not None:
            version = min(version, version_max)
        if version < max(low, ours.version_min):
            raise ClientError(f"the broker does not serve {ours.name} in a version that this client speaks")
        return version

    def receive(self, data: bytes | bytearray | memoryview) -> list[Answer]:
        """Takes bytes as they came; returns the answers that are now whole."""
        self._received += data
        answers = []
        start = 0
        while len(self._received) - start >= 4:
            size = int.from_bytes(self._received[start : start + 4], "big", signed=True)
            if not 4 <= size <= ANSWER_BYTES_MAX:
                raise ProtocolViolation(f"the broker announces an answer of {size} bytes")
            if len(self._received) - start - 4 < size:
                break
            frame = bytes(memoryview(self._received)[start + 4 : start + 4 + size])
            start += 4 + size
            answers.append(self._answer(frame))
        if start:
            del self._received[:start]
        return answers

    def room(self) -> memoryview:
        """Where the socket's next bytes go; then say how many by ``filled``. Large answers are not copied again."""
        if self._large is not None:
            return memoryview(self._large)[self._large_filled :]
        return self._scratch

    def filled(self, size: int) -> list[Answer]:
        if self._large is None:
            answers = self.receive(self._scratch[:size])
            self._make_room()
            return answers
        self._large_filled += size
        if self._large_filled < len(self._large):
            return []
        frame, self._large = self._large, None
        return [self._answer(frame)]

    def _make_room(self) -> None:
        if len(self._received) < 4:
            return
        size = int.from_bytes(self._received[:4], "big")
        if size > SCRATCH_BYTES:
            self._large = bytearray(size)
            self._large_filled = len(self._received) - 4
            self._large[: self._large_filled] = self._received[4:]
            self._received.clear()

    def _answer(self, frame: bytes | bytearray) -> Answer:
        if not self._waiting:
            raise ProtocolViolation("the broker answers what was not asked")
        expected_id, key, version = self._waiting.popleft()
        correlation_id, message = decode_response(key, version, frame)
        if isinstance(message, ApiVersionsResponse):
            self.versions = {api.api_key: (api.min_version, api.max_version) for api in message.api_keys}
            self.features = {each.name: each.max_version_level for each in message.finalized_features}
        if correlation_id != expected_id:
            raise ProtocolViolation(f"the broker answers request {correlation_id} instead of {expected_id}")
        return Answer(correlation_id, message, frame)

    def _encode(self, message: Message, version: int, *, answered: bool = True) -> tuple[int, bytes]:
        self._correlation_id = (self._correlation_id + 1) & 0x7FFFFFFF
        if answered:
            self._waiting.append((self._correlation_id, message.KEY, version))
        return self._correlation_id, encode_request(message.KEY, version, self._correlation_id, self.client_id, message)
