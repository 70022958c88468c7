//! The four codecs of Kafka batches, inflated with a bound: however much a stream declares or holds, no more than
//! `size_max` bytes are ever produced, and nothing is allocated because a header says so.

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
            let size = end.max(self.buffer.len().saturating_mul(2).min(self.size_max));
            if self.used == 0 {
                // Fresh zeroed memory costs nothing until it is written to.
                self.buffer = vec![0; size];
            } else {
                self.buffer.resize(size, 0);
            }
        }
        &mut self.buffer[self.used..end]
    }

    /// How much room to try first for a stream that does not say what it needs, or may lie: what is allocated already,
    /// and at least eight times the input.
    pub fn first_guess(&self, input_size: usize) -> usize {
        input_size.saturating_mul(8).max(FIRST_GUESS).max(self.buffer.len().saturating_sub(self.used))
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
        CODEC_GZIP => crate::gzip::inflate(input, inflated),
        CODEC_SNAPPY => inflate_snappy(input, inflated),
        CODEC_LZ4 => crate::lz4_frame::inflate(input, inflated),
        CODEC_ZSTD => inflate_zstd(input, inflated),
        _ => Err(InflateError::UnknownCodec),
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
    // In one piece, begun again with fourfold room: unlike streaming this needs no window, whose size a frame header
    // declares. The repeated work is at most a third.
    let mut wanted = inflated.first_guess(input.len());
    loop {
        let room = inflated.room(wanted);
        let is_bounded = room.len() < wanted;
        match CONTEXT.with_borrow_mut(|context| context.decompress(room, input)) {
            Ok(size) => {
                inflated.advance(size);
                return Ok(());
            }
            Err(TOO_SMALL) if is_bounded => return Err(InflateError::TooLarge),
            Err(TOO_SMALL) => wanted = wanted.saturating_mul(4),
            Err(_) => return Err(InflateError::Corrupt),
        }
    }
}

/// Compresses as the Java client does, so that every client can read it. None: unknown codec.
pub fn deflate(codec: u8, input: &[u8]) -> Option<Vec<u8>> {
    match codec {
        CODEC_NONE => Some(input.to_vec()),
        CODEC_GZIP => crate::gzip::deflate(input),
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

#[cfg(test)]
mod tests {
    use super::*;

    const CODECS: [u8; 5] = [CODEC_NONE, CODEC_GZIP, CODEC_SNAPPY, CODEC_LZ4, CODEC_ZSTD];

    fn inflate_all(codec: u8, input: &[u8], size_max: usize) -> Result<Vec<u8>, InflateError> {
        with_inflated(codec, input, size_max, <[u8]>::to_vec)
    }

    #[test]
    fn what_was_deflated_inflates_to_the_same() {
        for size in [0, 1, 100, 32_768, 65_536, 65_537, 300_000] {
            let plain: Vec<u8> = (0..size).map(|at: usize| (at / 9 % 251) as u8).collect();
            for codec in CODECS {
                let packed = deflate(codec, &plain).unwrap();
                assert_eq!(inflate_all(codec, &packed, size), Ok(plain.clone()), "codec {codec}, {size} bytes");
            }
        }
    }

    #[test]
    fn one_byte_over_the_bound_is_too_large() {
        for size in [1usize, 100, 65_536, 300_000] {
            let plain = vec![7; size];
            for codec in CODECS {
                let packed = deflate(codec, &plain).unwrap();
                assert_eq!(inflate_all(codec, &packed, size - 1), Err(InflateError::TooLarge), "codec {codec}, {size}");
            }
        }
    }

    #[test]
    fn truncated_streams_are_corrupt() {
        let plain = vec![7; 100_000];
        for codec in &CODECS[1..] {
            let packed = deflate(*codec, &plain).unwrap();
            for end in [0, 1, packed.len() / 2, packed.len() - 1] {
                // The framing of snappy ends where its blocks end: an empty one is whole.
                let outcome = inflate_all(*codec, &packed[..end], 1 << 20);
                assert!(outcome.is_err() || outcome == Ok(Vec::new()), "codec {codec} cut to {end}");
            }
        }
    }

    #[test]
    fn a_snappy_block_may_not_declare_more_than_it_could_hold() {
        // 2 GiB in ten bytes.
        let block = [0x80, 0x80, 0x80, 0x80, 0x08, 0, 0, 0, 0, 0];
        assert_eq!(inflate_all(CODEC_SNAPPY, &block, usize::MAX), Err(InflateError::Corrupt));
        let plain = vec![0; 1 << 20];
        let densest = snap::raw::Encoder::new().compress_vec(&plain).unwrap();
        assert_eq!(inflate_all(CODEC_SNAPPY, &densest, plain.len()), Ok(plain));
    }

    #[test]
    fn snappy_is_read_with_and_without_framing() {
        let block = snap::raw::Encoder::new().compress_vec(b"plain plain plain").unwrap();
        assert_eq!(inflate_all(CODEC_SNAPPY, &block, 99).as_deref(), Ok(&b"plain plain plain"[..]));
        let framed = deflate(CODEC_SNAPPY, b"plain plain plain").unwrap();
        assert!(framed.starts_with(&XERIAL_MAGIC));
        let mut twice = framed.clone();
        twice.extend_from_slice(&framed[XERIAL_HEADER_SIZE..]);
        assert_eq!(inflate_all(CODEC_SNAPPY, &twice, 99), Ok(b"plain plain plain".repeat(2)));
    }

    #[test]
    fn gzip_may_have_several_members_and_nothing_else_behind() {
        let mut twice = deflate(CODEC_GZIP, b"one").unwrap();
        twice.extend_from_slice(&deflate(CODEC_GZIP, b"two").unwrap());
        assert_eq!(inflate_all(CODEC_GZIP, &twice, 6).as_deref(), Ok(&b"onetwo"[..]));
        assert_eq!(inflate_all(CODEC_GZIP, &twice, 5), Err(InflateError::TooLarge));
        twice.push(0);
        assert_eq!(inflate_all(CODEC_GZIP, &twice, 99), Err(InflateError::Corrupt));
    }

    #[test]
    fn unknown_codecs_are_named_as_such() {
        assert_eq!(inflate_all(5, b"", 9), Err(InflateError::UnknownCodec));
        assert_eq!(deflate(5, b""), None);
    }

    #[test]
    fn inflating_inside_of_inflating_finds_a_buffer_of_its_own() {
        let outer = deflate(CODEC_LZ4, b"outer").unwrap();
        let inner = deflate(CODEC_ZSTD, b"inner").unwrap();
        let both = with_inflated(CODEC_LZ4, &outer, 99, |outer| {
            let inner = inflate_all(CODEC_ZSTD, &inner, 99).unwrap();
            (outer.to_vec(), inner)
        });
        assert_eq!(both, Ok((b"outer".to_vec(), b"inner".to_vec())));
    }
}
