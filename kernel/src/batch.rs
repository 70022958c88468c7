//! Kafka record batches (magic 2): the header, scanning a log for batches, and placing one in a log.
//! Byte for byte described in docs/formats/record-batch.md.

use crate::compress::InflateError;
use crate::crc::crc32c;
use crate::cursor::Malformed;

pub const HEADER_SIZE: usize = 61;
/// Base offset and length come in front of what the length counts.
pub const LOG_OVERHEAD: usize = 12;
const MAGIC_AT: usize = 16;
const CRC_AT: usize = 17;
const ATTRIBUTES_AT: usize = 21;
const MAX_TIMESTAMP_AT: usize = 35;

pub const ATTRIBUTE_CODEC: i16 = 0x07;
pub const ATTRIBUTE_LOG_APPEND_TIME: i16 = 0x08;
pub const ATTRIBUTE_TRANSACTIONAL: i16 = 0x10;
pub const ATTRIBUTE_CONTROL: i16 = 0x20;

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
    if batch[MAX_TIMESTAMP_AT..MAX_TIMESTAMP_AT + 8] == timestamp
        && batch[ATTRIBUTES_AT..ATTRIBUTES_AT + 2] == attributes
    {
        return Ok(());
    }
    batch[MAX_TIMESTAMP_AT..MAX_TIMESTAMP_AT + 8].copy_from_slice(&timestamp);
    batch[ATTRIBUTES_AT..ATTRIBUTES_AT + 2].copy_from_slice(&attributes);
    let crc = crc32c(&batch[ATTRIBUTES_AT..]);
    batch[CRC_AT..CRC_AT + 4].copy_from_slice(&crc.to_be_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch_build::{BatchBuilder, BatchFields};

    fn batch(base_offset: i64, codec: u8) -> Vec<u8> {
        let mut builder = BatchBuilder::default();
        for at in 0..3 {
            builder.begin_record(at, 1_000 + at as i64, None, Some(b"value"), 0);
            builder.end_record();
        }
        let fields = BatchFields {
            base_offset,
            leader_epoch: 4,
            codec,
            producer_id: 9,
            producer_epoch: 1,
            base_sequence: 5,
            attributes: 0,
        };
        builder.finish(&fields).unwrap()
    }

    #[test]
    fn the_header_is_read_field_by_field() {
        let bytes = batch(70, 0);
        let header = open(&bytes).unwrap();
        let expected = Header {
            size: bytes.len(),
            base_offset: 70,
            leader_epoch: 4,
            magic: 2,
            crc: header.crc,
            attributes: 0,
            last_offset_delta: 2,
            base_timestamp: 1_000,
            max_timestamp: 1_002,
            producer_id: 9,
            producer_epoch: 1,
            base_sequence: 5,
            record_count: 3,
        };
        assert_eq!(header, expected);
    }

    #[test]
    fn any_flipped_bit_behind_the_checksum_is_seen() {
        let bytes = batch(0, 0);
        for at in CRC_AT..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x04;
            assert_eq!(open(&damaged), Err(Fault::Checksum), "byte {at}");
        }
    }

    #[test]
    fn a_batch_cut_anywhere_is_short() {
        let bytes = batch(0, 0);
        for end in 0..bytes.len() {
            assert_eq!(open(&bytes[..end]), Err(Fault::Short));
        }
    }

    #[test]
    fn other_formats_and_impossible_lengths_have_their_own_names() {
        let good = batch(0, 0);
        for (magic, fault) in
            [(0, Fault::OldMagic), (1, Fault::OldMagic), (3, Fault::UnknownMagic), (0xff, Fault::UnknownMagic)]
        {
            let mut bytes = good.clone();
            bytes[MAGIC_AT] = magic;
            assert_eq!(open(&bytes), Err(fault));
        }
        for length in [i32::MIN, -1, 0, 48] {
            let mut bytes = good.clone();
            bytes[8..12].copy_from_slice(&length.to_be_bytes());
            assert_eq!(open(&bytes), Err(Fault::Length));
        }
        let mut bytes = good;
        bytes[8..12].copy_from_slice(&i32::MAX.to_be_bytes());
        assert_eq!(open(&bytes), Err(Fault::Short));
    }

    #[test]
    fn a_scan_ends_behind_the_last_whole_batch() {
        let (one, two) = (batch(0, 0), batch(3, 3));
        let mut log = [&one[..], &two].concat();
        for cut in 1..two.len() {
            let found = scan(&log[..log.len() - cut]);
            assert_eq!((found.batches.len(), found.valid_end, found.stop), (1, one.len(), Some(Fault::Short)));
        }
        let found = scan(&log);
        let places: Vec<_> = found.batches.iter().map(|(at, header)| (*at, header.base_offset)).collect();
        assert_eq!((places, found.valid_end, found.stop), (vec![(0, 0), (one.len(), 3)], log.len(), None));
        log.extend_from_slice(&[0; 100]);
        let found = scan(&log);
        assert_eq!((found.batches.len(), found.stop.map(stop_reason)), (2, Some("magic")));
    }

    #[test]
    fn placing_keeps_the_checksum_unless_a_timestamp_changes() {
        let original = batch(0, 0);
        let mut bytes = [&original[..], b"next"].concat();
        place(&mut bytes, 1_000_000, 8, -1, Some(1_002)).unwrap();
        let header = open(&bytes).unwrap();
        assert_eq!((header.base_offset, header.leader_epoch), (1_000_000, 8));
        assert_eq!(header.crc, open(&original).unwrap().crc);
        assert_eq!(bytes[16..], [&original[16..], b"next"].concat());
    }

    #[test]
    fn placing_writes_append_time_or_a_corrected_maximum() {
        let mut bytes = batch(0, 3);
        place(&mut bytes, 5, 1, -1, Some(2_000)).unwrap();
        let header = open(&bytes).unwrap();
        assert_eq!((header.max_timestamp, header.has_log_append_time()), (2_000, false));
        place(&mut bytes, 5, 1, 7_777, Some(2_000)).unwrap();
        let header = open(&bytes).unwrap();
        assert_eq!((header.max_timestamp, header.has_log_append_time(), header.codec()), (7_777, true, 3));
    }

    #[test]
    fn placing_does_not_write_beyond_the_bytes() {
        let good = batch(0, 0);
        for end in 0..good.len() {
            assert!(place(&mut good[..end].to_vec(), 5, 1, 7, None).is_err());
        }
    }
}
