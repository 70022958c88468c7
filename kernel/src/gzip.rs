//! Gzip through libdeflate, which inflates whole buffers nearly three times as fast as the streaming libraries do.
//!
//! The crate's safe wrapper does not say where a member ends, and a stream may have several, hence the raw calls.

use crate::compress::{InflateError, Inflated};
use libdeflate_sys as ffi;
use std::os::raw::c_void;
use std::ptr::NonNull;

const COMPRESSION_LEVEL: i32 = 6;

struct Decompressor(NonNull<ffi::libdeflate_decompressor>);

impl Decompressor {
    fn new() -> Option<Self> {
        // SAFETY: takes nothing; null is looked for.
        NonNull::new(unsafe { ffi::libdeflate_alloc_decompressor() }).map(Self)
    }

    /// Inflates the first member of `input`: how many bytes it took and gave.
    fn member(&mut self, input: &[u8], output: &mut [u8]) -> Result<(usize, usize), u32> {
        let (mut taken, mut given) = (0, 0);
        // SAFETY: both ranges are valid for their lengths, and the decompressor is ours alone.
        let result = unsafe {
            ffi::libdeflate_gzip_decompress_ex(
                self.0.as_ptr(),
                input.as_ptr() as *const c_void,
                input.len(),
                output.as_mut_ptr() as *mut c_void,
                output.len(),
                &mut taken,
                &mut given,
            )
        };
        match result {
            ffi::libdeflate_result_LIBDEFLATE_SUCCESS => Ok((taken, given)),
            error => Err(error),
        }
    }
}

impl Drop for Decompressor {
    fn drop(&mut self) {
        // SAFETY: allocated by `new`, freed once.
        unsafe { ffi::libdeflate_free_decompressor(self.0.as_ptr()) }
    }
}

/// Inflates all members of `input`, which must end with the last of them.
pub fn inflate(input: &[u8], inflated: &mut Inflated) -> Result<(), InflateError> {
    thread_local! {
        static DECOMPRESSOR: std::cell::RefCell<Option<Decompressor>> = const { std::cell::RefCell::new(None) };
    }
    DECOMPRESSOR.with_borrow_mut(|kept| {
        if kept.is_none() {
            *kept = Decompressor::new();
        }
        let decompressor = kept.as_mut().ok_or(InflateError::Corrupt)?;
        let mut rest = input;
        loop {
            let taken = inflate_member(decompressor, rest, inflated)?;
            rest = rest.get(taken..).unwrap_or_default();
            if rest.is_empty() {
                return Ok(());
            }
        }
    })
}

fn inflate_member(
    decompressor: &mut Decompressor,
    rest: &[u8],
    inflated: &mut Inflated,
) -> Result<usize, InflateError> {
    // A member is inflated in one piece; if the room was too small it is begun again with four times as much. The
    // repeated work is at most a third, and the size in the trailer, which may lie, is not asked.
    let mut wanted = inflated.first_guess(rest.len());
    loop {
        let room = inflated.room(wanted);
        let is_bounded = room.len() < wanted;
        match decompressor.member(rest, room) {
            Ok((taken, given)) => {
                inflated.advance(given);
                return Ok(taken);
            }
            Err(ffi::libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE) if is_bounded => {
                return Err(InflateError::TooLarge);
            }
            Err(ffi::libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE) => wanted = wanted.saturating_mul(4),
            Err(_) => return Err(InflateError::Corrupt),
        }
    }
}

/// One gzip member. None only if there is no memory.
pub fn deflate(input: &[u8]) -> Option<Vec<u8>> {
    // SAFETY: the compressor is allocated, checked, used with valid ranges and freed here.
    unsafe {
        let compressor = NonNull::new(ffi::libdeflate_alloc_compressor(COMPRESSION_LEVEL))?.as_ptr();
        let mut out = vec![0u8; ffi::libdeflate_gzip_compress_bound(compressor, input.len())];
        let size = ffi::libdeflate_gzip_compress(
            compressor,
            input.as_ptr() as *const c_void,
            input.len(),
            out.as_mut_ptr() as *mut c_void,
            out.len(),
        );
        ffi::libdeflate_free_compressor(compressor);
        out.truncate(size);
        (size > 0).then_some(out)
    }
}
