//! Runs: blocks of publishes alike, in the form in which they are kept and stored.

use super::content::{read_properties, Concerns};
use crate::crc::crc32c;
use crate::cursor::{utf8, Checked, Cursor, Malformed};
use crate::frames::FRAME_HEADER_SIZE as STORED_HEADER_SIZE;

const KIND_RUN: u8 = 1;
const COUNT_AT: usize = STORED_HEADER_SIZE + 4;
const NAMES_AT: usize = STORED_HEADER_SIZE + 8;
/// The sizes in front of a message.
const MESSAGE_HEADER_SIZE: usize = 8;
/// A run that has grown beyond this takes no further message.
const RUN_SIZE_MAX: usize = 1 << 20;

/// Writes one run at the end of a buffer that may hold others.
#[derive(Clone, Copy, Debug)]
pub struct RunWriter {
    start: usize,
    count: u32,
}

impl RunWriter {
    /// Names are at most 255 bytes, as short strings are.
    pub fn begin(out: &mut Vec<u8>, exchange: &[u8], key: &[u8], flags: u8) -> Self {
        let start = out.len();
        out.extend_from_slice(&[0; STORED_HEADER_SIZE]);
        out.extend_from_slice(&[KIND_RUN, flags, exchange.len() as u8, key.len() as u8]);
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(exchange);
        out.extend_from_slice(key);
        Self { start, count: 0 }
    }

    pub fn count(&self) -> u32 {
        self.count
    }

    pub fn is_full(&self, out: &[u8]) -> bool {
        out.len() - self.start >= RUN_SIZE_MAX
    }

    pub fn is_for(&self, out: &[u8], exchange: &[u8], key: &[u8]) -> bool {
        let names = &out[self.start + NAMES_AT..];
        out[self.start + STORED_HEADER_SIZE + 2] as usize == exchange.len()
            && out[self.start + STORED_HEADER_SIZE + 3] as usize == key.len()
            && names.starts_with(exchange)
            && names[exchange.len()..].starts_with(key)
    }

    /// Appends a message. Both parts are below 2^31 bytes: a frame bounds the one, the body limit the other.
    #[inline(always)]
    pub fn push(&mut self, out: &mut Vec<u8>, properties: &[u8], body: &[u8]) {
        out.reserve(MESSAGE_HEADER_SIZE + properties.len() + body.len());
        out.extend_from_slice(&(properties.len() as u32).to_le_bytes());
        out.extend_from_slice(&(body.len() as u32).to_le_bytes());
        out.extend_from_slice(properties);
        out.extend_from_slice(body);
        self.count += 1;
    }

    /// Fills in count, size and checksum; the run is `out[range]`.
    pub fn finish(self, out: &mut [u8]) -> std::ops::Range<usize> {
        let blob = &mut out[self.start..];
        blob[COUNT_AT..COUNT_AT + 4].copy_from_slice(&self.count.to_le_bytes());
        let size = (blob.len() - STORED_HEADER_SIZE) as u32;
        let crc = crc32c(&blob[STORED_HEADER_SIZE..]);
        blob[..4].copy_from_slice(&size.to_le_bytes());
        blob[4..8].copy_from_slice(&crc.to_le_bytes());
        self.start..out.len()
    }
}

/// One message where it lies in its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    pub position: usize,
    pub properties: &'a [u8],
    pub body: &'a [u8],
}

/// A run read back. The checksum is not looked at: `scan` does that once, when a run comes from disk.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    blob: &'a [u8],
    pub exchange: &'a str,
    pub key: &'a str,
    pub flags: u8,
    pub count: u32,
    pub first_at: usize,
}

impl<'a> Run<'a> {
    pub fn open(blob: &'a [u8]) -> Checked<Self> {
        let mut cursor = Cursor::new(blob);
        let size = u32::from_le_bytes(cursor.array()?) as usize;
        cursor.skip(4)?;
        if size != cursor.rest() {
            return Err(Malformed("a run with a wrong size"));
        }
        let [kind, flags, exchange_size, key_size] = cursor.array()?;
        if kind != KIND_RUN {
            return Err(Malformed("not a run"));
        }
        let count = u32::from_le_bytes(cursor.array()?);
        debug_assert_eq!(cursor.position(), NAMES_AT);
        let exchange = utf8(cursor.take(exchange_size as usize)?)?;
        let key = utf8(cursor.take(key_size as usize)?)?;
        Ok(Self { blob, exchange, key, flags, count, first_at: cursor.position() })
    }

    /// The messages from `position` on (0: from the first), wherever they end.
    pub fn messages(&self, position: usize) -> Checked<Messages<'a>> {
        let start = if position == 0 { self.first_at } else { position };
        if start < self.first_at {
            return Err(Malformed("a position in front of the messages"));
        }
        let cursor = Cursor::over(self.blob, start, self.blob.len()).ok_or(Malformed("a position behind the run"))?;
        Ok(Messages { cursor })
    }

    /// Up to `count` messages from `position` on: how many there are, the size of their bodies, where they end.
    pub fn measure(&self, position: usize, count: usize) -> Checked<(usize, usize, usize)> {
        let mut messages = self.messages(position)?;
        let (mut counted, mut body_bytes) = (0, 0);
        while counted < count {
            let Some(message) = messages.next_message()? else { break };
            counted += 1;
            body_bytes += message.body.len();
        }
        Ok((counted, body_bytes, messages.position()))
    }

    /// What all messages of the run have in common, from the first of them.
    pub fn concerns(&self) -> Checked<Concerns<'a>> {
        match self.messages(0)?.next_message()? {
            Some(message) => read_properties(message.properties),
            None => Ok(Concerns::default()),
        }
    }
}

pub struct Messages<'a> {
    cursor: Cursor<'a>,
}

impl<'a> Messages<'a> {
    pub fn position(&self) -> usize {
        self.cursor.position()
    }

    #[inline(always)]
    pub fn next_message(&mut self) -> Checked<Option<Message<'a>>> {
        if self.cursor.is_at_end() {
            return Ok(None);
        }
        let position = self.cursor.position();
        let sizes: [u8; MESSAGE_HEADER_SIZE] = self.cursor.array()?;
        let properties_size = u32::from_le_bytes([sizes[0], sizes[1], sizes[2], sizes[3]]) as usize;
        let body_size = u32::from_le_bytes([sizes[4], sizes[5], sizes[6], sizes[7]]) as usize;
        let properties = self.cursor.take(properties_size)?;
        let body = self.cursor.take(body_size)?;
        Ok(Some(Message { position, properties, body }))
    }
}

/// The number of messages in a stored payload, 0 if it is something else than a run.
pub fn count_in(payload: &[u8]) -> u32 {
    match payload.first_chunk::<8>() {
        Some(&[KIND_RUN, _, _, _, a, b, c, d]) => u32::from_le_bytes([a, b, c, d]),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::{scan_frames, FrameStop};

    fn run(messages: &[(&[u8], &[u8])]) -> Vec<u8> {
        let mut out = b"before".to_vec();
        let mut writer = RunWriter::begin(&mut out, b"exchange", b"key", 5);
        for (properties, body) in messages {
            writer.push(&mut out, properties, body);
        }
        let range = writer.finish(&mut out);
        out[range].to_vec()
    }

    #[test]
    fn the_bytes_of_a_run_are_fixed() {
        let bytes = run(&[(&[0, 0], b"body")]);
        let payload = b"\x01\x05\x08\x03\x01\0\0\0exchangekey\x02\0\0\0\x04\0\0\0\0\0body";
        assert_eq!(bytes[8..], payload[..]);
        assert_eq!(bytes[..4], (payload.len() as u32).to_le_bytes());
        assert_eq!(bytes[4..8], crc32c(payload).to_le_bytes());
    }

    #[test]
    fn a_run_is_a_stored_frame() {
        let stored = [run(&[(&[0, 0], b"one"), (&[0, 0], b"two")]), run(&[(&[0, 0], b"")])].concat();
        let scan = scan_frames(&stored);
        assert_eq!(scan.stop, FrameStop::End);
        let counts: Vec<_> = scan.payloads.iter().map(|&(at, size)| count_in(&stored[at..at + size])).collect();
        assert_eq!(counts, [2, 1]);
        assert_eq!((count_in(b""), count_in(&[2; 40])), (0, 0));
    }

    #[test]
    fn messages_are_read_from_any_position_given_before() {
        let bytes = run(&[(&[0, 0], b"one"), (&[0x10, 0, 2], b""), (&[0, 0], b"three")]);
        let run = Run::open(&bytes).unwrap();
        assert_eq!((run.exchange, run.key, run.flags, run.count), ("exchange", "key", 5, 3));
        let mut messages = run.messages(0).unwrap();
        let mut positions = Vec::new();
        while let Some(message) = messages.next_message().unwrap() {
            positions.push(message.position);
        }
        assert_eq!(messages.position(), bytes.len());
        let bodies: Vec<_> =
            positions.iter().map(|&at| run.messages(at).unwrap().next_message().unwrap().unwrap().body).collect();
        assert_eq!(bodies, [&b"one"[..], b"", b"three"]);
        assert_eq!(run.messages(bytes.len()).unwrap().next_message(), Ok(None));
        assert_eq!(run.measure(0, 2).unwrap(), (2, 3, positions[2]));
        assert_eq!(run.measure(positions[1], 9).unwrap(), (2, 5, bytes.len()));
        assert!(run.messages(1).is_err());
        assert!(run.messages(bytes.len() + 1).is_err());
    }

    #[test]
    fn a_run_cut_anywhere_is_no_run() {
        let bytes = run(&[(&[0, 0], b"one")]);
        for end in 0..bytes.len() {
            assert!(Run::open(&bytes[..end]).is_err());
        }
        let mut other = bytes;
        other[8] = 2;
        assert!(Run::open(&other).is_err());
    }

    #[test]
    fn a_message_may_not_reach_beyond_its_run() {
        let mut bytes = run(&[(&[0, 0], b"one")]);
        let at = bytes.len() - 9;
        bytes[at..at + 4].copy_from_slice(&[4, 0, 0, 0]);
        assert!(Run::open(&bytes).unwrap().messages(0).unwrap().next_message().is_err());
    }
}
