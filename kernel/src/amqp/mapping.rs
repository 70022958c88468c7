//! How a message is a record of a stream: the names that both directions share. See docs/formats/stream-records.md.

use super::content::{check_table, short_string, TABLE_DEPTH_MAX};
use crate::cursor::{Checked, Cursor};

/// The first header of every record that came by AMQP; its value is the delivery mode in text, empty for none.
pub const MARK: &[u8] = b"amqp";
/// The names of record headers that hold parts of a message begin with this.
pub const PREFIX: &[u8] = b"amqp.";
pub const EXCHANGE: &[u8] = b"amqp.exchange";
pub const ROUTING_KEY: &[u8] = b"amqp.routing-key";
/// The header table as it was published, where text alone would not bring it back.
pub const TABLE: &[u8] = b"amqp.headers";

/// Message headers that stand for parts of a record. Those with this prefix are the broker's.
pub const BROKER_PREFIX: &[u8] = b"x-kafka-";
pub const KEY: &[u8] = b"x-kafka-key";
pub const TOMBSTONE: &[u8] = b"x-kafka-tombstone";
pub const TIMESTAMP: &[u8] = b"x-kafka-timestamp";
pub const TRUNCATED: &[u8] = b"x-kafka-truncated";
pub const OFFSET: &[u8] = b"x-stream-offset";
pub const FILTER_VALUE: &[u8] = b"x-stream-filter-value";

pub const HAS_HEADERS: u16 = 0x2000;
pub const HAS_DELIVERY_MODE: u16 = 0x1000;
pub const HAS_TIMESTAMP: u16 = 0x0040;

/// How the value of a property is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    ShortString,
    Octet,
    Long,
}

/// Flag, name as a record header, width.
pub type Property = (u16, &'static [u8], Width);

/// So many of the properties come before the header table.
pub const BEFORE_HEADERS: usize = 2;

/// Properties that are record headers of their own, in the order of their flags. The header table and the delivery
/// mode are kept otherwise.
pub const PROPERTIES: [Property; 12] = [
    (0x8000, b"amqp.content-type", Width::ShortString),
    (0x4000, b"amqp.content-encoding", Width::ShortString),
    (0x0800, b"amqp.priority", Width::Octet),
    (0x0400, b"amqp.correlation-id", Width::ShortString),
    (0x0200, b"amqp.reply-to", Width::ShortString),
    (0x0100, b"amqp.expiration", Width::ShortString),
    (0x0080, b"amqp.message-id", Width::ShortString),
    (HAS_TIMESTAMP, b"amqp.timestamp", Width::Long),
    (0x0020, b"amqp.type", Width::ShortString),
    (0x0010, b"amqp.user-id", Width::ShortString),
    (0x0008, b"amqp.app-id", Width::ShortString),
    (0x0004, b"amqp.cluster-id", Width::ShortString),
];

/// A field of a header table where it lies.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    pub name: &'a [u8],
    pub kind: u8,
    /// Without its type, and without the size of texts.
    pub value: &'a [u8],
    /// Name, type and value.
    pub whole: &'a [u8],
}

/// Walks the outermost fields of a table.
pub struct Fields<'a> {
    cursor: Cursor<'a>,
}

impl<'a> Fields<'a> {
    pub fn new(table: &'a [u8]) -> Self {
        Self { cursor: Cursor::new(table) }
    }

    pub fn next_field(&mut self) -> Checked<Option<Field<'a>>> {
        if self.cursor.is_at_end() {
            return Ok(None);
        }
        let rest = self.cursor.rest_bytes();
        let name = short_string(&mut self.cursor)?;
        let kind = self.cursor.u8()?;
        let value = match kind {
            b't' | b'b' | b'B' => self.cursor.take(1)?,
            b's' | b'u' => self.cursor.take(2)?,
            b'I' | b'i' | b'f' => self.cursor.take(4)?,
            b'L' | b'l' | b'd' | b'T' => self.cursor.take(8)?,
            b'D' => self.cursor.take(5)?,
            b'V' => &[],
            _ => {
                let size = self.cursor.u32()? as usize;
                self.cursor.take(size)?
            }
        };
        let whole = &rest[..rest.len() - self.cursor.rest()];
        Ok(Some(Field { name, kind, value, whole }))
    }
}

/// Names that only the broker gives: what others say under them would be taken for its word.
pub fn is_own(name: &[u8]) -> bool {
    name == OFFSET || name.starts_with(BROKER_PREFIX)
}

/// Whether these bytes are a header table that could have been published.
pub fn is_table(bytes: &[u8]) -> bool {
    let mut has_own = false;
    check_table(bytes, TABLE_DEPTH_MAX, &mut |name| has_own |= is_own(name)).is_ok() && !has_own
}
