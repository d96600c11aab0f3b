//! Type annotations in code, visible and invisible ones.

use super::shift::Shift;
use crate::bytes::Reader;
use crate::error::{Error, Result};

pub(super) fn type_annotations(
    reader: &mut Reader<'_>,
    shift: &Shift,
    out: &mut Vec<u8>,
) -> Result<()> {
    for _ in 0..reader.copy_u16(out)? {
        target(reader, shift, out)?;
        let path = reader.copy_u8(out)?;
        reader.copy(usize::from(path).saturating_mul(2), out)?;
        annotation(reader, out)?;
    }
    Ok(())
}

/// What is annotated. Only the kinds that stand in code are allowed.
fn target(reader: &mut Reader<'_>, shift: &Shift, out: &mut Vec<u8>) -> Result<()> {
    let at = reader.at();
    match reader.copy_u8(out)? {
        // Local variables, resources
        0x40 | 0x41 => {
            for _ in 0..reader.copy_u16(out)? {
                shift.variable_range(reader, out)?;
                let _slot = reader.copy_u16(out)?;
            }
            Ok(())
        }
        // Index into the exception table
        0x42 => reader.copy(2, out),
        // instanceof, new, method references
        0x43..=0x46 => shift.position(reader, out),
        // Casts, type arguments
        0x47..=0x4B => {
            shift.position(reader, out)?;
            reader.copy(1, out)
        }
        tag => Err(Error::unknown_tag(at, "target of a type annotation", tag)),
    }
}

/// Values of an annotation or of an array that are still to come.
#[derive(Debug)]
struct PendingValues {
    count: u16,
    /// Whether each has a name, as in an annotation.
    are_named: bool,
}

/// Copies an annotation. Values may be nested: what is still to come is kept in a list, which
/// grows by one element with at least three bytes of input.
fn annotation(reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<()> {
    let mut pending = vec![annotation_begin(reader, out)?];
    while let Some(values) = pending.last_mut() {
        let Some(left) = values.count.checked_sub(1) else {
            pending.pop();
            continue;
        };
        values.count = left;
        if values.are_named {
            let _name = reader.copy_u16(out)?;
        }
        pending.extend(value(reader, out)?);
    }
    Ok(())
}

/// Type and number of values.
fn annotation_begin(reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<PendingValues> {
    let _type = reader.copy_u16(out)?;
    Ok(PendingValues {
        count: reader.copy_u16(out)?,
        are_named: true,
    })
}

/// Copies a value up to the values inside of it, and answers those.
fn value(reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<Option<PendingValues>> {
    let at = reader.at();
    match reader.copy_u8(out)? {
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' | b's' | b'c' => {
            reader.copy(2, out)?;
            Ok(None)
        }
        b'e' => {
            reader.copy(4, out)?;
            Ok(None)
        }
        b'@' => annotation_begin(reader, out).map(Some),
        b'[' => Ok(Some(PendingValues {
            count: reader.copy_u16(out)?,
            are_named: false,
        })),
        tag => Err(Error::unknown_tag(at, "value of an annotation", tag)),
    }
}
