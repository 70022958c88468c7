//! Our own stored frames: u32 size, u32 CRC-32C of the payload, payload; little endian. See docs/formats/frames.md.

use crate::crc::crc32c;

pub const FRAME_HEADER_SIZE: usize = 8;

/// Why a scan stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameStop {
    End,
    Short,
    Checksum,
    Length,
}

impl FrameStop {
    pub fn reason(self) -> &'static str {
        match self {
            FrameStop::End => "",
            FrameStop::Short => "short",
            FrameStop::Checksum => "crc",
            FrameStop::Length => "length",
        }
    }
}

pub struct FrameScan {
    pub payloads: Vec<(usize, usize)>,
    pub valid_end: usize,
    pub stop: FrameStop,
}

/// Appends one frame. False if the payload has no place in the format (empty, or 4 GiB and more).
pub fn push_frame(out: &mut Vec<u8>, payload: &[u8]) -> bool {
    let Ok(size) = u32::try_from(payload.len()) else { return false };
    if size == 0 {
        return false;
    }
    out.extend_from_slice(&size.to_le_bytes());
    out.extend_from_slice(&crc32c(payload).to_le_bytes());
    out.extend_from_slice(payload);
    true
}

/// Whole, correct frames from the start of `bytes`; positions count from there.
pub fn scan_frames(bytes: &[u8]) -> FrameScan {
    let mut scan = FrameScan { payloads: Vec::new(), valid_end: 0, stop: FrameStop::End };
    while scan.valid_end < bytes.len() {
        let rest = &bytes[scan.valid_end..];
        let Some(header) = rest.first_chunk::<FRAME_HEADER_SIZE>() else {
            scan.stop = FrameStop::Short;
            return scan;
        };
        let size = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
        let crc = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
        if size == 0 {
            // An empty payload has the checksum 0, so a tail of zero bytes would read as endless good frames.
            scan.stop = FrameStop::Length;
            return scan;
        }
        let Some(payload) = rest[FRAME_HEADER_SIZE..].get(..size) else {
            scan.stop = FrameStop::Short;
            return scan;
        };
        if crc32c(payload) != crc {
            scan.stop = FrameStop::Checksum;
            return scan;
        }
        scan.payloads.push((scan.valid_end + FRAME_HEADER_SIZE, size));
        scan.valid_end += FRAME_HEADER_SIZE + size;
    }
    scan
}
