//! The `Code` attribute: a prologue in front of the instructions, all positions moved behind it, and
//! calls replaced in their place.

mod annotations;
mod calls;
mod descriptor;
mod frames;
mod instructions;
mod prologue;
mod shift;
mod tables;

use crate::bytes::{Reader, put_sized, put_u16, put_u32};
use crate::class_file::ConstantPool;
use crate::error::{Error, ErrorKind, Result, short_name};
pub(crate) use calls::{NewCall, check as check_call, find as find_calls};
pub(crate) use prologue::Prologue;
use shift::Shift;

/// What changes in the code of a method.
#[derive(Debug, Default)]
pub(crate) struct CodeEdit {
    pub(crate) prologue: Prologue,
    pub(crate) calls: Vec<NewCall>,
}

/// Writes the attribute's length and content with an edit. If that is empty, the result is what was
/// read.
pub(crate) fn write(
    reader: &mut Reader<'_>,
    pool: &ConstantPool<'_>,
    edit: &CodeEdit,
    out: &mut Vec<u8>,
) -> Result<()> {
    let at = reader.at();
    let len = reader.u32()?;
    let mut content = reader.part(len)?;
    put_sized(out, at, |out| {
        let reader = &mut content;
        put_u16(out, reader.u16()?.max(edit.prologue.stack));
        let _max_locals = reader.copy_u16(out)?;
        let shift = put_instructions(reader, edit, out)?;
        tables::exceptions(reader, &shift, out)?;
        for _ in 0..reader.copy_u16(out)? {
            put_attribute(reader, pool, &shift, out)?;
        }
        reader.expect_end()
    })
}

/// Writes the instructions and their length.
fn put_instructions(reader: &mut Reader<'_>, edit: &CodeEdit, out: &mut Vec<u8>) -> Result<Shift> {
    let at = reader.at();
    let code_length = reader.u32()?;
    let code = reader.part(code_length)?;
    let prologue = &edit.prologue.code;
    let shift = Shift::new(at, code_length, prologue.len())?;
    put_u32(out, shift.new_length());
    out.extend_from_slice(prologue);
    calls::put(&code, &edit.calls, out);
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
