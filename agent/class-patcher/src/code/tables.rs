//! Tables of fixed-width entries: exceptions, line numbers, local variables.

use super::shift::Shift;
use crate::bytes::{Reader, put_u16};
use crate::error::{Error, Result};

/// The exception table. No handler covers the prologue.
pub(super) fn exceptions(reader: &mut Reader<'_>, shift: &Shift, out: &mut Vec<u8>) -> Result<()> {
    for _ in 0..reader.copy_u16(out)? {
        shift.position(reader, out)?; // start
        shift.end(reader, out)?;
        shift.position(reader, out)?; // handler
        let _catch_type = reader.copy_u16(out)?;
    }
    Ok(())
}

/// A `LineNumberTable`. The line of the first instruction gets a second entry, for the prologue.
pub(super) fn line_numbers(
    reader: &mut Reader<'_>,
    shift: &Shift,
    out: &mut Vec<u8>,
) -> Result<()> {
    let at = reader.at();
    let count = reader.u16()?;
    let first_line = first_line(&mut reader.clone(), count)?.filter(|_| shift.by() > 0);
    let new_count = count.checked_add(u16::from(first_line.is_some()));
    let most = usize::from(u16::MAX);
    let too_many = || Error::limit(at, "line numbers", most.saturating_add(1), most);
    put_u16(out, new_count.ok_or_else(too_many)?);
    if let Some(line) = first_line {
        put_u16(out, 0);
        put_u16(out, line);
    }
    for _ in 0..count {
        shift.position(reader, out)?;
        let _line = reader.copy_u16(out)?;
    }
    Ok(())
}

/// The line of the instruction at 0; of several the first, as the JVM decides.
fn first_line(reader: &mut Reader<'_>, count: u16) -> Result<Option<u16>> {
    for _ in 0..count {
        let (position, line) = (reader.u16()?, reader.u16()?);
        if position == 0 {
            return Ok(Some(line));
        }
    }
    Ok(None)
}

/// A `LocalVariableTable` or `LocalVariableTypeTable`.
pub(super) fn local_variables(
    reader: &mut Reader<'_>,
    shift: &Shift,
    out: &mut Vec<u8>,
) -> Result<()> {
    for _ in 0..reader.copy_u16(out)? {
        shift.variable_range(reader, out)?;
        reader.copy(6, out)?; // name, descriptor or signature, slot
    }
    Ok(())
}
