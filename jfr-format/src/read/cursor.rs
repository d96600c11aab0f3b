//! Bounds-checked reading of the encodings: the only place of the reader that touches bytes.
//!
//! A [`Cursor`] knows where its slice lies in the chunk, so that every error can name the offset.
//! No method panics, allocates by a length field, or reads beyond its slice.

use std::borrow::Cow;

use crate::error::{Error, ErrorKind};
use crate::varint;

/// A string as it stands in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RawString<'a> {
    /// Tag 0.
    Null,
    /// Tags 1, 3, 4 and 5, decoded. Invalid UTF-8 and lone surrogates become U+FFFD.
    Text(Cow<'a, str>),
    /// Tag 2: key into the pool of `java.lang.String`.
    PoolKey(u64),
}

/// A position in a slice of a chunk.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    pos: usize,
    /// Offset of `bytes[0]` from the chunk's first byte.
    base: u64,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8], base: u64) -> Self {
        Self {
            bytes,
            pos: 0,
            base,
        }
    }

    /// Offset of the next byte from the chunk's first byte.
    pub(crate) fn offset(&self) -> u64 {
        self.base + self.pos as u64
    }

    pub(crate) fn pos(&self) -> usize {
        self.pos
    }

    pub(crate) fn left(&self) -> usize {
        self.bytes.len() - self.pos
    }

    #[cfg(test)]
    pub(crate) fn is_at_end(&self) -> bool {
        self.pos >= self.bytes.len()
    }

    pub(crate) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(self.offset(), kind)
    }

    fn truncated(&self, needed: u64) -> Error {
        self.error(ErrorKind::Truncated {
            needed,
            left: self.left() as u64,
        })
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8, Error> {
        match self.bytes.get(self.pos) {
            Some(&byte) => {
                self.pos += 1;
                Ok(byte)
            }
            None => Err(self.truncated(1)),
        }
    }

    pub(crate) fn take(&mut self, len: u64) -> Result<&'a [u8], Error> {
        let end = usize::try_from(len)
            .ok()
            .and_then(|len| self.pos.checked_add(len));
        match end.and_then(|end| self.bytes.get(self.pos..end)) {
            Some(slice) => {
                self.pos += slice.len();
                Ok(slice)
            }
            None => Err(self.truncated(len)),
        }
    }

    /// JFR's compressed integer: seven bits a byte, least significant first, the ninth byte carries eight.
    #[inline]
    pub(crate) fn varint(&mut self) -> Result<u64, Error> {
        match self.bytes.get(self.pos..) {
            Some(&[byte, ..]) if byte < 0x80 => {
                self.pos += 1;
                Ok(u64::from(byte))
            }
            Some(&[low, high, ..]) if high < 0x80 => {
                self.pos += 2;
                Ok(u64::from(low & 0x7f) | u64::from(high) << 7)
            }
            _ => self.long_varint(),
        }
    }

    /// Skips so many compressed integers.
    pub(crate) fn skip_varints(&mut self, count: u64) -> Result<(), Error> {
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        let mut left = count;
        // Bytes of the integer at hand.
        let mut len = 0;
        let mut used = 0;
        while left > 0 {
            let Some(&byte) = rest.get(used) else {
                self.pos = self.bytes.len();
                return Err(self.truncated(1));
            };
            used += 1;
            len += 1;
            // The ninth byte ends an integer whatever its top bit says.
            if byte < 0x80 || len == varint::MAX_LEN {
                left -= 1;
                len = 0;
            }
        }
        self.pos += used;
        Ok(())
    }

    fn long_varint(&mut self) -> Result<u64, Error> {
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        match varint::get(rest) {
            Some((value, len)) => {
                self.pos += len;
                Ok(value)
            }
            None => Err(self.truncated(rest.len() as u64 + 1)),
        }
    }

    /// Skips a compressed integer without putting its value together.
    #[inline]
    pub(crate) fn skip_varint(&mut self) -> Result<(), Error> {
        self.varint().map(|_| ())
    }

    #[expect(
        clippy::cast_possible_wrap,
        reason = "a long on the wire is the two's complement of its value"
    )]
    pub(crate) fn long(&mut self) -> Result<i64, Error> {
        self.varint().map(|value| value as i64)
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "an int may come as 32 or as 64 bits of sign; the low 32 count"
    )]
    pub(crate) fn int(&mut self) -> Result<i32, Error> {
        self.varint().map(|value| value as i32)
    }

    pub(crate) fn float(&mut self) -> Result<f32, Error> {
        let mut four = [0; 4];
        four.copy_from_slice(self.take(4)?);
        Ok(f32::from_be_bytes(four))
    }

    pub(crate) fn double(&mut self) -> Result<f64, Error> {
        let mut eight = [0; 8];
        eight.copy_from_slice(self.take(8)?);
        Ok(f64::from_be_bytes(eight))
    }

    /// A count of things that take at least `least` bytes each; refused when the rest cannot hold them.
    pub(crate) fn count(&mut self, least: usize) -> Result<usize, Error> {
        let at = self.offset();
        let count = self.varint()?;
        let most = (self.left() / least.max(1)) as u64;
        if count > most {
            return Err(Error::new(at, ErrorKind::BadCount { found: count, most }));
        }
        usize::try_from(count)
            .map_err(|_| Error::new(at, ErrorKind::BadCount { found: count, most }))
    }

    pub(crate) fn string(&mut self) -> Result<RawString<'a>, Error> {
        let at = self.offset();
        match self.byte()? {
            0 => Ok(RawString::Null),
            1 => Ok(RawString::Text(Cow::Borrowed(""))),
            2 => Ok(RawString::PoolKey(self.varint()?)),
            3 => {
                let len = self.varint()?;
                Ok(RawString::Text(String::from_utf8_lossy(self.take(len)?)))
            }
            4 => {
                let count = self.count(1)?;
                let mut units = Vec::with_capacity(count);
                for _ in 0..count {
                    #[expect(clippy::cast_possible_truncation, reason = "a char has 16 bits")]
                    units.push(self.varint()? as u16);
                }
                Ok(RawString::Text(Cow::Owned(String::from_utf16_lossy(
                    &units,
                ))))
            }
            5 => {
                let len = self.varint()?;
                let latin1 = self.take(len)?;
                Ok(RawString::Text(match std::str::from_utf8(latin1) {
                    Ok(ascii) if latin1.is_ascii() => Cow::Borrowed(ascii),
                    _ => Cow::Owned(latin1.iter().map(|&byte| char::from(byte)).collect()),
                }))
            }
            found => Err(Error::new(at, ErrorKind::BadStringTag(found))),
        }
    }

    /// Decodes a string behind what is in `out`; null counts as empty.
    ///
    /// # Errors
    /// Also where the string is a key into a pool.
    pub(crate) fn append_string(&mut self, out: &mut String) -> Result<(), Error> {
        let start = self.clone();
        // The JDK writes UTF-16 units one by one; nearly all are ASCII and take a byte each.
        if self.byte()? == 4 {
            let count = self.count(1)? as u64;
            let units = self.take(count)?;
            if let (true, Ok(text)) = (units.is_ascii(), std::str::from_utf8(units)) {
                out.push_str(text);
                return Ok(());
            }
        }
        *self = start;
        match self.string()? {
            RawString::Text(text) => out.push_str(&text),
            RawString::Null => {}
            RawString::PoolKey(_) => return Err(self.error(ErrorKind::BadStringTag(2))),
        }
        Ok(())
    }

    pub(crate) fn skip_string(&mut self) -> Result<(), Error> {
        let at = self.offset();
        match self.byte()? {
            0 | 1 => Ok(()),
            2 => self.skip_varint(),
            3 | 5 => {
                let len = self.varint()?;
                self.take(len).map(|_| ())
            }
            4 => {
                for _ in 0..self.count(1)? {
                    self.skip_varint()?;
                }
                Ok(())
            }
            found => Err(Error::new(at, ErrorKind::BadStringTag(found))),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed read is a failed test")]
    use super::*;

    #[test]
    fn an_int_may_come_with_32_or_64_bits_of_sign() {
        assert_eq!(
            Cursor::new(&[0xff, 0xff, 0xff, 0xff, 0x0f], 0)
                .int()
                .unwrap(),
            -1
        );
        assert_eq!(Cursor::new(&[0xff; 9], 0).int().unwrap(), -1);
        assert_eq!(Cursor::new(&[0xff; 9], 0).long().unwrap(), -1);
    }

    #[test]
    fn strings_of_every_tag_and_of_an_unknown_one() {
        let table: [(&[u8], RawString<'_>); 8] = [
            (&[0], RawString::Null),
            (&[1], RawString::Text("".into())),
            (&[2, 0x81, 1], RawString::PoolKey(129)),
            (&[3, 3, 0x47, 0x45, 0x54], RawString::Text("GET".into())),
            (&[3, 2, 0xc3, 0xa9], RawString::Text("é".into())),
            (
                &[4, 2, 0xe9, 1, 0xe5, 0xcb, 1],
                RawString::Text("é日".into()),
            ),
            (&[5, 1, 0xe9], RawString::Text("é".into())),
            (&[3, 1, 0xff], RawString::Text("\u{fffd}".into())),
        ];
        for (bytes, expected) in table {
            let mut cursor = Cursor::new(bytes, 0);
            assert_eq!(cursor.string().unwrap(), expected);
            assert!(cursor.is_at_end());
            let mut cursor = Cursor::new(bytes, 0);
            cursor.skip_string().unwrap();
            assert!(cursor.is_at_end());
        }
        let error = Cursor::new(&[9], 7).string().unwrap_err();
        assert_eq!(error.at(), 7);
        assert!(matches!(error.kind(), ErrorKind::BadStringTag(9)));
    }

    #[test]
    fn length_beyond_the_rest_is_refused_before_anything_is_allocated() {
        for tag in [3, 4, 5] {
            for len in [&[0xffu8, 0xff, 0xff, 0xff, 7][..], &[0xff; 9]] {
                let bytes = [&[tag], len].concat();
                assert!(Cursor::new(&bytes, 0).string().is_err());
                assert!(Cursor::new(&bytes, 0).skip_string().is_err());
            }
        }
    }
}
