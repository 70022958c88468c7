//! Fetched record batches as columns, in the memory layout of Apache Arrow: one growing buffer a column and no object
//! per record. What is aborted, a marker or outside the wanted offsets is passed over.

use crate::batch::{open, Fault, Header, ATTRIBUTE_CONTROL, ATTRIBUTE_TRANSACTIONAL};
use crate::records::{with_records, Record};

pub const KEY: u32 = 1;
pub const VALUE: u32 = 1 << 1;
pub const TOPIC: u32 = 1 << 2;
pub const PARTITION: u32 = 1 << 3;
pub const OFFSET: u32 = 1 << 4;
pub const TIMESTAMP: u32 = 1 << 5;
pub const TIMESTAMP_TYPE: u32 = 1 << 6;
pub const HEADERS: u32 = 1 << 7;

/// Values of any size, some of them null. Offsets are 32 bits wide, so the data must stay below two gigabytes.
#[derive(Debug)]
pub struct Binary {
    pub offsets: Vec<i32>,
    pub data: Vec<u8>,
    pub validity: Validity,
}

impl Default for Binary {
    fn default() -> Self {
        Self { offsets: vec![0], data: Vec::new(), validity: Validity::default() }
    }
}

impl Binary {
    #[inline(always)]
    fn push(&mut self, value: Option<&[u8]>) {
        if let Some(value) = value {
            self.data.extend_from_slice(value);
        }
        self.validity.push(value.is_some());
        self.offsets.push(self.data.len() as i32);
    }

    fn push_text(&mut self, bytes: &[u8]) {
        match String::from_utf8_lossy(bytes) {
            std::borrow::Cow::Borrowed(_) => self.push(Some(bytes)),
            std::borrow::Cow::Owned(text) => self.push(Some(text.as_bytes())),
        }
    }
}

/// One bit a row, least significant first; kept only from the first null on.
#[derive(Debug, Default)]
pub struct Validity {
    bits: Vec<u8>,
    rows: usize,
    pub nulls: usize,
}

impl Validity {
    #[inline(always)]
    fn push(&mut self, valid: bool) {
        if self.nulls > 0 || !valid {
            self.push_bit(valid);
        }
        self.rows += 1;
    }

    fn push_bit(&mut self, valid: bool) {
        if self.nulls == 0 {
            // Everything before the first null was valid; bits behind the last row stay zero.
            self.bits = vec![0xff; self.rows / 8];
            if !self.rows.is_multiple_of(8) {
                self.bits.push((1u8 << (self.rows % 8)) - 1);
            }
        }
        if self.rows.is_multiple_of(8) {
            self.bits.push(0);
        }
        if valid {
            self.bits[self.rows / 8] |= 1 << (self.rows % 8);
        } else {
            self.nulls += 1;
        }
    }

    /// None if there is no null.
    pub fn into_bits(self) -> Option<Vec<u8>> {
        (self.nulls > 0).then_some(self.bits)
    }
}

#[derive(Debug)]
pub struct HeaderLists {
    pub offsets: Vec<i32>,
    pub validity: Validity,
    pub names: Binary,
    pub values: Binary,
}

impl Default for HeaderLists {
    fn default() -> Self {
        Self { offsets: vec![0], validity: Validity::default(), names: Binary::default(), values: Binary::default() }
    }
}

#[derive(Debug, Default)]
pub struct Columns {
    pub rows: usize,
    pub keys: Binary,
    pub values: Binary,
    pub topics: Binary,
    pub partitions: Vec<i32>,
    pub offsets: Vec<i64>,
    pub timestamps_us: Vec<i64>,
    pub timestamp_types: Vec<i32>,
    pub headers: HeaderLists,
}

impl Columns {
    /// Empty, with room for about as much as there was: growing from nothing copies everything twice.
    pub fn empty_like(before: &Self) -> Self {
        fn room<T>(before: &[T]) -> Vec<T> {
            Vec::with_capacity(before.len() + before.len() / 8)
        }
        fn binary(before: &Binary) -> Binary {
            let mut made = Binary { offsets: room(&before.offsets), data: room(&before.data), ..Binary::default() };
            made.offsets.push(0);
            made
        }
        Self {
            keys: binary(&before.keys),
            values: binary(&before.values),
            topics: binary(&before.topics),
            partitions: room(&before.partitions),
            offsets: room(&before.offsets),
            timestamps_us: room(&before.timestamps_us),
            timestamp_types: room(&before.timestamp_types),
            ..Self::default()
        }
    }

    /// Bytes of keys, values and headers; the columns of fixed width come on top.
    pub fn data_size(&self) -> usize {
        self.keys.data.len()
            + self.values.data.len()
            + self.headers.names.data.len()
            + self.headers.values.data.len()
            + 8 * self.headers.names.offsets.len()
    }
}

/// Whose records stand where, and which of them are wanted.
#[derive(Debug, Default)]
pub struct Range {
    pub topic: Vec<u8>,
    pub partition: i32,
    /// The next offset to read.
    pub position: i64,
    /// The first offset that is not wanted any more.
    pub stop: i64,
    /// Of transactions that were rolled back: (first offset, producer id), in order. None reads everything.
    pub aborted: Option<Vec<(i64, i64)>>,
    aborted_seen: usize,
    aborting: Vec<i64>,
}

impl Range {
    pub fn new(topic: Vec<u8>, partition: i32, position: i64, stop: i64) -> Self {
        Self { topic, partition, position, stop, ..Self::default() }
    }

    /// What one answer says of transactions that were rolled back, from the position on.
    pub fn set_aborted(&mut self, aborted: Option<Vec<(i64, i64)>>) {
        self.aborted = aborted.map(|mut starts| {
            starts.sort_unstable();
            starts
        });
        self.aborted_seen = 0;
        self.aborting.clear();
    }

    pub fn hides(&mut self, header: &Header, last_offset: i64) -> bool {
        let Some(starts) = &self.aborted else { return false };
        while let Some((first, producer)) = starts.get(self.aborted_seen) {
            if *first > last_offset {
                break;
            }
            self.aborting.push(*producer);
            self.aborted_seen += 1;
        }
        header.attributes & ATTRIBUTE_TRANSACTIONAL != 0 && self.aborting.contains(&header.producer_id)
    }

    pub fn marker(&mut self, producer_id: i64) {
        self.aborting.retain(|each| *each != producer_id);
    }
}

/// Why `append` came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The bytes are used up, down to a batch that is not whole.
    Drained,
    /// The range is read to its end.
    Complete,
    /// There is enough for one take; more is to come from the same bytes.
    Full,
}

pub struct Limits {
    pub rows_max: usize,
    pub data_size_max: usize,
    pub inflated_max: usize,
}

/// Appends whole batches of `bytes`; returns where it stopped in them, and why.
pub fn append(
    columns: &mut Columns,
    wanted: u32,
    range: &mut Range,
    bytes: &[u8],
    limits: &Limits,
) -> Result<(usize, Ended), Fault> {
    let mut at = 0;
    while range.position < range.stop {
        if columns.rows >= limits.rows_max || columns.data_size() >= limits.data_size_max {
            return Ok((at, Ended::Full));
        }
        let header = match open(&bytes[at..]) {
            Ok(header) => header,
            Err(Fault::Short) => return Ok((at, Ended::Drained)),
            Err(fault) => return Err(fault),
        };
        let last_offset = header.base_offset.saturating_add(header.last_offset_delta as i64);
        let hidden = range.hides(&header, last_offset);
        if header.attributes & ATTRIBUTE_CONTROL != 0 {
            range.marker(header.producer_id);
        } else if !hidden && last_offset >= range.position {
            append_batch(columns, wanted, range, &header, &bytes[at..], limits.inflated_max)?;
        }
        range.position = range.position.max(last_offset.saturating_add(1));
        at += header.size;
    }
    Ok((at, Ended::Complete))
}

fn append_batch(
    columns: &mut Columns,
    wanted: u32,
    range: &Range,
    header: &Header,
    bytes: &[u8],
    inflated_max: usize,
) -> Result<(), Fault> {
    let rows_before = columns.rows;
    let timestamp_type = header.has_log_append_time() as i32;
    with_records(header, bytes, inflated_max, |mut records, _| {
        while let Some(record) = records.next_record()? {
            let offset = header.base_offset.wrapping_add(record.offset_delta as i64);
            if offset < range.position {
                continue;
            }
            if offset >= range.stop {
                break;
            }
            let timestamp = if timestamp_type == 1 {
                header.max_timestamp
            } else {
                header.base_timestamp.wrapping_add(record.timestamp_delta)
            };
            push_record(columns, wanted, &record);
            if wanted & OFFSET != 0 {
                columns.offsets.push(offset);
            }
            if wanted & TIMESTAMP != 0 {
                columns.timestamps_us.push(timestamp.saturating_mul(1000));
            }
            columns.rows += 1;
        }
        Ok(())
    })?;
    let rows = columns.rows;
    if wanted & PARTITION != 0 {
        columns.partitions.resize(rows, range.partition);
    }
    if wanted & TIMESTAMP_TYPE != 0 {
        columns.timestamp_types.resize(rows, timestamp_type);
    }
    if wanted & TOPIC != 0 {
        for _ in rows_before..rows {
            columns.topics.push(Some(&range.topic));
        }
    }
    Ok(())
}

#[inline(always)]
fn push_record(columns: &mut Columns, wanted: u32, record: &Record<'_>) {
    if wanted & KEY != 0 {
        columns.keys.push(record.key);
    }
    if wanted & VALUE != 0 {
        columns.values.push(record.value);
    }
    if wanted & HEADERS != 0 {
        push_headers(&mut columns.headers, record);
    }
}

fn push_headers(lists: &mut HeaderLists, record: &Record<'_>) {
    for (name, value) in record.headers() {
        lists.names.push_text(name);
        lists.values.push(value);
    }
    lists.validity.push(record.header_count > 0);
    lists.offsets.push(lists.values.offsets.len() as i32 - 1);
}

/// The offset behind the last whole batch, without looking inside: where the next request starts.
pub fn position_behind(bytes: &[u8], position: i64) -> i64 {
    let mut behind = position;
    let mut at = 0;
    while let Some(head) = bytes.get(at..).and_then(|rest| rest.first_chunk::<27>()) {
        let size = i32::from_be_bytes([head[8], head[9], head[10], head[11]]);
        let base = i64::from_be_bytes([head[0], head[1], head[2], head[3], head[4], head[5], head[6], head[7]]);
        let delta = i32::from_be_bytes([head[23], head[24], head[25], head[26]]);
        let Ok(size) = usize::try_from(size) else { break };
        if head[16] != 2 || size > bytes.len() - at - 12 {
            break;
        }
        behind = behind.max(base.saturating_add(delta as i64).saturating_add(1));
        at += size + 12;
    }
    behind
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{place, ATTRIBUTE_CONTROL};
    use crate::batch_build::{BatchBuilder, BatchFields};

    const ALL: u32 = 0xff;
    const LIMITS: Limits = Limits { rows_max: 1000, data_size_max: 1 << 20, inflated_max: 1 << 20 };

    fn batch(base_offset: i64, values: &[Option<&[u8]>], codec: u8, producer_id: i64, attributes: i16) -> Vec<u8> {
        let mut builder = BatchBuilder::default();
        for (at, value) in values.iter().enumerate() {
            builder.begin_record(at as i32, 5 + at as i64, None, *value, at);
            for _ in 0..at {
                builder.header(b"h\xff", None);
            }
            builder.end_record();
        }
        builder.finish(&BatchFields { base_offset, codec, producer_id, attributes, ..BatchFields::default() }).unwrap()
    }

    fn read(bytes: &[u8], position: i64, stop: i64, aborted: Option<Vec<(i64, i64)>>) -> (Columns, Range, Ended) {
        let mut range = Range::new(b"t".to_vec(), 3, position, stop);
        range.set_aborted(aborted);
        let mut columns = Columns::default();
        let (_, ended) = append(&mut columns, ALL, &mut range, bytes, &LIMITS).unwrap();
        (columns, range, ended)
    }

    #[test]
    fn every_field_lands_in_its_column_whatever_the_codec() {
        for codec in 0..=4 {
            let (columns, range, ended) = read(&batch(10, &[Some(b"ab"), None, Some(b"c")], codec, -1, 0), 0, 99, None);
            assert_eq!((columns.rows, range.position, ended), (3, 13, Ended::Drained));
            assert_eq!((&columns.values.offsets[..], &columns.values.data[..]), (&[0, 2, 2, 3][..], &b"abc"[..]));
            assert_eq!(columns.values.validity.into_bits(), Some(vec![0b101]));
            assert_eq!(columns.keys.validity.into_bits(), Some(vec![0]));
            assert_eq!((columns.offsets, columns.partitions), (vec![10, 11, 12], vec![3, 3, 3]));
            assert_eq!((columns.timestamps_us, columns.timestamp_types), (vec![5000, 6000, 7000], vec![0, 0, 0]));
            assert_eq!((columns.topics.data, columns.headers.offsets), (b"ttt".to_vec(), vec![0, 0, 1, 3]));
            assert_eq!(columns.headers.validity.into_bits(), Some(vec![0b110]));
            assert!(std::str::from_utf8(&columns.headers.names.data).is_ok());
        }
    }

    #[test]
    fn only_the_wanted_offsets_are_read() {
        let bytes = [batch(0, &[Some(&b"a"[..]); 4], 0, -1, 0), batch(4, &[Some(&b"b"[..]); 4], 0, -1, 0)].concat();
        let (columns, range, ended) = read(&bytes, 2, 6, None);
        assert_eq!((columns.offsets, range.position, ended), (vec![2, 3, 4, 5], 8, Ended::Complete));
    }

    #[test]
    fn aborted_records_and_markers_are_passed_over() {
        let transactional = ATTRIBUTE_TRANSACTIONAL;
        let bytes = [
            batch(0, &[Some(b"a")], 0, 7, transactional),
            batch(1, &[Some(b"b")], 0, 8, transactional),
            batch(2, &[Some(b"\0\0\0\0")], 0, 7, transactional | ATTRIBUTE_CONTROL),
            batch(3, &[Some(b"c")], 0, 7, transactional),
            batch(4, &[Some(b"d")], 0, 7, 0),
        ]
        .concat();
        let (columns, range, _) = read(&bytes, 0, 99, Some(vec![(0, 7)]));
        assert_eq!((&columns.values.data[..], range.position), (&b"bcd"[..], 5));
        let (columns, _, _) = read(&bytes, 0, 99, None);
        assert_eq!(columns.values.data, b"abcd");
    }

    #[test]
    fn what_is_too_much_for_one_take_waits() {
        let one = batch(0, &[Some(&[1u8; 600][..]); 2], 0, -1, 0);
        let mut two = one.clone();
        place(&mut two, 2, 0, -1, None).unwrap();
        let bytes = [one.clone(), two].concat();
        let mut range = Range::new(Vec::new(), 0, 0, 99);
        let mut columns = Columns::default();
        let limits = Limits { data_size_max: 1000, ..LIMITS };
        let stopped = append(&mut columns, VALUE, &mut range, &bytes, &limits).unwrap();
        assert_eq!((stopped, columns.rows), ((one.len(), Ended::Full), 2));
    }

    #[test]
    fn a_gap_is_stepped_over_and_a_cut_batch_waits_for_the_rest() {
        let bytes = [batch(0, &[Some(b"a")], 0, -1, 0), batch(900, &[Some(b"b"), Some(b"c")], 0, -1, 0)].concat();
        let (columns, range, _) = read(&bytes, 0, 10_000, None);
        assert_eq!((columns.offsets, range.position), (vec![0, 900, 901], 902));
        let (_, range, ended) = read(&bytes[..bytes.len() - 1], 0, 10_000, None);
        assert_eq!((range.position, ended), (1, Ended::Drained));
        assert_eq!(position_behind(&bytes, 0), 902);
        assert_eq!(position_behind(&bytes[..bytes.len() - 1], 0), 1);
    }

    #[test]
    fn damage_is_refused() {
        let mut bytes = batch(0, &[Some(b"a")], 0, -1, 0);
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        let mut range = Range::new(Vec::new(), 0, 0, 9);
        assert_eq!(append(&mut Columns::default(), ALL, &mut range, &bytes, &LIMITS), Err(Fault::Checksum));
    }

    #[test]
    fn validity_is_kept_from_the_first_null_on() {
        for first_null in [0, 1, 7, 8, 9, 20] {
            let mut validity = Validity::default();
            for row in 0..24 {
                validity.push(row != first_null);
            }
            let bits = validity.into_bits().unwrap();
            let read: Vec<bool> = (0..24).map(|row| bits[row / 8] >> (row % 8) & 1 == 1).collect();
            assert_eq!(read, (0..24).map(|row| row != first_null).collect::<Vec<_>>());
        }
    }
}
