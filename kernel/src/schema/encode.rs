//! Objects to bytes.
use std::cell::Cell;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

use super::{utf8_of, Field, Kind, Layout, Path, Schema, View, STRING_SIZE_MAX};

/// Records from this size on are handed to the socket as they are instead of being copied into the frame.
const SPLICE_SIZE_MIN: usize = 4096;
/// A buffer that grew larger than this is not kept for the next message.
const KEPT_SIZE_MAX: usize = 256 * 1024;

thread_local! {
    static KEPT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

struct Fault {
    error: PyErr,
    path: Path,
}

type Writing = Result<(), Box<Fault>>;

impl From<PyErr> for Box<Fault> {
    fn from(error: PyErr) -> Self {
        Box::new(Fault { error, path: Path::default() })
    }
}

fn wrong(what: String) -> Box<Fault> {
    PyValueError::new_err(what).into()
}

impl Fault {
    fn at(mut self: Box<Self>, part: String) -> Box<Self> {
        self.path.0.push(part);
        self
    }
}

/// The bytes so far. In a message of parts, also where in them foreign objects stand.
struct Writer<'py> {
    bytes: Vec<u8>,
    splices: Option<Vec<(usize, Bound<'py, PyAny>)>>,
    spliced_size: usize,
}

impl<'py> Writer<'py> {
    fn new(parts: bool) -> Self {
        let mut bytes = KEPT.take();
        bytes.clear();
        Self { bytes, splices: parts.then(Vec::new), spliced_size: 0 }
    }

    fn keep(self) {
        if self.bytes.capacity() <= KEPT_SIZE_MAX {
            KEPT.set(self.bytes);
        }
    }

    fn uvarint(&mut self, mut value: u32) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// Puts the size of what was written since `start` in front of it.
    fn size_in_front(&mut self, start: usize) -> Writing {
        let size = u32::try_from(self.bytes.len() - start).map_err(|_| wrong("a tagged field is too long".into()))?;
        let end = self.bytes.len();
        self.uvarint(size);
        let width = self.bytes.len() - end;
        self.bytes[start..].rotate_right(width);
        Ok(())
    }

    /// A size or a count: 32 bits, or a varint of one more.
    fn length(&mut self, flexible: bool, length: usize) -> Writing {
        let length = i32::try_from(length).map_err(|_| wrong(format!("{length} is too long")))?;
        if flexible {
            self.uvarint(length as u32 + 1);
        } else {
            self.bytes.extend_from_slice(&length.to_be_bytes());
        }
        Ok(())
    }
}

impl Schema {
    pub(super) fn write_message<'py>(
        &self,
        message: &Bound<'py, PyAny>,
        head: Option<&[u8]>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut writer = Writer::new(false);
        self.write_frame(&mut writer, message, head)?;
        let bytes = PyBytes::new(message.py(), &writer.bytes).into_any();
        writer.keep();
        Ok(bytes)
    }

    pub(super) fn write_parts<'py>(&self, message: &Bound<'py, PyAny>, head: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let py = message.py();
        let mut writer = Writer::new(true);
        self.write_frame(&mut writer, message, Some(head))?;
        let parts = PyList::empty(py);
        let mut done = 0;
        for (position, object) in writer.splices.take().unwrap_or_default() {
            if position > done {
                parts.append(PyBytes::new(py, &writer.bytes[done..position]))?;
                done = position;
            }
            parts.append(object)?;
        }
        if done < writer.bytes.len() {
            parts.append(PyBytes::new(py, &writer.bytes[done..]))?;
        }
        writer.keep();
        Ok(parts.into_any())
    }

    fn write_frame<'py>(
        &self,
        writer: &mut Writer<'py>,
        message: &Bound<'py, PyAny>,
        head: Option<&[u8]>,
    ) -> PyResult<()> {
        if let Some(head) = head {
            writer.bytes.extend_from_slice(&[0; 4]);
            writer.bytes.extend_from_slice(head);
        }
        if !message.is_instance(self.layouts[self.root].class.bind(message.py()))? {
            return Err(PyTypeError::new_err(format!("{} is needed, not {}", self.name, message.get_type())));
        }
        self.write_struct(writer, &self.layouts[self.root], message).map_err(|fault| self.encoding_error(*fault))?;
        if head.is_some() {
            let size = i32::try_from(writer.bytes.len() - 4 + writer.spliced_size)
                .map_err(|_| PyValueError::new_err(format!("{} is too long for a frame", self.name)))?;
            writer.bytes[..4].copy_from_slice(&size.to_be_bytes());
        }
        Ok(())
    }

    fn encoding_error(&self, fault: Fault) -> PyErr {
        Python::attach(|py| {
            let (name, version, path) = (&self.name, self.version, fault.path.text());
            let text = format!("{name} v{version}, {path}: {}", fault.error.value(py));
            let error = if fault.error.is_instance_of::<PyTypeError>(py) {
                PyTypeError::new_err(text)
            } else {
                PyValueError::new_err(text)
            };
            error.set_cause(py, Some(fault.error));
            error
        })
    }

    fn write_struct<'py>(&self, writer: &mut Writer<'py>, layout: &Layout, object: &Bound<'py, PyAny>) -> Writing {
        for field in &layout.present {
            let value = field.slot.read(object)?;
            self.write_field(writer, field, &value).map_err(|fault| fault.at(field.name.clone()))?;
        }
        for field in &layout.absent {
            // What the version cannot say must not get lost in silence, except where the schema allows it.
            if !field.ignorable && !self.is_default(field, &field.slot.read(object)?)? {
                return Err(wrong(format!("version {} has no such field", self.version)).at(field.name.clone()));
            }
        }
        if self.flexible {
            self.write_tagged(writer, layout, object)?;
        }
        Ok(())
    }

    fn write_tagged<'py>(&self, writer: &mut Writer<'py>, layout: &Layout, object: &Bound<'py, PyAny>) -> Writing {
        if layout.tagged.is_empty() {
            writer.bytes.push(0);
            return Ok(());
        }
        let count_at = writer.bytes.len();
        writer.bytes.push(0);
        for field in &layout.tagged {
            let value = field.slot.read(object)?;
            if self.is_default(field, &value)? {
                continue;
            }
            // At most 64 tagged fields in a struct, so the count stays a single byte.
            writer.bytes[count_at] += 1;
            writer.uvarint(field.tag);
            let start = writer.bytes.len();
            self.write_behind_tag(writer, field, &value)
                .and_then(|()| writer.size_in_front(start))
                .map_err(|fault| fault.at(field.name.clone()))?;
        }
        Ok(())
    }

    /// As any other field, but the mark of a nullable struct is a varint here.
    fn write_behind_tag<'py>(&self, writer: &mut Writer<'py>, field: &Field, value: &Bound<'py, PyAny>) -> Writing {
        if !field.is_nullable_struct() {
            return self.write_field(writer, field, value);
        }
        writer.bytes.push(u8::from(!value.is_none()));
        if value.is_none() {
            return Ok(());
        }
        self.write_value(writer, field.kind, false, value)
    }

    #[inline]
    fn write_field<'py>(&self, writer: &mut Writer<'py>, field: &Field, value: &Bound<'py, PyAny>) -> Writing {
        if !field.array {
            return self.write_value(writer, field.kind, field.nullable, value);
        }
        if value.is_none() {
            self.null_allowed(field.nullable)?;
            return self.write_null(writer, 4);
        }
        if let Ok(list) = value.cast::<PyList>() {
            writer.length(self.flexible, list.len())?;
            for (index, element) in list.iter().enumerate() {
                self.write_value(writer, field.kind, false, &element)
                    .map_err(|fault| fault.at(format!("[{index}]")))?;
            }
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            writer.length(self.flexible, tuple.len())?;
            for (index, element) in tuple.iter().enumerate() {
                self.write_value(writer, field.kind, false, &element)
                    .map_err(|fault| fault.at(format!("[{index}]")))?;
            }
        } else {
            return Err(PyTypeError::new_err("a list is needed").into());
        }
        Ok(())
    }

    fn null_allowed(&self, nullable: bool) -> Writing {
        if nullable {
            return Ok(());
        }
        Err(wrong(format!("null is not allowed in version {}", self.version)))
    }

    fn write_null(&self, writer: &mut Writer<'_>, width: usize) -> Writing {
        if self.flexible {
            writer.bytes.push(0);
        } else {
            writer.bytes.extend_from_slice(&[0xff; 4][..width]);
        }
        Ok(())
    }

    #[inline]
    fn write_value<'py>(
        &self,
        writer: &mut Writer<'py>,
        kind: Kind,
        nullable: bool,
        value: &Bound<'py, PyAny>,
    ) -> Writing {
        match kind {
            Kind::Bool => writer.bytes.push(u8::from(value.is_truthy()?)),
            Kind::Int8 => writer.bytes.push(int_from::<i8>(value)? as u8),
            Kind::Int16 => writer.bytes.extend_from_slice(&int_from::<i16>(value)?.to_be_bytes()),
            Kind::Uint16 => writer.bytes.extend_from_slice(&int_from::<u16>(value)?.to_be_bytes()),
            Kind::Int32 => writer.bytes.extend_from_slice(&int_from::<i32>(value)?.to_be_bytes()),
            Kind::Int64 => writer.bytes.extend_from_slice(&int_from::<i64>(value)?.to_be_bytes()),
            Kind::Float64 => writer.bytes.extend_from_slice(&value.extract::<f64>()?.to_be_bytes()),
            Kind::Uuid => {
                let view = View::of(value)?;
                if view.bytes().len() != 16 {
                    return Err(wrong("an id has 16 bytes".into()));
                }
                writer.bytes.extend_from_slice(view.bytes());
            }
            Kind::String => {
                if value.is_none() {
                    self.null_allowed(nullable)?;
                    return self.write_null(writer, 2);
                }
                self.write_string(writer, utf8_of(value)?)?;
            }
            Kind::Bytes | Kind::Records => {
                if value.is_none() {
                    self.null_allowed(nullable)?;
                    return self.write_null(writer, 4);
                }
                self.write_bytes(writer, value, kind == Kind::Records)?;
            }
            Kind::Struct(index) => {
                if nullable {
                    if value.is_none() {
                        writer.bytes.push(0xff);
                        return Ok(());
                    }
                    writer.bytes.push(1);
                }
                self.write_struct(writer, &self.layouts[index], value)?;
            }
        }
        Ok(())
    }

    fn write_string(&self, writer: &mut Writer<'_>, text: &str) -> Writing {
        if text.len() > STRING_SIZE_MAX {
            return Err(wrong(format!("{} bytes are too many for a string", text.len())));
        }
        if self.flexible {
            writer.uvarint(text.len() as u32 + 1);
        } else {
            writer.bytes.extend_from_slice(&(text.len() as i16).to_be_bytes());
        }
        writer.bytes.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn write_bytes<'py>(&self, writer: &mut Writer<'py>, value: &Bound<'py, PyAny>, records: bool) -> Writing {
        let flexible = self.flexible;
        // SAFETY: only asks the object's type.
        if unsafe { ffi::PyObject_CheckBuffer(value.as_ptr()) } != 0 {
            let view = View::of(value)?;
            let bytes = view.bytes();
            writer.length(flexible, bytes.len())?;
            if records && bytes.len() >= SPLICE_SIZE_MIN && writer.splices.is_some() {
                return self.splice(writer, value, bytes.len());
            }
            writer.bytes.extend_from_slice(bytes);
            return Ok(());
        }
        if records && writer.splices.is_some() && !value.is_instance_of::<PyTuple>() {
            let size: usize = value.getattr("size")?.extract()?;
            writer.length(flexible, size)?;
            return self.splice(writer, value, size);
        }
        Err(PyTypeError::new_err(format!("bytes are needed, not {}", value.get_type())).into())
    }

    fn splice<'py>(&self, writer: &mut Writer<'py>, value: &Bound<'py, PyAny>, size: usize) -> Writing {
        let position = writer.bytes.len();
        if let Some(splices) = writer.splices.as_mut() {
            splices.push((position, value.clone()));
            writer.spliced_size += size;
        }
        Ok(())
    }
}

#[inline(always)]
fn int_from<T: TryFrom<i64>>(value: &Bound<'_, PyAny>) -> Result<T, Box<Fault>> {
    // SAFETY: the object is alive; -1 may be a value or an error, and then an exception is set.
    let number = unsafe { ffi::PyLong_AsLongLong(value.as_ptr()) };
    if number == -1 {
        if let Some(error) = PyErr::take(value.py()) {
            return Err(error.into());
        }
    }
    T::try_from(number).map_err(|_| wrong(format!("{number} does not fit")))
}
