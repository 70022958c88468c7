//! The LZ4 frame format as Kafka clients speak it: independent blocks, optional checksums, one frame.
//!
//! Our own reader rather than a streaming one, because blocks then inflate straight into the caller's buffer and
//! nothing is ever allocated for what a header declares.

use crate::compress::{InflateError, Inflated};
use twox_hash::XxHash32;

const MAGIC: u32 = 0x184D_2204;
const FLAG_VERSION: u8 = 0b0100_0000;
const FLAG_VERSION_MASK: u8 = 0b1100_0000;
const FLAG_BLOCK_INDEPENDENT: u8 = 0b0010_0000;
const FLAG_BLOCK_CHECKSUM: u8 = 0b0001_0000;
const FLAG_CONTENT_SIZE: u8 = 0b0000_1000;
const FLAG_CONTENT_CHECKSUM: u8 = 0b0000_0100;
const FLAG_UNUSED: u8 = 0b0000_0011; // one reserved bit, and dictionaries, which no Kafka client uses
const BLOCK_STORED: u32 = 0x8000_0000;
const BLOCK_SIZE: usize = 64 * 1024;
const BLOCK_SIZE_CODE: u8 = 4;

fn xxh32(bytes: &[u8]) -> u32 {
    XxHash32::oneshot(0, bytes)
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, size: usize) -> Result<&'a [u8], InflateError> {
        let (taken, rest) = self.0.split_at_checked(size).ok_or(InflateError::Corrupt)?;
        self.0 = rest;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32, InflateError> {
        let (taken, rest) = self.0.split_first_chunk::<4>().ok_or(InflateError::Corrupt)?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*taken))
    }

    fn u8(&mut self) -> Result<u8, InflateError> {
        self.take(1).map(|taken| taken[0])
    }
}

/// Inflates one whole frame that must fill `input`.
pub fn inflate(input: &[u8], inflated: &mut Inflated) -> Result<(), InflateError> {
    let mut rest = Input(input);
    if rest.u32()? != MAGIC {
        return Err(InflateError::Corrupt);
    }
    let flags = rest.u8()?;
    let descriptor = rest.u8()?;
    if flags & FLAG_VERSION_MASK != FLAG_VERSION || flags & FLAG_UNUSED != 0 || descriptor & 0b1000_1111 != 0 {
        return Err(InflateError::Corrupt);
    }
    if flags & FLAG_BLOCK_INDEPENDENT == 0 {
        // The Java consumer refuses dependent blocks, so a log must not hold them.
        return Err(InflateError::Corrupt);
    }
    let block_size_max = match descriptor >> 4 {
        code @ 4..=7 => 1usize << (8 + 2 * code),
        _ => return Err(InflateError::Corrupt),
    };
    let mut content_size = None;
    if flags & FLAG_CONTENT_SIZE != 0 {
        let low = rest.u32()? as u64;
        content_size = Some(low | (rest.u32()? as u64) << 32);
    }
    let header_size = input.len() - rest.0.len();
    let header_checksum = rest.u8()?;
    if (xxh32(&input[4..header_size]) >> 8) as u8 != header_checksum {
        return Err(InflateError::Corrupt);
    }
    loop {
        let word = rest.u32()?;
        if word == 0 {
            break;
        }
        let size = (word & !BLOCK_STORED) as usize;
        if size > block_size_max {
            return Err(InflateError::Corrupt);
        }
        let block = rest.take(size)?;
        if flags & FLAG_BLOCK_CHECKSUM != 0 && rest.u32()? != xxh32(block) {
            return Err(InflateError::Corrupt);
        }
        if word & BLOCK_STORED != 0 {
            inflated.push(block)?;
        } else {
            inflate_block(block, block_size_max, inflated)?;
        }
    }
    if flags & FLAG_CONTENT_CHECKSUM != 0 && rest.u32()? != xxh32(inflated.bytes()) {
        return Err(InflateError::Corrupt);
    }
    if !rest.0.is_empty() || content_size.is_some_and(|size| size != inflated.bytes().len() as u64) {
        return Err(InflateError::Corrupt);
    }
    Ok(())
}

fn inflate_block(block: &[u8], block_size_max: usize, inflated: &mut Inflated) -> Result<(), InflateError> {
    let room = inflated.room(block_size_max);
    let room_is_whole = room.len() == block_size_max;
    match lz4_flex::block::decompress_into(block, room) {
        Ok(size) => {
            inflated.advance(size);
            Ok(())
        }
        Err(lz4_flex::block::DecompressError::OutputTooSmall { .. }) if !room_is_whole => Err(InflateError::TooLarge),
        Err(_) => Err(InflateError::Corrupt),
    }
}

/// One frame as the Java client writes it: independent blocks of 64 KB, no sizes, no checksums but the header's.
pub fn deflate(input: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(input.len() / 2 + 64);
    out.extend_from_slice(&MAGIC.to_le_bytes());
    out.push(FLAG_VERSION | FLAG_BLOCK_INDEPENDENT);
    out.push(BLOCK_SIZE_CODE << 4);
    out.push((xxh32(&out[4..6]) >> 8) as u8);
    for block in input.chunks(BLOCK_SIZE) {
        let header_at = out.len();
        out.resize(header_at + 4 + lz4_flex::block::get_maximum_output_size(block.len()), 0);
        let (size, stored) = match lz4_flex::block::compress_into(block, &mut out[header_at + 4..]) {
            Ok(size) if size < block.len() => (size, 0),
            _ => {
                out[header_at + 4..header_at + 4 + block.len()].copy_from_slice(block);
                (block.len(), BLOCK_STORED)
            }
        };
        out[header_at..header_at + 4].copy_from_slice(&(size as u32 | stored).to_le_bytes());
        out.truncate(header_at + 4 + size);
    }
    out.extend_from_slice(&0u32.to_le_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::{with_inflated, CODEC_LZ4};

    fn inflate_all(input: &[u8], size_max: usize) -> Result<Vec<u8>, InflateError> {
        with_inflated(CODEC_LZ4, input, size_max, <[u8]>::to_vec)
    }

    /// A frame with one stored block, and whatever checksums and sizes the flags ask for.
    fn stored_frame(flags: u8, content: &[u8], content_size: u64) -> Vec<u8> {
        let mut frame = MAGIC.to_le_bytes().to_vec();
        frame.extend_from_slice(&[FLAG_VERSION | FLAG_BLOCK_INDEPENDENT | flags, BLOCK_SIZE_CODE << 4]);
        if flags & FLAG_CONTENT_SIZE != 0 {
            frame.extend_from_slice(&content_size.to_le_bytes());
        }
        frame.push((xxh32(&frame[4..]) >> 8) as u8);
        frame.extend_from_slice(&(content.len() as u32 | BLOCK_STORED).to_le_bytes());
        frame.extend_from_slice(content);
        if flags & FLAG_BLOCK_CHECKSUM != 0 {
            frame.extend_from_slice(&xxh32(content).to_le_bytes());
        }
        frame.extend_from_slice(&[0; 4]);
        if flags & FLAG_CONTENT_CHECKSUM != 0 {
            frame.extend_from_slice(&xxh32(content).to_le_bytes());
        }
        frame
    }

    const ALL_FLAGS: u8 = FLAG_BLOCK_CHECKSUM | FLAG_CONTENT_CHECKSUM | FLAG_CONTENT_SIZE;

    #[test]
    fn every_optional_field_is_read_and_believed_only_if_true() {
        for flags in [0, FLAG_BLOCK_CHECKSUM, FLAG_CONTENT_CHECKSUM, FLAG_CONTENT_SIZE, ALL_FLAGS] {
            let frame = stored_frame(flags, b"stored", 6);
            assert_eq!(inflate_all(&frame, 6).as_deref(), Ok(&b"stored"[..]));
            for end in 0..frame.len() {
                assert_eq!(inflate_all(&frame[..end], 6), Err(InflateError::Corrupt));
            }
            assert_eq!(inflate_all(&[&frame[..], b"x"].concat(), 6), Err(InflateError::Corrupt));
        }
        assert_eq!(inflate_all(&stored_frame(FLAG_CONTENT_SIZE, b"stored", 7), 99), Err(InflateError::Corrupt));
        assert_eq!(inflate_all(&stored_frame(FLAG_CONTENT_SIZE, b"stored", u64::MAX), 99), Err(InflateError::Corrupt));
    }

    #[test]
    fn a_flipped_bit_in_a_checksummed_frame_is_seen() {
        let frame = stored_frame(ALL_FLAGS, b"stored", 6);
        for at in 0..frame.len() {
            let mut damaged = frame.clone();
            damaged[at] ^= 0x10;
            assert!(inflate_all(&damaged, 99).is_err(), "byte {at}");
        }
    }

    #[test]
    fn blocks_larger_than_the_frame_says_are_refused() {
        let content = vec![7; BLOCK_SIZE + 1];
        assert_eq!(inflate_all(&stored_frame(0, &content, 0), 1 << 20), Err(InflateError::Corrupt));
    }

    #[test]
    fn dependent_blocks_are_refused() {
        let mut frame = stored_frame(0, b"stored", 0);
        frame[4] &= !FLAG_BLOCK_INDEPENDENT;
        frame[6] = (xxh32(&frame[4..6]) >> 8) as u8;
        assert_eq!(inflate_all(&frame, 99), Err(InflateError::Corrupt));
    }

    #[test]
    fn bytes_that_do_not_compress_are_stored() {
        let mut state = 1u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .take(3 * BLOCK_SIZE + 5)
        .collect();
        let frame = deflate(&noise);
        assert!(frame.len() < noise.len() + 64);
        assert_eq!(inflate_all(&frame, noise.len()), Ok(noise));
    }
}
