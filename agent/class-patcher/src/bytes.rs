//! Big-endian integers: bounded reads, and writes at the end of a buffer.

use crate::error::{Error, ErrorKind, Result};

/// Reads a class, or a part of it, from front to back. Positions count from the begin of the class.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    /// What is left of the part.
    rest: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(class: &'a [u8]) -> Self {
        Self { rest: class, at: 0 }
    }

    /// Position of the next byte.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// What is left of the part.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let Some((taken, rest)) = self.rest.split_at_checked(len) else {
            let left = self.rest.len();
            return Err(Error::new(
                self.at,
                ErrorKind::Truncated { needed: len, left },
            ));
        };
        self.rest = rest;
        self.at = self.at.saturating_add(len);
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        self.array().map(u8::from_be_bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// A reader of the next `len` bytes, which this one passes over.
    pub(crate) fn part(&mut self, len: u32) -> Result<Self> {
        let at = self.at;
        let rest = self.take(usize::try_from(len).unwrap_or(usize::MAX))?;
        Ok(Self { rest, at })
    }

    /// Fails unless the part is read to its end.
    pub(crate) fn expect_end(&self) -> Result<()> {
        match self.rest.len() {
            0 => Ok(()),
            left => Err(Error::new(self.at, ErrorKind::BytesLeft(left))),
        }
    }

    /// Copies the next `len` bytes.
    pub(crate) fn copy(&mut self, len: usize, out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(self.take(len)?);
        Ok(())
    }

    /// Copies an integer and answers it.
    pub(crate) fn copy_u8(&mut self, out: &mut Vec<u8>) -> Result<u8> {
        let value = self.u8()?;
        out.push(value);
        Ok(value)
    }

    /// Copies an integer and answers it.
    pub(crate) fn copy_u16(&mut self, out: &mut Vec<u8>) -> Result<u16> {
        let value = self.u16()?;
        put_u16(out, value);
        Ok(value)
    }
}

pub(crate) fn put_u16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_be_bytes());
}

pub(crate) fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Writes the length that `content` has, as 32 bits, and then the content.
pub(crate) fn put_sized(
    out: &mut Vec<u8>,
    at: usize,
    content: impl FnOnce(&mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    let begin = out.len();
    put_u32(out, 0);
    let first = out.len();
    content(out)?;
    let len = out.len().saturating_sub(first);
    let most = u32::MAX as usize;
    let written =
        u32::try_from(len).map_err(|_| Error::limit(at, "attribute length", len, most))?;
    if let Some(place) = out.get_mut(begin..first) {
        place.copy_from_slice(&written.to_be_bytes());
    }
    Ok(())
}
