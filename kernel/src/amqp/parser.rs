//! What a client sends, turned into events.
//!
//! The parser knows frames and contents, and no more of the protocol than it needs for the two methods that come in
//! masses, publish and ack. It holds nothing between calls but contents of which a part is still missing.

use super::content::read_properties;
use super::events::{ErrorEvent, Event};
use super::gather::{read_target, Sink};
use super::*;
use crate::cursor::{utf8, Checked, Cursor, Malformed};
use std::collections::BTreeMap;

pub const FRAME_ERROR: u16 = 501;
pub const SYNTAX_ERROR: u16 = 502;
pub const COMMAND_INVALID: u16 = 503;
pub const UNEXPECTED_FRAME: u16 = 505;
pub const RESOURCE_ERROR: u16 = 506;
pub const PRECONDITION_FAILED: u16 = 406;

/// Nobody may even announce more.
const BODY_SIZE_ANNOUNCED_MAX: u64 = 512 * 1024 * 1024;
/// What one content that has begun costs besides its bytes.
const PARTIAL_OVERHEAD: usize = 512;

/// A publish between its method and the last byte of its body.
struct Partial {
    /// Exchange, key and bits, as the method had them.
    target: Vec<u8>,
    /// Once the content header is there.
    content: Option<PartialContent>,
}

struct PartialContent {
    properties: Vec<u8>,
    body: Vec<u8>,
    body_size: usize,
    /// Beyond the limit: counted to its end, kept nowhere.
    left_to_drop: u64,
}

impl Partial {
    fn size(&self) -> usize {
        let content = self.content.as_ref().map_or(0, |content| content.properties.len() + content.body.capacity());
        PARTIAL_OVERHEAD + self.target.len() + content
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// The connection is being closed: nothing counts any more but methods on channel 0.
    Closing,
    /// Where frames begin is no longer known.
    Lost,
}

pub struct Parser {
    pub frame_max: usize,
    pub body_size_max: usize,
    pub partial_bytes_max: usize,
    partials: BTreeMap<u16, Partial>,
    partial_bytes: usize,
    state: State,
}

/// A violation, before it is known which method it belongs to.
struct Violation(u16, &'static str);

impl From<Malformed> for Violation {
    fn from(malformed: Malformed) -> Self {
        Violation(SYNTAX_ERROR, malformed.0)
    }
}

impl Parser {
    pub fn new(frame_max: usize, body_size_max: usize) -> Self {
        Self {
            frame_max,
            body_size_max,
            partial_bytes_max: body_size_max.saturating_mul(4).max(1 << 20),
            partials: BTreeMap::new(),
            partial_bytes: 0,
            state: State::Open,
        }
    }

    /// Memory held by contents that have begun.
    pub fn partial_bytes(&self) -> usize {
        self.partial_bytes
    }

    /// From now on only methods on channel 0 count.
    pub fn close(&mut self) {
        if self.state == State::Open {
            self.state = State::Closing;
        }
        self.partials.clear();
        self.partial_bytes = 0;
    }

    /// Events of the whole frames in `bytes[start..end]`, and where the first incomplete one begins. The bytes of runs
    /// are appended to `runs`, where their events say.
    pub fn parse<'a>(
        &mut self,
        bytes: &'a [u8],
        start: usize,
        end: usize,
        runs: &mut Vec<u8>,
    ) -> Checked<(usize, Vec<Event<'a>>)> {
        let mut cursor = Cursor::over(bytes, start, end).ok_or(Malformed("the range is outside the buffer"))?;
        let mut sink = Sink::new(runs);
        while self.state != State::Lost {
            let Ok(header) = cursor.clone().array::<FRAME_HEADER_SIZE>() else { break };
            let kind = header[0];
            let channel = u16::from_be_bytes([header[1], header[2]]);
            let size = u32::from_be_bytes([header[3], header[4], header[5], header[6]]) as usize;
            if let Err(Violation(code, text)) = self.check_frame_header(kind, channel, size) {
                self.fail(&mut sink, channel, code, text, (0, 0));
                self.state = State::Lost;
                break;
            }
            if cursor.rest() < size + FRAME_EXTRA_SIZE {
                break;
            }
            if kind == FRAME_METHOD && self.whole_publish(&mut sink, &mut cursor, channel, size) {
                continue;
            }
            cursor.skip(FRAME_HEADER_SIZE)?;
            let payload = cursor.take(size)?;
            if cursor.u8()? != FRAME_END {
                self.fail(&mut sink, channel, FRAME_ERROR, "a frame does not end where it should", (0, 0));
                self.state = State::Lost;
                break;
            }
            self.frame(&mut sink, kind, channel, payload);
        }
        let consumed = if self.state == State::Lost { end } else { cursor.position() };
        Ok((consumed, sink.into_events()))
    }

    /// Takes a publish whose three frames follow one another in the buffer, the usual case, without keeping anything.
    /// False: it is not that simple, nothing was taken, look again frame by frame.
    fn whole_publish<'a>(
        &mut self,
        sink: &mut Sink<'a, '_>,
        cursor: &mut Cursor<'a>,
        channel: u16,
        size: usize,
    ) -> bool {
        if channel == 0 || self.state != State::Open || self.partials.contains_key(&channel) {
            return false;
        }
        let mut ahead = *cursor;
        let Some((target, properties, body)) = self.read_whole_publish(&mut ahead, channel, size) else {
            return false;
        };
        if sink.publish(channel, target, properties, body).is_err() {
            return false;
        }
        *cursor = ahead;
        true
    }

    #[inline(always)]
    fn read_whole_publish<'a>(
        &self,
        ahead: &mut Cursor<'a>,
        channel: u16,
        size: usize,
    ) -> Option<(&'a [u8], &'a [u8], &'a [u8])> {
        const PUBLISH: [u8; 4] = [0, CLASS_BASIC as u8, 0, METHOD_BASIC_PUBLISH as u8];
        ahead.skip(FRAME_HEADER_SIZE).ok()?;
        let target = ahead.take(size).ok()?.strip_prefix(&PUBLISH)?.get(2..)?;
        if ahead.u8().ok()? != FRAME_END {
            return None;
        }
        let header = self.next_frame(ahead, FRAME_HEADER, channel)?;
        let (numbers, properties) = header.split_first_chunk::<CONTENT_HEADER_SIZE>()?;
        let (class, size) = numbers.split_first_chunk::<4>()?;
        if class != &[0, CLASS_BASIC as u8, 0, 0] {
            return None;
        }
        let body_size = u64::from_be_bytes(size.try_into().ok()?);
        if body_size == 0 {
            return Some((target, properties, &[]));
        }
        let body = self.next_frame(ahead, FRAME_BODY, channel)?;
        (body.len() as u64 == body_size && body.len() <= self.body_size_max).then_some((target, properties, body))
    }

    /// The payload of the next frame, if it is whole, sound, and the one expected.
    #[inline(always)]
    fn next_frame<'a>(&self, ahead: &mut Cursor<'a>, kind: u8, channel: u16) -> Option<&'a [u8]> {
        let header = ahead.array::<FRAME_HEADER_SIZE>().ok()?;
        let size = u32::from_be_bytes([header[3], header[4], header[5], header[6]]) as usize;
        if header[0] != kind || header[1..3] != channel.to_be_bytes() || size > self.frame_max {
            return None;
        }
        let payload = ahead.take(size).ok()?;
        (ahead.u8().ok()? == FRAME_END).then_some(payload)
    }

    fn check_frame_header(&self, kind: u8, channel: u16, size: usize) -> Result<(), Violation> {
        if !matches!(kind, FRAME_METHOD | FRAME_HEADER | FRAME_BODY | FRAME_HEARTBEAT) {
            return Err(Violation(FRAME_ERROR, "a frame of unknown type"));
        }
        // RabbitMQ counts payloads against the limit for whole frames, and some clients rely on it.
        if size > self.frame_max {
            return Err(Violation(FRAME_ERROR, "a frame is larger than agreed"));
        }
        if kind == FRAME_HEARTBEAT && channel != 0 {
            return Err(Violation(UNEXPECTED_FRAME, "a heartbeat on a channel"));
        }
        if kind == FRAME_HEARTBEAT && size != 0 {
            return Err(Violation(FRAME_ERROR, "a heartbeat with a payload"));
        }
        Ok(())
    }

    /// Reports a violation that ends the connection.
    fn fail(&mut self, sink: &mut Sink<'_, '_>, channel: u16, code: u16, text: &'static str, of: (u16, u16)) {
        if self.state == State::Open {
            sink.push(Event::Error(ErrorEvent { channel, code, text, class: of.0, method: of.1 }));
        }
        self.close();
    }

    fn frame<'a>(&mut self, sink: &mut Sink<'a, '_>, kind: u8, channel: u16, payload: &'a [u8]) {
        if kind == FRAME_HEARTBEAT {
            sink.push(Event::Heartbeat);
            return;
        }
        if self.state == State::Closing && (kind != FRAME_METHOD || channel != 0) {
            return;
        }
        let outcome = match kind {
            FRAME_METHOD => self.method_frame(sink, channel, payload),
            FRAME_HEADER => self.header_frame(sink, channel, payload).map_err(of_publish),
            _ => self.body_frame(sink, channel, payload).map_err(of_publish),
        };
        if let Err((Violation(code, text), of)) = outcome {
            self.fail(sink, channel, code, text, of);
        }
    }

    fn method_frame<'a>(
        &mut self,
        sink: &mut Sink<'a, '_>,
        channel: u16,
        payload: &'a [u8],
    ) -> Result<(), (Violation, (u16, u16))> {
        let mut cursor = Cursor::new(payload);
        let (Ok(class), Ok(method)) = (cursor.u16(), cursor.u16()) else {
            return Err((Violation(SYNTAX_ERROR, "a method frame without a method"), (0, 0)));
        };
        let of = (class, method);
        if self.partials.contains_key(&channel) {
            if of != (CLASS_CHANNEL, METHOD_CHANNEL_CLOSE_OK) {
                return Err((Violation(UNEXPECTED_FRAME, "a method where a content was due"), of));
            }
            // Who agrees to the closing of a channel need not finish what was being published.
            self.forget(channel);
        }
        let arguments = cursor.rest_bytes();
        match of {
            (CLASS_BASIC, METHOD_BASIC_PUBLISH | METHOD_BASIC_ACK) if channel == 0 => {
                Err((Violation(COMMAND_INVALID, "a basic method on channel 0"), of))
            }
            (CLASS_BASIC, METHOD_BASIC_PUBLISH) => self.begin(channel, arguments).map_err(|violation| (violation, of)),
            (CLASS_BASIC, METHOD_BASIC_ACK) => {
                let (Ok(tag), Ok(bits), true) = (cursor.u64(), cursor.u8(), cursor.is_at_end()) else {
                    return Err((Violation(SYNTAX_ERROR, "the arguments of ack are malformed"), of));
                };
                if bits & 1 == 0 {
                    sink.ack(channel, tag);
                } else {
                    sink.push(Event::AckMultiple { channel, tag });
                }
                Ok(())
            }
            _ => {
                sink.push(Event::Method { channel, class, method, arguments });
                Ok(())
            }
        }
    }

    fn begin(&mut self, channel: u16, arguments: &[u8]) -> Result<(), Violation> {
        // A reserved number comes first.
        let target = arguments.get(2..).ok_or(Malformed("the arguments of publish are malformed"))?;
        let (exchange, key, _) = read_target(target)?;
        utf8(exchange)?;
        utf8(key)?;
        self.keep(channel, Partial { target: target.to_vec(), content: None })
    }

    fn keep(&mut self, channel: u16, partial: Partial) -> Result<(), Violation> {
        self.partial_bytes += partial.size();
        self.partials.insert(channel, partial);
        if self.partial_bytes > self.partial_bytes_max {
            return Err(Violation(RESOURCE_ERROR, "too many unfinished messages"));
        }
        Ok(())
    }

    fn forget(&mut self, channel: u16) -> Option<Partial> {
        let partial = self.partials.remove(&channel)?;
        self.partial_bytes -= partial.size();
        Some(partial)
    }

    fn header_frame(&mut self, sink: &mut Sink<'_, '_>, channel: u16, payload: &[u8]) -> Result<(), Violation> {
        let partial = match self.forget(channel) {
            Some(partial) if partial.content.is_none() => partial,
            _ => return Err(Violation(UNEXPECTED_FRAME, "a content header where none was due")),
        };
        let mut cursor = Cursor::new(payload);
        let (class, weight, body_size) = (cursor.u16()?, cursor.u16()?, cursor.u64()?);
        if class != CLASS_BASIC || weight != 0 {
            return Err(Violation(UNEXPECTED_FRAME, "a content header that does not belong to its method"));
        }
        if body_size > BODY_SIZE_ANNOUNCED_MAX {
            return Err(Violation(FRAME_ERROR, "a body of an impossible size is announced"));
        }
        let properties = cursor.rest_bytes();
        if body_size == 0 {
            return Ok(sink.publish(channel, &partial.target, properties, &[])?);
        }
        read_properties(properties)?;
        let is_too_large = body_size > self.body_size_max as u64;
        let content = PartialContent {
            properties: if is_too_large { Vec::new() } else { properties.to_vec() },
            body: Vec::new(),
            body_size: body_size as usize,
            left_to_drop: if is_too_large { body_size } else { 0 },
        };
        self.keep(channel, Partial { content: Some(content), ..partial })
    }

    fn body_frame(&mut self, sink: &mut Sink<'_, '_>, channel: u16, payload: &[u8]) -> Result<(), Violation> {
        let Some(mut partial) = self.forget(channel) else {
            return Err(Violation(UNEXPECTED_FRAME, "a body where none was due"));
        };
        let Some(content) = &mut partial.content else {
            return Err(Violation(UNEXPECTED_FRAME, "a body where a content header was due"));
        };
        if payload.is_empty() {
            return Err(Violation(FRAME_ERROR, "an empty body frame"));
        }
        if content.left_to_drop > 0 {
            content.left_to_drop = match content.left_to_drop.checked_sub(payload.len() as u64) {
                None => return Err(Violation(FRAME_ERROR, "a body is larger than announced")),
                Some(0) => {
                    let text = "a message is larger than the limit";
                    sink.push(Event::Error(ErrorEvent {
                        channel,
                        code: PRECONDITION_FAILED,
                        text,
                        class: CLASS_BASIC,
                        method: METHOD_BASIC_PUBLISH,
                    }));
                    return Ok(());
                }
                Some(left) => left,
            };
            return self.keep(channel, partial);
        }
        let left = content.body_size - content.body.len();
        if payload.len() > left {
            return Err(Violation(FRAME_ERROR, "a body is larger than announced"));
        }
        if payload.len() == left && content.body.is_empty() {
            return Ok(sink.publish(channel, &partial.target, &content.properties, payload)?);
        }
        if content.body.capacity() - content.body.len() < payload.len() {
            // Doubling, but never beyond what was announced.
            content.body.reserve_exact(left.min(content.body.len().max(payload.len())));
        }
        content.body.extend_from_slice(payload);
        if payload.len() == left {
            return Ok(sink.publish(channel, &partial.target, &content.properties, &content.body)?);
        }
        self.keep(channel, partial)
    }
}

fn of_publish(violation: Violation) -> (Violation, (u16, u16)) {
    (violation, (CLASS_BASIC, METHOD_BASIC_PUBLISH))
}

#[cfg(test)]
#[path = "parser_tests.rs"]
mod tests;
