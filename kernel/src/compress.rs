//! The four codecs of Kafka batches, inflated with a bound: however much a stream declares or holds, no more than
//! `size_max` bytes are ever produced, and nothing is allocated because a header says so.

use std::io::{Read, Write};

pub const CODEC_NONE: u8 = 0;
pub const CODEC_GZIP: u8 = 1;
pub const CODEC_SNAPPY: u8 = 2;
pub const CODEC_LZ4: u8 = 3;
pub const CODEC_ZSTD: u8 = 4;

const FIRST_GUESS: usize = 64 * 1024;
const SCRATCH_KEPT_MAX: usize = 4 * 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InflateError {
    UnknownCodec,
    Corrupt,
    TooLarge,
}

/// What has been inflated so far, in a buffer that is reused and grows only as bytes really arrive.
pub struct Inflated {
    buffer: Vec<u8>, // always initialised to its whole length
    used: usize,
    size_max: usize,
}

impl Inflated {
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[..self.used]
    }

    /// At most `wanted` writable bytes behind what is there; fewer only if the bound is near.
    pub fn room(&mut self, wanted: usize) -> &mut [u8] {
        let end = self.used.saturating_add(wanted).min(self.size_max).max(self.used);
        if end > self.buffer.len() {
            let doubled = self.buffer.len().saturating_mul(2).min(self.size_max);
            self.buffer.resize(end.max(doubled), 0);
        }
        &mut self.buffer[self.used..end]
    }

    pub fn advance(&mut self, size: usize) {
        self.used += size;
        debug_assert!(self.used <= self.buffer.len());
    }

    pub fn push(&mut self, bytes: &[u8]) -> Result<(), InflateError> {
        let room = self.room(bytes.len());
        if room.len() < bytes.len() {
            return Err(InflateError::TooLarge);
        }
        room.copy_from_slice(bytes);
        self.advance(bytes.len());
        Ok(())
    }

    /// The whole buffer, at least `wanted` long unless the bound is smaller; forgets what is there.
    fn whole(&mut self, wanted: usize) -> &mut [u8] {
        self.used = 0;
        let wanted = wanted.min(self.size_max);
        if self.buffer.len() < wanted {
            self.buffer = vec![0; wanted];
        }
        let end = self.buffer.len().min(self.size_max);
        &mut self.buffer[..end]
    }
}

thread_local! {
    static SCRATCH: std::cell::Cell<Vec<u8>> = const { std::cell::Cell::new(Vec::new()) };
}

/// Inflates `input` into this thread's buffer and hands the bytes to `use_bytes`.
pub fn with_inflated<T>(
    codec: u8,
    input: &[u8],
    size_max: usize,
    use_bytes: impl FnOnce(&[u8]) -> T,
) -> Result<T, InflateError> {
    // Taken out rather than borrowed: `use_bytes` may run Python, which may come back in here.
    let mut inflated = Inflated { buffer: SCRATCH.take(), used: 0, size_max };
    let outcome = inflate(codec, input, &mut inflated).map(|()| use_bytes(inflated.bytes()));
    if inflated.buffer.len() > SCRATCH_KEPT_MAX {
        inflated.buffer = Vec::new();
    }
    SCRATCH.set(inflated.buffer);
    outcome
}

fn inflate(codec: u8, input: &[u8], inflated: &mut Inflated) -> Result<(), InflateError> {
    match codec {
        CODEC_NONE => inflated.push(input),
        CODEC_GZIP => inflate_gzip(input, inflated),
        CODEC_SNAPPY => inflate_snappy(input, inflated),
        CODEC_LZ4 => crate::lz4_frame::inflate(input, inflated),
        CODEC_ZSTD => inflate_zstd(input, inflated),
        _ => Err(InflateError::UnknownCodec),
    }
}

fn inflate_gzip(input: &[u8], inflated: &mut Inflated) -> Result<(), InflateError> {
    let mut decoder = flate2::bufread::MultiGzDecoder::new(input);
    loop {
        let room = inflated.room(FIRST_GUESS);
        let mut probe = [0u8; 1];
        let at_bound = room.is_empty();
        let target = if at_bound { &mut probe[..] } else { room };
        match decoder.read(target) {
            Ok(0) => return Ok(()),
            Ok(_) if at_bound => return Err(InflateError::TooLarge),
            Ok(size) => inflated.advance(size),
            Err(_) => return Err(InflateError::Corrupt),
        }
    }
}

const XERIAL_MAGIC: [u8; 8] = [0x82, b'S', b'N', b'A', b'P', b'P', b'Y', 0];
const XERIAL_HEADER_SIZE: usize = 16;
const XERIAL_BLOCK_SIZE: usize = 32 * 1024;

fn inflate_snappy(input: &[u8], inflated: &mut Inflated) -> Result<(), InflateError> {
    if !input.starts_with(&XERIAL_MAGIC) {
        return inflate_snappy_block(input, inflated);
    }
    let mut rest = input.get(XERIAL_HEADER_SIZE..).ok_or(InflateError::Corrupt)?;
    while !rest.is_empty() {
        let (size, behind) = rest.split_first_chunk::<4>().ok_or(InflateError::Corrupt)?;
        let size = u32::from_be_bytes(*size) as usize;
        let (block, behind) = behind.split_at_checked(size).ok_or(InflateError::Corrupt)?;
        inflate_snappy_block(block, inflated)?;
        rest = behind;
    }
    Ok(())
}

fn inflate_snappy_block(block: &[u8], inflated: &mut Inflated) -> Result<(), InflateError> {
    let declared = snap::raw::decompress_len(block).map_err(|_| InflateError::Corrupt)?;
    // The densest element turns three bytes into 64, so a larger claim is a lie whatever follows.
    if declared / 22 > block.len() {
        return Err(InflateError::Corrupt);
    }
    let room = inflated.room(declared);
    if room.len() < declared {
        return Err(InflateError::TooLarge);
    }
    let size = snap::raw::Decoder::new().decompress(block, room).map_err(|_| InflateError::Corrupt)?;
    inflated.advance(size);
    Ok(())
}

fn inflate_zstd(input: &[u8], inflated: &mut Inflated) -> Result<(), InflateError> {
    use zstd::zstd_safe::{zstd_sys::ZSTD_ErrorCode, DCtx};
    thread_local! {
        static CONTEXT: std::cell::RefCell<DCtx<'static>> = std::cell::RefCell::new(DCtx::create());
    }
    const TOO_SMALL: usize = (ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall as usize).wrapping_neg();
    // In one piece, into a buffer that grows fourfold and starts over: unlike streaming this needs no window, whose
    // size a frame header declares. The repeated work is at most a third.
    let mut wanted = FIRST_GUESS.max(input.len().saturating_mul(4));
    loop {
        let size_max = inflated.size_max;
        let target = inflated.whole(wanted);
        let target_size = target.len();
        match CONTEXT.with_borrow_mut(|context| context.decompress(target, input)) {
            Ok(size) => {
                inflated.advance(size);
                return Ok(());
            }
            Err(TOO_SMALL) if target_size >= size_max => return Err(InflateError::TooLarge),
            Err(TOO_SMALL) => wanted = target_size.saturating_mul(4),
            Err(_) => return Err(InflateError::Corrupt),
        }
    }
}

/// Compresses as the Java client does, so that every client can read it. None: unknown codec.
pub fn deflate(codec: u8, input: &[u8]) -> Option<Vec<u8>> {
    match codec {
        CODEC_NONE => Some(input.to_vec()),
        CODEC_GZIP => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(input).ok()?;
            encoder.finish().ok()
        }
        CODEC_SNAPPY => deflate_snappy(input),
        CODEC_LZ4 => Some(crate::lz4_frame::deflate(input)),
        CODEC_ZSTD => zstd::bulk::compress(input, 3).ok(),
        _ => None,
    }
}

fn deflate_snappy(input: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(XERIAL_HEADER_SIZE + input.len() / 2);
    out.extend_from_slice(&XERIAL_MAGIC);
    out.extend_from_slice(&1u32.to_be_bytes());
    out.extend_from_slice(&1u32.to_be_bytes());
    let mut encoder = snap::raw::Encoder::new();
    for block in input.chunks(XERIAL_BLOCK_SIZE) {
        let header_at = out.len();
        out.resize(header_at + 4 + snap::raw::max_compress_len(block.len()), 0);
        let size = encoder.compress(block, &mut out[header_at + 4..]).ok()?;
        out[header_at..header_at + 4].copy_from_slice(&(size as u32).to_be_bytes());
        out.truncate(header_at + 4 + size);
    }
    Some(out)
}
