//! The `Code` attribute: a prologue in front of the instructions, and all positions moved behind it.

mod annotations;
mod descriptor;
mod frames;
mod prologue;
mod shift;
mod tables;

use crate::bytes::{Reader, put_sized, put_u16, put_u32};
use crate::class_file::ConstantPool;
use crate::error::{Error, ErrorKind, Result, short_name};
pub(crate) use prologue::Prologue;
use shift::Shift;

/// Writes the attribute's length and content with `prologue` in front of the code. Without one the
/// result is what was read.
pub(crate) fn insert(
    reader: &mut Reader<'_>,
    pool: &ConstantPool<'_>,
    prologue: &Prologue,
    out: &mut Vec<u8>,
) -> Result<()> {
    let at = reader.at();
    let len = reader.u32()?;
    let mut content = reader.part(len)?;
    put_sized(out, at, |out| {
        let reader = &mut content;
        put_u16(out, reader.u16()?.max(prologue.stack));
        let _max_locals = reader.copy_u16(out)?;
        let shift = put_instructions(reader, prologue, out)?;
        tables::exceptions(reader, &shift, out)?;
        for _ in 0..reader.copy_u16(out)? {
            put_attribute(reader, pool, &shift, out)?;
        }
        reader.expect_end()
    })
}

/// Writes the instructions and their length.
fn put_instructions(
    reader: &mut Reader<'_>,
    prologue: &Prologue,
    out: &mut Vec<u8>,
) -> Result<Shift> {
    let at = reader.at();
    let code_length = reader.u32()?;
    let code = reader.part(code_length)?.rest();
    let shift = Shift::new(at, code_length, prologue.code.len())?;
    put_u32(out, shift.new_length());
    out.extend_from_slice(&prologue.code);
    out.extend_from_slice(code);
    Ok(shift)
}

fn put_attribute(
    reader: &mut Reader<'_>,
    pool: &ConstantPool<'_>,
    shift: &Shift,
    out: &mut Vec<u8>,
) -> Result<()> {
    let at = reader.at();
    let name = pool.utf8(&mut reader.clone())?;
    let _name = reader.copy_u16(out)?;
    let put: fn(&mut Reader<'_>, &Shift, &mut Vec<u8>) -> Result<()> = match name {
        b"LineNumberTable" => tables::line_numbers,
        b"LocalVariableTable" | b"LocalVariableTypeTable" => tables::local_variables,
        b"StackMapTable" => frames::stack_map,
        b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
            annotations::type_annotations
        }
        _ => {
            let kind = ErrorKind::UnknownCodeAttribute(short_name(name));
            return Err(Error::new(at, kind));
        }
    };
    let len_at = reader.at();
    let len = reader.u32()?;
    let mut content = reader.part(len)?;
    put_sized(out, len_at, |out| {
        put(&mut content, shift, out)?;
        content.expect_end()
    })
}
