//! Loops over bytes for Twinlog. Nothing in here decides anything: see ARCHITECTURE.md.
//!
//! Everything outside `python` and `schema` is plain functions over byte slices, so that tests and fuzz targets need no
//! interpreter. Nothing here panics on bytes from outside, and nothing is allocated for a length that they declare.

pub mod amqp;
pub mod batch;
pub mod batch_build;
pub mod check;
pub mod columns;
pub mod compact;
pub mod compress;
pub mod crc;
pub mod cursor;
pub mod frames;
pub mod gzip;
pub mod lz4_frame;
pub mod produce;
pub mod records;
pub mod rows;
pub mod split;

#[cfg(feature = "extension")]
mod python;
#[cfg(feature = "extension")]
mod schema;

#[cfg(feature = "extension")]
#[pyo3::pymodule]
fn _kernel(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
    python::register(module)?;
    schema::register(module)
}
