//! A run as record batches: what was published becomes what Kafka's clients read.

use super::content::short_string;
use super::mapping::*;
use super::run::Run;
use crate::batch::HEADER_SIZE;
use crate::batch_build::{push_varlong, BatchBuilder, BatchFields};
use crate::cursor::{utf8, Checked, Cursor, Malformed};
use std::fmt::Write;

/// What a record has besides its key, value and headers, at most: its own size, two deltas, three lengths.
const RECORD_OVERHEAD: usize = 40;

/// A batch, and the first of its records that has no key, or -1.
#[derive(Debug, PartialEq, Eq)]
pub struct RunBatch {
    pub bytes: Vec<u8>,
    pub keyless_at: i32,
}

/// How batches are made: known as the stream `queue`, at a time, none larger than `size_max`.
#[derive(Clone, Copy, Debug)]
pub struct Making<'a> {
    pub queue: &'a str,
    pub now_ms: i64,
    pub size_max: usize,
    pub codec: u8,
}

/// The messages of a run as batches, up to the first one that no batch can hold: (batches, how many are in them).
pub fn batches_of(blob: &[u8], how: &Making<'_>) -> Checked<(Vec<RunBatch>, usize)> {
    let run = Run::open(blob)?;
    // The way it came is told unless it is the one that every queue has.
    let way = (!(run.exchange.is_empty() && run.key == how.queue)).then_some((run.exchange, run.key));
    let mut messages = run.messages(0)?;
    let (mut batches, mut taken) = (Vec::new(), 0);
    let mut head = RecordHead::default();
    let (mut builder, mut keyless_at) = (BatchBuilder::default(), -1);
    while let Some(message) = messages.next_message()? {
        let shape = head.write(message.properties, message.body, way)?;
        let size = RECORD_OVERHEAD + shape.key.map_or(0, <[u8]>::len) + message.body.len() + head.headers.len();
        if HEADER_SIZE + size > how.size_max {
            break;
        }
        if builder.count() > 0 && HEADER_SIZE + builder.size() + size > how.size_max {
            batches.push(finish(std::mem::take(&mut builder), keyless_at, how.codec)?);
            keyless_at = -1;
        }
        if shape.key.is_none() && keyless_at < 0 {
            keyless_at = builder.count();
        }
        builder.push_record(how.now_ms, shape.key, shape.value, head.count, &head.headers);
        taken += 1;
    }
    if builder.count() > 0 {
        batches.push(finish(builder, keyless_at, how.codec)?);
    }
    Ok((batches, taken))
}

fn finish(builder: BatchBuilder, keyless_at: i32, codec: u8) -> Checked<RunBatch> {
    let fields = BatchFields { codec, ..BatchFields::default() };
    let bytes = builder.finish(&fields).ok_or(Malformed("an unknown codec, or too many bytes for a batch"))?;
    Ok(RunBatch { bytes, keyless_at })
}

/// Key and value of the record that a message becomes.
#[derive(Clone, Copy)]
struct Shape<'a> {
    key: Option<&'a [u8]>,
    value: Option<&'a [u8]>,
}

/// The headers of one record; used again for the next one.
#[derive(Default)]
struct RecordHead {
    headers: Vec<u8>,
    count: usize,
    table: Vec<u8>,
    text: String,
}

impl RecordHead {
    fn write<'a>(&mut self, properties: &'a [u8], body: &'a [u8], way: Option<(&str, &str)>) -> Checked<Shape<'a>> {
        self.headers.clear();
        self.count = 0;
        let mut shape = Shape { key: None, value: Some(body) };
        let mut cursor = Cursor::new(properties);
        let present = cursor.u16()?;
        let (in_front, behind) = PROPERTIES.split_at(BEFORE_HEADERS);
        for property in in_front {
            self.property(present, property, &mut cursor)?;
        }
        if present & HAS_HEADERS != 0 {
            let size = cursor.u32()? as usize;
            self.write_table(cursor.take(size)?, &mut shape)?;
        }
        self.text.clear();
        if present & HAS_DELIVERY_MODE != 0 {
            let mode = cursor.u8()?;
            let _ = write!(self.text, "{mode}");
        }
        self.push_text(MARK);
        for property in behind {
            self.property(present, property, &mut cursor)?;
        }
        if let Some((exchange, key)) = way {
            self.push(EXCHANGE, Some(exchange.as_bytes()));
            self.push(ROUTING_KEY, Some(key.as_bytes()));
        }
        Ok(shape)
    }

    fn property(&mut self, present: u16, property: &Property, cursor: &mut Cursor<'_>) -> Checked<()> {
        let (flag, name, width) = property;
        if present & flag == 0 {
            return Ok(());
        }
        match width {
            Width::ShortString => self.push(name, Some(short_string(cursor)?)),
            Width::Octet => self.push_number(name, cursor.u8()? as u64),
            Width::Long => self.push_number(name, cursor.u64()?),
        }
        Ok(())
    }

    /// Each header with its name and its value as text. Where that would not bring back what was published, the table
    /// stands beside them as it was.
    fn write_table<'a>(&mut self, table: &'a [u8], shape: &mut Shape<'a>) -> Checked<()> {
        self.table.clear();
        let mut is_plain = !table.is_empty();
        let mut fields = Fields::new(table);
        while let Some(field) = fields.next_field()? {
            if is_of_the_record(&field, shape) {
                continue;
            }
            self.table.extend_from_slice(field.whole);
            is_plain &= field.kind == b'S' && utf8(field.value).is_ok();
            if field.name == MARK || field.name.starts_with(PREFIX) {
                is_plain = false;
                continue;
            }
            self.push_field(&field);
        }
        if !is_plain {
            let table = std::mem::take(&mut self.table);
            self.push(TABLE, Some(&table));
            self.table = table;
        }
        Ok(())
    }

    /// As a reader of records would like to see it. What has an inside is only in the table.
    fn push_field(&mut self, field: &Field<'_>) {
        let value = field.value;
        self.text.clear();
        let _ = match field.kind {
            b'S' | b'x' => return self.push(field.name, Some(value)),
            b'V' => return self.push(field.name, None),
            b't' => write!(self.text, "{}", value[0] != 0),
            b'f' => write!(self.text, "{}", f32::from_be_bytes([value[0], value[1], value[2], value[3]])),
            b'd' => write!(self.text, "{}", f64::from_bits(unsigned(value))),
            b'B' | b'u' | b'i' | b'T' => write!(self.text, "{}", unsigned(value)),
            b'b' | b's' | b'I' | b'L' | b'l' => write!(self.text, "{}", signed(value)),
            _ => return,
        };
        self.push_text(field.name);
    }

    fn push_number(&mut self, name: &[u8], number: u64) {
        self.text.clear();
        let _ = write!(self.text, "{number}");
        self.push_text(name);
    }

    fn push_text(&mut self, name: &[u8]) {
        let text = std::mem::take(&mut self.text);
        self.push(name, Some(text.as_bytes()));
        self.text = text;
    }

    #[inline(always)]
    fn push(&mut self, name: &[u8], value: Option<&[u8]>) {
        push_varlong(&mut self.headers, name.len() as i64);
        self.headers.extend_from_slice(name);
        match value {
            None => push_varlong(&mut self.headers, -1),
            Some(value) => {
                push_varlong(&mut self.headers, value.len() as i64);
                self.headers.extend_from_slice(value);
            }
        }
        self.count += 1;
    }
}

/// Headers that are about the record go into it, or mean something only when it is read.
fn is_of_the_record<'a>(field: &Field<'a>, shape: &mut Shape<'a>) -> bool {
    if !is_own(field.name) {
        return false;
    }
    match (field.name, field.kind) {
        (KEY, b'S' | b'x') => shape.key = Some(field.value),
        (TOMBSTONE, b't') if field.value == [1] && shape.value == Some(b"") => shape.value = None,
        _ => {}
    }
    true
}

fn unsigned(value: &[u8]) -> u64 {
    value.iter().fold(0, |number, byte| number << 8 | *byte as u64)
}

fn signed(value: &[u8]) -> i64 {
    let unused = 64 - 8 * value.len() as u32;
    (unsigned(value) << unused) as i64 >> unused
}

#[cfg(test)]
mod tests {
    use super::super::run::RunWriter;
    use super::*;
    use crate::records::visit;

    fn run(messages: &[(&[u8], &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = RunWriter::begin(&mut out, b"", b"q", 0);
        for (properties, body) in messages {
            writer.push(&mut out, properties, body);
        }
        writer.finish(&mut out);
        out
    }

    const HOW: Making<'static> = Making { queue: "q", now_ms: 5, size_max: 1000, codec: 0 };

    /// Key, value and names of headers.
    type Shown = (Option<Vec<u8>>, Option<Vec<u8>>, Vec<String>);

    fn shown(batch: &[u8]) -> Vec<Shown> {
        let mut found = Vec::new();
        visit(batch, 0, |_, timestamp, record| {
            assert_eq!(timestamp, 5);
            let names = record.headers().map(|(name, _)| String::from_utf8_lossy(name).into_owned()).collect();
            found.push((record.key.map(<[u8]>::to_vec), record.value.map(<[u8]>::to_vec), names));
            true
        })
        .unwrap();
        found
    }

    #[test]
    fn a_plain_message_is_a_value_with_a_mark() {
        let (batches, taken) = batches_of(&run(&[(&[0, 0], b"body"), (&[0x10, 0, 2], b"")]), &HOW).unwrap();
        assert_eq!((batches.len(), taken, batches[0].keyless_at), (1, 2, 0));
        let mark = vec!["amqp".to_owned()];
        let expected = vec![(None, Some(b"body".to_vec()), mark.clone()), (None, Some(Vec::new()), mark)];
        assert_eq!(shown(&batches[0].bytes), expected);
    }

    #[test]
    fn some_headers_are_the_record() {
        let table = b"\x0bx-kafka-keyS\0\0\0\x01k\x11x-kafka-tombstonet\x01\x01hS\0\0\0\x01t";
        let properties = [&[0x20, 0], &(table.len() as u32).to_be_bytes()[..], table].concat();
        let (batches, _) = batches_of(&run(&[(&properties, b"")]), &HOW).unwrap();
        let names = vec!["h".to_owned(), "amqp".to_owned()];
        assert_eq!(shown(&batches[0].bytes), vec![(Some(b"k".to_vec()), None, names)]);
        assert_eq!(batches[0].keyless_at, -1);
    }

    #[test]
    fn what_fits_no_batch_ends_the_run() {
        let large = [7; 2000];
        let blob = run(&[(&[0, 0], &[1; 500]), (&[0, 0], &[2; 500]), (&[0, 0], &large), (&[0, 0], b"small")]);
        let (batches, taken) = batches_of(&blob, &HOW).unwrap();
        assert_eq!((batches.len(), taken), (2, 2));
        assert!(batches.iter().all(|batch| batch.bytes.len() <= HOW.size_max));
    }

    #[test]
    fn numbers_of_every_width_are_text() {
        assert_eq!((signed(&[0xff]), signed(&[0xff, 0xfe]), signed(&[0x7f])), (-1, -2, 127));
        assert_eq!((unsigned(&[0xff]), unsigned(&[1, 0])), (255, 256));
        assert_eq!(signed(&i64::MIN.to_be_bytes()), i64::MIN);
    }
}
