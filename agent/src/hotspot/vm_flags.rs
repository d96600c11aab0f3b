//! The flags of the VM (`-XX:`), from the table that it exports. The rules of
//! [`vm_structs`](super::vm_structs) hold.

use super::vm_dictionary::VmDictionary;
use super::vm_structs::{read_u8, read_word, text};
use std::collections::HashMap;

/// Far beyond the longest table seen (about 1 400 flags in 25).
const MAX_FLAGS: usize = 10_000;
/// The class of flags.
const FLAG: &str = "JVMFlag";

/// Where the value of each flag is.
#[derive(Debug)]
pub(crate) struct VmFlags(HashMap<&'static str, usize>);

impl VmFlags {
    /// `None` if this VM does not export its flags.
    pub(crate) fn read() -> Option<Self> {
        let dictionary = VmDictionary::read()?;
        let number = |field| read_word(dictionary.address(FLAG, field).ok()?);
        let offset = |field| dictionary.offset(FLAG, field).ok();
        let (base, count) = (number("flags")?, number("numFlags")?);
        let (name, value) = (offset("_name")?, offset("_addr")?);
        let size = dictionary.size(FLAG).ok()?;
        // The last entry has no name.
        let flag = |index| {
            let at = base + size * index;
            Some((text(read_word(at + name)?)?, read_word(at + value)?))
        };
        Some(Self((0..count.min(MAX_FLAGS)).map_while(flag).collect()))
    }

    /// Whether a flag that is on or off is on.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| read_u8(*value) != 0)
    }

    /// The value of a flag that is a text; `None` if it is not set.
    pub(crate) fn text(&self, name: &str) -> Option<&'static str> {
        text(read_word(*self.0.get(name)?)?)
    }
}
