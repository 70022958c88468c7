//! Runs as record batches and records as runs, for Python.

use super::batch::{batch_tuple, BatchTuple};
use super::buffer::Buffer;
use super::{broken, malformed};
use crate::amqp::from_records::{runs_of, Reading};
use crate::amqp::to_records::{batches_of, Making};
use crate::batch;
use crate::columns::Range;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};

type PlacedBatch<'py> = (Bound<'py, PyByteArray>, BatchTuple, i32);

#[pyfunction]
#[pyo3(signature = (blob, queue, now_ms, size_max, codec=0))]
fn run_to_batches<'py>(
    py: Python<'py>,
    blob: Buffer,
    queue: &str,
    now_ms: i64,
    size_max: usize,
    codec: u8,
) -> PyResult<(Vec<PlacedBatch<'py>>, usize)> {
    let how = Making { queue, now_ms, size_max, codec };
    let (batches, taken) = batches_of(blob.bytes(py), &how).map_err(malformed)?;
    let mut placed = Vec::with_capacity(batches.len());
    for each in &batches {
        let header = batch::open(&each.bytes).map_err(broken)?;
        placed.push((PyByteArray::new(py, &each.bytes), batch_tuple(0, &header), each.keyless_at));
    }
    Ok((placed, taken))
}

type RunObjects<'py> = Vec<(i64, u32, Bound<'py, PyBytes>)>;

#[pyfunction]
#[pyo3(signature = (buf, position, stop, aborted, queue, *, size_max, properties_size_max, inflated_max,
                    wanted=None, match_unfiltered=false))]
#[allow(clippy::too_many_arguments)] // they are keywords in Python
fn records_to_runs<'py>(
    py: Python<'py>,
    buf: Buffer,
    position: i64,
    stop: i64,
    aborted: Vec<(i64, i64)>,
    queue: &str,
    size_max: usize,
    properties_size_max: usize,
    inflated_max: usize,
    wanted: Option<Vec<Vec<u8>>>,
    match_unfiltered: bool,
) -> PyResult<(RunObjects<'py>, i64)> {
    let filter = wanted.as_ref().map(|values| values.iter().map(Vec::as_slice).collect());
    let how = Reading { queue, filter, match_unfiltered, size_max, properties_size_max, inflated_max };
    let mut range = Range::new(Vec::new(), 0, position, stop);
    range.set_aborted(Some(aborted));
    let (runs, out) = runs_of(buf.bytes(py), &mut range, &how).map_err(broken)?;
    let objects = runs.iter().map(|run| (run.offset, run.count, PyBytes::new(py, &out[run.place.clone()])));
    Ok((objects.collect(), range.position))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run_to_batches, module)?)?;
    module.add_function(wrap_pyfunction!(records_to_runs, module)?)
}
