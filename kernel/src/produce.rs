//! Produce requests, versions 3 to 13, down to the checked batch of every partition.

use crate::batch::{check, Refusal, Verdict};
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
        let records = if self.flexible { self.cursor.nullable_bytes_compact()? } else { self.cursor.nullable_bytes32()? };
        let records = records.unwrap_or_default();
        let offset = self.cursor.position() - records.len();
        self.tagged_fields()?;
        let outcome = check(&self.bytes[offset..offset + records.len()], self.inflated_max.min(self.inflated_left));
        match &outcome {
            Ok(verdict) => self.inflated_left = self.inflated_left.saturating_sub(verdict.inflated_size),
            // Whatever broke it, the work may have been done.
            Err(refusal) if refusal.fault.code() != 87 || refusal.record_at >= 0 => {
                self.inflated_left = self.inflated_left.saturating_sub(self.inflated_max.min(records.len() * 4));
            }
            Err(_) => {}
        }
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
