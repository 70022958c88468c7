//! Columns for Python: fetched batches into Arrow's buffers, and Arrow's buffers into batches. The loops run without the
//! interpreter's lock.

use super::buffer::Buffer;
use super::malformed;
use crate::batch_build::BatchFields;
use crate::columns::{self, Binary, Columns, Ended, Limits, Range, Validity};
use crate::cursor::Malformed;
use crate::rows::{self, BinaryColumn, HeaderColumn, Numbers, RowFault, Rows};
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use std::any::Any;
use std::ffi::c_int;

/// Memory that Rust made and Python reads, without a copy.
#[pyclass(frozen, module = "twinlog._kernel")]
struct Block {
    start: *const u8,
    size: usize,
    _owner: Box<dyn Any + Send + Sync>,
}

// SAFETY: the memory belongs to `_owner`, and nobody writes to it any more.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Block {
    fn of<T: Send + Sync + 'static>(values: Vec<T>) -> Self {
        let (start, size) = (values.as_ptr() as *const u8, std::mem::size_of_val(&values[..]));
        Self { start, size, _owner: Box::new(values) }
    }
}

#[pymethods]
impl Block {
    fn __len__(&self) -> usize {
        self.size
    }

    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let (start, size) = (slf.get().start, slf.get().size);
        let size = ffi::Py_ssize_t::try_from(size).map_err(|_| PyBufferError::new_err("too large"))?;
        // SAFETY: the memory lives as long as the object, to which the view keeps a reference; it is read-only.
        let failed = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start as *mut _, size, 1, flags) };
        if failed != 0 {
            return Err(PyErr::take(slf.py()).unwrap_or_else(|| PyBufferError::new_err("no view of the block")));
        }
        Ok(())
    }
}

type BinaryBlocks = (Option<Block>, Block, Block);

fn bits(validity: Validity) -> Option<Block> {
    validity.into_bits().map(Block::of)
}

fn binary(column: Binary) -> BinaryBlocks {
    (bits(column.validity), Block::of(column.offsets), Block::of(column.data))
}

/// Gathers fetched records as columns.
#[pyclass(module = "twinlog._kernel")]
struct RecordColumns {
    wanted: u32,
    limits: Limits,
    columns: Columns,
    range: Range,
}

#[pymethods]
impl RecordColumns {
    #[new]
    #[pyo3(signature = (wanted, *, rows_max, data_bytes_max, inflated_max))]
    fn new(wanted: u32, rows_max: usize, data_bytes_max: usize, inflated_max: usize) -> PyResult<Self> {
        if data_bytes_max.saturating_add(inflated_max) > 1 << 30 {
            return Err(PyValueError::new_err("more than a gigabyte does not fit a column"));
        }
        let limits = Limits { rows_max, data_size_max: data_bytes_max, inflated_max };
        Ok(Self { wanted, limits, columns: Columns::default(), range: Range::default() })
    }

    fn seek(&mut self, topic: &str, partition: i32, position: i64, stop: i64) {
        self.range = Range::new(topic.as_bytes().to_vec(), partition, position, stop);
    }

    fn hide(&mut self, aborted: Option<Vec<(i64, i64)>>) {
        self.range.set_aborted(aborted);
    }

    #[getter]
    fn position(&self) -> i64 {
        self.range.position
    }

    #[getter]
    fn rows(&self) -> usize {
        self.columns.rows
    }

    fn append(&mut self, py: Python<'_>, buf: Buffer, start: usize, end: usize) -> PyResult<(usize, &'static str)> {
        let bytes = buf.range(py, start..end)?;
        let (columns, range) = (&mut self.columns, &mut self.range);
        let outcome = py.detach(|| columns::append(columns, self.wanted, range, bytes, &self.limits));
        let (at, ended) = outcome.map_err(|fault| {
            self.columns = Columns::default();
            malformed(Malformed(fault.text()))
        })?;
        let why = match ended {
            Ended::Drained => "drained",
            Ended::Complete => "complete",
            Ended::Full => "full",
        };
        Ok((start + at, why))
    }

    #[allow(clippy::type_complexity)] // eight columns are eight columns
    fn take(
        &mut self,
    ) -> (
        usize,
        BinaryBlocks,
        BinaryBlocks,
        BinaryBlocks,
        Block,
        Block,
        Block,
        Block,
        (Option<Block>, Block, BinaryBlocks, BinaryBlocks),
    ) {
        let room = Columns::empty_like(&self.columns);
        let taken = std::mem::replace(&mut self.columns, room);
        (
            taken.rows,
            binary(taken.keys),
            binary(taken.values),
            binary(taken.topics),
            Block::of(taken.partitions),
            Block::of(taken.offsets),
            Block::of(taken.timestamps_us),
            Block::of(taken.timestamp_types),
            (
                bits(taken.headers.validity),
                Block::of(taken.headers.offsets),
                binary(taken.headers.names),
                binary(taken.headers.values),
            ),
        )
    }
}

#[pyfunction]
fn position_behind(py: Python<'_>, buf: Buffer, start: usize, end: usize, position: i64) -> PyResult<i64> {
    Ok(columns::position_behind(buf.range(py, start..end)?, position))
}

/// (validity, offsets, data, first row)
type BinaryBuffers = (Option<Buffer>, Buffer, Buffer, usize);
/// (validity, values, first row)
type NumberBuffers = (Option<Buffer>, Buffer, usize);
/// (validity, offsets, first row, names, values)
type HeaderBuffers = (Option<Buffer>, Buffer, usize, BinaryBuffers, BinaryBuffers);

fn binary_column<'a>(py: Python<'a>, buffers: &'a BinaryBuffers) -> BinaryColumn<'a> {
    let (validity, offsets, data, first) = buffers;
    BinaryColumn {
        validity: validity.as_ref().map(|bits| bits.bytes(py)),
        offsets: offsets.bytes(py),
        data: data.bytes(py),
        first: *first,
    }
}

fn numbers<'a>(py: Python<'a>, buffers: &'a NumberBuffers) -> Numbers<'a> {
    let (validity, values, first) = buffers;
    Numbers { validity: validity.as_ref().map(|bits| bits.bytes(py)), values: values.bytes(py), first: *first }
}

fn header_column<'a>(py: Python<'a>, buffers: &'a HeaderBuffers) -> HeaderColumn<'a> {
    let (validity, offsets, first, names, values) = buffers;
    HeaderColumn {
        validity: validity.as_ref().map(|bits| bits.bytes(py)),
        offsets: offsets.bytes(py),
        first: *first,
        names: binary_column(py, names),
        values: binary_column(py, values),
    }
}

/// Gathers rows as record batches of one topic.
#[pyclass(module = "twinlog._kernel")]
struct BatchWriter {
    writer: rows::BatchWriter,
}

#[pymethods]
impl BatchWriter {
    #[new]
    #[pyo3(signature = (partitions, *, batch_bytes, sticky=0))]
    fn new(partitions: usize, batch_bytes: usize, sticky: usize) -> PyResult<Self> {
        if partitions == 0 || partitions > 1_000_000 {
            return Err(PyValueError::new_err("a topic has between 1 and 1000000 partitions"));
        }
        Ok(Self { writer: rows::BatchWriter::new(partitions, batch_bytes, sticky) })
    }

    #[getter]
    fn buffered_bytes(&self) -> usize {
        self.writer.buffered()
    }

    #[pyo3(signature = (count, now_ms, *, keys=None, values=None, partitions=None, timestamps_us=None, headers=None))]
    #[allow(clippy::too_many_arguments)] // they are keywords in Python
    fn add(
        &mut self,
        py: Python<'_>,
        count: usize,
        now_ms: i64,
        keys: Option<BinaryBuffers>,
        values: Option<BinaryBuffers>,
        partitions: Option<NumberBuffers>,
        timestamps_us: Option<NumberBuffers>,
        headers: Option<HeaderBuffers>,
    ) -> PyResult<()> {
        let rows = Rows {
            count,
            keys: keys.as_ref().map(|buffers| binary_column(py, buffers)),
            values: values.as_ref().map(|buffers| binary_column(py, buffers)),
            partitions: partitions.as_ref().map(|buffers| numbers(py, buffers)),
            timestamps_us: timestamps_us.as_ref().map(|buffers| numbers(py, buffers)),
            headers: headers.as_ref().map(|buffers| header_column(py, buffers)),
        };
        let writer = &mut self.writer;
        py.detach(|| writer.add(&rows, now_ms)).map_err(|fault| match fault {
            RowFault::Column(_) => PyValueError::new_err("a column does not hold what it says"),
            RowFault::NoSuchPartition { row, partition } => PyValueError::new_err(format!(
                "row {row} names partition {partition}, and the topic has {}",
                self.writer.partitions()
            )),
        })
    }

    #[pyo3(signature = (everything, sequences, *, codec=0, producer_id=-1, producer_epoch=-1, transactional=false))]
    fn take(
        &mut self,
        py: Python<'_>,
        everything: bool,
        mut sequences: Vec<i32>,
        codec: u8,
        producer_id: i64,
        producer_epoch: i16,
        transactional: bool,
    ) -> PyResult<(Vec<(usize, i32, i32, Block)>, Vec<i32>)> {
        if sequences.len() != self.writer.partitions() {
            return Err(PyValueError::new_err("one sequence number a partition"));
        }
        let writer = &mut self.writer;
        let sealed: Option<Vec<_>> = py.detach(|| {
            let batches = writer.take(everything).into_iter();
            let seal = |(partition, builder): (usize, crate::batch_build::BatchBuilder)| {
                let (count, sequence) = (builder.count(), sequences[partition]);
                let fields = BatchFields {
                    codec,
                    producer_id,
                    producer_epoch,
                    base_sequence: if producer_id < 0 { -1 } else { sequence },
                    attributes: if transactional { crate::batch::ATTRIBUTE_TRANSACTIONAL } else { 0 },
                    ..BatchFields::default()
                };
                // Sequences count from 0 again behind the greatest.
                sequences[partition] = ((sequence as i64 + count as i64) & 0x7fff_ffff) as i32;
                Some((partition, count, sequence, rows::seal(builder, &fields)?))
            };
            batches.map(seal).collect()
        });
        let sealed = sealed.ok_or_else(|| PyValueError::new_err("unknown codec, or a batch beyond two gigabytes"))?;
        let batches = sealed.into_iter().map(|(partition, count, sequence, bytes)| {
            let block = Block::of(bytes);
            (partition, count, sequence, block)
        });
        Ok((batches.collect(), sequences))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for (name, column) in [
        ("COLUMN_KEY", columns::KEY),
        ("COLUMN_VALUE", columns::VALUE),
        ("COLUMN_TOPIC", columns::TOPIC),
        ("COLUMN_PARTITION", columns::PARTITION),
        ("COLUMN_OFFSET", columns::OFFSET),
        ("COLUMN_TIMESTAMP", columns::TIMESTAMP),
        ("COLUMN_TIMESTAMP_TYPE", columns::TIMESTAMP_TYPE),
        ("COLUMN_HEADERS", columns::HEADERS),
    ] {
        module.add(name, column)?;
    }
    module.add_class::<Block>()?;
    module.add_class::<RecordColumns>()?;
    module.add_class::<BatchWriter>()?;
    module.add_function(wrap_pyfunction!(position_behind, module)?)
}
