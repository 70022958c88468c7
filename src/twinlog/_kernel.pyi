"""The Rust extension: loops over bytes.

Buffers are anything contiguous: bytes, bytearray, memoryview. Bytes that break their format raise ``Malformed``; a
range outside the buffer raises ``ValueError``. Nothing is allocated for a length that the bytes declare, and
``inflated_max`` bounds what compressed records may grow to.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

from typing_extensions import Buffer

class Malformed(ValueError): ...

# -- checksums, memory, stored frames, codecs

def crc32c(buf: Buffer) -> int: ...
def set_malloc_thresholds() -> None: ...
def frame_build(payloads: Sequence[Buffer]) -> bytes:
    """Frames one behind the other. An empty payload is a ``ValueError``: it could not be told from zeroed disk."""

def frame_scan(buf: Buffer, start: int, end: int) -> tuple[list[tuple[int, int]], int, str]:
    """([(payload offset, payload size)], end of the last good frame, why it stopped).

    The reason is "" at the end, else "short", "crc" or "length"."""

def compress(codec: int, buf: Buffer) -> bytes:
    """Codecs as in batch attributes: 0 none, 1 gzip, 2 snappy (in the Java client's framing), 3 lz4 frame, 4 zstd."""

def decompress(codec: int, buf: Buffer, inflated_max: int) -> bytes: ...

# -- record batches

# (off, size, base_offset, last_offset_delta, record_count, attributes, base_timestamp, max_timestamp,
#  producer_id, producer_epoch, base_sequence, leader_epoch)
Batch: TypeAlias = tuple[int, int, int, int, int, int, int, int, int, int, int, int]
# (timestamp, key, value, headers)
NewRecord: TypeAlias = tuple[int, Buffer | None, Buffer | None, Iterable[tuple[str, Buffer | None]] | None]
# (offset, timestamp, key, value, headers)
Record: TypeAlias = tuple[int, int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]

def check_batch(buf: Buffer, off: int, end: int, inflated_max: int) -> tuple[int, int, Batch | None]:
    """Checks exactly one batch as a client may produce it: (error, detail, batch).

    error is 0 or a Kafka code: 2 wrong checksum, length or compressed stream; 10 inflates beyond ``inflated_max``;
    43 format 0 or 1; 76 unknown codec; 87 anything else that is wrong (no or more than one batch, control batch,
    counts, offsets, a malformed record). detail: without error the index of the first record without a key (-1 none),
    else the index of the record that broke a rule (-1 the batch itself). ``max_timestamp`` in the batch is what the
    records say, which need not be what the header says: hand it to ``place_batch``.
    """

def scan_batches(buf: Buffer, start: int, end: int) -> tuple[list[Batch], int, str]:
    """Whole batches with a right checksum: (batches, their end, why it stopped).

    The reason is "" at the end, else "short", "crc", "magic" or "length"."""

def place_batch(
    buf: bytearray | memoryview,
    off: int,
    base_offset: int,
    leader_epoch: int,
    log_append_time_ms: int,
    max_timestamp: int | None = None,
) -> None:
    """Writes the log's decisions into a batch in place. ``log_append_time_ms`` -1 keeps the client's timestamps and, if
    ``max_timestamp`` is given, corrects the header's; the checksum is made anew only if something under it changed."""

def decode_records(buf: Buffer, off: int, end: int, inflated_max: int) -> list[Record]:
    """The records of the batch at ``off``, its checksum checked; the buffer may go on behind the batch."""

def build_batch(
    records: Iterable[NewRecord],
    *,
    base_offset: int = 0,
    codec: int = 0,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    attributes: int = 0,
    leader_epoch: int = -1,
) -> bytes: ...
def find_timestamp(buf: Buffer, off: int, end: int, timestamp: int, inflated_max: int) -> tuple[int, int] | None:
    """(offset, timestamp) of the first record at or after ``timestamp`` in one batch."""

def max_timestamp_record(buf: Buffer, off: int, end: int, inflated_max: int) -> tuple[int, int] | None:
    """(offset, timestamp) of the first record with the highest timestamp; None for a batch emptied by compaction."""

# -- compaction

class Compactor:
    """Compacts one stretch of a log; see docs/formats/compaction.md. First ``map`` is given the part that was written
    since the last time, then each new segment is made with ``begin_segment``, ``rewrite`` and ``end_segment``. Each
    takes whole batches, says where the rest begins, and runs without the interpreter's lock."""

    def __init__(
        self,
        bytes_max: int,
        records_max: int,
        seed: int,
        aborted: Sequence[tuple[int, int, int]],
        producers: Sequence[tuple[int, int, int]],
        inflated_max: int,
    ) -> None:
        """``bytes_max`` bounds the map of keys, ``records_max`` says how many records it may have to hold. ``aborted``
        is (producer id, first offset, offset of the marker); ``producers`` is (id, first offset of its last batch or
        -1, epoch) of those whose last batch, or whose epoch, must not be forgotten."""

    def begin_reading(self, offset_base: int, offset_end: int, has_gaps: bool) -> None:
        """Said before each stretch that is given to ``map`` or ``rewrite``: which offsets it covers, and whether some
        of them may be missing. Batches that do not lie there, or not in order, are malformed."""

    def map(self, data: bytes) -> tuple[int, bool]:
        """(where the rest begins, whether there was room for every key)."""

    @property
    def map_end(self) -> int:
        """Records from this offset on are in no map, and stay."""

    @property
    def key_count(self) -> int: ...
    def begin(self, now_ms: int, delete_retention_ms: int) -> None: ...
    def begin_segment(self, offset_base: int, index_interval_bytes: int) -> None: ...
    def rewrite(self, data: bytes) -> tuple[int, bytes]:
        """(where the rest begins, what stays)."""

    def end_segment(
        self,
    ) -> tuple[bytes, int, int, int, int, bytes, bytes, bytes, list[tuple[int, int]], list[int], bool]:
        """(what is left to write, size, end offset, greatest timestamp, its position, the index's offsets, positions
        and times as little-endian columns, leader epochs, offsets of markers that stayed, whether anything changed)."""

    def facts(self) -> tuple[int, int, int]:
        """(records read, records kept, when another pass would find something to drop; -1: never)."""

# -- record batches and Arrow's columns

class Block(Buffer):
    """Memory that can be read as a buffer, without a copy."""

    def __len__(self) -> int: ...

COLUMN_KEY: Final[int]
COLUMN_VALUE: Final[int]
COLUMN_TOPIC: Final[int]
COLUMN_PARTITION: Final[int]
COLUMN_OFFSET: Final[int]
COLUMN_TIMESTAMP: Final[int]
COLUMN_TIMESTAMP_TYPE: Final[int]
COLUMN_HEADERS: Final[int]

# (validity or None without nulls, offsets of 32 bits, data)
BinaryBlocks: TypeAlias = tuple[Block | None, Block, Block]
# (rows, key, value, topic, partition, offset, timestamp in microseconds, timestamp type,
#  (validity, offsets, names, values) of headers)
ColumnBlocks: TypeAlias = tuple[
    int,
    BinaryBlocks,
    BinaryBlocks,
    BinaryBlocks,
    Block,
    Block,
    Block,
    Block,
    tuple[Block | None, Block, BinaryBlocks, BinaryBlocks],
]

class RecordColumns:
    """Fetched record batches as columns in Arrow's layout. ``wanted`` is a sum of ``COLUMN_*``; others stay empty.

    Control batches, gaps and records outside the wanted offsets are passed over. Runs without the interpreter's lock.
    """

    def __init__(self, wanted: int, *, rows_max: int, data_bytes_max: int, inflated_max: int) -> None: ...
    @property
    def position(self) -> int:
        """The next offset to read."""

    @property
    def rows(self) -> int: ...
    def seek(self, topic: str, partition: int, position: int, stop: int) -> None:
        """What is appended from now on belongs there; ``stop`` is the first offset that is not wanted."""

    def hide(self, aborted: list[tuple[int, int]] | None) -> None:
        """(first offset, producer id) of the transactions that an answer says were rolled back; None hides nothing."""

    def append(self, buf: Buffer, start: int, end: int) -> tuple[int, str]:
        """(where it stopped, why): "drained" all whole batches are used, "complete" the stop is reached, "full" there
        is enough for one ``take`` and more in the buffer. After ``Malformed`` the rows so far are gone."""

    def take(self) -> ColumnBlocks: ...

def position_behind(buf: Buffer, start: int, end: int, position: int) -> int:
    """The offset behind the last whole batch, without looking inside: where the next request starts."""

# (validity, offsets of 32 bits, data, first row)
BinaryBuffers: TypeAlias = tuple[Buffer | None, Buffer, Buffer, int]
# (validity, values, first row)
NumberBuffers: TypeAlias = tuple[Buffer | None, Buffer, int]
# (validity, offsets, first row, names, values)
HeaderBuffers: TypeAlias = tuple[Buffer | None, Buffer, int, BinaryBuffers, BinaryBuffers]

class BatchWriter:
    """Rows of one topic as record batches. A row goes to the partition it names, else where Java's producer would put
    its key; rows without a key stay together until a batch is full. Runs without the interpreter's lock."""

    def __init__(self, partitions: int, *, batch_bytes: int, sticky: int = 0) -> None: ...
    @property
    def buffered_bytes(self) -> int: ...
    def add(
        self,
        count: int,
        now_ms: int,
        *,
        keys: BinaryBuffers | None = None,
        values: BinaryBuffers | None = None,
        partitions: NumberBuffers | None = None,
        timestamps_us: NumberBuffers | None = None,
        headers: HeaderBuffers | None = None,
    ) -> None:
        """``partitions`` are 32 and ``timestamps_us`` 64 bits wide; a null timestamp is ``now_ms``."""

    def take(
        self,
        everything: bool,
        sequences: list[int],
        *,
        codec: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
        transactional: bool = False,
    ) -> tuple[list[tuple[int, int, int, Block]], list[int]]:
        """The full batches in order, or all: ([(partition, records, sequence, batch)], the sequences behind them)."""

# -- Kafka requests

def kafka_split(
    buf: Buffer, start: int, end: int, frame_max: int, flexible_from: bytes
) -> tuple[int, int, list[tuple[int, int, int, str | None, int, int]]]:
    """(new start, total size of the incomplete frame there or 0, requests).

    A request is (api_key, version, correlation_id, client_id, body_off, end). A broken frame raises ``Malformed``, but
    good frames in front of it are returned first: call again until the list is empty. ``flexible_from[key]`` is the
    first version of that key with a flexible header, 255 for never."""

# (partition, off, size, error, detail, batch), see check_batch
ProducePartition: TypeAlias = tuple[int, int, int, int, int, Batch | None]

def parse_produce(
    buf: Buffer, off: int, end: int, version: int, inflated_max: int
) -> tuple[str | None, int, int, list[tuple[str | bytes, list[ProducePartition]]]]:
    """(transactional_id, acks, timeout_ms, [(topic name, from version 13 on its id, partitions)])."""

# -- message schemas

class Schema:
    """The codec of one message class in one version; the class's ``LAYOUT`` says how.

    Decoding raises ``Malformed``. ``elements_max`` bounds the array elements and tagged fields of one message. Encoding
    raises ``ValueError`` or ``TypeError`` for what the version cannot carry. With ``head`` the result is a whole frame:
    its size in four bytes, the head, the message.
    """

    def __init__(self, message_class: type[Any], version: int, flexible: bool) -> None: ...
    def decode(self, buf: Buffer, start: int = 0, end: int | None = None, elements_max: int = 1_000_000) -> Any: ...
    def decode_from(
        self, buf: Buffer, start: int = 0, end: int | None = None, elements_max: int = 1_000_000
    ) -> tuple[Any, int]:
        """The message, and the position behind it."""

    def encode(self, message: Any, head: bytes | None = None) -> bytes: ...
    def encode_parts(self, message: Any, head: bytes) -> list[Any]:
        """The frame as bytes and, between them, the records' own objects."""

# -- AMQP 0-9-1

AMQP_RUN: Final[int]
AMQP_ACK: Final[int]
AMQP_ACK_MULTIPLE: Final[int]
AMQP_METHOD: Final[int]
AMQP_HEARTBEAT: Final[int]
AMQP_ERROR: Final[int]

RUN_MANDATORY: Final[int]
RUN_IMMEDIATE: Final[int]
RUN_PERSISTENT: Final[int]
RUN_HEADERS: Final[int]
RUN_COPIES: Final[int]
RUN_DELAY: Final[int]
RUN_DEATHS: Final[int]

# (priority, 0 for none; expiration; user id; reply-to if it begins with amq.rabbitmq.reply-to), None if none is set
Concerns: TypeAlias = tuple[int, str | None, str | None, str | None]

class AmqpParser:
    """What one client sends, as events; behind the protocol header. Keeps only contents of which a part is missing.

    ``frame_max`` is what was agreed on, 8192 before (payloads up to that size are let through, as RabbitMQ does).
    A body beyond ``body_size_max`` is read to its end and then refused. Unfinished contents of all channels together
    may take ``partial_bytes_max``, four times that unless set.
    """

    frame_max: int
    body_size_max: int
    partial_bytes_max: int
    @property
    def partial_bytes(self) -> int: ...
    def __init__(self, *, frame_max: int = 8192, body_size_max: int = 16_777_216) -> None: ...
    def close(self) -> None:
        """The connection is being closed: from now on only methods on channel 0, and heartbeats, make events."""

    def parse(self, buf: Buffer, start: int, end: int) -> tuple[int, list[tuple[Any, ...]]]:
        """(start of the first incomplete frame, events). The order of what the client sent is kept.

        (AMQP_RUN, channel, exchange, key, flags, count, blob, concerns)
            consecutive publishes on one channel, alike in exchange, key, ``RUN_*`` flags and ``Concerns``; ``blob`` is
            the stored form of the run. ``RUN_PERSISTENT``: delivery mode 2. ``RUN_HEADERS``: all of them have a header
            table with something in it, and only ``split_run`` shows what. ``RUN_COPIES``: that table has ``CC`` or
            ``BCC``; ``RUN_DELAY``: ``x-delay``. Such a message is always a run of its own. Other properties pass unseen
            and unchanged.
        (AMQP_ACK, channel, low, high)             acks of single deliveries without a gap
        (AMQP_ACK_MULTIPLE, channel, tag)
        (AMQP_METHOD, channel, class, method, arguments)   every other method; the caller decides whether it exists
        (AMQP_HEARTBEAT,)
        (AMQP_ERROR, channel, code, text, class, method)
            406 is the channel's: a message was too large, and has passed. Any other code ends the connection: the
            parser then behaves as after ``close``; after 501 for the frame itself, nothing more is understood at all.
        """

def encode_run(
    blob: Buffer,
    position: int,
    count: int,
    channel: int,
    consumer_tag: str,
    tag_first: int,
    redelivered: bool,
    frame_max: int,
) -> tuple[bytes, int]:
    """Up to ``count`` messages from ``position`` (0: the first) as basic.deliver, and the position behind them."""

def encode_content(channel: int, method: Buffer, properties: Buffer, body: Buffer, frame_max: int) -> bytes:
    """A method (class, method, arguments) with a content: for returns, gets and messages changed on their way.
    ``properties`` begin with their flags, as ``split_run`` gives them."""

def build_run(exchange: str, key: str, flags: int, messages: Sequence[tuple[Buffer, Buffer]]) -> bytes:
    """A run of (properties, body); the caller answers for their likeness and for the flags."""

def run_info(blob: Buffer) -> tuple[str, str, int, int, int, Concerns | None]:
    """(exchange, key, flags, count, position of the first message, concerns). Does not check the checksum."""

def measure_run(blob: Buffer, position: int, count: int) -> tuple[int, int, int]:
    """Up to ``count`` messages from ``position`` (0: the first): (how many, size of their bodies, position behind)."""

def split_run(blob: Buffer, position: int, count: int) -> list[tuple[int, bytes, bytes]]:
    """Up to ``count`` messages from ``position`` (0: the first): (position, properties with their flags, body)."""

def run_to_batches(
    blob: Buffer, queue: str, now_ms: int, size_max: int, codec: int = 0
) -> tuple[list[tuple[bytearray, Batch, int]], int]:
    """The messages of a run as records of the stream ``queue`` (docs/formats/stream-records.md), up to the first that
    no batch of ``size_max`` bytes can hold: ([(batch, the same parsed, its first record without a key or -1)], how
    many messages are in them)."""

def records_to_runs(
    buf: Buffer,
    position: int,
    stop: int,
    aborted: list[tuple[int, int]],
    queue: str,
    *,
    size_max: int,
    properties_size_max: int,
    inflated_max: int,
    wanted: list[bytes] | None = None,
    match_unfiltered: bool = False,
) -> tuple[list[tuple[int, int, bytes]], int]:
    """Records of whole batches, offsets ``position`` to below ``stop``, as runs whose offsets have no gaps: ([(first
    offset, messages, run)], the offset to go on from). ``aborted`` is (first offset, producer id) of transactions that
    were rolled back. Ends early once the runs together have ``size_max`` bytes. ``wanted`` are values of
    ``x-stream-filter-value``; ``match_unfiltered``: records without that header, too."""

def scan_log(buf: Buffer, start: int, end: int) -> tuple[list[tuple[int, int, int]], int, str]:
    """As ``frame_scan``, but (offset, size) are those of whole frames, and a third number is the count of messages if
    the frame is a run, else 0."""
