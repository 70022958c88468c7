//! Access to Python buffers as byte slices.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;
use std::ops::Range;

/// A borrowed, contiguous buffer of bytes. While it lives, a bytearray behind it cannot be resized.
pub struct Buffer(PyBuffer<u8>);

impl<'a, 'py> FromPyObject<'a, 'py> for Buffer {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let buffer = PyBuffer::<u8>::get(&object)?;
        if !buffer.is_c_contiguous() {
            return Err(PyBufferError::new_err("a contiguous buffer is needed"));
        }
        Ok(Self(buffer))
    }
}

impl Buffer {
    pub fn bytes<'a>(&'a self, _py: Python<'a>) -> &'a [u8] {
        let size = self.0.len_bytes();
        if size == 0 {
            return &[];
        }
        // SAFETY: a contiguous buffer of `size` bytes that stays exported while `self` lives; the GIL is held, and
        // nothing in here writes to a buffer that it also reads.
        unsafe { std::slice::from_raw_parts(self.0.buf_ptr() as *const u8, size) }
    }

    /// The bytes of a range given by a caller of ours.
    pub fn range<'a>(&'a self, py: Python<'a>, range: Range<usize>) -> PyResult<&'a [u8]> {
        self.bytes(py).get(range).ok_or_else(|| PyValueError::new_err("the range is outside the buffer"))
    }

    pub fn bytes_mut<'a>(&'a mut self, _py: Python<'a>) -> PyResult<&'a mut [u8]> {
        if self.0.readonly() {
            return Err(PyBufferError::new_err("a writable buffer is needed"));
        }
        let size = self.0.len_bytes();
        if size == 0 {
            return Ok(&mut []);
        }
        // SAFETY: as above, and the exporter says that the bytes may be written.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.0.buf_ptr() as *mut u8, size) })
    }
}
