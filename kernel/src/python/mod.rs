//! The thin shells around the plain functions: they take Python's buffers in and hand Python's objects out.

pub mod amqp;
pub mod batch;
pub mod buffer;
pub mod columns;
mod compact;
pub mod frames;
pub mod memory;
pub mod requests;
pub mod streams;

use crate::batch::Fault;
use crate::cursor::Malformed;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(_kernel, MalformedError, PyValueError, "The bytes break their format.");

pub fn malformed(malformed: Malformed) -> PyErr {
    MalformedError::new_err(malformed.0)
}

pub fn broken(fault: Fault) -> PyErr {
    MalformedError::new_err(fault.text())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let malformed = module.py().get_type::<MalformedError>();
    malformed.setattr("__name__", "Malformed")?;
    malformed.setattr("__qualname__", "Malformed")?;
    module.add("Malformed", malformed)?;
    memory::register(module)?;
    frames::register(module)?;
    batch::register(module)?;
    compact::register(module)?;
    columns::register(module)?;
    requests::register(module)?;
    streams::register(module)?;
    amqp::register(module)
}
