//! Compaction for Python. The loops run without the interpreter's lock, over `bytes`, which nobody can change.

use super::broken;
use crate::compact::{Aborted, Compactor, LastBatch};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

#[pyclass(name = "Compactor", module = "twinlog._kernel")]
struct PyCompactor {
    inner: Compactor,
}

/// (what is left to write, size, end offset, greatest timestamp, its position, offsets, positions, times, epochs, markers,
/// whether anything changed)
type Ended<'py> = (
    Bound<'py, PyBytes>,
    u64,
    i64,
    i64,
    u64,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Vec<(i32, i64)>,
    Vec<i64>,
    bool,
);

#[pymethods]
impl PyCompactor {
    #[new]
    fn new(
        bytes_max: usize,
        records_max: u64,
        seed: u64,
        aborted: Vec<Aborted>,
        producers: Vec<LastBatch>,
        inflated_max: usize,
    ) -> Self {
        Self { inner: Compactor::new(bytes_max, records_max, seed, &aborted, &producers, inflated_max) }
    }

    fn begin_reading(&mut self, offset_base: i64, offset_end: i64, has_gaps: bool) {
        self.inner.begin_reading(offset_base, offset_end, has_gaps);
    }

    fn map(&mut self, py: Python<'_>, data: &Bound<'_, PyBytes>) -> PyResult<(usize, bool)> {
        let (inner, bytes) = (&mut self.inner, data.as_bytes());
        py.detach(|| inner.map(bytes)).map_err(broken)
    }

    #[getter]
    fn map_end(&self) -> i64 {
        self.inner.map_end
    }

    #[getter]
    fn key_count(&self) -> usize {
        self.inner.key_count()
    }

    fn begin(&mut self, now_ms: i64, delete_retention_ms: i64) {
        self.inner.begin(now_ms, delete_retention_ms);
    }

    fn begin_segment(&mut self, offset_base: i64, index_interval_bytes: u64) {
        self.inner.begin_segment(offset_base, index_interval_bytes);
    }

    fn rewrite<'py>(&mut self, py: Python<'py>, data: &Bound<'py, PyBytes>) -> PyResult<(usize, Bound<'py, PyBytes>)> {
        let (inner, bytes) = (&mut self.inner, data.as_bytes());
        let (rest, out) = py
            .detach(|| {
                let mut out = Vec::new();
                inner.rewrite(bytes, &mut out).map(|rest| (rest, out))
            })
            .map_err(broken)?;
        Ok((rest, PyBytes::new(py, &out)))
    }

    fn end_segment<'py>(&mut self, py: Python<'py>) -> Ended<'py> {
        let mut out = Vec::new();
        let written = self.inner.end_segment(&mut out);
        (
            PyBytes::new(py, &out),
            written.size,
            written.offset_end,
            written.max_timestamp,
            written.max_timestamp_position,
            PyBytes::new(py, &written.offsets),
            PyBytes::new(py, &written.positions),
            PyBytes::new(py, &written.times),
            written.epochs,
            written.markers,
            written.changed,
        )
    }

    /// (records read, records kept, the next time at which something may go, -1 never)
    fn facts(&self) -> (u64, u64, i64) {
        let next = self.inner.horizon_next;
        let counts = self.inner.counts;
        (counts.records_read, counts.records_kept, if next == i64::MAX { -1 } else { next })
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyCompactor>()
}
