//! Checksums, stored frames and codecs for Python.

use super::buffer::Buffer;
use super::MalformedError;
use crate::compress::{deflate, with_inflated, InflateError};
use crate::frames::{push_frame, scan_frames};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

#[pyfunction]
fn crc32c(py: Python<'_>, buf: Buffer) -> u32 {
    crate::crc::crc32c(buf.bytes(py))
}

#[pyfunction]
fn frame_build<'py>(py: Python<'py>, payloads: Vec<Buffer>) -> PyResult<Bound<'py, PyBytes>> {
    let size = payloads.iter().map(|payload| payload.bytes(py).len() + crate::frames::FRAME_HEADER_SIZE).sum();
    let mut out = Vec::with_capacity(size);
    for payload in &payloads {
        if !push_frame(&mut out, payload.bytes(py)) {
            return Err(PyValueError::new_err("a frame payload is empty or too large"));
        }
    }
    Ok(PyBytes::new(py, &out))
}

type FrameScanObjects = (Vec<(usize, usize)>, usize, &'static str);

#[pyfunction]
fn frame_scan(py: Python<'_>, buf: Buffer, start: usize, end: usize) -> PyResult<FrameScanObjects> {
    let mut scan = scan_frames(buf.range(py, start..end)?);
    for (payload_at, _) in &mut scan.payloads {
        *payload_at += start;
    }
    Ok((scan.payloads, scan.valid_end + start, scan.stop.reason()))
}

#[pyfunction]
fn compress<'py>(py: Python<'py>, codec: u8, buf: Buffer) -> PyResult<Bound<'py, PyBytes>> {
    let out = deflate(codec, buf.bytes(py)).ok_or_else(|| PyValueError::new_err("unknown codec"))?;
    Ok(PyBytes::new(py, &out))
}

#[pyfunction]
fn decompress<'py>(py: Python<'py>, codec: u8, buf: Buffer, inflated_max: usize) -> PyResult<Bound<'py, PyBytes>> {
    with_inflated(codec, buf.bytes(py), inflated_max, |bytes| PyBytes::new(py, bytes)).map_err(|error| match error {
        InflateError::UnknownCodec => PyValueError::new_err("unknown codec"),
        InflateError::Corrupt => MalformedError::new_err("the compressed bytes are damaged"),
        InflateError::TooLarge => MalformedError::new_err("the bytes inflate beyond the limit"),
    })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(self::crc32c, module)?)?;
    module.add_function(wrap_pyfunction!(frame_build, module)?)?;
    module.add_function(wrap_pyfunction!(frame_scan, module)?)?;
    module.add_function(wrap_pyfunction!(compress, module)?)?;
    module.add_function(wrap_pyfunction!(decompress, module)?)
}
