//! The records inside a batch, read where they lie, or inflated first.

use crate::batch::{open, Fault, Header, HEADER_SIZE};
use crate::compress::{with_inflated, CODEC_NONE};
use crate::cursor::{Checked, Cursor, Malformed};

/// What follows the length of the smallest record: attributes, two deltas, two null lengths, header count.
const RECORD_BODY_SIZE_MIN: i32 = 6;

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

    /// Where the next record begins.
    pub fn position(&self) -> usize {
        self.cursor.position()
    }

    /// The next record, None behind the last one. Whatever is left over behind the last one is an error.
    #[inline(always)]
    pub fn next_record(&mut self) -> Checked<Option<Record<'a>>> {
        if self.left <= 0 {
            return if self.cursor.is_at_end() { Ok(None) } else { Err(Malformed("bytes behind the last record")) };
        }
        self.left -= 1;
        let size = self.cursor.varint()?;
        if size < RECORD_BODY_SIZE_MIN {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch_build::{BatchBuilder, BatchFields};

    /// Offsets and timestamps as a compacted batch may have them, the highest timestamp twice.
    fn compacted(attributes: i16, codec: u8) -> Vec<u8> {
        let mut builder = BatchBuilder::default();
        for (offset_delta, timestamp) in [(1, 500), (4, 300), (5, 900), (9, 900)] {
            builder.begin_record(offset_delta, timestamp, Some(b"key"), None, 2);
            builder.header(b"first", Some(b"1"));
            builder.header(b"second", None);
            builder.end_record();
        }
        builder.finish(&BatchFields { base_offset: 100, attributes, codec, ..BatchFields::default() }).unwrap()
    }

    #[test]
    fn records_come_out_as_they_were_put_in() {
        for codec in 0..5 {
            let bytes = compacted(0, codec);
            let mut seen = Vec::new();
            visit(&bytes, 1 << 20, |offset, timestamp, record| {
                assert_eq!((record.key, record.value), (Some(&b"key"[..]), None));
                let headers: Vec<_> = record.headers().collect();
                assert_eq!(headers, vec![(&b"first"[..], Some(&b"1"[..])), (&b"second"[..], None)]);
                seen.push((offset, timestamp));
                true
            })
            .unwrap();
            assert_eq!(seen, vec![(101, 500), (104, 300), (105, 900), (109, 900)]);
        }
    }

    #[test]
    fn a_timestamp_is_found_in_offset_order() {
        let bytes = compacted(0, 4);
        for (wanted, found) in [(0, Some((101, 500))), (501, Some((105, 900))), (900, Some((105, 900))), (901, None)] {
            assert_eq!(find_timestamp(&bytes, wanted, 1 << 20), Ok(found));
        }
        assert_eq!(max_timestamp_record(&bytes, 1 << 20), Ok(Some((105, 900))));
    }

    #[test]
    fn under_append_time_every_record_has_the_timestamp_of_its_batch() {
        let bytes = compacted(crate::batch::ATTRIBUTE_LOG_APPEND_TIME, 0);
        assert_eq!(find_timestamp(&bytes, 400, 1 << 20), Ok(Some((101, 900))));
        assert_eq!(max_timestamp_record(&bytes, 1 << 20), Ok(Some((101, 900))));
    }

    #[test]
    fn a_batch_emptied_by_compaction_has_no_highest_timestamp() {
        let bytes = BatchBuilder::default().finish(&BatchFields::default()).unwrap();
        assert_eq!(max_timestamp_record(&bytes, 1 << 20), Ok(None));
        assert_eq!(find_timestamp(&bytes, i64::MIN, 1 << 20), Ok(None));
    }

    fn first(bytes: &[u8]) -> Checked<Option<Record<'_>>> {
        Records::new(bytes, 1).next_record()
    }

    #[test]
    fn the_smallest_record_has_seven_bytes() {
        assert!(first(&[12, 0, 0, 0, 1, 1, 0]).is_ok());
        assert!(first(&[10, 0, 0, 0, 1, 1]).is_err());
    }

    #[test]
    fn lengths_inside_a_record_may_not_lie() {
        assert!(first(&[14, 0, 0, 0, 1, 1, 0, 0]).is_err(), "a byte behind the fields");
        assert!(first(&[12, 0, 0, 0, 3, 1, 0]).is_err(), "key size -2");
        assert!(first(&[12, 0, 0, 0, 1, 2, 0]).is_err(), "value beyond the record");
        assert!(first(&[12, 0, 0, 0, 1, 1, 1]).is_err(), "header count -1");
        assert!(first(&[14, 0, 0, 0, 1, 1, 2, 1]).is_err(), "a header key of null");
        assert!(first(&[12, 0, 0, 0, 1, 1, 0x7e]).is_err(), "63 headers in no bytes");
        assert!(first(&[0x7f, 0, 0, 0, 1, 1, 0]).is_err(), "record size -64");
        assert!(first(&[0x7e, 0, 0, 0, 1, 1, 0]).is_err(), "record size 63");
    }

    #[test]
    fn the_walk_notices_bytes_behind_the_last_record() {
        let bytes = [12, 0, 0, 0, 1, 1, 0, 9];
        let mut records = Records::new(&bytes, 1);
        assert!(records.next_record().unwrap().is_some());
        assert!(records.next_record().is_err());
    }
}
