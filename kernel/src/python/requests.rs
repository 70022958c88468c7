//! Kafka requests for Python: splitting the stream, and the fast path for Produce.

use super::batch::{outcome_tuple, BatchTuple};
use super::buffer::Buffer;
use super::malformed;
use crate::produce::{self, TopicName};
use crate::split;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};
use std::borrow::Cow;

type RequestTuple<'a> = (i16, i16, i32, Option<Cow<'a, str>>, usize, usize);

fn require_range(bytes: &[u8], start: usize, end: usize) -> PyResult<()> {
    match bytes.get(start..end) {
        Some(_) => Ok(()),
        None => Err(PyValueError::new_err("the range is outside the buffer")),
    }
}

#[pyfunction]
fn kafka_split<'py>(
    py: Python<'py>,
    buf: Buffer,
    start: usize,
    end: usize,
    frame_max: usize,
    flexible_from: &[u8],
) -> PyResult<(usize, usize, Bound<'py, PyList>)> {
    let bytes = buf.bytes(py);
    require_range(bytes, start, end)?;
    let found = split::split(bytes, start, end, frame_max, flexible_from).map_err(malformed)?;
    let requests = PyList::empty(py);
    for request in found.requests {
        let tuple: RequestTuple<'_> =
            (request.api_key, request.version, request.correlation_id, request.client_id, request.body_at, request.end);
        requests.append(tuple)?;
    }
    Ok((found.consumed, found.needed, requests))
}

type PartitionTuple = (i32, usize, usize, i16, i32, Option<BatchTuple>);

#[pyfunction]
fn parse_produce<'py>(
    py: Python<'py>,
    buf: Buffer,
    off: usize,
    end: usize,
    version: i16,
    inflated_max: usize,
) -> PyResult<Bound<'py, PyTuple>> {
    let bytes = buf.bytes(py);
    require_range(bytes, off, end)?;
    let request = produce::parse(bytes, off, end, version, inflated_max).map_err(malformed)?;
    let topics = PyList::empty(py);
    for topic in &request.topics {
        let partitions = PyList::empty(py);
        for entry in &topic.partitions {
            let (error, detail, batch) = outcome_tuple(entry.offset, &entry.outcome);
            let tuple: PartitionTuple = (entry.partition, entry.offset, entry.size, error, detail, batch);
            partitions.append(tuple)?;
        }
        let name = match topic.name {
            TopicName::Name(name) => PyString::new(py, name).into_any(),
            TopicName::Id(id) => PyBytes::new(py, id).into_any(),
        };
        topics.append((name, partitions))?;
    }
    (request.transactional_id, request.acks, request.timeout_ms, topics).into_pyobject(py)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(kafka_split, module)?)?;
    module.add_function(wrap_pyfunction!(parse_produce, module)?)
}
