//! The AMQP parser, runs and deliveries for Python.

use super::buffer::Buffer;
use super::malformed;
use crate::amqp::content::Concerns;
use crate::amqp::deliver::{self, Delivery};
use crate::amqp::events::{Event, OwnedConcerns};
use crate::amqp::parser::Parser;
use crate::amqp::run::{self, Run, RunWriter};
use crate::frames::{scan_frames, FRAME_HEADER_SIZE};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

const RUN: u8 = 1;
const ACK: u8 = 2;
const ACK_MULTIPLE: u8 = 3;
const METHOD: u8 = 4;
const HEARTBEAT: u8 = 5;
const ERROR: u8 = 6;

/// Until peers have agreed on something else.
const FRAME_MAX_BEFORE_TUNE: usize = 8192;
const BODY_SIZE_MAX: usize = 16 * 1024 * 1024;

const RUNS_KEPT_MAX: usize = 4 * 1024 * 1024;

thread_local! {
    /// Where the runs of one call are written, for all connections. Taken out while in use, because making objects may
    /// run Python, which may parse for another connection.
    static RUNS: std::cell::Cell<Vec<u8>> = const { std::cell::Cell::new(Vec::new()) };
}

#[pyclass(module = "twinlog._kernel")]
struct AmqpParser {
    parser: Parser,
}

#[pymethods]
impl AmqpParser {
    #[new]
    #[pyo3(signature = (*, frame_max=FRAME_MAX_BEFORE_TUNE, body_size_max=BODY_SIZE_MAX))]
    fn new(frame_max: usize, body_size_max: usize) -> PyResult<Self> {
        require_frame_max(frame_max)?;
        Ok(Self { parser: Parser::new(frame_max, body_size_max) })
    }

    #[getter]
    fn frame_max(&self) -> usize {
        self.parser.frame_max
    }

    #[setter]
    fn set_frame_max(&mut self, frame_max: usize) -> PyResult<()> {
        require_frame_max(frame_max)?;
        self.parser.frame_max = frame_max;
        Ok(())
    }

    #[getter]
    fn body_size_max(&self) -> usize {
        self.parser.body_size_max
    }

    #[setter]
    fn set_body_size_max(&mut self, body_size_max: usize) {
        self.parser.body_size_max = body_size_max;
    }

    #[getter]
    fn partial_bytes_max(&self) -> usize {
        self.parser.partial_bytes_max
    }

    #[setter]
    fn set_partial_bytes_max(&mut self, partial_bytes_max: usize) {
        self.parser.partial_bytes_max = partial_bytes_max;
    }

    #[getter]
    fn partial_bytes(&self) -> usize {
        self.parser.partial_bytes()
    }

    fn close(&mut self) {
        self.parser.close();
    }

    fn parse<'py>(
        &mut self,
        py: Python<'py>,
        buf: Buffer,
        start: usize,
        end: usize,
    ) -> PyResult<(usize, Bound<'py, PyList>)> {
        let bytes = buf.bytes(py);
        if bytes.get(start..end).is_none() {
            return Err(PyValueError::new_err("the range is outside the buffer"));
        }
        let mut runs = RUNS.take();
        runs.clear();
        let (consumed, events) = self.parser.parse(bytes, start, end, &mut runs).map_err(malformed)?;
        let objects = PyList::empty(py);
        for event in events {
            objects.append(event_object(py, &runs, event)?)?;
        }
        if runs.capacity() <= RUNS_KEPT_MAX {
            RUNS.set(runs);
        }
        Ok((consumed, objects))
    }
}

fn require_frame_max(frame_max: usize) -> PyResult<()> {
    if frame_max < crate::amqp::FRAME_MAX_MIN {
        return Err(PyValueError::new_err("a frame limit below 4096"));
    }
    Ok(())
}

fn event_object<'py>(py: Python<'py>, runs: &[u8], event: Event<'_>) -> PyResult<Bound<'py, PyTuple>> {
    match event {
        Event::Run(run) => {
            let bytes = &runs[run.place];
            let names = Run::open(bytes).map_err(malformed)?;
            let concerns = concerns_object(&run.concerns);
            let blob = PyBytes::new(py, bytes);
            (RUN, run.channel, names.exchange, names.key, run.concerns.flags, run.count, blob, concerns)
                .into_pyobject(py)
        }
        Event::Ack { channel, low, high } => (ACK, channel, low, high).into_pyobject(py),
        Event::AckMultiple { channel, tag } => (ACK_MULTIPLE, channel, tag).into_pyobject(py),
        Event::Method { channel, class, method, arguments } => {
            (METHOD, channel, class, method, PyBytes::new(py, arguments)).into_pyobject(py)
        }
        Event::Heartbeat => (HEARTBEAT,).into_pyobject(py),
        Event::Error(error) => {
            (ERROR, error.channel, error.code, error.text, error.class, error.method).into_pyobject(py)
        }
    }
}

type ConcernsTuple<'a> = (u8, Option<&'a str>, Option<&'a str>, Option<&'a str>);

fn concerns_object(concerns: &OwnedConcerns) -> Option<ConcernsTuple<'_>> {
    if concerns.is_plain() {
        return None;
    }
    let OwnedConcerns { priority, expiration, user_id, reply_to, .. } = concerns;
    Some((*priority, expiration.as_deref(), user_id.as_deref(), reply_to.as_deref()))
}

fn read_concerns_object<'a>(concerns: &Concerns<'a>) -> Option<ConcernsTuple<'a>> {
    let Concerns { priority, expiration, user_id, reply_to, .. } = *concerns;
    let is_plain = priority == 0 && expiration.is_none() && user_id.is_none() && reply_to.is_none();
    (!is_plain).then_some((priority, expiration, user_id, reply_to))
}

#[pyfunction]
#[allow(clippy::too_many_arguments)] // one call a delivery; a tuple would cost more than it says
fn encode_run<'py>(
    py: Python<'py>,
    blob: Buffer,
    position: usize,
    count: usize,
    channel: u16,
    consumer_tag: &str,
    tag_first: u64,
    redelivered: bool,
    frame_max: usize,
) -> PyResult<(Bound<'py, PyBytes>, usize)> {
    let to =
        Delivery { channel, consumer_tag: consumer_tag.as_bytes(), tag_first, is_redelivered: redelivered, frame_max };
    let (out, position) = deliver::encode_run(blob.bytes(py), position, count, &to).map_err(malformed)?;
    Ok((PyBytes::new(py, &out), position))
}

#[pyfunction]
fn encode_content<'py>(
    py: Python<'py>,
    channel: u16,
    method: Buffer,
    properties: Buffer,
    body: Buffer,
    frame_max: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let out = deliver::encode_content(channel, method.bytes(py), properties.bytes(py), body.bytes(py), frame_max);
    Ok(PyBytes::new(py, &out.map_err(malformed)?))
}

#[pyfunction]
fn build_run<'py>(
    py: Python<'py>,
    exchange: &str,
    key: &str,
    flags: u8,
    messages: Vec<(Buffer, Buffer)>,
) -> PyResult<Bound<'py, PyBytes>> {
    if exchange.len() > 255 || key.len() > 255 {
        return Err(PyValueError::new_err("a name beyond 255 bytes"));
    }
    let mut out = Vec::new();
    let mut writer = RunWriter::begin(&mut out, exchange.as_bytes(), key.as_bytes(), flags);
    let mut size = 0usize;
    for (properties, body) in &messages {
        let (properties, body) = (properties.bytes(py), body.bytes(py));
        size = size.saturating_add(properties.len()).saturating_add(body.len()).saturating_add(16);
        if size > i32::MAX as usize {
            return Err(PyValueError::new_err("too many bytes for one run"));
        }
        writer.push(&mut out, properties, body);
    }
    writer.finish(&mut out);
    Ok(PyBytes::new(py, &out))
}

#[pyfunction]
fn run_info<'py>(py: Python<'py>, blob: Buffer) -> PyResult<Bound<'py, PyTuple>> {
    let run = Run::open(blob.bytes(py)).map_err(malformed)?;
    let concerns = run.concerns().map_err(malformed)?;
    (run.exchange, run.key, run.flags, run.count, run.first_at, read_concerns_object(&concerns)).into_pyobject(py)
}

#[pyfunction]
fn measure_run(py: Python<'_>, blob: Buffer, position: usize, count: usize) -> PyResult<(usize, usize, usize)> {
    let run = Run::open(blob.bytes(py)).map_err(malformed)?;
    run.measure(position, count).map_err(malformed)
}

type MessageObjects<'py> = (usize, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

#[pyfunction]
fn split_run<'py>(py: Python<'py>, blob: Buffer, position: usize, count: usize) -> PyResult<Vec<MessageObjects<'py>>> {
    let run = Run::open(blob.bytes(py)).map_err(malformed)?;
    let mut messages = run.messages(position).map_err(malformed)?;
    let mut out = Vec::new();
    while out.len() < count {
        let Some(message) = messages.next_message().map_err(malformed)? else { break };
        out.push((message.position, PyBytes::new(py, message.properties), PyBytes::new(py, message.body)));
    }
    Ok(out)
}

type LogScanObjects = (Vec<(usize, usize, u32)>, usize, &'static str);

#[pyfunction]
fn scan_log(py: Python<'_>, buf: Buffer, start: usize, end: usize) -> PyResult<LogScanObjects> {
    let bytes = buf.range(py, start..end)?;
    let scan = scan_frames(bytes);
    let found = scan.payloads.iter().map(|&(at, size)| {
        let record_at = start + at - FRAME_HEADER_SIZE;
        (record_at, size + FRAME_HEADER_SIZE, run::count_in(&bytes[at..at + size]))
    });
    Ok((found.collect(), start + scan.valid_end, scan.stop.reason()))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<AmqpParser>()?;
    for (name, kind) in [
        ("AMQP_RUN", RUN),
        ("AMQP_ACK", ACK),
        ("AMQP_ACK_MULTIPLE", ACK_MULTIPLE),
        ("AMQP_METHOD", METHOD),
        ("AMQP_HEARTBEAT", HEARTBEAT),
        ("AMQP_ERROR", ERROR),
        ("RUN_MANDATORY", crate::amqp::content::FLAG_MANDATORY),
        ("RUN_IMMEDIATE", crate::amqp::content::FLAG_IMMEDIATE),
        ("RUN_PERSISTENT", crate::amqp::content::FLAG_PERSISTENT),
        ("RUN_HEADERS", crate::amqp::content::FLAG_HEADERS),
        ("RUN_COPIES", crate::amqp::content::FLAG_COPIES),
        ("RUN_DELAY", crate::amqp::content::FLAG_DELAY),
        ("RUN_DEATHS", crate::amqp::content::FLAG_DEATHS),
    ] {
        module.add(name, kind)?;
    }
    module.add_function(wrap_pyfunction!(encode_run, module)?)?;
    module.add_function(wrap_pyfunction!(encode_content, module)?)?;
    module.add_function(wrap_pyfunction!(build_run, module)?)?;
    module.add_function(wrap_pyfunction!(run_info, module)?)?;
    module.add_function(wrap_pyfunction!(measure_run, module)?)?;
    module.add_function(wrap_pyfunction!(split_run, module)?)?;
    module.add_function(wrap_pyfunction!(scan_log, module)?)
}
