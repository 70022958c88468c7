//! The checks that a batch from a client must pass before it may enter a log.

use crate::batch::{open, Fault, Header, ATTRIBUTE_CONTROL};
use crate::compress::{CODEC_NONE, CODEC_ZSTD};
use crate::records::{with_records, Records};

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
    /// Whether the records were inflated before, so that the work of up to the bound was spent.
    pub is_inflated: bool,
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Refusal { record_at: -1, fault, is_inflated: false }
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
    if header.codec() > CODEC_ZSTD {
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
        Ok((walk_produced(records, &mut record_at)?, inflated_size))
    });
    let (walk, inflated_size) =
        walked.map_err(|fault| Refusal { record_at, fault, is_inflated: header.codec() != CODEC_NONE })?;
    let timestamps = [walk.delta_min, walk.delta_max].map(|delta| header.base_timestamp.checked_add(delta));
    let [Some(_), Some(max_timestamp)] = timestamps else {
        return Err(Fault::Invalid("a timestamp beyond 64 bits").into());
    };
    let max_timestamp = if header.has_log_append_time() { header.max_timestamp } else { max_timestamp };
    Ok(Verdict { header: Header { max_timestamp, ..header }, keyless_at: walk.keyless_at, inflated_size })
}

struct Walk {
    keyless_at: i32,
    delta_min: i64,
    delta_max: i64,
}

fn walk_produced(mut records: Records<'_>, record_at: &mut i32) -> Result<Walk, Fault> {
    let mut walk = Walk { keyless_at: -1, delta_min: i64::MAX, delta_max: i64::MIN };
    let mut index = 0;
    while let Some(record) = records.next_record().inspect_err(|_| *record_at = index)? {
        if record.offset_delta != index {
            *record_at = index;
            return Err(Fault::Invalid("the offsets of the records are not 0, 1, 2 ..."));
        }
        if walk.keyless_at < 0 && record.key.is_none() {
            walk.keyless_at = index;
        }
        walk.delta_min = walk.delta_min.min(record.timestamp_delta);
        walk.delta_max = walk.delta_max.max(record.timestamp_delta);
        index += 1;
    }
    Ok(walk)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch_build::{BatchBuilder, BatchFields};

    const INFLATED_MAX: usize = 1 << 20;

    fn built(deltas: &[(i32, i64)], fields: BatchFields) -> Vec<u8> {
        let mut builder = BatchBuilder::default();
        for (offset_delta, timestamp) in deltas {
            let key = (*offset_delta != 1).then_some(&b"key"[..]);
            builder.begin_record(*offset_delta, *timestamp, key, Some(b"value"), 0);
            builder.end_record();
        }
        builder.finish(&fields).unwrap()
    }

    fn good(codec: u8) -> Vec<u8> {
        built(&[(0, 10), (1, 30), (2, 20)], BatchFields { codec, ..BatchFields::default() })
    }

    /// Overwrites bytes and makes the checksum right again.
    fn patched(mut bytes: Vec<u8>, at: usize, patch: &[u8]) -> Vec<u8> {
        bytes[at..at + patch.len()].copy_from_slice(patch);
        let crc = crate::crc::crc32c(&bytes[21..]);
        bytes[17..21].copy_from_slice(&crc.to_be_bytes());
        bytes
    }

    fn refusal(bytes: &[u8]) -> (i16, i32) {
        let refusal = check(bytes, INFLATED_MAX).unwrap_err();
        (refusal.fault.code(), refusal.record_at)
    }

    #[test]
    fn good_batches_pass_in_every_codec() {
        for codec in 0..5 {
            let verdict = check(&good(codec), INFLATED_MAX).unwrap();
            assert_eq!((verdict.keyless_at, verdict.header.record_count), (1, 3));
            assert_eq!(verdict.inflated_size > 0, codec > 0);
        }
    }

    #[test]
    fn the_records_overrule_the_highest_timestamp_in_the_header() {
        let bytes = patched(good(0), 35, &99i64.to_be_bytes());
        assert_eq!(check(&bytes, INFLATED_MAX).unwrap().header.max_timestamp, 30);
        let bytes = patched(bytes, 21, &8i16.to_be_bytes());
        assert_eq!(check(&bytes, INFLATED_MAX).unwrap().header.max_timestamp, 99);
    }

    #[test]
    fn damage_has_code_2() {
        let bytes = good(0);
        assert_eq!(refusal(&bytes[..bytes.len() - 1]), (2, -1));
        assert_eq!(refusal(&bytes[..20]), (2, -1));
        let mut flipped = bytes.clone();
        flipped[70] ^= 1;
        assert_eq!(refusal(&flipped), (2, -1));
        for codec in 1..5 {
            let packed = good(codec);
            let behind = packed.len() - 61;
            assert_eq!(refusal(&patched(packed, 61, &vec![0xee; behind])).0, 2, "codec {codec}");
        }
    }

    #[test]
    fn old_and_unknown_formats_are_told_apart() {
        let codes: Vec<_> = [0, 1, 9].map(|magic| refusal(&patched(good(0), 16, &[magic]))).into();
        assert_eq!(codes, [(43, -1), (43, -1), (87, -1)]);
        assert_eq!(refusal(&patched(good(0), 22, &[5])), (76, -1));
    }

    #[test]
    fn no_batch_and_two_batches_are_invalid() {
        assert_eq!(refusal(b""), (87, -1));
        assert_eq!(refusal(&good(0).repeat(2)), (87, -1));
        assert_eq!(refusal(&[&good(0)[..], &[0]].concat()), (87, -1));
    }

    #[test]
    fn counts_must_fit_the_offsets() {
        for count in [i32::MIN, -1, 0, 2, 4, i32::MAX] {
            assert_eq!(refusal(&patched(good(0), 57, &count.to_be_bytes())), (87, -1));
        }
        for last_delta in [i32::MIN, -1, 0, 1, 3, i32::MAX] {
            assert_eq!(refusal(&patched(good(0), 23, &last_delta.to_be_bytes())), (87, -1));
        }
        for (count, record_at) in [(2, 2), (4, 3)] {
            let bytes = patched(good(0), 57, &i32::to_be_bytes(count));
            assert_eq!(refusal(&patched(bytes, 23, &(count - 1).to_be_bytes())), (87, record_at));
        }
    }

    #[test]
    fn offsets_must_be_0_1_2() {
        for (deltas, record_at) in [([0, 2, 2], 1), ([1, 1, 2], 0), ([0, 1, 0], 2), ([0, 0, 2], 1)] {
            let bytes = built(&deltas.map(|delta| (delta, 0)), BatchFields::default());
            assert_eq!(refusal(&patched(bytes, 23, &2i32.to_be_bytes())), (87, record_at));
        }
    }

    #[test]
    fn control_batches_are_invalid_and_transactional_ones_are_not() {
        assert_eq!(refusal(&patched(good(0), 22, &[0x20])), (87, -1));
        assert_eq!(check(&patched(good(0), 22, &[0x10]), INFLATED_MAX).unwrap().header.attributes, 0x10);
    }

    #[test]
    fn a_producer_needs_a_sequence() {
        assert_eq!(refusal(&patched(good(0), 43, &7i64.to_be_bytes())), (87, -1));
        let numbered = BatchFields { producer_id: 7, producer_epoch: 0, base_sequence: 0, ..BatchFields::default() };
        assert!(check(&built(&[(0, 0)], numbered), INFLATED_MAX).is_ok());
    }

    #[test]
    fn timestamps_stay_inside_64_bits() {
        assert_eq!(refusal(&patched(good(0), 27, &i64::MAX.to_be_bytes())), (87, -1));
        let falling = built(&[(0, 10), (1, 3)], BatchFields::default());
        assert_eq!(refusal(&patched(falling, 27, &i64::MIN.to_be_bytes())), (87, -1));
    }

    #[test]
    fn records_that_inflate_beyond_the_bound_are_too_large() {
        let plain_size = good(0).len() - 61;
        for codec in 1..5 {
            assert!(check(&good(codec), plain_size).is_ok());
            let refusal = check(&good(codec), plain_size - 1).unwrap_err();
            assert_eq!((refusal.fault, refusal.is_inflated), (Fault::TooLarge, true));
        }
    }

    #[test]
    fn trailing_bytes_inside_the_records_are_invalid() {
        for codec in 0..5 {
            let mut records = good(0)[61..].to_vec();
            records.push(0);
            let packed = crate::compress::deflate(codec, &records).unwrap();
            let mut bytes = [&good(codec)[..61], &packed].concat();
            let length = (bytes.len() - 12) as i32;
            bytes[8..12].copy_from_slice(&length.to_be_bytes());
            assert_eq!(refusal(&patched(bytes, 61, &[])), (87, 3), "codec {codec}");
        }
    }
}
