//! Loops over bytes for Twinlog. Nothing in here decides anything: see ARCHITECTURE.md.
use pyo3::prelude::*;

/// CRC-32C (Castagnoli) of a buffer, as Kafka batches and our own frames use it.
#[pyfunction]
fn crc32c(data: pyo3::buffer::PyBuffer<u8>, py: Python<'_>) -> PyResult<u32> {
    let slice = data
        .as_slice(py)
        .ok_or_else(|| pyo3::exceptions::PyBufferError::new_err("a contiguous buffer is needed"))?;
    // SAFETY: ReadOnlyCell<u8> has the layout of u8, and the GIL is held while we read.
    let bytes = unsafe { std::slice::from_raw_parts(slice.as_ptr() as *const u8, slice.len()) };
    Ok(::crc32c::crc32c(bytes))
}

#[pymodule]
fn _kernel(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(crc32c, m)?)?;
    Ok(())
}
