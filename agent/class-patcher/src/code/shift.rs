//! How positions in the code move.

use crate::bytes::{Reader, put_u16};
use crate::error::{Error, ErrorKind, Result};

/// Most bytes of code that the JVM accepts in a method.
const MAX_CODE: usize = 65_535;

/// A prologue in front of the code of a method. Positions are bytes from the begin of the code.
#[derive(Debug)]
pub(super) struct Shift {
    /// Bytes of code without the prologue.
    code_length: u16,
    /// Bytes of the prologue; with those of the code at most 65,535.
    by: u16,
}

impl Shift {
    pub(super) fn new(at: usize, code_length: u32, by: usize) -> Result<Self> {
        let len = usize::try_from(code_length).unwrap_or(usize::MAX);
        let sum = len.saturating_add(by);
        let too_long = || Error::limit(at, "bytes of code", sum, MAX_CODE);
        u16::try_from(sum).map_err(|_| too_long())?;
        Ok(Self {
            code_length: u16::try_from(len).map_err(|_| too_long())?,
            by: u16::try_from(by).map_err(|_| too_long())?,
        })
    }

    /// Bytes of code with the prologue.
    pub(super) fn new_length(&self) -> u32 {
        u32::from(self.moved(self.code_length))
    }

    /// Bytes of the prologue.
    pub(super) fn by(&self) -> u16 {
        self.by
    }

    /// A position not behind the end of the code, moved.
    pub(super) fn moved(&self, position: u16) -> u16 {
        position.saturating_add(self.by)
    }

    /// Fails unless the position is that of a byte of the code.
    pub(super) fn check(&self, at: usize, position: u32) -> Result<()> {
        self.check_below(at, position, u32::from(self.code_length))
    }

    /// Moves a position of an instruction.
    pub(super) fn position(&self, reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<()> {
        let at = reader.at();
        let position = reader.u16()?;
        self.check(at, position.into())?;
        put_u16(out, self.moved(position));
        Ok(())
    }

    /// Moves a position of an instruction or of the end of the code.
    pub(super) fn end(&self, reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<()> {
        let at = reader.at();
        let position = reader.u16()?;
        self.check_end(at, position.into())?;
        put_u16(out, self.moved(position));
        Ok(())
    }

    /// Moves the begin and the length of the range in which a local variable has a value. A range
    /// from 0 on is that of a parameter, which has its value in the prologue too.
    pub(super) fn variable_range(&self, reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<()> {
        let at = reader.at();
        let (begin, length) = (reader.u16()?, reader.u16()?);
        self.check_end(at, u32::from(begin).saturating_add(length.into()))?;
        let is_parameter = begin == 0 && length > 0;
        let (begin, length) = if is_parameter {
            (0, self.moved(length))
        } else {
            (self.moved(begin), length)
        };
        put_u16(out, begin);
        put_u16(out, length);
        Ok(())
    }

    fn check_end(&self, at: usize, position: u32) -> Result<()> {
        self.check_below(at, position, u32::from(self.code_length).saturating_add(1))
    }

    fn check_below(&self, at: usize, found: u32, bound: u32) -> Result<()> {
        let code_length = self.code_length.into();
        let kind = ErrorKind::OutOfCode { found, code_length };
        (found < bound)
            .then_some(())
            .ok_or_else(|| Error::new(at, kind))
    }
}
