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
