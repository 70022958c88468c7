//! Deliveries: messages of a run, or single ones, as frames.

use super::run::Run;
use super::*;
use crate::cursor::{Checked, Malformed};

/// Whom a run is delivered to, and how.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    pub channel: u16,
    pub consumer_tag: &'a [u8],
    /// Of the first message; those behind it count on.
    pub tag_first: u64,
    pub is_redelivered: bool,
    pub frame_max: usize,
}

fn push_frame_header(out: &mut Vec<u8>, kind: u8, channel: u16, size: usize) {
    out.push(kind);
    out.extend_from_slice(&channel.to_be_bytes());
    out.extend_from_slice(&(size as u32).to_be_bytes());
}

fn push_short_string(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(bytes.len() as u8);
    out.extend_from_slice(bytes);
}

/// Content header and body frames. A content header cannot be split: that of a publisher with larger frames than the
/// consumer's goes out as it is, and clients cope.
fn push_content(out: &mut Vec<u8>, channel: u16, properties: &[u8], body: &[u8], frame_max: usize) {
    push_frame_header(out, FRAME_HEADER, channel, CONTENT_HEADER_SIZE + properties.len());
    out.extend_from_slice(&CLASS_BASIC.to_be_bytes());
    out.extend_from_slice(&[0; 2]);
    out.extend_from_slice(&(body.len() as u64).to_be_bytes());
    out.extend_from_slice(properties);
    out.push(FRAME_END);
    for part in body.chunks(frame_max - FRAME_EXTRA_SIZE) {
        push_frame_header(out, FRAME_BODY, channel, part.len());
        out.extend_from_slice(part);
        out.push(FRAME_END);
    }
}

fn require_frame_max(frame_max: usize) -> Checked<()> {
    if frame_max < FRAME_MAX_MIN {
        return Err(Malformed("a frame limit below 4096"));
    }
    Ok(())
}

/// Up to `count` messages from `position` on as deliveries, and the position behind the last one.
pub fn encode_run(blob: &[u8], position: usize, count: usize, to: &Delivery<'_>) -> Checked<(Vec<u8>, usize)> {
    require_frame_max(to.frame_max)?;
    let run = Run::open(blob)?;
    let mut messages = run.messages(position)?;
    let mut method = Vec::with_capacity(FRAME_EXTRA_SIZE + 600);
    let arguments_size = 4 + 1 + to.consumer_tag.len() + 8 + 1 + 1 + run.exchange.len() + 1 + run.key.len();
    if to.consumer_tag.len() > 255 {
        return Err(Malformed("a consumer tag beyond 255 bytes"));
    }
    push_frame_header(&mut method, FRAME_METHOD, to.channel, arguments_size);
    method.extend_from_slice(&CLASS_BASIC.to_be_bytes());
    method.extend_from_slice(&METHOD_BASIC_DELIVER.to_be_bytes());
    push_short_string(&mut method, to.consumer_tag);
    let tag_at = method.len();
    method.extend_from_slice(&[0; 8]);
    method.push(to.is_redelivered as u8);
    push_short_string(&mut method, run.exchange.as_bytes());
    push_short_string(&mut method, run.key.as_bytes());
    method.push(FRAME_END);

    let each = method.len() + 64;
    let expected = each.saturating_mul(count).min(blob.len() - messages.position());
    let mut out = Vec::with_capacity(expected + each * count.min(256));
    for index in 0..count {
        let Some(message) = messages.next_message()? else { break };
        let tag = to.tag_first.wrapping_add(index as u64);
        method[tag_at..tag_at + 8].copy_from_slice(&tag.to_be_bytes());
        out.extend_from_slice(&method);
        push_content(&mut out, to.channel, message.properties, message.body, to.frame_max);
    }
    Ok((out, messages.position()))
}

/// One method with a content behind it: for returns, gets, and messages changed on their way.
pub fn encode_content(
    channel: u16,
    method: &[u8],
    properties: &[u8],
    body: &[u8],
    frame_max: usize,
) -> Checked<Vec<u8>> {
    require_frame_max(frame_max)?;
    if method.len() > frame_max - FRAME_EXTRA_SIZE {
        return Err(Malformed("the method does not fit into a frame"));
    }
    let mut out = Vec::with_capacity(method.len() + properties.len() + body.len() + 64);
    push_frame_header(&mut out, FRAME_METHOD, channel, method.len());
    out.extend_from_slice(method);
    out.push(FRAME_END);
    push_content(&mut out, channel, properties, body, frame_max);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::super::run::RunWriter;
    use super::*;

    fn run(bodies: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = RunWriter::begin(&mut out, b"ex", b"key", 0);
        for body in bodies {
            writer.push(&mut out, &[0x10, 0, 2], body);
        }
        writer.finish(&mut out);
        out
    }

    fn delivery(frame_max: usize) -> Delivery<'static> {
        Delivery { channel: 7, consumer_tag: b"ctag", tag_first: 0x0102, is_redelivered: true, frame_max }
    }

    #[test]
    fn the_bytes_of_a_delivery_are_fixed() {
        let (out, position) = encode_run(&run(&[b"body"]), 0, 1, &delivery(4096)).unwrap();
        let method = b"\x01\0\x07\0\0\0\x19\0\x3c\0\x3c\x04ctag\0\0\0\0\0\0\x01\x02\x01\x02ex\x03key\xce";
        let header = b"\x02\0\x07\0\0\0\x0f\0\x3c\0\0\0\0\0\0\0\0\0\x04\x10\0\x02\xce";
        let body = b"\x03\0\x07\0\0\0\x04body\xce";
        assert_eq!(out, [&method[..], header, body].concat());
        assert_eq!(position, run(&[b"body"]).len());
    }

    #[test]
    fn a_run_may_be_delivered_in_parts() {
        let blob = run(&[b"one", b"", b"three"]);
        let whole = encode_run(&blob, 0, 3, &delivery(4096)).unwrap();
        let (mut parts, mut position) = encode_run(&blob, 0, 2, &delivery(4096)).unwrap();
        let behind = Delivery { tag_first: 0x0104, ..delivery(4096) };
        let (rest, end) = encode_run(&blob, position, 99, &behind).unwrap();
        parts.extend_from_slice(&rest);
        position = end;
        assert_eq!((parts, position), whole);
        assert_eq!(encode_run(&blob, 0, 0, &delivery(4096)).unwrap().0, b"");
    }

    fn body_frame_sizes(frames: &[u8]) -> Vec<usize> {
        let (mut at, mut sizes) = (0, Vec::new());
        while at < frames.len() {
            let size = u32::from_be_bytes([frames[at + 3], frames[at + 4], frames[at + 5], frames[at + 6]]) as usize;
            if frames[at] == FRAME_BODY {
                sizes.push(size + FRAME_EXTRA_SIZE);
            }
            assert_eq!(frames[at + FRAME_HEADER_SIZE + size], FRAME_END);
            at += size + FRAME_EXTRA_SIZE;
        }
        sizes
    }

    #[test]
    fn bodies_are_split_to_frames_within_the_limit() {
        for (body_size, sizes) in [
            (0, vec![]),
            (4088, vec![4096]),
            (4089, vec![4096, 9]),
            (10 * 4096, vec![4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 88]),
        ] {
            let body = vec![9; body_size];
            let (out, _) = encode_run(&run(&[&body]), 0, 1, &delivery(4096)).unwrap();
            assert_eq!(body_frame_sizes(&out), sizes);
            let out = encode_content(7, &[0, 60, 0, 71], &[0, 0], &body, 4096).unwrap();
            assert_eq!(body_frame_sizes(&out), sizes);
        }
    }

    #[test]
    fn limits_and_names_that_cannot_be_are_refused() {
        let blob = run(&[b"one"]);
        assert!(encode_run(&blob, 0, 1, &delivery(4095)).is_err());
        assert!(encode_run(&blob, 0, 1, &Delivery { consumer_tag: &[b'a'; 256], ..delivery(4096) }).is_err());
        assert!(encode_run(&blob, 0, usize::MAX, &delivery(4096)).is_ok());
        assert!(encode_content(1, &[0; 4089], &[0, 0], b"", 4096).is_err());
        assert!(encode_content(1, &[0; 4], &[0, 0], b"", 0).is_err());
    }
}
