//! Splits what a Kafka connection sent into requests, and reads the request headers.

use crate::cursor::{Checked, Cursor, Malformed};
use std::borrow::Cow;

const SIZE_MIN: i32 = 8;
const API_VERSIONS: i16 = 18;
const API_VERSIONS_FLEXIBLE: i16 = 3;

#[derive(Debug, PartialEq, Eq)]
pub struct Request<'a> {
    pub api_key: i16,
    pub version: i16,
    pub correlation_id: i32,
    pub client_id: Option<Cow<'a, str>>,
    pub body_at: usize,
    pub end: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Split<'a> {
    pub consumed: usize,
    /// Size of the frame at `consumed` with its length field, 0 while that is not known.
    pub needed: usize,
    pub requests: Vec<Request<'a>>,
}

/// Whole requests in `bytes[start..end]`. A broken frame behind good ones is left for the next call.
pub fn split<'a>(
    bytes: &'a [u8],
    start: usize,
    end: usize,
    frame_max: usize,
    flexible_from: &[u8],
) -> Checked<Split<'a>> {
    let mut cursor = Cursor::over(bytes, start, end).ok_or(Malformed("the range is outside the buffer"))?;
    let mut found = Split { consumed: start, needed: 0, requests: Vec::new() };
    while cursor.rest() >= 4 {
        let size = cursor.i32()?;
        if size < SIZE_MIN || size as usize > frame_max {
            return stop_before(found, Malformed("the request size is out of bounds"));
        }
        if size as usize > cursor.rest() {
            found.needed = 4 + size as usize;
            return Ok(found);
        }
        let frame_end = cursor.position() + size as usize;
        match request(bytes, cursor.position(), frame_end, flexible_from) {
            Ok(request) => found.requests.push(request),
            Err(malformed) => return stop_before(found, malformed),
        }
        cursor.skip(size as usize)?;
        found.consumed = frame_end;
    }
    Ok(found)
}

fn stop_before(found: Split<'_>, malformed: Malformed) -> Checked<Split<'_>> {
    if found.requests.is_empty() {
        Err(malformed)
    } else {
        Ok(found)
    }
}

fn request<'a>(bytes: &'a [u8], start: usize, end: usize, flexible_from: &[u8]) -> Checked<Request<'a>> {
    let mut cursor = Cursor::over(bytes, start, end).ok_or(Malformed("the range is outside the buffer"))?;
    let api_key = cursor.i16()?;
    let version = cursor.i16()?;
    let correlation_id = cursor.i32()?;
    // Clients name themselves as they like; a name that is not UTF-8 is no reason to refuse them.
    let client_id = cursor.nullable_bytes16()?.map(String::from_utf8_lossy);
    if is_flexible(api_key, version, flexible_from) {
        cursor.skip_tagged_fields()?;
    }
    Ok(Request { api_key, version, correlation_id, client_id, body_at: cursor.position(), end })
}

fn is_flexible(api_key: i16, version: i16, flexible_from: &[u8]) -> bool {
    if api_key == API_VERSIONS {
        return version >= API_VERSIONS_FLEXIBLE;
    }
    match usize::try_from(api_key).ok().and_then(|key| flexible_from.get(key)) {
        None | Some(255) => false,
        Some(&first) => version >= first as i16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLEXIBLE_FROM: [u8; 4] = [9, 12, 6, 9];
    const PLAIN: &[u8] = b"\0\0\0\x0d\0\x03\0\x01\0\0\0\x07\0\x03cli";

    fn split_all(bytes: &[u8]) -> Checked<Split<'_>> {
        split(bytes, 0, bytes.len(), 1_000, &FLEXIBLE_FROM)
    }

    #[test]
    fn a_stream_may_arrive_in_any_pieces() {
        let stream = PLAIN.repeat(2);
        for end in 0..stream.len() {
            let found = split_all(&stream[..end]).unwrap();
            assert_eq!(found.requests.len(), end / PLAIN.len());
            assert_eq!(found.consumed, end / PLAIN.len() * PLAIN.len());
            assert_eq!(found.needed, if end % PLAIN.len() < 4 { 0 } else { PLAIN.len() });
        }
        let found = split_all(&stream).unwrap();
        let request = &found.requests[1];
        assert_eq!((request.api_key, request.version, request.correlation_id), (3, 1, 7));
        assert_eq!((request.client_id.as_deref(), request.body_at, request.end), (Some("cli"), 34, 34));
    }

    #[test]
    fn flexible_headers_skip_their_tags() {
        let frame = b"\0\0\0\x0f\0\x03\0\x09\0\0\0\x07\xff\xff\x01\x00\x01\x09\x55";
        let found = split_all(frame).unwrap();
        assert_eq!((found.requests[0].client_id.as_deref(), found.requests[0].body_at), (None, 18));
    }

    #[test]
    fn api_versions_has_a_flexible_header_in_versions_nobody_knows_yet() {
        for (version, body_at) in [(2, 14), (3, 15), (127, 15)] {
            let frame = [0, 0, 0, 11, 0, 18, 0, version, 0, 0, 0, 7, 0xff, 0xff, 0];
            assert_eq!(split_all(&frame).unwrap().requests[0].body_at, body_at);
        }
    }

    #[test]
    fn unknown_keys_have_the_old_header() {
        for key in [[0, 99], [0xff, 0xff]] {
            let frame = [0, 0, 0, 10, key[0], key[1], 0, 99, 0, 0, 0, 7, 0xff, 0xff];
            assert_eq!(split_all(&frame).unwrap().requests[0].body_at, 14);
        }
    }

    #[test]
    fn sizes_out_of_bounds_are_refused_before_their_bytes_come() {
        for size in [-1, 0, 7, 1_001, i32::MAX, i32::MIN] {
            assert!(split_all(&size.to_be_bytes()).is_err(), "{size}");
        }
        assert!(split_all(b"GET / HTTP/1.1\r\n").is_err());
        assert!(split_all(b"AMQP\0\0\x09\x01").is_err());
    }

    #[test]
    fn a_broken_frame_waits_until_those_before_it_are_served() {
        let stream = [PLAIN, &[0xff; 4]].concat();
        let found = split_all(&stream).unwrap();
        assert_eq!((found.requests.len(), found.consumed, found.needed), (1, PLAIN.len(), 0));
        assert!(split(&stream, found.consumed, stream.len(), 1_000, &FLEXIBLE_FROM).is_err());
    }

    #[test]
    fn a_client_id_need_not_be_utf8() {
        let frame = [0, 0, 0, 11, 0, 3, 0, 1, 0, 0, 0, 7, 0, 1, 0xe9];
        assert_eq!(split_all(&frame).unwrap().requests[0].client_id.as_deref(), Some("\u{fffd}"));
    }

    #[test]
    fn a_client_id_longer_than_its_frame_is_refused() {
        let stream = [&[0, 0, 0, 11, 0, 3, 0, 1, 0, 0, 0, 7, 0, 2, b'a'][..], PLAIN].concat();
        assert!(split_all(&stream).is_err());
    }
}
