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

    pub(crate) fn truncated(&self, needed: u64) -> Error {
        self.error(ErrorKind::Truncated {
            needed,
            left: self.left() as u64,
        })
    }

    /// The next byte, if there is one.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
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

    /// JFR's compressed integer: seven bits a byte, least significant first, the ninth byte carries
    /// eight.
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
    #[inline]
    pub(crate) fn skip_varints(&mut self, count: u64) -> Result<(), Error> {
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        let (mut used, mut left) = skip_by_words(rest, count);
        // Bytes of the integer at hand.
        let mut len = 0;
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

    /// A count of things that take at least `least` bytes each; refused when the rest cannot hold
    /// them.
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
                if let Some(ascii) = self.ascii(count) {
                    return Ok(RawString::Text(Cow::Borrowed(ascii)));
                }
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

    /// So many UTF-16 units, where each is ASCII and takes a byte: nearly all that the JDK writes.
    fn ascii(&mut self, count: usize) -> Option<&'a str> {
        let units = self.bytes.get(self.pos..self.pos.checked_add(count)?)?;
        let text = std::str::from_utf8(units)
            .ok()
            .filter(|_| units.is_ascii())?;
        self.pos += count;
        Some(text)
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
                let count = self.count(1)?;
                self.skip_varints(count as u64)
            }
            found => Err(Error::new(at, ErrorKind::BadStringTag(found))),
        }
    }
}

/// Skips most of `count` compressed integers eight bytes at a time; gives the bytes used and the
/// integers left.
///
/// The frames of the stacks are most of a checkpoint; going over them byte by byte was most of
/// opening a chunk.
#[inline]
fn skip_by_words(bytes: &[u8], count: u64) -> (usize, u64) {
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let (mut used, mut left) = (0, count);
    // Bytes before `used` that belong to an integer not yet ended.
    let mut begun = 0;
    // Eight bytes end eight integers at most.
    while left >= 8
        && let Some(word) = bytes.get(used..).and_then(|rest| rest.first_chunk::<8>())
    {
        let ends = !u64::from_le_bytes(*word) & TOPS;
        let first_end = ends.trailing_zeros() as usize / 8;
        if begun + first_end >= varint::MAX_LEN {
            // An integer of nine bytes, whose last one does not mark itself as the last. 8 for a
            // word without an end: not known yet if nothing had begun, then the ninth byte is the
            // next word's first.
            used = used - begun + varint::MAX_LEN;
            left -= 1;
            begun = 0;
            continue;
        }
        left -= u64::from(ends.count_ones());
        used += 8;
        begun = if ends == 0 {
            begun + 8
        } else {
            ends.leading_zeros() as usize / 8
        };
    }
    (used - begun, left)
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
    fn skipping_varints_matches_reading_them() {
        // Lengths of 1 to 9 bytes in every order that a small generator gives; bytes behind the
        // last one are not touched.
        let mut state = 1u64;
        for round in 0..2_000 {
            let mut bytes = Vec::new();
            let mut ends = vec![0];
            for _ in 0..40 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                // Mostly short ones, as in a file, or any length.
                let bits = if round % 2 == 0 { 64 } else { 21 };
                let value = u64::MAX >> (63 - (state >> 33) % bits).min(63);
                varint::put(&mut bytes, value);
                ends.push(bytes.len());
            }
            for (count, &end) in ends.iter().enumerate() {
                let mut cursor = Cursor::new(&bytes, 0);
                cursor.skip_varints(count as u64).unwrap();
                assert_eq!(cursor.pos(), end, "{count} of {bytes:?}");
            }
            let cut = Cursor::new(&bytes[..bytes.len() - 1], 0).skip_varints(40);
            assert!(cut.is_err());
        }
        // Padded to nine bytes, and nine bytes of all ones.
        for nine in [
            [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0],
            [0xff; 9],
        ] {
            for before in 0..10 {
                let bytes = [&vec![1; before][..], &nine.repeat(12), &[1; 20]].concat();
                let mut cursor = Cursor::new(&bytes, 0);
                cursor.skip_varints(before as u64 + 12).unwrap();
                assert_eq!(cursor.pos(), before + 9 * 12);
            }
        }
    }

    #[test]
    fn excessive_lengths_are_refused_before_allocation() {
        for tag in [3, 4, 5] {
            for len in [&[0xffu8, 0xff, 0xff, 0xff, 7][..], &[0xff; 9]] {
                let bytes = [&[tag], len].concat();
                assert!(Cursor::new(&bytes, 0).string().is_err());
                assert!(Cursor::new(&bytes, 0).skip_string().is_err());
            }
        }
    }
}
