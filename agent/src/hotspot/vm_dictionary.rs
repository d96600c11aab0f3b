//! All of HotSpot's exported tables, read in one pass for the stack walker: fields, sizes of types,
//! constants. The rules of [`vm_structs`](super::vm_structs) hold.

use super::vm_structs::{read_i32, read_word, symbol, text};
use std::collections::HashMap;

/// Far beyond the largest table seen (about 1 900 entries in 21).
const MAX_ENTRIES: usize = 20_000;

/// The position of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    /// Bytes from the start of the structure.
    Offset(usize),
    /// A static field, at this address.
    Static(usize),
}

/// The content of the tables.
#[derive(Debug, Default)]
pub(super) struct VmDictionary {
    fields: HashMap<(&'static str, &'static str), Field>,
    sizes: HashMap<&'static str, usize>,
    constants: HashMap<&'static str, i32>,
}

impl VmDictionary {
    /// Reads the tables of this VM, `None` if one of them is missing.
    pub(super) fn read() -> Option<Self> {
        let mut all = Self::default();
        let names = ["TypeName", "FieldName", "IsStatic", "Offset", "Address"];
        each(
            "gHotSpotVMStructs",
            "gHotSpotVMStructEntry",
            names,
            |[of, field, is_static, offset, address]| {
                let key = text(read_word(of)?)?;
                if let Some(name) = read_word(field).and_then(text) {
                    let position = if read_i32(is_static) == 0 {
                        Field::Offset(read_word(offset)?)
                    } else {
                        Field::Static(read_word(address)?)
                    };
                    all.fields.insert((key, name), position);
                }
                Some(())
            },
        )?;
        each(
            "gHotSpotVMTypes",
            "gHotSpotVMTypeEntry",
            ["TypeName", "Size"],
            |[name, size]| {
                all.sizes.insert(text(read_word(name)?)?, read_word(size)?);
                Some(())
            },
        )?;
        each(
            "gHotSpotVMIntConstants",
            "gHotSpotVMIntConstantEntry",
            ["Name", "Value"],
            |[name, value]| {
                all.constants
                    .insert(text(read_word(name)?)?, read_i32(value));
                Some(())
            },
        )?;
        Some(all)
    }

    /// Offset of an instance field, or a line that names what is missing.
    pub(super) fn offset(&self, of: &'static str, field: &'static str) -> Result<usize, String> {
        match self.fields.get(&(of, field)) {
            Some(Field::Offset(offset)) if *offset < 16_384 => Ok(*offset),
            _ => Err(format!("this VM does not name {of}::{field}")),
        }
    }

    /// Address of a static field.
    pub(super) fn address(&self, of: &'static str, field: &'static str) -> Result<usize, String> {
        match self.fields.get(&(of, field)) {
            Some(Field::Static(address)) if *address != 0 => Ok(*address),
            _ => Err(format!("this VM does not name {of}::{field}")),
        }
    }

    /// Whether there is such a field.
    pub(super) fn has(&self, of: &'static str, field: &'static str) -> bool {
        self.fields.contains_key(&(of, field))
    }

    /// Size of a type.
    pub(super) fn size(&self, of: &'static str) -> Result<usize, String> {
        self.sizes
            .get(of)
            .copied()
            .filter(|size| *size > 0)
            .ok_or_else(|| format!("this VM does not name the size of {of}"))
    }

    /// A constant.
    pub(super) fn constant(&self, name: &'static str) -> Option<i32> {
        self.constants.get(name).copied()
    }
}

/// Calls `visit` with the addresses of the columns of each entry, until it returns `None`: at the
/// end of the table, or at an unreadable entry.
fn each<const N: usize>(
    table: &str,
    prefix: &str,
    columns: [&str; N],
    mut visit: impl FnMut([usize; N]) -> Option<()>,
) -> Option<()> {
    let word = |name: &str| read_word(symbol(name)?);
    let stride =
        word(&format!("{prefix}ArrayStride")).filter(|stride| (8..=256).contains(stride))?;
    let mut offsets = [0; N];
    for (offset, column) in offsets.iter_mut().zip(columns) {
        *offset = word(&format!("{prefix}{column}Offset")).filter(|offset| *offset < stride)?;
    }
    let base = word(table).filter(|base| *base != 0)?;
    for index in 0..MAX_ENTRIES {
        let entry = base.checked_add(index.checked_mul(stride)?)?;
        if visit(offsets.map(|offset| entry + offset)).is_none() {
            break;
        }
    }
    Some(())
}
