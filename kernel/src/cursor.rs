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
    pub fn rest_bytes(&self) -> &'a [u8] {
        &self.bytes[self.position..]
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
    pub fn array<const WIDTH: usize>(&mut self) -> Checked<[u8; WIDTH]> {
        match self.rest_bytes().first_chunk::<WIDTH>() {
            Some(chunk) => {
                self.position += WIDTH;
                Ok(*chunk)
            }
            None => Err(Malformed("ends inside a field")),
        }
    }

    #[inline(always)]
    pub fn skip(&mut self, size: usize) -> Checked<()> {
        self.take(size).map(|_| ())
    }

    /// The varints of one and two bytes, which are nearly all there are; None leaves the position as it is.
    #[inline(always)]
    fn uvarint_short(&mut self) -> Option<u32> {
        let rest = self.bytes.get(self.position..)?;
        let low = *rest.first()?;
        if low < 0x80 {
            self.position += 1;
            return Some(low as u32);
        }
        let high = *rest.get(1)?;
        if high < 0x80 {
            self.position += 2;
            return Some((low & 0x7f) as u32 | (high as u32) << 7);
        }
        None
    }

    /// Unsigned varint of at most 32 bits (five bytes).
    #[inline(always)]
    pub fn uvarint(&mut self) -> Checked<u32> {
        match self.uvarint_short() {
            Some(value) => Ok(value),
            None => self.uvarint_long(),
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
        let raw = match self.uvarint_short() {
            Some(value) => value as u64,
            None => self.uvarlong_long()?,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn uvarint(bytes: &[u8]) -> Checked<u32> {
        Cursor::new(bytes).uvarint()
    }

    fn varlong(bytes: &[u8]) -> Checked<i64> {
        Cursor::new(bytes).varlong()
    }

    #[test]
    fn varints_reach_exactly_32_bits() {
        assert_eq!(uvarint(&[0x7f]), Ok(127));
        assert_eq!(uvarint(&[0x80, 0x01]), Ok(128));
        assert_eq!(uvarint(&[0xff, 0x7f]), Ok(16_383));
        assert_eq!(uvarint(&[0x80, 0x80, 0x01]), Ok(16_384));
        assert_eq!(uvarint(&[0xff, 0xff, 0xff, 0xff, 0x0f]), Ok(u32::MAX));
        assert!(uvarint(&[0xff, 0xff, 0xff, 0xff, 0x1f]).is_err());
        assert!(uvarint(&[0xff, 0xff, 0xff, 0xff, 0x8f, 0x00]).is_err());
        assert!(uvarint(&[0xff; 10]).is_err());
        for size in 0..5 {
            assert!(uvarint(&[0x80; 5][..size]).is_err());
        }
    }

    #[test]
    fn varints_are_zigzag() {
        for (raw, value) in [(0u8, 0), (1, -1), (2, 1), (3, -2), (0x7f, -64)] {
            assert_eq!(Cursor::new(&[raw]).varint(), Ok(value));
        }
        assert_eq!(Cursor::new(&[0xff, 0xff, 0xff, 0xff, 0x0f]).varint(), Ok(i32::MIN));
        assert_eq!(Cursor::new(&[0xfe, 0xff, 0xff, 0xff, 0x0f]).varint(), Ok(i32::MAX));
    }

    #[test]
    fn varlongs_reach_exactly_64_bits() {
        let mut widest = [0xff; 10];
        widest[9] = 0x01;
        assert_eq!(varlong(&widest), Ok(i64::MIN));
        widest[9] = 0x03;
        assert!(varlong(&widest).is_err());
        assert!(varlong(&[0x80; 11]).is_err());
        assert!(varlong(&[0x80; 3]).is_err());
        assert_eq!(varlong(&[0x80, 0x80, 0x01]), Ok(8_192));
    }

    #[test]
    fn lengths_below_null_are_refused_wherever_they_stand() {
        assert_eq!(Cursor::new(&[0xff, 0xff]).nullable_bytes16(), Ok(None));
        assert!(Cursor::new(&[0xff, 0xfe, 1, 2]).nullable_bytes16().is_err());
        assert_eq!(Cursor::new(&[0xff; 4]).nullable_bytes32(), Ok(None));
        assert!(Cursor::new(&[0x80, 0, 0, 0, 1]).nullable_bytes32().is_err());
        assert_eq!(Cursor::new(&[0x01]).nullable_bytes_varint(), Ok(None));
        assert!(Cursor::new(&[0x03, 1, 1]).nullable_bytes_varint().is_err());
        assert_eq!(Cursor::new(&[0x00]).nullable_bytes_compact(), Ok(None));
    }

    #[test]
    fn a_count_may_only_promise_what_the_rest_can_hold() {
        assert_eq!(Cursor::new(&[0, 0, 0, 2, 9, 9, 9, 9]).count32(2), Ok(Some(2)));
        assert!(Cursor::new(&[0, 0, 0, 3, 9, 9, 9, 9]).count32(2).is_err());
        assert!(Cursor::new(&[0x7f, 0xff, 0xff, 0xff, 9]).count32(1).is_err());
        assert!(Cursor::new(&[0xff, 0xff, 0xff, 0xfe]).count32(1).is_err());
        assert_eq!(Cursor::new(&[0x03, 9, 9]).count_compact(1), Ok(Some(2)));
        assert!(Cursor::new(&[0x04, 9, 9]).count_compact(1).is_err());
    }

    #[test]
    fn tagged_fields_are_counted_before_they_are_walked() {
        let twenty_million = [0x80, 0xda, 0xc4, 0x09, 0, 0, 0, 0];
        assert_eq!(
            Cursor::new(&twenty_million).skip_tagged_fields(),
            Err(Malformed("a count promises more than the bytes can hold"))
        );
        let mut cursor = Cursor::new(&[2, 0, 1, 9, 5, 0, 7]);
        assert_eq!(cursor.skip_tagged_fields(), Ok(()));
        assert_eq!(cursor.rest(), 1);
    }

    #[test]
    fn ranges_outside_the_buffer_give_no_cursor() {
        assert!(Cursor::over(&[0; 4], 3, 2).is_none());
        assert!(Cursor::over(&[0; 4], 0, 5).is_none());
        assert!(Cursor::over(&[0; 4], 4, 4).is_some_and(|cursor| cursor.is_at_end()));
    }
}
