//! Records of a stream as runs: what was written, by whichever protocol, becomes what AMQP's clients are delivered.

use super::content::{FLAG_HEADERS, FLAG_PERSISTENT};
use super::mapping::*;
use super::run::RunWriter;
use crate::batch::{open, Fault, Header, ATTRIBUTE_CONTROL};
use crate::columns::Range;
use crate::cursor::utf8;
use crate::records::{with_records, Record};
use std::str::FromStr;

const PERSISTENT: u8 = 2;
const NAME_SIZE_MAX: usize = 255;
/// What is written behind the headers of a record at most: the offset, the timestamp, two marks.
const OWN_HEADERS_SIZE: usize = 128;

/// Which records are wanted, and how much at a time.
#[derive(Clone, Debug)]
pub struct Reading<'a> {
    pub queue: &'a str,
    /// Values of the filter header that are wanted; None wants everything.
    pub filter: Option<Vec<&'a [u8]>>,
    /// With a filter: whether records without the header are wanted.
    pub match_unfiltered: bool,
    /// No more is written once the runs are so large.
    pub size_max: usize,
    /// Of the properties of a message: record headers beyond it are left out.
    pub properties_size_max: usize,
    pub inflated_max: usize,
}

/// A run with its place in the buffer. The offsets of its records follow one another without a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordRun {
    pub offset: i64,
    pub count: u32,
    pub place: std::ops::Range<usize>,
}

struct Open {
    writer: RunWriter,
    offset: i64,
    offset_next: i64,
}

/// Writes runs one behind the other.
#[derive(Default)]
struct Runs {
    out: Vec<u8>,
    runs: Vec<RecordRun>,
    open: Option<Open>,
}

impl Runs {
    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            let count = open.writer.count();
            let place = open.writer.finish(&mut self.out);
            self.runs.push(RecordRun { offset: open.offset, count, place });
        }
    }

    #[inline(always)]
    fn push(&mut self, offset: i64, message: &MessageHead<'_>, properties: &[u8], body: &[u8]) {
        let (exchange, key) = (message.exchange.as_bytes(), message.key.as_bytes());
        let fits = self.open.as_ref().is_some_and(|open| {
            open.offset_next == offset
                && open.writer.is_for(&self.out, exchange, key)
                && !open.writer.is_full(&self.out)
        });
        if !fits {
            self.close();
            let writer = RunWriter::begin(&mut self.out, exchange, key, FLAG_PERSISTENT | FLAG_HEADERS);
            self.open = Some(Open { writer, offset, offset_next: offset });
        }
        if let Some(open) = &mut self.open {
            open.writer.push(&mut self.out, properties, body);
            open.offset_next = offset.wrapping_add(1);
        }
    }
}

/// The wanted records of whole batches, from the range's position to its stop: (runs in a buffer, the buffer). The
/// position moves behind what was looked at.
pub fn runs_of(bytes: &[u8], range: &mut Range, how: &Reading<'_>) -> Result<(Vec<RecordRun>, Vec<u8>), Fault> {
    let mut runs = Runs::default();
    let mut properties = Vec::new();
    let mut at = 0;
    while range.position < range.stop && runs.out.len() < how.size_max {
        let header = match open(&bytes[at..]) {
            Ok(header) => header,
            Err(Fault::Short) => break,
            Err(fault) => return Err(fault),
        };
        let last_offset = header.base_offset.saturating_add(header.last_offset_delta as i64);
        let is_hidden = range.hides(&header, last_offset);
        if header.attributes & ATTRIBUTE_CONTROL != 0 {
            range.marker(header.producer_id);
        } else if !is_hidden && last_offset >= range.position {
            let stopped_at = read_batch(&bytes[at..], &header, range, how, &mut runs, &mut properties)?;
            if let Some(offset) = stopped_at {
                range.position = offset;
                break;
            }
        }
        range.position = range.position.max(last_offset.saturating_add(1));
        at += header.size;
    }
    runs.close();
    Ok((runs.runs, runs.out))
}

/// Where it stopped within the batch, if it did not read it to its end.
fn read_batch(
    bytes: &[u8],
    header: &Header,
    range: &Range,
    how: &Reading<'_>,
    runs: &mut Runs,
    properties: &mut Vec<u8>,
) -> Result<Option<i64>, Fault> {
    with_records(header, bytes, how.inflated_max, |mut records, _| {
        while let Some(record) = records.next_record()? {
            let offset = header.base_offset.wrapping_add(record.offset_delta as i64);
            if offset < range.position {
                continue;
            }
            if offset >= range.stop || runs.out.len() >= how.size_max {
                return Ok(Some(offset));
            }
            let timestamp = if header.has_log_append_time() {
                header.max_timestamp
            } else {
                header.base_timestamp.wrapping_add(record.timestamp_delta)
            };
            let message = MessageHead::read(&record, how.queue);
            if how.filter.as_ref().is_some_and(|wanted| !message.is_wanted(wanted, how.match_unfiltered)) {
                continue;
            }
            message.write_properties(&record, offset, timestamp, how.properties_size_max, properties);
            runs.push(offset, &message, properties, record.value.unwrap_or_default());
        }
        Ok(None)
    })
}

/// What the headers of a record say of its message.
struct MessageHead<'a> {
    exchange: &'a str,
    key: &'a str,
    /// Delivery mode in text; None: the record did not come by AMQP.
    mark: Option<&'a [u8]>,
    table: Option<&'a [u8]>,
    properties: [Option<&'a [u8]>; PROPERTIES.len()],
    filter_value: Option<&'a [u8]>,
}

impl<'a> MessageHead<'a> {
    #[inline(always)]
    fn read(record: &Record<'a>, queue: &'a str) -> Self {
        let mut head = Self {
            exchange: "",
            key: queue,
            mark: None,
            table: None,
            properties: [None; PROPERTIES.len()],
            filter_value: None,
        };
        for (name, value) in record.headers() {
            if name.starts_with(MARK) {
                head.note(name, value.unwrap_or_default());
            } else if name == FILTER_VALUE {
                head.filter_value = value;
            }
        }
        head
    }

    fn note(&mut self, name: &[u8], value: &'a [u8]) {
        match name {
            MARK => self.mark = Some(value),
            EXCHANGE => self.exchange = name_of(value).unwrap_or(self.exchange),
            ROUTING_KEY => self.key = name_of(value).unwrap_or(self.key),
            TABLE => self.table = is_table(value).then_some(value),
            _ => {
                if let Some(slot) = PROPERTIES.iter().position(|(_, known, _)| *known == name) {
                    self.properties[slot] = fits(PROPERTIES[slot].2, value).then_some(value);
                }
            }
        }
    }

    fn is_wanted(&self, wanted: &[&[u8]], match_unfiltered: bool) -> bool {
        match self.filter_value {
            None => match_unfiltered,
            Some(value) => wanted.contains(&value),
        }
    }

    /// Property flags and property list.
    fn write_properties(&self, record: &Record<'a>, offset: i64, timestamp: i64, size_max: usize, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&[0; 2]);
        let mut present = HAS_HEADERS;
        let (in_front, behind) = PROPERTIES.split_at(BEFORE_HEADERS);
        for (slot, property) in in_front.iter().enumerate() {
            present |= push_property(out, property, self.properties[slot]);
        }
        self.write_headers(record, offset, timestamp, size_max, out);
        let mode = match self.mark {
            None => Some(PERSISTENT),
            Some(text) => number_of::<u8>(text),
        };
        if let Some(mode) = mode {
            present |= HAS_DELIVERY_MODE;
            out.push(mode);
        }
        for (slot, property) in behind.iter().enumerate() {
            let value = self.properties[BEFORE_HEADERS + slot];
            if property.0 == HAS_TIMESTAMP && value.is_none() && self.mark.is_none() && timestamp >= 0 {
                present |= HAS_TIMESTAMP;
                out.extend_from_slice(&(timestamp as u64 / 1000).to_be_bytes());
                continue;
            }
            present |= push_property(out, property, value);
        }
        out[..2].copy_from_slice(&present.to_be_bytes());
    }

    fn write_headers(&self, record: &Record<'a>, offset: i64, timestamp: i64, size_max: usize, out: &mut Vec<u8>) {
        let size_at = out.len();
        out.extend_from_slice(&[0; 4]);
        let mut is_truncated = false;
        let size_max = size_max.saturating_sub(OWN_HEADERS_SIZE);
        if let Some(table) = self.table {
            out.extend_from_slice(table);
        } else {
            for (name, value) in record.headers() {
                if name.starts_with(MARK) && self.is_known(name) {
                    continue;
                }
                let size = out.len() + name.len() + value.map_or(0, <[u8]>::len) + 6;
                if name.len() > NAME_SIZE_MAX || size > size_max || utf8(name).is_err() || is_own(name) {
                    is_truncated |= !is_own(name);
                    continue;
                }
                push_value(out, name, value);
            }
        }
        if let Some(key) = record.key {
            if out.len() + key.len() + KEY.len() + 6 > size_max {
                is_truncated = true;
            } else {
                push_value(out, KEY, Some(key));
            }
        }
        if self.mark.is_none() {
            push_number(out, TIMESTAMP, timestamp);
        }
        for (name, is_so) in [(TOMBSTONE, record.value.is_none()), (TRUNCATED, is_truncated)] {
            if is_so {
                push_name(out, name);
                out.extend_from_slice(&[b't', 1]);
            }
        }
        push_number(out, OFFSET, offset);
        let size = (out.len() - size_at - 4) as u32;
        out[size_at..size_at + 4].copy_from_slice(&size.to_be_bytes());
    }

    /// Whether a header was taken as a part of the message; if not, it is a header like others.
    fn is_known(&self, name: &[u8]) -> bool {
        match name {
            MARK => true,
            EXCHANGE | ROUTING_KEY => true,
            TABLE => self.table.is_some(),
            _ => {
                PROPERTIES.iter().zip(&self.properties).any(|((_, known, _), value)| *known == name && value.is_some())
            }
        }
    }
}

fn name_of(value: &[u8]) -> Option<&str> {
    (value.len() <= NAME_SIZE_MAX).then(|| utf8(value).ok()).flatten()
}

fn number_of<T: FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn fits(width: Width, value: &[u8]) -> bool {
    match width {
        // Anybody may have written it: what is no text stays a header, clients refuse it as a property.
        Width::ShortString => name_of(value).is_some(),
        Width::Octet => number_of::<u8>(value).is_some(),
        Width::Long => number_of::<u64>(value).is_some(),
    }
}

fn push_property(out: &mut Vec<u8>, property: &Property, value: Option<&[u8]>) -> u16 {
    let (flag, _, width) = property;
    let Some(value) = value else { return 0 };
    match width {
        Width::ShortString => push_name(out, value),
        Width::Octet => out.push(number_of(value).unwrap_or_default()),
        Width::Long => out.extend_from_slice(&number_of::<u64>(value).unwrap_or_default().to_be_bytes()),
    }
    *flag
}

fn push_name(out: &mut Vec<u8>, name: &[u8]) {
    out.push(name.len() as u8);
    out.extend_from_slice(name);
}

fn push_number(out: &mut Vec<u8>, name: &[u8], number: i64) {
    push_name(out, name);
    out.push(b'l');
    out.extend_from_slice(&number.to_be_bytes());
}

/// Text as a long string, other bytes as a byte array, nothing as void.
#[inline(always)]
fn push_value(out: &mut Vec<u8>, name: &[u8], value: Option<&[u8]>) {
    push_name(out, name);
    let Some(value) = value else { return out.push(b'V') };
    out.push(if utf8(value).is_ok() { b'S' } else { b'x' });
    out.extend_from_slice(&(value.len() as u32).to_be_bytes());
    out.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::super::content::read_properties;
    use super::super::run::Run;
    use super::*;
    use crate::batch_build::{BatchBuilder, BatchFields};

    fn batch(base_offset: i64, offsets: &[i32], headers: &[(&str, &str)]) -> Vec<u8> {
        let mut builder = BatchBuilder::default();
        for offset in offsets {
            builder.begin_record(*offset, 7_000, None, Some(b"value"), headers.len());
            for (name, value) in headers {
                builder.header(name.as_bytes(), Some(value.as_bytes()));
            }
            builder.end_record();
        }
        builder.finish(&BatchFields { base_offset, ..BatchFields::default() }).unwrap()
    }

    fn how() -> Reading<'static> {
        Reading {
            queue: "q",
            filter: None,
            match_unfiltered: false,
            size_max: 1 << 16,
            properties_size_max: 1 << 16,
            inflated_max: 1 << 16,
        }
    }

    fn read(bytes: &[u8], position: i64, stop: i64, how: &Reading<'_>) -> (Vec<(i64, u32)>, i64, Vec<u8>) {
        let mut range = Range::new(Vec::new(), 0, position, stop);
        let (runs, out) = runs_of(bytes, &mut range, how).unwrap();
        for run in &runs {
            let run = Run::open(&out[run.place.clone()]).unwrap();
            let first = run.messages(0).unwrap().next_message().unwrap().unwrap();
            assert_eq!(read_properties(first.properties).unwrap().flags, FLAG_PERSISTENT | FLAG_HEADERS);
        }
        (runs.iter().map(|run| (run.offset, run.count)).collect(), range.position, out)
    }

    #[test]
    fn runs_have_offsets_without_gaps() {
        let bytes = [batch(10, &[0, 1, 4], &[]), batch(15, &[0], &[])].concat();
        let (runs, position, _) = read(&bytes, 0, 99, &how());
        assert_eq!((runs, position), (vec![(10, 2), (14, 2)], 16));
        assert_eq!(read(&bytes, 11, 15, &how()).0, vec![(11, 1), (14, 1)]);
        assert_eq!(read(&bytes, 16, 99, &how()).0, vec![]);
    }

    #[test]
    fn a_slice_ends_inside_a_batch_and_says_where() {
        let bytes = batch(0, &[0, 1, 2, 3], &[]);
        let (runs, position, _) = read(&bytes, 0, 99, &Reading { size_max: 1, ..how() });
        assert_eq!((runs, position), (vec![(0, 1)], 1));
    }

    #[test]
    fn ways_are_names_or_the_usual_one() {
        let long = "x".repeat(256);
        for (headers, exchange, key) in [
            (vec![("amqp.exchange", "ex"), ("amqp.routing-key", "a.b")], "ex", "a.b"),
            (vec![("amqp.routing-key", long.as_str())], "", "q"),
            (vec![], "", "q"),
        ] {
            let (_, _, out) = read(&batch(0, &[0], &headers), 0, 9, &how());
            let run = Run::open(&out).unwrap();
            assert_eq!((run.exchange, run.key), (exchange, key));
        }
    }

    #[test]
    fn damage_is_no_message() {
        let mut bytes = batch(0, &[0], &[]);
        let end = bytes.len() - 1;
        assert_eq!(read(&bytes[..end], 0, 9, &how()).0, vec![], "not whole yet");
        bytes[end] ^= 1;
        let mut range = Range::new(Vec::new(), 0, 0, 9);
        assert_eq!(runs_of(&bytes, &mut range, &how()).unwrap_err(), Fault::Checksum);
    }
}
