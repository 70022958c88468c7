//! Produce requests, versions 3 to 13, down to the checked batch of every partition.

use crate::check::{check, Refusal, Verdict};
use crate::cursor::{utf8, Checked, Cursor, Malformed};

pub const VERSION_MIN: i16 = 3;
pub const VERSION_MAX: i16 = 13;
const VERSION_FLEXIBLE: i16 = 9;
const VERSION_TOPIC_IDS: i16 = 13;

/// Topics and partitions together. Real requests carry a batch of 68 bytes and more in each, so this many small ones
/// are an attempt to make us build objects.
const ENTRIES_MAX: usize = 65_536;

#[derive(Debug, PartialEq, Eq)]
pub enum TopicName<'a> {
    Name(&'a str),
    Id(&'a [u8]),
}

#[derive(Debug)]
pub struct ProducePartition {
    pub partition: i32,
    pub offset: usize,
    pub size: usize,
    pub outcome: Result<Verdict, Refusal>,
}

#[derive(Debug)]
pub struct ProduceTopic<'a> {
    pub name: TopicName<'a>,
    pub partitions: Vec<ProducePartition>,
}

#[derive(Debug)]
pub struct Produce<'a> {
    pub transactional_id: Option<&'a str>,
    pub acks: i16,
    pub timeout_ms: i32,
    pub topics: Vec<ProduceTopic<'a>>,
}

struct Parser<'a> {
    bytes: &'a [u8],
    cursor: Cursor<'a>,
    flexible: bool,
    topic_ids: bool,
    inflated_max: usize,
    inflated_left: usize,
    entries_left: usize,
}

/// Parses the request body `bytes[start..end]`.
pub fn parse(bytes: &[u8], start: usize, end: usize, version: i16, inflated_max: usize) -> Checked<Produce<'_>> {
    if !(VERSION_MIN..=VERSION_MAX).contains(&version) {
        return Err(Malformed("a Produce version that we do not serve"));
    }
    let cursor = Cursor::over(bytes, start, end).ok_or(Malformed("the range is outside the buffer"))?;
    // One batch may inflate to inflated_max, a request of many to more, but not to that much in each of thousands.
    let inflated_left = inflated_max.saturating_mul(4).max((end - start).saturating_mul(16));
    let mut parser = Parser {
        bytes,
        cursor,
        flexible: version >= VERSION_FLEXIBLE,
        topic_ids: version >= VERSION_TOPIC_IDS,
        inflated_max,
        inflated_left,
        entries_left: ENTRIES_MAX,
    };
    parser.request()
}

impl<'a> Parser<'a> {
    fn request(&mut self) -> Checked<Produce<'a>> {
        let transactional_id = self.string()?.map(utf8).transpose()?;
        let acks = self.cursor.i16()?;
        let timeout_ms = self.cursor.i32()?;
        let count = self.count(6)?;
        let mut topics = Vec::new();
        for _ in 0..count {
            topics.push(self.topic()?);
        }
        self.tagged_fields()?;
        if !self.cursor.is_at_end() {
            return Err(Malformed("bytes behind the request"));
        }
        Ok(Produce { transactional_id, acks, timeout_ms, topics })
    }

    fn topic(&mut self) -> Checked<ProduceTopic<'a>> {
        self.note_entry()?;
        let name = if self.topic_ids {
            TopicName::Id(self.cursor.take(16)?)
        } else {
            TopicName::Name(utf8(self.string()?.ok_or(Malformed("a topic without a name"))?)?)
        };
        let count = self.count(6)?;
        let mut partitions = Vec::new();
        for _ in 0..count {
            partitions.push(self.partition()?);
        }
        self.tagged_fields()?;
        Ok(ProduceTopic { name, partitions })
    }

    fn partition(&mut self) -> Checked<ProducePartition> {
        self.note_entry()?;
        let partition = self.cursor.i32()?;
        let records =
            if self.flexible { self.cursor.nullable_bytes_compact()? } else { self.cursor.nullable_bytes32()? };
        let records = records.unwrap_or_default();
        let offset = self.cursor.position() - records.len();
        self.tagged_fields()?;
        let outcome = check(&self.bytes[offset..offset + records.len()], self.inflated_max.min(self.inflated_left));
        let spent = match &outcome {
            Ok(verdict) => verdict.inflated_size,
            Err(refusal) if refusal.is_inflated => self.inflated_max,
            Err(_) => 0,
        };
        self.inflated_left = self.inflated_left.saturating_sub(spent);
        Ok(ProducePartition { partition, offset, size: records.len(), outcome })
    }

    fn note_entry(&mut self) -> Checked<()> {
        self.entries_left = self.entries_left.checked_sub(1).ok_or(Malformed("too many topics and partitions"))?;
        Ok(())
    }

    fn string(&mut self) -> Checked<Option<&'a [u8]>> {
        if self.flexible {
            self.cursor.nullable_bytes_compact()
        } else {
            self.cursor.nullable_bytes16()
        }
    }

    fn count(&mut self, element_size_min: usize) -> Checked<usize> {
        let minimum = if self.flexible { 3 } else { element_size_min };
        let count = if self.flexible { self.cursor.count_compact(minimum)? } else { self.cursor.count32(minimum)? };
        count.ok_or(Malformed("an array is null"))
    }

    fn tagged_fields(&mut self) -> Checked<()> {
        if self.flexible {
            self.cursor.skip_tagged_fields()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch_build::{BatchBuilder, BatchFields};

    const INFLATED_MAX: usize = 1 << 20;

    fn batch(value_size: usize, codec: u8) -> Vec<u8> {
        let mut builder = BatchBuilder::default();
        builder.begin_record(0, 0, None, Some(&vec![7; value_size]), 0);
        builder.end_record();
        builder.finish(&BatchFields { codec, ..BatchFields::default() }).unwrap()
    }

    /// A request in the form before version 9; None stands for null records.
    fn plain_request(partitions: &[Option<&[u8]>]) -> Vec<u8> {
        let mut out = b"\xff\xff\xff\xff\0\0\x75\x30\0\0\0\x01\0\x05topic".to_vec();
        out.extend_from_slice(&(partitions.len() as i32).to_be_bytes());
        for (index, records) in partitions.iter().enumerate() {
            out.extend_from_slice(&(index as i32).to_be_bytes());
            out.extend_from_slice(&records.map_or(-1, |records| records.len() as i32).to_be_bytes());
            out.extend_from_slice(records.unwrap_or_default());
        }
        out
    }

    fn flexible_request(name: &[u8], records: &[u8]) -> Vec<u8> {
        assert!((127..16_383).contains(&records.len()));
        let size = records.len() + 1;
        let mut out = b"\x05txn1\xff\xff\0\0\0\x64\x02".to_vec();
        out.extend_from_slice(name);
        out.extend_from_slice(b"\x02\0\0\0\x09");
        out.extend_from_slice(&[size as u8 | 0x80, (size >> 7) as u8]);
        out.extend_from_slice(records);
        out.extend_from_slice(b"\0\x01\x07\x02ab\0");
        out
    }

    fn parse_all(bytes: &[u8], version: i16) -> Checked<Produce<'_>> {
        parse(bytes, 0, bytes.len(), version, INFLATED_MAX)
    }

    #[test]
    fn versions_3_to_8_are_read() {
        let batch = batch(5, 0);
        let bytes = plain_request(&[Some(&batch), None, Some(b"")]);
        for version in 3..=8 {
            let request = parse_all(&bytes, version).unwrap();
            assert_eq!((request.transactional_id, request.acks, request.timeout_ms), (None, -1, 30_000));
            let topic = &request.topics[0];
            assert_eq!(topic.name, TopicName::Name("topic"));
            let first = &topic.partitions[0];
            assert_eq!(bytes[first.offset..first.offset + first.size], batch);
            let codes: Vec<_> =
                topic.partitions.iter().map(|entry| entry.outcome.map_or_else(|no| no.fault.code(), |_| 0)).collect();
            assert_eq!(codes, [0, 87, 87]);
        }
    }

    #[test]
    fn flexible_versions_skip_tags_and_version_13_has_ids() {
        let batch = batch(200, 0);
        let bytes = flexible_request(b"\x06topic", &batch);
        for version in 9..=12 {
            let request = parse_all(&bytes, version).unwrap();
            assert_eq!((request.transactional_id, request.timeout_ms), (Some("txn1"), 100));
            assert_eq!(request.topics[0].name, TopicName::Name("topic"));
            assert_eq!(request.topics[0].partitions[0].partition, 9);
            assert!(request.topics[0].partitions[0].outcome.is_ok());
        }
        let bytes = flexible_request(&[8; 16], &batch);
        assert_eq!(parse_all(&bytes, 13).unwrap().topics[0].name, TopicName::Id(&[8; 16]));
    }

    #[test]
    fn a_request_cut_anywhere_or_with_bytes_behind_is_malformed() {
        let batch = batch(200, 0);
        for (bytes, version) in [(plain_request(&[Some(&batch)]), 8), (flexible_request(b"\x06topic", &batch), 9)] {
            for end in 0..bytes.len() {
                assert!(parse_all(&bytes[..end], version).is_err(), "version {version} cut to {end}");
            }
            assert!(parse_all(&[&bytes[..], &[0]].concat(), version).is_err());
        }
    }

    #[test]
    fn versions_that_we_do_not_serve_are_malformed() {
        for version in [i16::MIN, -1, 0, 2, 14, i16::MAX] {
            assert!(parse_all(&plain_request(&[]), version).is_err());
        }
    }

    #[test]
    fn the_number_of_entries_is_bounded() {
        let nulls = vec![None; ENTRIES_MAX - 1];
        assert!(parse_all(&plain_request(&nulls), 8).is_ok());
        assert!(parse_all(&plain_request(&vec![None; ENTRIES_MAX]), 8).is_err());
    }

    #[test]
    fn a_request_may_not_have_bomb_after_bomb_inflated() {
        let bomb = batch(INFLATED_MAX + 1, 4);
        let good = batch(INFLATED_MAX / 2, 4);
        let mut partitions = vec![Some(&bomb[..]); 3];
        partitions.extend([Some(&good[..]); 3]);
        let bytes = plain_request(&partitions);
        let request = parse_all(&bytes, 8).unwrap();
        let passed: Vec<_> = request.topics[0].partitions.iter().map(|entry| entry.outcome.is_ok()).collect();
        assert_eq!(passed, [false, false, false, true, false, false]);
    }

    #[test]
    fn names_must_be_there_and_utf8() {
        let bytes = plain_request(&[]);
        let mut broken = bytes.clone();
        broken[14] = 0xff;
        assert!(parse_all(&broken, 8).is_err());
        let mut nameless = bytes[..12].to_vec();
        nameless.extend_from_slice(b"\xff\xff\0\0\0\0");
        assert!(parse_all(&nameless, 8).is_err());
    }
}
