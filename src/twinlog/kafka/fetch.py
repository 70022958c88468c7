"""A fetch request: what it may see, how much of it, and when it is worth an answer.

Promises: nothing at or above the high watermark leaves (for ``read_committed``: above the stable offset); the first
batch is whole even if it is larger than every limit; a request waits until ``min_bytes`` are there or its time is
over, and is looked at again only when that many bytes came or a partition changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from twinlog.base import HostFault, Refused
from twinlog.host import Chance, FileSlice
from twinlog.kafka.fetch_sessions import EPOCH_FIRST, EPOCH_NONE, NO_SESSION_ID, FetchSessions
from twinlog.kafka.fetch_view import NEVER_SENT, FetchEntry, FetchSession, FetchView
from twinlog.kafka.partition import Partition
from twinlog.kafka.partition_table import PartitionTable
from twinlog.kafka.ports import Soon
from twinlog.kafka.settings import KafkaSettings
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchRequest,
    FetchRequestPartition,
    FetchResponse,
    FetchResponseEpochEndOffset,
    FetchResponsePartitionData,
)

UNKNOWN: Final = -1
READ_COMMITTED: Final = 1


class FetchedRecords:
    """Records on their way from file to socket; the encoder only asks how many bytes they are."""

    __slots__ = ("parts", "size")

    def __init__(self, parts: Sequence[FileSlice], size: int) -> None:
        self.parts = parts
        self.size = size


class FetchAnswer(FetchResponsePartitionData):
    """What one partition answers, in the form in which it is sent. ``size_bytes`` is that of its records."""

    __slots__ = ("entry", "size_bytes")

    def __init__(self, entry: FetchEntry, code: int = 0) -> None:
        # Not through the base class: this is made for each partition, and the defaults are known.
        self.partition_index = entry.index
        self.error_code = code
        self.high_watermark = UNKNOWN
        self.last_stable_offset = UNKNOWN
        self.log_start_offset = UNKNOWN
        self.diverging_epoch = None
        self.current_leader = None
        self.snapshot_id = None
        self.aborted_transactions = None
        self.preferred_read_replica = UNKNOWN  # where followers will be named to readers of their rack
        self.records = b""
        self.entry = entry
        self.size_bytes = 0


class Fetch:
    """One fetch request on its way. When it is done, ``code`` or ``answers`` is the answer."""

    __slots__ = (
        "_bytes_max",
        "_fetches",
        "_min_bytes",
        "_on_done",
        "_view",
        "_woken",
        "answers",
        "code",
        "committed",
        "missing_bytes",
        "session_id",
        "size_bytes",
    )

    def __init__(self, fetches: Fetches, view: FetchView, request: FetchRequest) -> None:
        self._fetches = fetches
        self._view = view
        self._bytes_max = min(request.max_bytes, fetches.settings.fetch_size_max_bytes)
        self._min_bytes = min(request.min_bytes, self._bytes_max)
        self._on_done: Callable[[Fetch], None] | None = None
        self._woken = False
        self.committed = request.isolation_level == READ_COMMITTED
        self.code = 0
        self.session_id = NO_SESSION_ID
        self.answers: list[FetchAnswer] = []
        self.size_bytes = 0
        self.missing_bytes = 0

    def response(self) -> FetchResponse:
        """The answer, partitions of a topic together. Only once it is done."""
        response = FetchResponse(error_code=self.code, session_id=self.session_id)
        topics: dict[str | bytes, FetchableTopicResponse] = {}
        for answer in self.answers:
            key = answer.entry.key
            topic = topics.get(key)
            if topic is None:
                if isinstance(key, str):
                    topic = FetchableTopicResponse(topic=key)
                else:
                    topic = FetchableTopicResponse(topic_id=key)
                topics[key] = topic
                response.responses.append(topic)
            topic.partitions.append(answer)
        return response

    # -- waiting -------------------------------------------------------------------------------------------------

    def ready_now(self, wait: bool) -> bool:
        """Collects the answer. False: it should wait, which ``park`` makes it do."""
        if self.code:
            return True
        urgent = self._collect()
        if wait and not urgent and self.size_bytes < self._min_bytes:
            return False
        self._settle()
        return True

    def park(self, on_done: Callable[[Fetch], None]) -> None:
        """Waits for the bytes that are missing."""
        self._on_done = on_done
        self._view.parked = self
        self._watch_all()

    def wake(self) -> None:
        """Something came. The look at it waits for the end of this turn, so that one look serves all that came."""
        if not self._woken:
            self._woken = True
            self._fetches.wake(self)

    def look_again(self) -> None:
        self._woken = False
        if self._on_done is None:
            return
        if self.ready_now(wait=True):
            self._finish()
        else:
            self._watch_all()

    def expire(self) -> None:
        """Time is over: answers with what there is."""
        if self._on_done is not None:
            self.ready_now(wait=False)
            self._finish()

    def abandon(self) -> None:
        """Nobody wants the answer any more."""
        if self._on_done is not None:
            self._on_done = None
            self._view.parked = None
            self._view.release()

    def _finish(self) -> None:
        on_done, self._on_done = self._on_done, None
        self._view.parked = None
        self._view.release()
        assert on_done is not None
        on_done(self)

    def _watch_all(self) -> None:
        self.missing_bytes = self._min_bytes - self.size_bytes
        for entry in self._view.ready:
            entry.watch()

    # -- reading -------------------------------------------------------------------------------------------------

    def _collect(self) -> bool:
        """Fills ``answers``; true if one of them should not wait."""
        view = self._view
        incremental = view.incremental
        answers: list[FetchAnswer] = []
        urgent = not incremental and not view.ready  # nothing was asked for
        size = 0
        bytes_max = self._bytes_max
        partitions = self._fetches.partitions
        quiet: list[FetchEntry] = []
        for entry in list(view.ready):  # a disk that fails under a read makes more of them ready
            left = bytes_max - size
            if incremental and size and left <= 0:
                break  # the others keep their turn
            partition = entry.resolve(partitions)
            if partition is None:
                answer = FetchAnswer(entry, unknown_partition(entry, partitions))
                urgent = True
            else:
                answer = FetchAnswer(entry)
                self._read(answer, entry, partition, min(left, entry.bytes_max), size == 0)
                if answer.error_code or answer.diverging_epoch is not None:
                    urgent = True
                elif answer.size_bytes:
                    size += answer.size_bytes
                elif incremental and (
                    answer.high_watermark == entry.sent_high_watermark
                    and answer.log_start_offset == entry.sent_log_start
                ):
                    if entry.fetch_offset >= answer.high_watermark:
                        quiet.append(entry)
                    continue
            answers.append(answer)
        for entry in quiet:
            del view.ready[entry]
            entry.watch()
        self.answers = answers
        self.size_bytes = size
        return urgent

    def _read(self, answer: FetchAnswer, entry: FetchEntry, partition: Partition, bytes_max: int, first: bool) -> None:
        code = partition.refusal() or partition.check_epoch(entry.current_leader_epoch)
        if code is not None:
            answer.error_code = code
            return
        log = partition.log
        offset = entry.fetch_offset
        offset_start = log.offset_start
        offset_stable = partition.stable_offset
        if self.committed:
            answer.aborted_transactions = []
        try:
            if entry.last_fetched_epoch >= 0 and self._diverges(answer, entry, partition):
                offset_below = 0
            elif not offset_start <= offset <= log.offset_end:
                answer.error_code = ErrorCode.OFFSET_OUT_OF_RANGE
                return
            else:
                offset_below = offset_stable if self.committed else partition.high_watermark
            if offset < offset_below and (first or bytes_max > 0):
                read = log.read(offset, bytes_max, offset_below, whole_first=first)
                if read.size:
                    answer.records = FetchedRecords(read.parts, read.size)
                    answer.size_bytes = read.size
                    if self.committed:
                        answer.aborted_transactions = [
                            AbortedTransaction(producer_id=each.producer_id, first_offset=each.offset_first)
                            for each in log.aborted_between(offset, read.offset_next)
                        ]
        except Refused as refused:
            answer.error_code = refused.code
            return
        except HostFault:
            answer.error_code = ErrorCode.KAFKA_STORAGE_ERROR
            return
        answer.high_watermark = partition.high_watermark
        answer.last_stable_offset = offset_stable
        answer.log_start_offset = offset_start

    def _diverges(self, answer: FetchAnswer, entry: FetchEntry, partition: Partition) -> bool:
        """Whether the reader's last record is not the one that we have before its offset."""
        epoch, offset_end = partition.epoch_end(entry.last_fetched_epoch)
        if offset_end < 0:
            raise Refused(ErrorCode.OFFSET_OUT_OF_RANGE)
        if epoch < entry.last_fetched_epoch or offset_end < entry.fetch_offset:
            answer.diverging_epoch = FetchResponseEpochEndOffset(epoch=epoch, end_offset=offset_end)
            return True
        return False

    def _settle(self) -> None:
        """The answer is final: remembers what the reader now knows."""
        view = self._view
        if not isinstance(view, FetchSession):
            return
        for answer in self.answers:
            # After an error everything is said again.
            answer.entry.sent_high_watermark = answer.high_watermark if not answer.error_code else NEVER_SENT
            answer.entry.sent_log_start = answer.log_start_offset if not answer.error_code else NEVER_SENT
        view.rotate([answer.entry for answer in self.answers if answer.size_bytes])
        view.incremental = True


class Fetches:
    """All fetches of the node: their sessions, and those that were woken in this turn."""

    def __init__(self, partitions: PartitionTable, settings: KafkaSettings, chance: Chance, soon: Soon) -> None:
        self.partitions = partitions
        self.settings = settings
        self.sessions = FetchSessions(settings, chance)
        self._soon = soon
        self._woken: list[Fetch] = []

    def begin(self, request: FetchRequest, *, uses_ids: bool, now_ms: int) -> Fetch:
        """The fetch that a request asks for, not yet looked at."""
        session_id, epoch = request.session_id, request.session_epoch
        if epoch in (EPOCH_FIRST, EPOCH_NONE):
            if session_id != NO_SESSION_ID:
                self.sessions.close(session_id)
            size = sum(len(topic.partitions) for topic in request.topics) if epoch == EPOCH_FIRST else 0
            session = self.sessions.make(size, uses_ids, now_ms)
            if session is None:
                return self._one_off(request, uses_ids)
            self._put(session, request, uses_ids)
            self.sessions.resized(session, 0)
        else:
            try:
                session = self.sessions.use(session_id, epoch, uses_ids, now_ms)
                if session.parked is not None:
                    session.parked.expire()  # its reader has given it up, or has lost its way
                self._change(session, request, uses_ids)
            except Refused as refused:
                fetch = Fetch(self, FetchView(), request)
                fetch.code = refused.code
                return fetch
            if not session.entries:
                self.sessions.close(session_id)
                return Fetch(self, FetchView(), request)
        fetch = Fetch(self, session, request)
        fetch.session_id = session.session_id
        return fetch

    def wake(self, fetch: Fetch) -> None:
        if not self._woken:
            self._soon(self._after_confirmations)
        self._woken.append(fetch)

    def _after_confirmations(self) -> None:
        """The answers of the producers, whose records these fetches wait for, leave first: they are ready."""
        self._soon(self._look_again)

    def _look_again(self) -> None:
        woken, self._woken = self._woken, []
        for fetch in woken:
            fetch.look_again()

    def _one_off(self, request: FetchRequest, uses_ids: bool) -> Fetch:
        view = FetchView()
        ready = view.ready
        for topic in request.topics:
            key: str | bytes = topic.topic_id if uses_ids else topic.topic
            of_topic = self.partitions.of_topic(key) or ()
            for asked in topic.partitions:
                index = asked.partition
                entry = FetchEntry(view, key, index, of_topic[index] if 0 <= index < len(of_topic) else None)
                _place(entry, asked)
                ready[entry] = None
        return Fetch(self, view, request)

    def _put(self, session: FetchSession, request: FetchRequest, uses_ids: bool) -> None:
        entries, ready = session.entries, session.ready
        for topic in request.topics:
            key: str | bytes = topic.topic_id if uses_ids else topic.topic
            for asked in topic.partitions:
                place = (key, asked.partition)
                entry = entries.get(place)
                if entry is None:
                    entry = entries[place] = FetchEntry(session, key, asked.partition, self.partitions.get(*place))
                _place(entry, asked)
                ready[entry] = None

    def _change(self, session: FetchSession, request: FetchRequest, uses_ids: bool) -> None:
        size_before = len(session.entries)
        self._put(session, request, uses_ids)
        for topic in request.forgotten_topics_data:
            for index in topic.partitions:
                session.drop((topic.topic_id if uses_ids else topic.topic, index))
        self.sessions.resized(session, size_before)


def _place(entry: FetchEntry, asked: FetchRequestPartition) -> None:
    entry.fetch_offset = asked.fetch_offset
    entry.bytes_max = asked.partition_max_bytes
    entry.current_leader_epoch = asked.current_leader_epoch
    entry.last_fetched_epoch = asked.last_fetched_epoch


def unknown_partition(entry: FetchEntry, partitions: PartitionTable) -> ErrorCode:
    """A topic id that nobody has is another failure than a partition that the topic lacks."""
    if isinstance(entry.key, bytes) and partitions.of_topic(entry.key) is None:
        return ErrorCode.UNKNOWN_TOPIC_ID
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
