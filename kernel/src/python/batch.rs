//! Record batches for Python.

use super::broken;
use super::buffer::Buffer;
use crate::batch::{self, Header};
use crate::batch_build::{BatchBuilder, BatchFields};
use crate::check::{check, Refusal, Verdict};
use crate::records::{self, Record};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

/// (off, size, base_offset, last_offset_delta, record_count, attributes, base_timestamp, max_timestamp,
/// producer_id, producer_epoch, base_sequence, leader_epoch)
pub type BatchTuple = (usize, usize, i64, i32, i32, i16, i64, i64, i64, i16, i32, i32);

pub fn batch_tuple(at: usize, header: &Header) -> BatchTuple {
    (
        at,
        header.size,
        header.base_offset,
        header.last_offset_delta,
        header.record_count,
        header.attributes,
        header.base_timestamp,
        header.max_timestamp,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        header.leader_epoch,
    )
}

/// (error, detail, Batch or None)
pub fn outcome_tuple(at: usize, outcome: &Result<Verdict, Refusal>) -> (i16, i32, Option<BatchTuple>) {
    match outcome {
        Ok(verdict) => (0, verdict.keyless_at, Some(batch_tuple(at, &verdict.header))),
        Err(refusal) => (refusal.fault.code(), refusal.record_at, None),
    }
}

#[pyfunction]
fn check_batch(
    py: Python<'_>,
    buf: Buffer,
    off: usize,
    end: usize,
    inflated_max: usize,
) -> PyResult<(i16, i32, Option<BatchTuple>)> {
    Ok(outcome_tuple(off, &check(buf.range(py, off..end)?, inflated_max)))
}

type BatchScanObjects = (Vec<BatchTuple>, usize, &'static str);

#[pyfunction]
fn scan_batches(py: Python<'_>, buf: Buffer, start: usize, end: usize) -> PyResult<BatchScanObjects> {
    let found = batch::scan(buf.range(py, start..end)?);
    let batches = found.batches.iter().map(|(at, header)| batch_tuple(start + at, header)).collect();
    Ok((batches, start + found.valid_end, found.stop.map_or("", batch::stop_reason)))
}

#[pyfunction]
#[pyo3(signature = (buf, off, base_offset, leader_epoch, log_append_time_ms, max_timestamp=None))]
fn place_batch(
    py: Python<'_>,
    mut buf: Buffer,
    off: usize,
    base_offset: i64,
    leader_epoch: i32,
    log_append_time_ms: i64,
    max_timestamp: Option<i64>,
) -> PyResult<()> {
    let bytes = buf.bytes_mut(py)?;
    let target = bytes.get_mut(off..).ok_or_else(|| PyValueError::new_err("the range is outside the buffer"))?;
    batch::place(target, base_offset, leader_epoch, log_append_time_ms, max_timestamp).map_err(broken)
}

fn record_object<'py>(
    py: Python<'py>,
    offset: i64,
    timestamp: i64,
    record: &Record<'_>,
) -> PyResult<Bound<'py, PyTuple>> {
    let headers = PyList::empty(py);
    for (key, value) in record.headers() {
        headers.append((String::from_utf8_lossy(key), value.map(|value| PyBytes::new(py, value))))?;
    }
    let key = record.key.map(|key| PyBytes::new(py, key));
    let value = record.value.map(|value| PyBytes::new(py, value));
    (offset, timestamp, key, value, headers).into_pyobject(py)
}

#[pyfunction]
fn decode_records<'py>(
    py: Python<'py>,
    buf: Buffer,
    off: usize,
    end: usize,
    inflated_max: usize,
) -> PyResult<Bound<'py, PyList>> {
    let objects = PyList::empty(py);
    let mut outcome = Ok(());
    records::visit(buf.range(py, off..end)?, inflated_max, |offset, timestamp, record| {
        outcome = record_object(py, offset, timestamp, record).and_then(|object| objects.append(object));
        outcome.is_ok()
    })
    .map_err(broken)?;
    outcome.map(|()| objects)
}

#[pyfunction]
fn find_timestamp(
    py: Python<'_>,
    buf: Buffer,
    off: usize,
    end: usize,
    timestamp: i64,
    inflated_max: usize,
) -> PyResult<Option<(i64, i64)>> {
    records::find_timestamp(buf.range(py, off..end)?, timestamp, inflated_max).map_err(broken)
}

#[pyfunction]
fn max_timestamp_record(
    py: Python<'_>,
    buf: Buffer,
    off: usize,
    end: usize,
    inflated_max: usize,
) -> PyResult<Option<(i64, i64)>> {
    records::max_timestamp_record(buf.range(py, off..end)?, inflated_max).map_err(broken)
}

type RecordObjects<'py> = (i64, Option<Buffer>, Option<Buffer>, Option<Bound<'py, PyAny>>);

#[pyfunction]
#[pyo3(signature = (records, *, base_offset=0, codec=0, producer_id=-1, producer_epoch=-1, base_sequence=-1,
                    attributes=0, leader_epoch=-1))]
#[allow(clippy::too_many_arguments)] // they are keywords in Python
fn build_batch<'py>(
    py: Python<'py>,
    records: &Bound<'py, PyAny>,
    base_offset: i64,
    codec: u8,
    producer_id: i64,
    producer_epoch: i16,
    base_sequence: i32,
    attributes: i16,
    leader_epoch: i32,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut builder = BatchBuilder::default();
    for record in records.try_iter()? {
        let (timestamp, key, value, headers): RecordObjects<'py> = record?.extract()?;
        let key = key.as_ref().map(|key| key.bytes(py));
        let value = value.as_ref().map(|value| value.bytes(py));
        let headers: Vec<(Bound<'py, PyString>, Option<Buffer>)> = match headers {
            Some(headers) => headers.try_iter()?.map(|header| header?.extract()).collect::<PyResult<_>>()?,
            None => Vec::new(),
        };
        builder.begin_record(builder.count(), timestamp, key, value, headers.len());
        for (key, value) in &headers {
            builder.header(key.to_str()?.as_bytes(), value.as_ref().map(|value| value.bytes(py)));
        }
        builder.end_record();
    }
    if builder.count() == 0 {
        return Err(PyValueError::new_err("a batch needs a record"));
    }
    let fields =
        BatchFields { base_offset, leader_epoch, attributes, codec, producer_id, producer_epoch, base_sequence };
    let out = builder.finish(&fields).ok_or_else(|| PyValueError::new_err("unknown codec, or too many bytes"))?;
    Ok(PyBytes::new(py, &out))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check_batch, module)?)?;
    module.add_function(wrap_pyfunction!(scan_batches, module)?)?;
    module.add_function(wrap_pyfunction!(place_batch, module)?)?;
    module.add_function(wrap_pyfunction!(decode_records, module)?)?;
    module.add_function(wrap_pyfunction!(find_timestamp, module)?)?;
    module.add_function(wrap_pyfunction!(max_timestamp_record, module)?)?;
    module.add_function(wrap_pyfunction!(build_batch, module)?)
}
