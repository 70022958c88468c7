//! Compaction of a stretch of log: which record is the last of its key, and the batches without the others.
//!
//! Two walks over whole batches: `map` notes the last offset of every key, `rewrite` copies what stays. What stays keeps
//! its offsets, timestamps, headers and codec; a batch keeps its first and last offset however many of its records go.
//! Who calls decides the stretch, the time and which producers still matter; the rules are in docs/formats/compaction.md.

use crate::batch::{open, Fault, Header, ATTRIBUTE_CODEC, ATTRIBUTE_CONTROL, HEADER_SIZE, LOG_OVERHEAD};
use crate::batch_build::push_varlong;
use crate::compress::{deflate, with_inflated, CODEC_NONE};
use crate::crc::crc32c;
use crate::cursor::Cursor;
use crate::records::Records;
use std::collections::HashMap;
use twox_hash::XxHash3_128;

pub const ATTRIBUTE_TRANSACTIONAL: i16 = 0x10;
/// The base timestamp is the time from which on tombstones and markers of the batch may go.
pub const ATTRIBUTE_HORIZON: i16 = 0x40;
const SLOT_SIZE: usize = 24;
const SLOTS_MIN: usize = 64;
const NO_TIMESTAMP: i64 = -1;

/// The last offset of each key, by the key's 128-bit hash. Open addressing; its size is fixed when it is made.
struct KeyMap {
    slots: Vec<[u64; 3]>, // two halves of the hash, offset + 1 (0: free)
    count: usize,
    limit: usize,
    seed: u64,
}

impl KeyMap {
    fn new(bytes_max: usize, records_max: u64, seed: u64) -> Self {
        let wanted = records_max.saturating_add(records_max / 4).min(usize::MAX as u64) as usize;
        let size = wanted.clamp(SLOTS_MIN, (bytes_max / SLOT_SIZE).max(SLOTS_MIN));
        Self { slots: vec![[0; 3]; size], count: 0, limit: size / 10 * 9, seed }
    }

    fn hash(&self, key: &[u8]) -> (u64, u64) {
        let hash = XxHash3_128::oneshot_with_seed(self.seed, key);
        ((hash >> 64) as u64, hash as u64)
    }

    fn find(&self, high: u64, low: u64) -> usize {
        let mut slot = ((high as u128 * self.slots.len() as u128) >> 64) as usize;
        loop {
            let [at_high, at_low, taken] = self.slots[slot];
            if taken == 0 || (at_high == high && at_low == low) {
                return slot;
            }
            slot += 1;
            if slot == self.slots.len() {
                slot = 0;
            }
        }
    }

    /// False when there is no room for one more key.
    #[inline]
    fn put(&mut self, key: &[u8], offset: i64) -> bool {
        let (high, low) = self.hash(key);
        let slot = self.find(high, low);
        if self.slots[slot][2] == 0 {
            if self.count >= self.limit {
                return false;
            }
            self.count += 1;
        }
        self.slots[slot] = [high, low, offset as u64 + 1];
        true
    }

    #[inline]
    fn last(&self, key: &[u8]) -> Option<i64> {
        let (high, low) = self.hash(key);
        match self.slots[self.find(high, low)][2] {
            0 => None,
            taken => Some(taken as i64 - 1),
        }
    }
}

/// An aborted transaction: producer, first offset, offset of its marker.
pub type Aborted = (i64, i64, i64);
/// A producer that still matters: id, first offset of its last batch (-1: none in its epoch), epoch.
pub type LastBatch = (i64, i64, i16);

/// What became of a segment: everything its index needs.
#[derive(Default, Debug)]
pub struct Written {
    pub size: u64,
    pub offset_end: i64,
    pub max_timestamp: i64,
    pub max_timestamp_position: u64,
    pub offsets: Vec<u8>,
    pub positions: Vec<u8>,
    pub times: Vec<u8>,
    pub epochs: Vec<(i32, i64)>,
    pub markers: Vec<i64>,
    /// Whether anything is other than it was.
    pub changed: bool,
    index_from: u64,
}

#[derive(Default, Debug, Clone, Copy)]
pub struct Counts {
    pub records_read: u64,
    pub records_kept: u64,
}

pub struct Compactor {
    keys: KeyMap,
    pub map_end: i64,
    aborted: HashMap<i64, Vec<(i64, i64)>>,
    producers: HashMap<i64, (i64, i16)>,
    inflated_max: usize,
    now_ms: i64,
    horizon_new: i64,
    /// The earliest time at which another pass would find something to drop; `i64::MAX` when there is none.
    pub horizon_next: i64,
    offset_next: i64, // where the next batch may begin
    offset_end: i64,
    has_gaps: bool,
    open: HashMap<i64, bool>, // producer -> whether data of its transaction stayed
    offset_base: i64,
    interval: u64,
    dropped: Option<Header>, // the last batch, if it went
    written: Written,
    pub counts: Counts,
    scratch: Vec<u8>,
}

enum Fate {
    Keep,
    Drop,
    Rebuild,
}

impl Compactor {
    pub fn new(
        bytes_max: usize,
        records_max: u64,
        seed: u64,
        aborted: &[Aborted],
        producers: &[LastBatch],
        inflated_max: usize,
    ) -> Self {
        let mut by_producer: HashMap<i64, Vec<(i64, i64)>> = HashMap::new();
        for &(producer_id, first, last) in aborted {
            by_producer.entry(producer_id).or_default().push((first, last));
        }
        for ranges in by_producer.values_mut() {
            ranges.sort_unstable(); // a producer's transactions follow one another
        }
        Self {
            keys: KeyMap::new(bytes_max, records_max, seed),
            map_end: 0,
            aborted: by_producer,
            producers: producers.iter().map(|&(id, offset, epoch)| (id, (offset, epoch))).collect(),
            inflated_max,
            now_ms: 0,
            horizon_new: 0,
            horizon_next: i64::MAX,
            offset_next: 0,
            offset_end: i64::MAX,
            has_gaps: true,
            open: HashMap::new(),
            offset_base: 0,
            interval: 0,
            dropped: None,
            written: Written::default(),
            counts: Counts::default(),
            scratch: Vec::new(),
        }
    }

    pub fn key_count(&self) -> usize {
        self.keys.count
    }

    fn is_aborted(&self, header: &Header) -> bool {
        header.attributes & ATTRIBUTE_TRANSACTIONAL != 0
            && self.aborted.get(&header.producer_id).is_some_and(|ranges| {
                let slot = ranges.partition_point(|&(_, last)| last < header.base_offset);
                ranges.get(slot).is_some_and(|&(first, _)| first <= header.base_offset)
            })
    }

    /// Said before each stretch that is read: which offsets it covers, and whether some of them may be missing. A
    /// batch's offset lies outside of its checksum: one that is out of place would hide what is newer than it.
    pub fn begin_reading(&mut self, offset_base: i64, offset_end: i64, has_gaps: bool) {
        self.offset_next = offset_base;
        self.offset_end = offset_end;
        self.has_gaps = has_gaps;
    }

    /// The header of the batch at the start, None when it is not whole.
    fn next_batch(&mut self, bytes: &[u8]) -> Result<Option<Header>, Fault> {
        let header = match open(bytes) {
            Ok(header) => header,
            Err(Fault::Short) => return Ok(None),
            Err(fault) => return Err(fault),
        };
        let end = header.base_offset.checked_add(header.last_offset_delta as i64 + 1).unwrap_or(i64::MIN);
        let follows =
            if self.has_gaps { header.base_offset >= self.offset_next } else { header.base_offset == self.offset_next };
        if !follows || end <= header.base_offset || end > self.offset_end {
            return Err(Fault::Invalid("a batch whose offsets are out of place"));
        }
        self.offset_next = end;
        Ok(Some(header))
    }

    /// Notes the keys of the whole batches that `bytes` begins with. Returns where the first batch begins that is not
    /// whole, and whether there was room for all.
    pub fn map(&mut self, bytes: &[u8]) -> Result<(usize, bool), Fault> {
        let mut at = 0;
        while let Some(header) = self.next_batch(&bytes[at..])? {
            let batch = &bytes[at..at + header.size];
            if header.attributes & ATTRIBUTE_CONTROL == 0 && !self.is_aborted(&header) {
                let keys = &mut self.keys;
                let stopped = with_payload(&header, batch, self.inflated_max, |payload| {
                    let mut records = Records::new(payload, header.record_count);
                    while let Some(record) = records.next_record()? {
                        if !(0..=header.last_offset_delta).contains(&record.offset_delta) {
                            return Err(Fault::Invalid("a record whose offset is not in its batch"));
                        }
                        let offset = header.base_offset + record.offset_delta as i64;
                        if let Some(key) = record.key {
                            if !keys.put(key, offset) {
                                return Ok(Some(offset));
                            }
                        }
                    }
                    Ok(None)
                })?;
                if let Some(offset) = stopped {
                    self.map_end = offset;
                    return Ok((at, false));
                }
            }
            self.map_end = last_offset(&header) + 1;
            at += header.size;
        }
        Ok((at, true))
    }

    /// Begins the rewriting. Tombstones and markers that stay get a horizon `delete_retention_ms` from now.
    pub fn begin(&mut self, now_ms: i64, delete_retention_ms: i64) {
        self.now_ms = now_ms;
        self.horizon_new = now_ms.saturating_add(delete_retention_ms);
    }

    pub fn begin_segment(&mut self, offset_base: i64, interval: u64) {
        self.offset_base = offset_base;
        self.interval = interval;
        self.dropped = None;
        self.written = Written { max_timestamp: NO_TIMESTAMP, offset_end: offset_base, ..Written::default() };
    }

    /// Appends to `out` what stays of the whole batches that `bytes` begins with; returns where the rest begins.
    pub fn rewrite(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<usize, Fault> {
        let mut at = 0;
        while let Some(header) = self.next_batch(&bytes[at..])? {
            let batch = &bytes[at..at + header.size];
            if header.attributes & ATTRIBUTE_CONTROL != 0 {
                self.rewrite_control(&header, batch, out)?;
            } else {
                self.rewrite_data(&header, batch, out)?;
            }
            at += header.size;
        }
        Ok(at)
    }

    /// Ends the segment. Its last batch stays, if only as a header, so that the file itself says where it ends.
    pub fn end_segment(&mut self, out: &mut Vec<u8>) -> Written {
        if let Some(header) = self.dropped.take() {
            self.push_empty(&header, out);
        }
        std::mem::take(&mut self.written)
    }

    fn rewrite_data(&mut self, header: &Header, batch: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        self.counts.records_read += header.record_count.max(0) as u64;
        if header.record_count <= 0 || self.is_aborted(header) {
            self.drop_batch(header, out);
            return Ok(());
        }
        let horizon = (header.attributes & ATTRIBUTE_HORIZON != 0).then_some(header.base_timestamp);
        let expired = horizon.is_some_and(|horizon| horizon <= self.now_ms);
        let (keys, map_end, scratch) = (&self.keys, self.map_end, &mut self.scratch);
        scratch.clear();
        let mut kept = 0i32;
        let mut has_tombstone = false;
        let mut needs_horizon = false;
        let mut max_timestamp = NO_TIMESTAMP;
        let stays = |record: &crate::records::Record<'_>| {
            let Some(key) = record.key else { return false };
            if expired && record.value.is_none() {
                return false;
            }
            let offset = header.base_offset.wrapping_add(record.offset_delta as i64);
            offset >= map_end || keys.last(key).is_none_or(|last| offset >= last)
        };
        with_payload(header, batch, self.inflated_max, |payload| {
            let mut records = Records::new(payload, header.record_count);
            let mut begins = 0;
            while let Some(record) = records.next_record()? {
                let ends = records.position();
                if stays(&record) {
                    kept += 1;
                    if record.value.is_none() {
                        has_tombstone = true;
                        needs_horizon |= header.base_offset.wrapping_add(record.offset_delta as i64) < map_end;
                    }
                    max_timestamp = max_timestamp.max(header.base_timestamp.wrapping_add(record.timestamp_delta));
                    scratch.extend_from_slice(&payload[begins..ends]);
                }
                begins = ends;
            }
            Ok(())
        })?;
        if kept == 0 {
            self.drop_batch(header, out);
            return Ok(());
        }
        self.counts.records_kept += kept as u64;
        if header.attributes & ATTRIBUTE_TRANSACTIONAL != 0 {
            self.open.insert(header.producer_id, true);
        }
        let horizon_new = (needs_horizon && horizon.is_none()).then_some(self.horizon_new);
        if has_tombstone {
            self.horizon_next = self.horizon_next.min(horizon.or(horizon_new).unwrap_or(i64::MAX));
        }
        if kept == header.record_count && horizon_new.is_none() {
            self.push_whole(header, batch, out);
            return Ok(());
        }
        if header.has_log_append_time() {
            max_timestamp = header.max_timestamp;
        }
        self.rebuild(header, kept, max_timestamp, horizon_new, out)
    }

    fn rewrite_control(&mut self, header: &Header, batch: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        match self.fate_of_marker(header, batch)? {
            Fate::Keep => self.push_whole(header, batch, out),
            Fate::Drop => self.drop_batch(header, out),
            Fate::Rebuild => {
                let scratch = &mut self.scratch;
                scratch.clear();
                with_payload(header, batch, self.inflated_max, |payload| {
                    scratch.extend_from_slice(payload);
                    Ok(())
                })?;
                self.rebuild(header, header.record_count, header.max_timestamp, Some(self.horizon_new), out)?;
            }
        }
        if header.record_count > 0 {
            self.open.remove(&header.producer_id);
        }
        Ok(())
    }

    fn fate_of_marker(&mut self, header: &Header, batch: &[u8]) -> Result<Fate, Fault> {
        if header.attributes & ATTRIBUTE_TRANSACTIONAL == 0 {
            return Ok(Fate::Keep); // control records of another kind
        }
        if header.record_count <= 0 {
            return Ok(Fate::Drop);
        }
        let kind = with_payload(header, batch, self.inflated_max, |payload| {
            let record = Records::new(payload, header.record_count).next_record()?;
            let key = record.and_then(|record| record.key).unwrap_or(&[]);
            Ok(key.get(2..4).map(|kind| i16::from_be_bytes([kind[0], kind[1]])))
        })?;
        if !matches!(kind, Some(0 | 1)) || self.open.get(&header.producer_id).is_some_and(|stayed| *stayed) {
            return Ok(Fate::Keep);
        }
        let horizon = if header.attributes & ATTRIBUTE_HORIZON != 0 { header.base_timestamp } else { self.horizon_new };
        if header.attributes & ATTRIBUTE_HORIZON == 0 {
            self.horizon_next = self.horizon_next.min(horizon);
            return Ok(Fate::Rebuild);
        }
        if horizon <= self.now_ms {
            return Ok(Fate::Drop);
        }
        self.horizon_next = self.horizon_next.min(horizon);
        Ok(Fate::Keep)
    }

    /// Whether a batch must stay although nothing in it does: a producer's next sequence, or its epoch, hangs on it.
    fn is_last_of_producer(&self, header: &Header) -> bool {
        self.producers.get(&header.producer_id).is_some_and(|&(offset, epoch)| {
            if header.attributes & ATTRIBUTE_CONTROL != 0 {
                offset < 0 && epoch == header.producer_epoch
            } else {
                offset == header.base_offset
            }
        })
    }

    fn drop_batch(&mut self, header: &Header, out: &mut Vec<u8>) {
        if header.producer_id >= 0 && self.is_last_of_producer(header) {
            self.push_empty(header, out);
        } else {
            self.dropped = Some(*header);
            self.written.changed = true;
        }
    }

    fn push_whole(&mut self, header: &Header, batch: &[u8], out: &mut Vec<u8>) {
        self.note(header, header.size, header.max_timestamp, header.attributes, header.record_count);
        out.extend_from_slice(batch);
    }

    fn push_empty(&mut self, header: &Header, out: &mut Vec<u8>) {
        let mut attributes = header.attributes & !(ATTRIBUTE_CODEC | ATTRIBUTE_HORIZON);
        if attributes & ATTRIBUTE_CONTROL == 0 {
            // Its marker may go before it does, and it must not look as if its transaction were open then.
            attributes &= !ATTRIBUTE_TRANSACTIONAL;
        }
        self.written.changed |= header.record_count > 0;
        self.note(header, HEADER_SIZE, NO_TIMESTAMP, attributes, 0);
        push_batch(header, attributes, NO_TIMESTAMP, NO_TIMESTAMP, 0, &[], out);
    }

    /// The batch anew with the records in `scratch`.
    fn rebuild(
        &mut self,
        header: &Header,
        count: i32,
        max_timestamp: i64,
        horizon_new: Option<i64>,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let mut records = std::mem::take(&mut self.scratch);
        let (mut attributes, mut base_timestamp) = (header.attributes, header.base_timestamp);
        if let Some(horizon) = horizon_new {
            records = with_other_base(&records, count, base_timestamp.wrapping_sub(horizon))?;
            attributes |= ATTRIBUTE_HORIZON;
            base_timestamp = horizon;
        }
        let payload = match header.codec() {
            CODEC_NONE => None,
            codec => Some(deflate(codec, &records).ok_or(Fault::UnknownCodec)?),
        };
        let payload = payload.as_deref().unwrap_or(&records);
        if i32::try_from(HEADER_SIZE + payload.len()).is_err() {
            return Err(Fault::TooLarge);
        }
        self.written.changed = true;
        self.note(header, HEADER_SIZE + payload.len(), max_timestamp, attributes, count);
        push_batch(header, attributes, base_timestamp, max_timestamp, count, payload, out);
        self.scratch = records;
        Ok(())
    }

    fn note(&mut self, header: &Header, size: usize, max_timestamp: i64, attributes: i16, record_count: i32) {
        self.dropped = None;
        let written = &mut self.written;
        let position = written.size;
        if position >= written.index_from {
            if position > 0 {
                let offset = (header.base_offset - self.offset_base) as u32;
                written.offsets.extend_from_slice(&offset.to_le_bytes());
                written.positions.extend_from_slice(&(position as u32).to_le_bytes());
                written.times.extend_from_slice(&written.max_timestamp.to_le_bytes());
            }
            written.index_from = position + self.interval;
        }
        if max_timestamp > written.max_timestamp {
            written.max_timestamp = max_timestamp;
            written.max_timestamp_position = position;
        }
        if written.epochs.last().is_none_or(|&(epoch, _)| epoch != header.leader_epoch) {
            written.epochs.push((header.leader_epoch, header.base_offset));
        }
        if attributes & ATTRIBUTE_CONTROL != 0 && record_count > 0 {
            written.markers.push(header.base_offset);
        }
        written.size += size as u64;
        written.offset_end = last_offset(header) + 1;
    }
}

fn last_offset(header: &Header) -> i64 {
    header.base_offset.wrapping_add(header.last_offset_delta as i64)
}

fn with_payload<T>(
    header: &Header,
    batch: &[u8],
    inflated_max: usize,
    walk: impl FnOnce(&[u8]) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let payload = &batch[HEADER_SIZE..];
    if header.codec() == CODEC_NONE || header.record_count <= 0 {
        return walk(payload);
    }
    with_inflated(header.codec(), payload, inflated_max, walk)?
}

/// The same records, their timestamps counted from a base that lies `shift` earlier.
fn with_other_base(records: &[u8], count: i32, shift: i64) -> Result<Vec<u8>, Fault> {
    let mut out = Vec::with_capacity(records.len() + 8 * count as usize);
    let mut body = Vec::new();
    let mut cursor = Cursor::new(records);
    for _ in 0..count {
        let size = cursor.varint()?;
        let record = cursor.take(usize::try_from(size).map_err(|_| Fault::Invalid("a record of negative size"))?)?;
        let mut fields = Cursor::new(record);
        body.clear();
        body.push(fields.u8()?);
        push_varlong(&mut body, fields.varlong()?.wrapping_add(shift));
        body.extend_from_slice(fields.rest_bytes());
        push_varlong(&mut out, body.len() as i64);
        out.extend_from_slice(&body);
    }
    Ok(out)
}

fn push_batch(
    header: &Header,
    attributes: i16,
    base_timestamp: i64,
    max_timestamp: i64,
    record_count: i32,
    payload: &[u8],
    out: &mut Vec<u8>,
) {
    let start = out.len();
    out.extend_from_slice(&header.base_offset.to_be_bytes());
    out.extend_from_slice(&((HEADER_SIZE - LOG_OVERHEAD + payload.len()) as i32).to_be_bytes());
    out.extend_from_slice(&header.leader_epoch.to_be_bytes());
    out.push(2);
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&attributes.to_be_bytes());
    out.extend_from_slice(&header.last_offset_delta.to_be_bytes());
    out.extend_from_slice(&base_timestamp.to_be_bytes());
    out.extend_from_slice(&max_timestamp.to_be_bytes());
    out.extend_from_slice(&header.producer_id.to_be_bytes());
    out.extend_from_slice(&header.producer_epoch.to_be_bytes());
    out.extend_from_slice(&header.base_sequence.to_be_bytes());
    out.extend_from_slice(&record_count.to_be_bytes());
    out.extend_from_slice(payload);
    let crc = crc32c(&out[start + 21..]);
    out[start + 17..start + 21].copy_from_slice(&crc.to_be_bytes());
}

#[cfg(test)]
#[path = "compact_tests.rs"]
mod tests;
