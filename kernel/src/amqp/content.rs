//! The properties of a published message: checked whole, and searched for what a broker must act on.

use crate::cursor::{utf8, Checked, Cursor, Malformed};

pub const FLAG_MANDATORY: u8 = 1;
pub const FLAG_IMMEDIATE: u8 = 2;
pub const FLAG_PERSISTENT: u8 = 4;
/// A header table with something in it.
pub const FLAG_HEADERS: u8 = 8;
/// The header table names further routing keys: `CC` or `BCC`.
pub const FLAG_COPIES: u8 = 16;
/// The header table asks for a delay: `x-delay`.
pub const FLAG_DELAY: u8 = 32;
/// The header `x-death` was written by the broker. Never set from what a client sent.
pub const FLAG_DEATHS: u8 = 64;

const PERSISTENT: u8 = 2;
const DIRECT_REPLY_TO: &[u8] = b"amq.rabbitmq.reply-to";
pub const TABLE_DEPTH_MAX: usize = 32;

/// What of the properties decides how a message is treated; equal for all messages of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Concerns<'a> {
    pub flags: u8,
    /// 0 is the same as none.
    pub priority: u8,
    pub expiration: Option<&'a str>,
    pub user_id: Option<&'a str>,
    /// Only the pseudo queue of direct replies, and names made from it; any other is the receiver's business.
    pub reply_to: Option<&'a str>,
}

/// Reads property flags and property list, which must fill `bytes`.
pub fn read_properties(bytes: &[u8]) -> Checked<Concerns<'_>> {
    let mut cursor = Cursor::new(bytes);
    let present = cursor.u16()?;
    if present & 0x0003 != 0 {
        return Err(Malformed("property flags that basic does not have"));
    }
    let mut concerns = Concerns::default();
    // From the highest bit down, as they follow one another.
    if present & 0x8000 != 0 {
        short_string(&mut cursor)?; // content type
    }
    if present & 0x4000 != 0 {
        short_string(&mut cursor)?; // content encoding
    }
    if present & 0x2000 != 0 {
        concerns.flags |= read_headers(&mut cursor)?;
    }
    if present & 0x1000 != 0 && cursor.u8()? == PERSISTENT {
        concerns.flags |= FLAG_PERSISTENT;
    }
    if present & 0x0800 != 0 {
        concerns.priority = cursor.u8()?;
    }
    if present & 0x0400 != 0 {
        short_string(&mut cursor)?; // correlation id
    }
    if present & 0x0200 != 0 {
        let name = short_string(&mut cursor)?;
        if name.starts_with(DIRECT_REPLY_TO) {
            concerns.reply_to = Some(utf8(name)?);
        }
    }
    if present & 0x0100 != 0 {
        concerns.expiration = Some(utf8(short_string(&mut cursor)?)?);
    }
    if present & 0x0080 != 0 {
        short_string(&mut cursor)?; // message id
    }
    if present & 0x0040 != 0 {
        cursor.skip(8)?; // timestamp
    }
    if present & 0x0020 != 0 {
        short_string(&mut cursor)?; // type
    }
    if present & 0x0010 != 0 {
        concerns.user_id = Some(utf8(short_string(&mut cursor)?)?);
    }
    if present & 0x0008 != 0 {
        short_string(&mut cursor)?; // application id
    }
    if present & 0x0004 != 0 {
        short_string(&mut cursor)?; // cluster id
    }
    if !cursor.is_at_end() {
        return Err(Malformed("bytes behind the properties"));
    }
    Ok(concerns)
}

pub fn short_string<'a>(cursor: &mut Cursor<'a>) -> Checked<&'a [u8]> {
    let size = cursor.u8()? as usize;
    cursor.take(size)
}

fn long_bytes<'a>(cursor: &mut Cursor<'a>) -> Checked<&'a [u8]> {
    let size = cursor.u32()? as usize;
    cursor.take(size)
}

fn read_headers(cursor: &mut Cursor<'_>) -> Checked<u8> {
    let table = long_bytes(cursor)?;
    if table.is_empty() {
        return Ok(0);
    }
    let mut flags = FLAG_HEADERS;
    check_table(table, TABLE_DEPTH_MAX, &mut |key| {
        if key == b"CC" || key == b"BCC" {
            flags |= FLAG_COPIES;
        } else if key == b"x-delay" {
            flags |= FLAG_DELAY;
        }
    })?;
    Ok(flags)
}

/// Checks a field table and everything in it; `on_key` sees the keys of the outermost one.
pub fn check_table(table: &[u8], depth_left: usize, on_key: &mut dyn FnMut(&[u8])) -> Checked<()> {
    let mut cursor = Cursor::new(table);
    while !cursor.is_at_end() {
        let key = short_string(&mut cursor)?;
        utf8(key)?;
        on_key(key);
        check_value(&mut cursor, depth_left)?;
    }
    Ok(())
}

fn check_value(cursor: &mut Cursor<'_>, depth_left: usize) -> Checked<()> {
    match cursor.u8()? {
        b't' | b'b' | b'B' => cursor.skip(1),
        b's' | b'u' => cursor.skip(2),
        b'I' | b'i' | b'f' => cursor.skip(4),
        b'L' | b'l' | b'd' | b'T' => cursor.skip(8),
        b'D' => cursor.skip(5),
        b'V' => Ok(()),
        b'S' | b'x' => long_bytes(cursor).map(|_| ()),
        kind @ (b'F' | b'A') => {
            let inside = long_bytes(cursor)?;
            let depth_left = depth_left.checked_sub(1).ok_or(Malformed("a field table is nested too deeply"))?;
            if kind == b'F' {
                return check_table(inside, depth_left, &mut |_| {});
            }
            let mut values = Cursor::new(inside);
            while !values.is_at_end() {
                check_value(&mut values, depth_left)?;
            }
            Ok(())
        }
        _ => Err(Malformed("a field value of unknown type")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn properties(present: u16, list: &[u8]) -> Vec<u8> {
        [&present.to_be_bytes(), list].concat()
    }

    fn headers(table: &[u8]) -> Vec<u8> {
        properties(0x2000, &[&(table.len() as u32).to_be_bytes(), table].concat())
    }

    #[test]
    fn all_fourteen_properties_are_walked() {
        let list = b"\x01a\x01b\0\0\0\x03\x01ht\x02\x07\x01c\x01r\x0260\x01m\0\0\0\0\0\0\0\x01\x01t\x01u\x01i\x01c";
        let mut list = list.to_vec();
        list.splice(8..11, *b"\x01kV"); // one header without a value
        let bytes = properties(0xfffc, &list);
        let concerns = read_properties(&bytes).unwrap();
        let expected = Concerns {
            flags: FLAG_PERSISTENT | FLAG_HEADERS,
            priority: 7,
            expiration: Some("60"),
            user_id: Some("u"),
            reply_to: None,
        };
        assert_eq!(concerns, expected);
        for end in 0..bytes.len() {
            assert!(read_properties(&bytes[..end]).is_err());
        }
        assert!(read_properties(&[&bytes[..], &[0]].concat()).is_err());
    }

    #[test]
    fn nothing_is_of_concern_without_properties() {
        assert_eq!(read_properties(&[0, 0]), Ok(Concerns::default()));
        assert_eq!(read_properties(&properties(0x1000, &[1])), Ok(Concerns::default()));
        assert_eq!(read_properties(&properties(0x2000, &[0; 4])), Ok(Concerns::default()));
        assert_eq!(read_properties(&properties(0x0200, b"\x02rq")), Ok(Concerns::default()));
    }

    #[test]
    fn flags_that_basic_does_not_have_are_refused() {
        assert!(read_properties(&[0, 1, 0, 0]).is_err());
        assert!(read_properties(&[0, 2]).is_err());
    }

    #[test]
    fn direct_replies_are_of_concern() {
        let bytes = properties(0x0200, b"\x18amq.rabbitmq.reply-to.xy");
        assert_eq!(read_properties(&bytes).unwrap().reply_to, Some("amq.rabbitmq.reply-to.xy"));
    }

    #[test]
    fn further_routing_keys_are_found_in_the_outer_table_only() {
        assert_eq!(read_properties(&headers(b"\x02CCA\0\0\0\0")).unwrap().flags, FLAG_HEADERS | FLAG_COPIES);
        assert_eq!(read_properties(&headers(b"\x01aV\x03BCCA\0\0\0\0")).unwrap().flags, FLAG_HEADERS | FLAG_COPIES);
        assert_eq!(read_properties(&headers(b"\x07x-delayI\0\0\0\x09")).unwrap().flags, FLAG_HEADERS | FLAG_DELAY);
        assert_eq!(read_properties(&headers(b"\x01aF\0\0\0\x04\x02CCV")).unwrap().flags, FLAG_HEADERS);
    }

    #[test]
    fn every_field_type_is_known_by_its_size() {
        let sizes: [(&[u8], usize); 6] = [(b"tbB", 1), (b"su", 2), (b"Iif", 4), (b"LldT", 8), (b"D", 5), (b"V", 0)];
        for (kinds, size) in sizes {
            for kind in kinds {
                let field = |size| [&[1, b'k', *kind][..], &vec![0; size]].concat();
                assert!(read_properties(&headers(&field(size))).is_ok());
                assert!(size == 0 || read_properties(&headers(&field(size - 1))).is_err());
            }
        }
        assert!(read_properties(&headers(b"\x01k?")).is_err());
        assert!(read_properties(&headers(b"\x01\xffV")).is_err(), "a key that is not UTF-8");
        assert!(read_properties(&headers(b"\x01kS\0\0\0\x02a")).is_err());
        assert!(read_properties(&headers(b"\x01kx\0\0\0\x01a")).is_ok());
    }

    #[test]
    fn tables_nest_only_so_deep() {
        let nested = |depth: usize, kind: u8| {
            let mut value = vec![b'V'];
            for _ in 0..depth {
                let inside = if kind == b'F' { [&[1, b'k'], &value[..]].concat() } else { value };
                value = [&[kind], &(inside.len() as u32).to_be_bytes()[..], &inside].concat();
            }
            headers(&[&[1, b'k'], &value[..]].concat())
        };
        for kind in [b'F', b'A'] {
            assert!(read_properties(&nested(TABLE_DEPTH_MAX, kind)).is_ok());
            assert!(read_properties(&nested(TABLE_DEPTH_MAX + 1, kind)).is_err());
            assert!(read_properties(&nested(10_000, kind)).is_err());
        }
    }
}
