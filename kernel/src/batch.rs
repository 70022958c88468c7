//! Kafka record batches (magic 2): the header, the walk over records, and the checks a produced batch must pass.
//! Byte for byte described in docs/formats/record-batch.md.

use crate::compress::{with_inflated, InflateError, CODEC_NONE};
use crate::crc::crc32c;
use crate::cursor::{Checked, Cursor, Malformed};

pub const HEADER_SIZE: usize = 61;
/// Base offset and length come in front of what the length counts.
pub const LOG_OVERHEAD: usize = 12;
const MAGIC_AT: usize = 16;
const CRC_AT: usize = 17;
const ATTRIBUTES_AT: usize = 21;
const MAX_TIMESTAMP_AT: usize = 35;

pub const ATTRIBUTE_CODEC: i16 = 0x07;
pub const ATTRIBUTE_LOG_APPEND_TIME: i16 = 0x08;
pub const ATTRIBUTE_CONTROL: i16 = 0x20;

/// The smallest record: length, attributes, two deltas, two null lengths, header count.
const RECORD_SIZE_MIN: usize = 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Of the whole batch, from its base offset to its last record.
    pub size: usize,
    pub base_offset: i64,
    pub leader_epoch: i32,
    pub magic: i8,
    pub crc: u32,
    pub attributes: i16,
    pub last_offset_delta: i32,
    pub base_timestamp: i64,
    pub max_timestamp: i64,
    pub producer_id: i64,
    pub producer_epoch: i16,
    pub base_sequence: i32,
    pub record_count: i32,
}

impl Header {
    pub fn codec(&self) -> u8 {
        (self.attributes & ATTRIBUTE_CODEC) as u8
    }

    pub fn has_log_append_time(&self) -> bool {
        self.attributes & ATTRIBUTE_LOG_APPEND_TIME != 0
    }
}

/// What is wrong with a stored or produced batch, with Kafka's code for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The bytes end inside the batch.
    Short,
    Length,
    Checksum,
    OldMagic,
    UnknownMagic,
    UnknownCodec,
    CorruptCompression,
    TooLarge,
    Invalid(&'static str),
}

impl Fault {
    pub fn code(self) -> i16 {
        match self {
            Fault::Short | Fault::Length | Fault::Checksum | Fault::CorruptCompression => 2,
            Fault::TooLarge => 10,
            Fault::OldMagic => 43,
            Fault::UnknownCodec => 76,
            Fault::UnknownMagic | Fault::Invalid(_) => 87,
        }
    }

    pub fn text(self) -> &'static str {
        match self {
            Fault::Short => "the batch is not whole",
            Fault::Length => "the batch length is impossible",
            Fault::Checksum => "the batch checksum is wrong",
            Fault::OldMagic => "the batch has an old format",
            Fault::UnknownMagic => "the batch has an unknown format",
            Fault::UnknownCodec => "the batch has an unknown codec",
            Fault::CorruptCompression => "the compressed records are damaged",
            Fault::TooLarge => "the records inflate beyond the limit",
            Fault::Invalid(text) => text,
        }
    }
}

impl From<InflateError> for Fault {
    fn from(error: InflateError) -> Self {
        match error {
            InflateError::UnknownCodec => Fault::UnknownCodec,
            InflateError::Corrupt => Fault::CorruptCompression,
            InflateError::TooLarge => Fault::TooLarge,
        }
    }
}

impl From<Malformed> for Fault {
    fn from(error: Malformed) -> Self {
        Fault::Invalid(error.0)
    }
}

fn chunk<const WIDTH: usize>(header: &[u8; HEADER_SIZE], at: usize) -> [u8; WIDTH] {
    let mut out = [0u8; WIDTH];
    out.copy_from_slice(&header[at..at + WIDTH]);
    out
}

/// Reads the header of the batch that starts `bytes`, and checks magic, length and checksum. `bytes` may go on behind.
pub fn open(bytes: &[u8]) -> Result<Header, Fault> {
    if bytes.len() > MAGIC_AT {
        match bytes[MAGIC_AT] as i8 {
            2 => {}
            0 | 1 => return Err(Fault::OldMagic),
            _ => return Err(Fault::UnknownMagic),
        }
    }
    if bytes.len() >= LOG_OVERHEAD {
        let length = i32::from_be_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
        if length < (HEADER_SIZE - LOG_OVERHEAD) as i32 {
            return Err(Fault::Length);
        }
    }
    let raw = bytes.first_chunk::<HEADER_SIZE>().ok_or(Fault::Short)?;
    let header = Header {
        base_offset: i64::from_be_bytes(chunk(raw, 0)),
        size: i32::from_be_bytes(chunk(raw, 8)) as usize + LOG_OVERHEAD,
        leader_epoch: i32::from_be_bytes(chunk(raw, 12)),
        magic: raw[MAGIC_AT] as i8,
        crc: u32::from_be_bytes(chunk(raw, CRC_AT)),
        attributes: i16::from_be_bytes(chunk(raw, ATTRIBUTES_AT)),
        last_offset_delta: i32::from_be_bytes(chunk(raw, 23)),
        base_timestamp: i64::from_be_bytes(chunk(raw, 27)),
        max_timestamp: i64::from_be_bytes(chunk(raw, MAX_TIMESTAMP_AT)),
        producer_id: i64::from_be_bytes(chunk(raw, 43)),
        producer_epoch: i16::from_be_bytes(chunk(raw, 51)),
        base_sequence: i32::from_be_bytes(chunk(raw, 53)),
        record_count: i32::from_be_bytes(chunk(raw, 57)),
    };
    let whole = bytes.get(..header.size).ok_or(Fault::Short)?;
    if crc32c(&whole[ATTRIBUTES_AT..]) != header.crc {
        return Err(Fault::Checksum);
    }
    Ok(header)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    pub timestamp_delta: i64,
    pub offset_delta: i32,
    pub key: Option<&'a [u8]>,
    pub value: Option<&'a [u8]>,
    pub header_count: u32,
    headers: &'a [u8],
}

impl<'a> Record<'a> {
    pub fn headers(&self) -> Headers<'a> {
        Headers { cursor: Cursor::new(self.headers), left: self.header_count }
    }
}

/// The headers of a record that was read before, so that nothing in them can be wrong any more.
pub struct Headers<'a> {
    cursor: Cursor<'a>,
    left: u32,
}

impl<'a> Iterator for Headers<'a> {
    type Item = (&'a [u8], Option<&'a [u8]>);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let key = self.cursor.nullable_bytes_varint().ok()??;
        Some((key, self.cursor.nullable_bytes_varint().ok()?))
    }
}

/// Walks the (inflated) records of one batch.
pub struct Records<'a> {
    cursor: Cursor<'a>,
    left: i32,
}

impl<'a> Records<'a> {
    pub fn new(bytes: &'a [u8], count: i32) -> Self {
        Self { cursor: Cursor::new(bytes), left: count }
    }

    /// The next record, None behind the last one. Whatever is left over behind the last one is an error.
    #[inline(always)]
    pub fn next_record(&mut self) -> Checked<Option<Record<'a>>> {
        if self.left <= 0 {
            return if self.cursor.is_at_end() { Ok(None) } else { Err(Malformed("bytes behind the last record")) };
        }
        self.left -= 1;
        let size = self.cursor.varint()?;
        if size < (RECORD_SIZE_MIN - 1) as i32 {
            return Err(Malformed("a record is shorter than its fields"));
        }
        let body = self.cursor.take(size as usize)?;
        let mut fields = Cursor::new(body);
        fields.u8()?;
        let timestamp_delta = fields.varlong()?;
        let offset_delta = fields.varint()?;
        let key = fields.nullable_bytes_varint()?;
        let value = fields.nullable_bytes_varint()?;
        let header_count = fields.varint()?;
        if header_count < 0 {
            return Err(Malformed("a negative header count"));
        }
        let headers = &body[fields.position()..];
        for _ in 0..header_count {
            if fields.nullable_bytes_varint()?.is_none() {
                return Err(Malformed("a header without a key"));
            }
            fields.nullable_bytes_varint()?;
        }
        if !fields.is_at_end() {
            return Err(Malformed("bytes behind the fields of a record"));
        }
        Ok(Some(Record { timestamp_delta, offset_delta, key, value, header_count: header_count as u32, headers }))
    }
}

/// Runs `walk` over the records of a batch, inflated if need be.
pub fn with_records<T>(
    header: &Header,
    bytes: &[u8],
    inflated_max: usize,
    walk: impl FnOnce(Records<'_>, usize) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let payload = bytes.get(HEADER_SIZE..header.size).ok_or(Fault::Short)?;
    if header.codec() == CODEC_NONE {
        return walk(Records::new(payload, header.record_count), 0);
    }
    with_inflated(header.codec(), payload, inflated_max, |inflated| {
        walk(Records::new(inflated, header.record_count), inflated.len())
    })?
}

/// What the check of a produced batch found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// With `max_timestamp` as the records really have it.
    pub header: Header,
    /// Index of the first record without a key, -1 if all have one.
    pub keyless_at: i32,
    pub inflated_size: usize,
}

/// Index of the record that broke a rule (-1: the batch itself), and what was wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub record_at: i32,
    pub fault: Fault,
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Refusal { record_at: -1, fault }
    }
}

/// Checks a batch as a client may produce it: exactly one, whole, numbered 0..n-1, nothing behind.
pub fn check(bytes: &[u8], inflated_max: usize) -> Result<Verdict, Refusal> {
    if bytes.is_empty() {
        return Err(Fault::Invalid("no records").into());
    }
    let header = open(bytes)?;
    if header.size != bytes.len() {
        return Err(Fault::Invalid("more than one batch").into());
    }
    if header.codec() > crate::compress::CODEC_ZSTD {
        return Err(Fault::UnknownCodec.into());
    }
    if header.attributes & ATTRIBUTE_CONTROL != 0 {
        return Err(Fault::Invalid("a control batch").into());
    }
    if header.record_count <= 0 || header.last_offset_delta != header.record_count - 1 {
        return Err(Fault::Invalid("the record count does not fit the offsets").into());
    }
    if header.producer_id >= 0 && header.base_sequence < 0 {
        return Err(Fault::Invalid("a producer without a sequence").into());
    }
    let mut record_at = -1;
    let walked = with_records(&header, bytes, inflated_max, |records, inflated_size| {
        let (keyless_at, delta_max) = walk_produced(records, &mut record_at)?;
        Ok((keyless_at, delta_max, inflated_size))
    });
    let (keyless_at, delta_max, inflated_size) = walked.map_err(|fault| Refusal { record_at, fault })?;
    let Some(max_timestamp) = header.base_timestamp.checked_add(delta_max) else {
        return Err(Fault::Invalid("a timestamp beyond 64 bits").into());
    };
    let max_timestamp = if header.has_log_append_time() { header.max_timestamp } else { max_timestamp };
    Ok(Verdict { header: Header { max_timestamp, ..header }, keyless_at, inflated_size })
}

fn walk_produced(mut records: Records<'_>, record_at: &mut i32) -> Result<(i32, i64), Fault> {
    let mut keyless_at = -1;
    let mut delta_max = i64::MIN;
    let mut index = 0;
    *record_at = 0;
    while let Some(record) = records.next_record().inspect_err(|_| *record_at = index)? {
        if record.offset_delta != index {
            *record_at = index;
            return Err(Fault::Invalid("the offsets of the records are not 0, 1, 2 ..."));
        }
        if keyless_at < 0 && record.key.is_none() {
            keyless_at = index;
        }
        delta_max = delta_max.max(record.timestamp_delta);
        index += 1;
    }
    Ok((keyless_at, delta_max))
}

/// Why a scan over a log stopped.
pub fn stop_reason(fault: Fault) -> &'static str {
    match fault {
        Fault::Short => "short",
        Fault::Checksum => "crc",
        Fault::OldMagic | Fault::UnknownMagic => "magic",
        _ => "length",
    }
}

pub struct BatchScan {
    pub batches: Vec<(usize, Header)>,
    pub valid_end: usize,
    pub stop: Option<Fault>,
}

/// Whole, correct batches from the start of `bytes`; positions count from there.
pub fn scan(bytes: &[u8]) -> BatchScan {
    let mut found = BatchScan { batches: Vec::new(), valid_end: 0, stop: None };
    while found.valid_end < bytes.len() {
        match open(&bytes[found.valid_end..]) {
            Ok(header) => {
                found.batches.push((found.valid_end, header));
                found.valid_end += header.size;
            }
            Err(fault) => {
                found.stop = Some(fault);
                break;
            }
        }
    }
    found
}

/// Writes what the log decides into a batch: offset and epoch lie outside the checksum, timestamps inside.
pub fn place(
    batch: &mut [u8],
    base_offset: i64,
    leader_epoch: i32,
    log_append_time_ms: i64,
    max_timestamp: Option<i64>,
) -> Result<(), Fault> {
    if batch.len() < HEADER_SIZE {
        return Err(Fault::Short);
    }
    let length = i32::from_be_bytes([batch[8], batch[9], batch[10], batch[11]]);
    if length < (HEADER_SIZE - LOG_OVERHEAD) as i32 {
        return Err(Fault::Length);
    }
    let batch = batch.get_mut(..length as usize + LOG_OVERHEAD).ok_or(Fault::Short)?;
    batch[..8].copy_from_slice(&base_offset.to_be_bytes());
    batch[12..16].copy_from_slice(&leader_epoch.to_be_bytes());
    let timestamp = if log_append_time_ms >= 0 { Some(log_append_time_ms) } else { max_timestamp };
    let Some(timestamp) = timestamp.map(i64::to_be_bytes) else { return Ok(()) };
    let mut attributes = i16::from_be_bytes([batch[ATTRIBUTES_AT], batch[ATTRIBUTES_AT + 1]]);
    if log_append_time_ms >= 0 {
        attributes |= ATTRIBUTE_LOG_APPEND_TIME;
    }
    let attributes = attributes.to_be_bytes();
    if batch[MAX_TIMESTAMP_AT..MAX_TIMESTAMP_AT + 8] == timestamp && batch[ATTRIBUTES_AT..ATTRIBUTES_AT + 2] == attributes {
        return Ok(());
    }
    batch[MAX_TIMESTAMP_AT..MAX_TIMESTAMP_AT + 8].copy_from_slice(&timestamp);
    batch[ATTRIBUTES_AT..ATTRIBUTES_AT + 2].copy_from_slice(&attributes);
    let crc = crc32c(&batch[ATTRIBUTES_AT..]);
    batch[CRC_AT..CRC_AT + 4].copy_from_slice(&crc.to_be_bytes());
    Ok(())
}

/// Calls `visit` with every record's offset and timestamp until it says stop (false).
pub fn visit(
    bytes: &[u8],
    inflated_max: usize,
    mut visit: impl FnMut(i64, i64, &Record<'_>) -> bool,
) -> Result<Header, Fault> {
    let header = open(bytes)?;
    with_records(&header, bytes, inflated_max, |mut records, _| {
        while let Some(record) = records.next_record()? {
            let offset = header.base_offset.wrapping_add(record.offset_delta as i64);
            let timestamp = if header.has_log_append_time() {
                header.max_timestamp
            } else {
                header.base_timestamp.wrapping_add(record.timestamp_delta)
            };
            if !visit(offset, timestamp, &record) {
                break;
            }
        }
        Ok(header)
    })
}

/// The first record at or after `timestamp`.
pub fn find_timestamp(bytes: &[u8], timestamp: i64, inflated_max: usize) -> Result<Option<(i64, i64)>, Fault> {
    let mut found = None;
    visit(bytes, inflated_max, |offset, record_timestamp, _| {
        if record_timestamp >= timestamp {
            found = Some((offset, record_timestamp));
        }
        found.is_none()
    })?;
    Ok(found)
}

/// The first of the records that have the batch's highest timestamp; None if the batch is empty.
pub fn max_timestamp_record(bytes: &[u8], inflated_max: usize) -> Result<Option<(i64, i64)>, Fault> {
    let mut best: Option<(i64, i64)> = None;
    visit(bytes, inflated_max, |offset, timestamp, _| {
        if best.is_none_or(|(_, highest)| timestamp > highest) {
            best = Some((offset, timestamp));
        }
        true
    })?;
    Ok(best)
}
