//! The numbers and texts that events and metadata are made of.

use std::borrow::Cow;

use jfr_format::varint;

/// Marks of a text, by how its characters follow.
const NULL: u8 = 0;
const EMPTY: u8 = 1;
const UTF8: u8 = 3;
const CHARS: u8 = 4;
const LATIN1: u8 = 5;

/// What is not read yet.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn varint(&mut self) -> Option<u64> {
        let (value, len) = varint::get(self.0)?;
        self.0 = &self.0[len..];
        Some(value)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.varint()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(super) fn text(&mut self) -> Option<Cow<'a, str>> {
        let (&mark, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(match mark {
            NULL | EMPTY => Cow::Borrowed(""),
            UTF8 => String::from_utf8_lossy(self.bytes()?),
            LATIN1 => self.bytes()?.iter().copied().map(char::from).collect(),
            CHARS => {
                let mut units = Vec::new();
                for _ in 0..self.varint()? {
                    units.push(u16::try_from(self.varint()?).ok()?);
                }
                String::from_utf16_lossy(&units).into()
            }
            _ => return None,
        })
    }
}

/// Adds a text in UTF-8.
pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    out.push(UTF8);
    varint::put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}
