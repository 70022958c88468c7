//! The codec of Kafka's messages: walks a layout table instead of having code per message.
//!
//! A `Schema` is one message type in one version. Decoding makes objects of the slotted classes that the table names,
//! with every field set: those the version lacks get their default. Encoding reads the same fields back. The bytes come
//! from strangers: every count is held against the bytes that are left and against a budget of elements, and what does
//! not fit the form is `Malformed`. A message that cannot be encoded is a mistake of ours: ValueError or TypeError.
use std::os::raw::c_int;
use std::ptr;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString, PyTuple, PyType};

mod decode;
mod encode;

/// More array elements than this in one message are refused, as Kafka's own clients do.
const ELEMENTS_MAX: usize = 1_000_000;
const TAGGED_FIELDS_MAX: usize = 10_000;
const STRING_SIZE_MAX: usize = 32_767;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Bool,
    Int8,
    Int16,
    Uint16,
    Int32,
    Int64,
    Float64,
    Uuid,
    String,
    Bytes,
    Records,
    /// Its place in `Schema::layouts`.
    Struct(usize),
}

/// Reads and writes one slot of an object through its member descriptor, which checks the object's class.
struct Slot {
    descriptor: Py<PyAny>,
    get: ffi::descrgetfunc,
    set: ffi::descrsetfunc,
}

impl Slot {
    fn of(class: &Bound<'_, PyType>, name: &str) -> PyResult<Self> {
        let descriptor = class.getattr("__dict__")?.get_item(name)?;
        let kind = descriptor.get_type();
        // SAFETY: the type is alive; a slot that is there has the function type its id stands for.
        unsafe {
            let get = ffi::PyType_GetSlot(kind.as_type_ptr(), ffi::Py_tp_descr_get);
            let set = ffi::PyType_GetSlot(kind.as_type_ptr(), ffi::Py_tp_descr_set);
            if get.is_null() || set.is_null() {
                return Err(PyTypeError::new_err(format!("{name} is not a slot of {class}")));
            }
            Ok(Self {
                descriptor: descriptor.unbind(),
                get: std::mem::transmute::<*mut std::ffi::c_void, ffi::descrgetfunc>(get),
                set: std::mem::transmute::<*mut std::ffi::c_void, ffi::descrsetfunc>(set),
            })
        }
    }

    #[inline(always)]
    fn read<'py>(&self, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: both objects are alive and the descriptor checks that they belong together.
        unsafe {
            let found = (self.get)(
                self.descriptor.as_ptr(),
                object.as_ptr(),
                ffi::Py_TYPE(object.as_ptr()) as *mut ffi::PyObject,
            );
            Bound::from_owned_ptr_or_err(object.py(), found)
        }
    }

    #[inline(always)]
    fn write(&self, object: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        // SAFETY: as above; the descriptor takes its own reference to the value.
        let outcome: c_int = unsafe { (self.set)(self.descriptor.as_ptr(), object.as_ptr(), value.as_ptr()) };
        if outcome < 0 {
            return Err(PyErr::fetch(object.py()));
        }
        Ok(())
    }
}

struct Field {
    name: String,
    slot: Slot,
    kind: Kind,
    array: bool,
    nullable: bool,
    tag: u32,
    ignorable: bool,
    default: Py<PyAny>,
    /// The default is a new list or a new struct each time.
    default_is_fresh: bool,
}

impl Field {
    fn is_nullable_struct(&self) -> bool {
        self.nullable && !self.array && matches!(self.kind, Kind::Struct(_))
    }
}

/// One struct in one version: the fields on the wire in their order, the tagged ones by tag, and those the version lacks.
struct Layout {
    class: Py<PyType>,
    allocate: ffi::allocfunc,
    present: Vec<Field>,
    tagged: Vec<Field>,
    absent: Vec<Field>,
    size_min: usize,
}

impl Layout {
    fn new_object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: the function is the class's own allocator; slots that are not yet set are null, which is their empty state.
        unsafe {
            let object = (self.allocate)(self.class.as_ptr() as *mut ffi::PyTypeObject, 0);
            Bound::from_owned_ptr_or_err(py, object)
        }
    }

    fn all_fields(&self) -> impl Iterator<Item = &Field> {
        self.present.iter().chain(&self.tagged).chain(&self.absent)
    }
}

/// Where in a message something went wrong; filled while the error travels up.
#[derive(Default)]
struct Path(Vec<String>);

impl Path {
    fn text(&self) -> String {
        let mut text = String::new();
        for part in self.0.iter().rev() {
            if !text.is_empty() && !part.starts_with('[') {
                text.push('.');
            }
            text.push_str(part);
        }
        text
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Schema>()
}

#[pyclass(frozen, module = "twinlog._kernel")]
pub struct Schema {
    name: String,
    version: i16,
    flexible: bool,
    layouts: Vec<Layout>,
    root: usize,
}

#[pymethods]
impl Schema {
    #[new]
    fn new(class: &Bound<'_, PyType>, version: i16, flexible: bool) -> PyResult<Self> {
        let mut schema = Self { name: class.name()?.to_string(), version, flexible, layouts: Vec::new(), root: 0 };
        schema.root = schema.add_struct(class)?;
        Ok(schema)
    }

    /// The message in `buf[start:end]`, which must hold it and nothing else.
    #[pyo3(signature = (buf, start=0, end=None, elements_max=ELEMENTS_MAX))]
    fn decode<'py>(
        &self,
        buf: &Bound<'py, PyAny>,
        start: usize,
        end: Option<usize>,
        elements_max: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.read_message(buf, start, end, elements_max, true).map(|(message, _)| message)
    }

    /// The message at `start`, and the position behind it.
    #[pyo3(signature = (buf, start=0, end=None, elements_max=ELEMENTS_MAX))]
    fn decode_from<'py>(
        &self,
        buf: &Bound<'py, PyAny>,
        start: usize,
        end: Option<usize>,
        elements_max: usize,
    ) -> PyResult<(Bound<'py, PyAny>, usize)> {
        self.read_message(buf, start, end, elements_max, false)
    }

    /// The message's bytes; with `head`, a whole frame: size, head, message.
    #[pyo3(signature = (message, head=None))]
    fn encode<'py>(&self, message: &Bound<'py, PyAny>, head: Option<&[u8]>) -> PyResult<Bound<'py, PyAny>> {
        self.write_message(message, head)
    }

    /// A whole frame as a list of bytes and of the records' own objects, which are not copied.
    fn encode_parts<'py>(&self, message: &Bound<'py, PyAny>, head: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        self.write_parts(message, head)
    }

    fn __repr__(&self) -> String {
        format!("<Schema {} v{}>", self.name, self.version)
    }
}

impl Schema {
    fn add_struct(&mut self, class: &Bound<'_, PyType>) -> PyResult<usize> {
        // A struct that two fields name is laid out once.
        if let Some(known) = self.layouts.iter().position(|layout| layout.class.is(class)) {
            return Ok(known);
        }
        let (mut present, mut tagged, mut absent) = (Vec::new(), Vec::new(), Vec::new());
        for row in class.getattr("LAYOUT")?.try_iter()? {
            let (field, is_here) = self.field(class, row?.cast::<PyTuple>()?)?;
            match (is_here, field.tag) {
                (false, _) => absent.push(field),
                (true, u32::MAX) => present.push(field),
                (true, _) => tagged.push(field),
            }
        }
        tagged.sort_by_key(|field: &Field| field.tag);
        if tagged.len() > 64 || (!tagged.is_empty() && !self.flexible) {
            return Err(PyValueError::new_err(format!("{class}: tagged fields without room for them")));
        }
        let size_min = present.iter().map(|field| self.size_min(field)).sum::<usize>() + usize::from(self.flexible);
        // SAFETY: the class is alive; every class has an allocator.
        let allocate = unsafe {
            let slot = ffi::PyType_GetSlot(class.as_type_ptr(), ffi::Py_tp_alloc);
            if slot.is_null() {
                return Err(PyTypeError::new_err(format!("{class} cannot be made")));
            }
            std::mem::transmute::<*mut std::ffi::c_void, ffi::allocfunc>(slot)
        };
        self.layouts.push(Layout { class: class.clone().unbind(), allocate, present, tagged, absent, size_min });
        Ok(self.layouts.len() - 1)
    }

    /// A row of a LAYOUT table as twinlog.wire.kafka.message describes it, and whether this version has the field.
    fn field(&mut self, class: &Bound<'_, PyType>, row: &Bound<'_, PyTuple>) -> PyResult<(Field, bool)> {
        type Row<'a> = (String, String, Bound<'a, PyAny>, i16, i16, i16, i16, i64, bool, Bound<'a, PyAny>);
        let (name, type_name, inner, first, last, null_first, null_last, tag, ignorable, default): Row =
            row.extract()?;
        let (array, scalar) = match type_name.strip_prefix("[]") {
            Some(element) => (true, element),
            None => (false, type_name.as_str()),
        };
        let is_here = (first..=last).contains(&self.version);
        let kind = match scalar {
            "bool" => Kind::Bool,
            "int8" => Kind::Int8,
            "int16" => Kind::Int16,
            "uint16" => Kind::Uint16,
            "int32" => Kind::Int32,
            "int64" => Kind::Int64,
            "float64" => Kind::Float64,
            "uuid" => Kind::Uuid,
            "string" => Kind::String,
            "bytes" => Kind::Bytes,
            "records" => Kind::Records,
            "struct" => Kind::Struct(self.add_struct(inner.cast::<PyType>()?)?),
            _ => return Err(PyValueError::new_err(format!("{name}: unknown type {type_name}"))),
        };
        let default_is_fresh = default.is_instance_of::<PyTuple>();
        let field = Field {
            slot: Slot::of(class, &name)?,
            name,
            kind,
            array,
            nullable: (null_first..=null_last).contains(&self.version),
            tag: u32::try_from(tag).unwrap_or(u32::MAX),
            ignorable,
            default: default.unbind(),
            default_is_fresh,
        };
        Ok((field, is_here))
    }

    /// The fewest bytes a field takes; counts are held against it.
    fn size_min(&self, field: &Field) -> usize {
        if field.array {
            return if self.flexible { 1 } else { 4 };
        }
        match field.kind {
            Kind::Struct(_) if field.nullable => 1,
            kind => self.value_size_min(kind),
        }
    }

    fn value_size_min(&self, kind: Kind) -> usize {
        match kind {
            Kind::Bool | Kind::Int8 => 1,
            Kind::Int16 | Kind::Uint16 => 2,
            Kind::Int32 => 4,
            Kind::Int64 | Kind::Float64 => 8,
            Kind::Uuid => 16,
            Kind::String => {
                if self.flexible {
                    1
                } else {
                    2
                }
            }
            Kind::Bytes | Kind::Records => {
                if self.flexible {
                    1
                } else {
                    4
                }
            }
            Kind::Struct(index) => self.layouts[index].size_min,
        }
    }

    fn default_value<'py>(&self, py: Python<'py>, field: &Field) -> PyResult<Bound<'py, PyAny>> {
        match field.kind {
            _ if !field.default_is_fresh => Ok(field.default.bind(py).clone()),
            Kind::Struct(index) if !field.array => {
                let layout = &self.layouts[index];
                let object = layout.new_object(py)?;
                for inner in layout.all_fields() {
                    inner.slot.write(&object, &self.default_value(py, inner)?)?;
                }
                Ok(object)
            }
            _ => new_list(py, 0),
        }
    }

    fn is_default(&self, field: &Field, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        if value.is(&field.default) {
            return Ok(true);
        }
        if value.is_none() {
            return Ok(false);
        }
        match field.kind {
            _ if field.array && field.default_is_fresh => Ok(value.len()? == 0),
            Kind::Struct(index) if !field.array => {
                // With a default of null, a struct of defaults is something else, unless null is only our word for it.
                if !field.default_is_fresh && field.nullable {
                    return Ok(false);
                }
                let layout = &self.layouts[index];
                for inner in layout.all_fields() {
                    if !self.is_default(inner, &inner.slot.read(value)?)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => value.eq(&field.default),
        }
    }
}

fn new_list(py: Python<'_>, count: usize) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: the list owns itself; its items are filled by the caller before anybody else can see it.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(count as ffi::Py_ssize_t)) }
}

/// Any contiguous buffer, held for as long as its bytes are looked at, so that nobody can resize it meanwhile.
struct View(ffi::Py_buffer);

impl View {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut view = Self(ffi::Py_buffer::new());
        // SAFETY: the struct is ours; on success it is filled and released in drop.
        if unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &mut view.0, ffi::PyBUF_SIMPLE) } < 0 {
            // Nothing was taken, so nothing is released: a null owner makes the release a no-op.
            view.0.obj = ptr::null_mut();
            return Err(PyErr::fetch(object.py()));
        }
        Ok(view)
    }

    fn bytes(&self) -> &[u8] {
        if self.0.len <= 0 || self.0.buf.is_null() {
            return &[];
        }
        // SAFETY: a simple buffer is `len` contiguous bytes, alive until it is released.
        unsafe { std::slice::from_raw_parts(self.0.buf as *const u8, self.0.len as usize) }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: views live on the stack of calls that hold the GIL.
        unsafe { ffi::PyBuffer_Release(&mut self.0) }
    }
}

fn bool_of(py: Python<'_>, value: bool) -> Bound<'_, PyAny> {
    PyBool::new(py, value).to_owned().into_any()
}

fn string_of<'py>(py: Python<'py>, bytes: &[u8]) -> Option<Bound<'py, PyAny>> {
    // SAFETY: pointer and size are those of a live slice; strict decoding gives null and an exception on bad UTF-8.
    unsafe {
        let made = ffi::PyUnicode_DecodeUTF8(bytes.as_ptr().cast(), bytes.len() as ffi::Py_ssize_t, ptr::null());
        if made.is_null() {
            ffi::PyErr_Clear();
            return None;
        }
        Some(Bound::from_owned_ptr(py, made))
    }
}

fn utf8_of<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    value.cast::<PyString>()?.to_str()
}
