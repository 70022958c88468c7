//! Reading wire bytes with every step checked. A read either moves forward inside the range or says what is wrong;
//! it never panics and never believes a declared length before the bytes are there.

/// The bytes break their format. The text says where, for the log line of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

pub type Checked<T> = Result<T, Malformed>;

/// A position inside `bytes[..end]`. Positions are those of the whole buffer, so that callers can hand them on.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
}

macro_rules! fixed_width {
    ($name:ident, $type:ty) => {
        #[inline(always)]
        pub fn $name(&mut self) -> Checked<$type> {
            const WIDTH: usize = std::mem::size_of::<$type>();
            match self.bytes.get(self.position..).and_then(|rest| rest.first_chunk::<WIDTH>()) {
                Some(chunk) => {
                    self.position += WIDTH;
                    Ok(<$type>::from_be_bytes(*chunk))
                }
                None => Err(Malformed("ends inside a number")),
            }
        }
    };
}

impl<'a> Cursor<'a> {
    /// A cursor over `bytes[start..end]`; None if that range is not inside `bytes`.
    pub fn over(bytes: &'a [u8], start: usize, end: usize) -> Option<Self> {
        if start > end {
            return None;
        }
        Some(Self { bytes: bytes.get(..end)?, position: start })
    }

    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    #[inline(always)]
    pub fn position(&self) -> usize {
        self.position
    }

    #[inline(always)]
    pub fn rest(&self) -> usize {
        self.bytes.len() - self.position
    }

    #[inline(always)]
    pub fn is_at_end(&self) -> bool {
        self.position == self.bytes.len()
    }

    fixed_width!(u8, u8);
    fixed_width!(i8, i8);
    fixed_width!(i16, i16);
    fixed_width!(u16, u16);
    fixed_width!(i32, i32);
    fixed_width!(u32, u32);
    fixed_width!(i64, i64);
    fixed_width!(u64, u64);

    #[inline(always)]
    pub fn take(&mut self, size: usize) -> Checked<&'a [u8]> {
        if size > self.rest() {
            return Err(Malformed("a length reaches beyond the end"));
        }
        let taken = &self.bytes[self.position..self.position + size];
        self.position += size;
        Ok(taken)
    }

    #[inline(always)]
    pub fn skip(&mut self, size: usize) -> Checked<()> {
        self.take(size).map(|_| ())
    }

    /// Unsigned varint of at most 32 bits (five bytes).
    #[inline(always)]
    pub fn uvarint(&mut self) -> Checked<u32> {
        match self.bytes.get(self.position) {
            Some(&byte) if byte < 0x80 => {
                self.position += 1;
                Ok(byte as u32)
            }
            _ => self.uvarint_long(),
        }
    }

    #[inline(never)]
    fn uvarint_long(&mut self) -> Checked<u32> {
        let mut value = 0u32;
        for step in 0..5u32 {
            let byte = self.u8().map_err(|_| Malformed("ends inside a varint"))?;
            if step == 4 && byte > 0x0f {
                return Err(Malformed("a varint is longer than 32 bits"));
            }
            value |= ((byte & 0x7f) as u32) << (7 * step);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Malformed("a varint is longer than 32 bits"))
    }

    /// Zigzag varint of at most 32 bits.
    #[inline(always)]
    pub fn varint(&mut self) -> Checked<i32> {
        let raw = self.uvarint()?;
        Ok(((raw >> 1) as i32) ^ -((raw & 1) as i32))
    }

    /// Zigzag varint of at most 64 bits (ten bytes).
    #[inline(always)]
    pub fn varlong(&mut self) -> Checked<i64> {
        let raw = match self.bytes.get(self.position) {
            Some(&byte) if byte < 0x80 => {
                self.position += 1;
                byte as u64
            }
            _ => self.uvarlong_long()?,
        };
        Ok(((raw >> 1) as i64) ^ -((raw & 1) as i64))
    }

    #[inline(never)]
    fn uvarlong_long(&mut self) -> Checked<u64> {
        let mut value = 0u64;
        for step in 0..10u32 {
            let byte = self.u8().map_err(|_| Malformed("ends inside a varint"))?;
            if step == 9 && byte > 0x01 {
                return Err(Malformed("a varint is longer than 64 bits"));
            }
            value |= ((byte & 0x7f) as u64) << (7 * step);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Malformed("a varint is longer than 64 bits"))
    }

    /// A string with a 16-bit length, -1 is null.
    pub fn nullable_bytes16(&mut self) -> Checked<Option<&'a [u8]>> {
        match self.i16()? {
            -1 => Ok(None),
            size if size < 0 => Err(Malformed("a negative length")),
            size => self.take(size as usize).map(Some),
        }
    }

    /// Bytes with a 32-bit length, -1 is null.
    pub fn nullable_bytes32(&mut self) -> Checked<Option<&'a [u8]>> {
        match self.i32()? {
            -1 => Ok(None),
            size if size < 0 => Err(Malformed("a negative length")),
            size => self.take(size as usize).map(Some),
        }
    }

    /// Bytes with a length-plus-one varint, 0 is null.
    pub fn nullable_bytes_compact(&mut self) -> Checked<Option<&'a [u8]>> {
        match self.uvarint()? {
            0 => Ok(None),
            size => self.take(size as usize - 1).map(Some),
        }
    }

    /// Bytes with a zigzag length, -1 is null: the form inside records.
    #[inline(always)]
    pub fn nullable_bytes_varint(&mut self) -> Checked<Option<&'a [u8]>> {
        match self.varint()? {
            -1 => Ok(None),
            size if size < 0 => Err(Malformed("a negative length")),
            size => self.take(size as usize).map(Some),
        }
    }

    /// An element count that may only promise what the rest can hold at `element_size_min` bytes each.
    pub fn count32(&mut self, element_size_min: usize) -> Checked<Option<usize>> {
        match self.i32()? {
            -1 => Ok(None),
            count if count < 0 => Err(Malformed("a negative count")),
            count => self.plausible(count as usize, element_size_min).map(Some),
        }
    }

    pub fn count_compact(&mut self, element_size_min: usize) -> Checked<Option<usize>> {
        match self.uvarint()? {
            0 => Ok(None),
            count => self.plausible(count as usize - 1, element_size_min).map(Some),
        }
    }

    fn plausible(&self, count: usize, element_size_min: usize) -> Checked<usize> {
        if count > self.rest() / element_size_min {
            return Err(Malformed("a count promises more than the bytes can hold"));
        }
        Ok(count)
    }

    /// Passes over tagged fields that we do not know.
    pub fn skip_tagged_fields(&mut self) -> Checked<()> {
        let raw = self.uvarint()? as usize;
        let count = self.plausible(raw, 2)?;
        for _ in 0..count {
            self.uvarint()?;
            let size = self.uvarint()? as usize;
            self.skip(size)?;
        }
        Ok(())
    }
}

pub fn utf8(bytes: &[u8]) -> Checked<&str> {
    std::str::from_utf8(bytes).map_err(|_| Malformed("a string is not UTF-8"))
}
