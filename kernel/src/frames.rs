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

#[cfg(test)]
mod tests {
    use super::*;

    fn stored() -> Vec<u8> {
        let mut out = Vec::new();
        assert!(push_frame(&mut out, b"first"));
        assert!(push_frame(&mut out, b"second one"));
        out
    }

    #[test]
    fn the_bytes_of_a_frame_are_fixed() {
        let mut out = Vec::new();
        push_frame(&mut out, b"123456789");
        assert_eq!(out, b"\x09\0\0\0\x83\x92\x06\xe3123456789");
    }

    #[test]
    fn a_torn_frame_ends_the_scan_behind_the_last_whole_one() {
        let stored = stored();
        for end in 14..stored.len() {
            let scan = scan_frames(&stored[..end]);
            assert_eq!((scan.payloads.len(), scan.valid_end, scan.stop), (1, 13, FrameStop::Short));
        }
        let scan = scan_frames(&stored);
        assert_eq!((scan.payloads, scan.valid_end, scan.stop), (vec![(8, 5), (21, 10)], 31, FrameStop::End));
    }

    #[test]
    fn any_flipped_payload_bit_is_seen() {
        let stored = stored();
        for at in 8..13 {
            for bit in 0..8 {
                let mut damaged = stored.clone();
                damaged[at] ^= 1 << bit;
                let scan = scan_frames(&damaged);
                assert_eq!((scan.valid_end, scan.stop), (0, FrameStop::Checksum));
            }
        }
    }

    #[test]
    fn zeroed_disk_is_not_a_row_of_empty_frames() {
        let mut stored = stored();
        stored.extend_from_slice(&[0; 64]);
        let scan = scan_frames(&stored);
        assert_eq!((scan.payloads.len(), scan.valid_end, scan.stop), (2, 31, FrameStop::Length));
        assert!(!push_frame(&mut stored, b""));
    }
}
