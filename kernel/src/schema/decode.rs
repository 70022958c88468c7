//! Bytes to objects.
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyTuple};

use super::{
    bool_of, new_list, string_of, Field, Kind, Layout, Path, Schema, View, STRING_SIZE_MAX, TAGGED_FIELDS_MAX,
};
use crate::cursor::{Cursor, Malformed};
use crate::python::MalformedError;

enum Reason {
    Malformed(&'static str),
    /// Python itself failed: no memory.
    Python(PyErr),
}

struct Fault {
    reason: Reason,
    path: Path,
}

// Boxed, so that the good way stays small.
type Reading<T> = Result<T, Box<Fault>>;

impl From<Malformed> for Box<Fault> {
    fn from(malformed: Malformed) -> Self {
        broken(malformed.0)
    }
}

impl From<PyErr> for Box<Fault> {
    fn from(error: PyErr) -> Self {
        Box::new(Fault { reason: Reason::Python(error), path: Path::default() })
    }
}

fn broken(what: &'static str) -> Box<Fault> {
    Box::new(Fault { reason: Reason::Malformed(what), path: Path::default() })
}

impl Fault {
    fn at(mut self: Box<Self>, part: String) -> Box<Self> {
        self.path.0.push(part);
        self
    }
}

struct Reader<'a, 'py> {
    py: Python<'py>,
    bytes: &'a [u8],
    cursor: Cursor<'a>,
    elements_left: usize,
}

impl Schema {
    pub(super) fn read_message<'py>(
        &self,
        buf: &Bound<'py, PyAny>,
        start: usize,
        end: Option<usize>,
        elements_max: usize,
        whole: bool,
    ) -> PyResult<(Bound<'py, PyAny>, usize)> {
        let view = View::of(buf)?;
        let bytes = view.bytes();
        let Some(cursor) = Cursor::over(bytes, start, end.unwrap_or(bytes.len())) else {
            return Err(pyo3::exceptions::PyValueError::new_err("the range is outside the buffer"));
        };
        let mut reader = Reader { py: buf.py(), bytes, cursor, elements_left: elements_max };
        let message = self.read_struct(&mut reader, &self.layouts[self.root]).and_then(|message| {
            if whole && !reader.cursor.is_at_end() {
                return Err(broken("bytes are left over behind the message"));
            }
            Ok(message)
        });
        match message {
            Ok(message) => Ok((message, reader.cursor.position())),
            Err(fault) => Err(self.decoding_error(*fault, reader.cursor.position() - start)),
        }
    }

    fn decoding_error(&self, fault: Fault, position: usize) -> PyErr {
        let what = match fault.reason {
            Reason::Malformed(what) => what,
            Reason::Python(error) => return error,
        };
        let (name, version, path) = (&self.name, self.version, fault.path.text());
        let place = if path.is_empty() { String::new() } else { format!(", {path}") };
        MalformedError::new_err(format!("{name} v{version}{place}: {what} (byte {position})"))
    }

    fn read_struct<'py>(&self, reader: &mut Reader<'_, 'py>, layout: &Layout) -> Reading<Bound<'py, PyAny>> {
        let object = layout.new_object(reader.py)?;
        for field in &layout.present {
            let value = self.read_field(reader, field).map_err(|fault| fault.at(field.name.clone()))?;
            field.slot.write(&object, &value)?;
        }
        for field in &layout.absent {
            field.slot.write(&object, &self.default_value(reader.py, field)?)?;
        }
        if self.flexible {
            self.read_tagged(reader, layout, &object)?;
        }
        Ok(object)
    }

    fn read_tagged<'py>(
        &self,
        reader: &mut Reader<'_, 'py>,
        layout: &Layout,
        object: &Bound<'py, PyAny>,
    ) -> Reading<()> {
        let mut seen = 0u64;
        let count = reader.cursor.uvarint()? as usize;
        if count > 0 {
            // A tagged field takes two bytes at least: its tag and its size.
            if count > TAGGED_FIELDS_MAX || count > reader.cursor.rest() / 2 {
                return Err(broken("more tagged fields than there can be"));
            }
            reader.take_elements(count)?;
            let mut tag_next = 0u64;
            for _ in 0..count {
                let tag = reader.cursor.uvarint()?;
                if u64::from(tag) < tag_next {
                    return Err(broken("tagged fields out of order, or one twice"));
                }
                tag_next = u64::from(tag) + 1;
                let size = reader.cursor.uvarint()? as usize;
                if size > reader.cursor.rest() {
                    return Err(broken("a tagged field reaches beyond the end"));
                }
                match layout.tagged.iter().position(|field| field.tag == tag) {
                    None => reader.cursor.skip(size)?,
                    Some(place) => {
                        let field = &layout.tagged[place];
                        let value =
                            self.read_inside(reader, field, size).map_err(|fault| fault.at(field.name.clone()))?;
                        field.slot.write(object, &value)?;
                        seen |= 1 << place;
                    }
                }
            }
        }
        for (place, field) in layout.tagged.iter().enumerate() {
            if seen & (1 << place) == 0 {
                field.slot.write(object, &self.default_value(reader.py, field)?)?;
            }
        }
        Ok(())
    }

    /// A field that has to take up exactly `size` bytes.
    fn read_inside<'py>(&self, reader: &mut Reader<'_, 'py>, field: &Field, size: usize) -> Reading<Bound<'py, PyAny>> {
        let end = reader.cursor.position() + size;
        let outer = reader.cursor;
        let Some(inner) = Cursor::over(reader.bytes, outer.position(), end) else {
            return Err(broken("a tagged field reaches beyond the end"));
        };
        reader.cursor = inner;
        // Behind a tag, the mark of a nullable struct is a varint, and zero says null.
        let is_null_struct = field.is_nullable_struct() && reader.cursor.uvarint()? == 0;
        let value = match field.kind {
            _ if is_null_struct => reader.null(true)?,
            kind if !field.array => self.read_value(reader, kind, field.nullable && !field.is_nullable_struct())?,
            _ => self.read_field(reader, field)?,
        };
        if !reader.cursor.is_at_end() {
            return Err(broken("a tagged field is shorter than its size"));
        }
        reader.cursor = outer;
        reader.cursor.skip(size)?;
        Ok(value)
    }

    #[inline]
    fn read_field<'py>(&self, reader: &mut Reader<'_, 'py>, field: &Field) -> Reading<Bound<'py, PyAny>> {
        if !field.array {
            return self.read_value(reader, field.kind, field.nullable);
        }
        let element_size_min = self.value_size_min(field.kind).max(1);
        let count = if self.flexible {
            reader.cursor.count_compact(element_size_min)?
        } else {
            reader.cursor.count32(element_size_min)?
        };
        let Some(count) = count else {
            return reader.null(field.nullable);
        };
        reader.take_elements(count)?;
        let list = new_list(reader.py, count)?;
        for index in 0..count {
            let value = self.read_value(reader, field.kind, false).map_err(|fault| fault.at(format!("[{index}]")))?;
            // SAFETY: the list has `count` empty places and takes the reference over.
            unsafe { ffi::PyList_SetItem(list.as_ptr(), index as ffi::Py_ssize_t, value.into_ptr()) };
        }
        Ok(list)
    }

    #[inline]
    fn read_value<'py>(&self, reader: &mut Reader<'_, 'py>, kind: Kind, nullable: bool) -> Reading<Bound<'py, PyAny>> {
        let py = reader.py;
        let cursor = &mut reader.cursor;
        Ok(match kind {
            Kind::Bool => bool_of(py, cursor.u8()? != 0),
            Kind::Int8 => int_of(py, cursor.i8()?.into())?,
            Kind::Int16 => int_of(py, cursor.i16()?.into())?,
            Kind::Uint16 => int_of(py, cursor.u16()?.into())?,
            Kind::Int32 => int_of(py, cursor.i32()?.into())?,
            Kind::Int64 => int_of(py, cursor.i64()?)?,
            Kind::Float64 => PyFloat::new(py, f64::from_bits(cursor.u64()?)).into_any(),
            Kind::Uuid => PyBytes::new(py, cursor.take(16)?).into_any(),
            Kind::String => match self.string_bytes(cursor)? {
                None => return reader.null(nullable),
                Some(bytes) if bytes.len() > STRING_SIZE_MAX => return Err(broken("a string is too long")),
                Some(bytes) => string_of(py, bytes).ok_or_else(|| broken("a string is not UTF-8"))?,
            },
            Kind::Bytes => match self.long_bytes(cursor)? {
                None => return reader.null(nullable),
                Some(bytes) => PyBytes::new(py, bytes).into_any(),
            },
            Kind::Records => match self.long_bytes(cursor)? {
                None => return reader.null(nullable),
                Some(bytes) => PyTuple::new(py, [cursor.position() - bytes.len(), bytes.len()])?.into_any(),
            },
            Kind::Struct(index) => {
                if nullable && cursor.i8()? < 0 {
                    return reader.null(true);
                }
                self.read_struct(reader, &self.layouts[index])?
            }
        })
    }

    #[inline]
    fn string_bytes<'a>(&self, cursor: &mut Cursor<'a>) -> Result<Option<&'a [u8]>, Malformed> {
        if self.flexible {
            cursor.nullable_bytes_compact()
        } else {
            cursor.nullable_bytes16()
        }
    }

    #[inline]
    fn long_bytes<'a>(&self, cursor: &mut Cursor<'a>) -> Result<Option<&'a [u8]>, Malformed> {
        if self.flexible {
            cursor.nullable_bytes_compact()
        } else {
            cursor.nullable_bytes32()
        }
    }
}

impl<'py> Reader<'_, 'py> {
    fn null(&self, allowed: bool) -> Reading<Bound<'py, PyAny>> {
        if !allowed {
            return Err(broken("null where it is not allowed"));
        }
        Ok(self.py.None().into_bound(self.py))
    }

    fn take_elements(&mut self, count: usize) -> Reading<()> {
        match self.elements_left.checked_sub(count) {
            Some(left) => {
                self.elements_left = left;
                Ok(())
            }
            None => Err(broken("more elements than a message may have")),
        }
    }
}

#[inline(always)]
fn int_of(py: Python<'_>, value: i64) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: makes a new reference, or null without memory.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyLong_FromLongLong(value)) }
}
