//! Builds record batches from single records: for our own coordinators, the AMQP side of a topic, and compaction.

use crate::batch::{ATTRIBUTE_CODEC, HEADER_SIZE, LOG_OVERHEAD};
use crate::compress::{deflate, CODEC_NONE};
use crate::crc::crc32c;

/// What a batch header says besides what follows from its records.
#[derive(Clone, Copy, Debug)]
pub struct BatchFields {
    pub base_offset: i64,
    pub leader_epoch: i32,
    pub attributes: i16,
    pub codec: u8,
    pub producer_id: i64,
    pub producer_epoch: i16,
    pub base_sequence: i32,
}

impl Default for BatchFields {
    fn default() -> Self {
        Self {
            base_offset: 0,
            leader_epoch: -1,
            attributes: 0,
            codec: CODEC_NONE,
            producer_id: -1,
            producer_epoch: -1,
            base_sequence: -1,
        }
    }
}

const NULL: u8 = 1;
const NULL_AND_NO_HEADERS_SIZE: usize = 2;
const VARLONG_SIZE_MAX: usize = 10;

fn push_uvarlong(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub fn push_varlong(out: &mut Vec<u8>, value: i64) {
    push_uvarlong(out, ((value << 1) ^ (value >> 63)) as u64);
}

fn varlong_bytes(out: &mut [u8; VARLONG_SIZE_MAX], value: i64) -> &[u8] {
    let mut left = ((value << 1) ^ (value >> 63)) as u64;
    let mut size = 0;
    while left >= 0x80 {
        out[size] = left as u8 | 0x80;
        left >>= 7;
        size += 1;
    }
    out[size] = left as u8;
    &out[..=size]
}

fn push_nullable(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    match bytes {
        None => out.push(NULL),
        Some(bytes) => {
            push_varlong(out, bytes.len() as i64);
            out.extend_from_slice(bytes);
        }
    }
}

/// Collects records; `finish` makes the batch.
#[derive(Default)]
pub struct BatchBuilder {
    records: Vec<u8>,
    body: Vec<u8>,
    count: i32,
    last_offset_delta: i32,
    base_timestamp: i64,
    max_timestamp: i64,
}

impl BatchBuilder {
    /// Begins the record with the given offset delta; its headers follow by `header`, then `end_record`.
    pub fn begin_record(
        &mut self,
        offset_delta: i32,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        header_count: usize,
    ) {
        if self.count == 0 {
            self.base_timestamp = timestamp;
            self.max_timestamp = timestamp;
        }
        self.max_timestamp = self.max_timestamp.max(timestamp);
        self.body.clear();
        self.body.push(0);
        push_varlong(&mut self.body, timestamp.wrapping_sub(self.base_timestamp));
        push_varlong(&mut self.body, offset_delta as i64);
        push_nullable(&mut self.body, key);
        push_nullable(&mut self.body, value);
        push_varlong(&mut self.body, header_count as i64);
        self.last_offset_delta = offset_delta;
    }

    pub fn header(&mut self, key: &[u8], value: Option<&[u8]>) {
        push_nullable(&mut self.body, Some(key));
        push_nullable(&mut self.body, value);
    }

    pub fn end_record(&mut self) {
        push_varlong(&mut self.records, self.body.len() as i64);
        self.records.extend_from_slice(&self.body);
        self.count += 1;
    }

    /// The next record at once. `headers` are `header_count` of them as they lie in a record.
    pub fn push_record(
        &mut self,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        header_count: usize,
        headers: &[u8],
    ) {
        self.begin_record(self.count, timestamp, key, None, 0);
        self.body.truncate(self.body.len() - NULL_AND_NO_HEADERS_SIZE);
        let mut size = [0; VARLONG_SIZE_MAX];
        let size = match value {
            None => &[NULL][..],
            Some(value) => varlong_bytes(&mut size, value.len() as i64),
        };
        self.body.extend_from_slice(size);
        let mut count = [0; VARLONG_SIZE_MAX];
        let count = varlong_bytes(&mut count, header_count as i64);
        let value = value.unwrap_or_default();
        push_varlong(&mut self.records, (self.body.len() + value.len() + count.len() + headers.len()) as i64);
        // The value goes where it belongs without a stop on the way: it is nearly all there is.
        for part in [&self.body, value, count, headers] {
            self.records.extend_from_slice(part);
        }
        self.count += 1;
    }

    pub fn count(&self) -> i32 {
        self.count
    }

    /// Bytes of the records so far.
    pub fn size(&self) -> usize {
        self.records.len()
    }

    /// The batch; None if the codec is unknown or the batch would not fit its 31-bit length.
    pub fn finish(self, fields: &BatchFields) -> Option<Vec<u8>> {
        let payload = if fields.codec == CODEC_NONE { self.records } else { deflate(fields.codec, &self.records)? };
        let length = i32::try_from(HEADER_SIZE - LOG_OVERHEAD + payload.len()).ok()?;
        let mut out = Vec::with_capacity(HEADER_SIZE + payload.len());
        out.extend_from_slice(&fields.base_offset.to_be_bytes());
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&fields.leader_epoch.to_be_bytes());
        out.push(2);
        out.extend_from_slice(&[0; 4]);
        let attributes = (fields.attributes & !ATTRIBUTE_CODEC) | fields.codec as i16;
        out.extend_from_slice(&attributes.to_be_bytes());
        out.extend_from_slice(&self.last_offset_delta.to_be_bytes());
        out.extend_from_slice(&self.base_timestamp.to_be_bytes());
        out.extend_from_slice(&self.max_timestamp.to_be_bytes());
        out.extend_from_slice(&fields.producer_id.to_be_bytes());
        out.extend_from_slice(&fields.producer_epoch.to_be_bytes());
        out.extend_from_slice(&fields.base_sequence.to_be_bytes());
        out.extend_from_slice(&self.count.to_be_bytes());
        out.extend_from_slice(&payload);
        let crc = crc32c(&out[21..]);
        out[17..21].copy_from_slice(&crc.to_be_bytes());
        Some(out)
    }
}
