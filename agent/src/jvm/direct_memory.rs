//! `jdk.internal.javac.DirectMemory`, the class by which the Java API accesses the slab. The boot
//! loader defines it in `java.base`, where it may use `Unsafe`. Its package holds annotations only
//! and is open to nobody; this exports it to the module of the API. The class bounds each access
//! itself, since that module may be the class path.

use super::boot_classes::class_file;
use super::jni::{Jni, LocalRef};
use super::jvmti::Jvmti;
use std::ffi::CStr;
use std::sync::{Mutex, PoisonError};

const NAME: &CStr = c"jdk/internal/javac/DirectMemory";
const PACKAGE: &CStr = c"jdk.internal.javac";

/// Whether the class is defined; one thread at a time defines it.
static DEFINED: Mutex<bool> = Mutex::new(false);

/// In place of the address of the slab, and of its length, in the bytes.
const SLAB: i64 = 0x5b0c_ad0f_a11b_1001;
const SLAB_BYTES: i64 = 0x5b0c_b17e_a11b_1002;
/// In place of the offsets of the counters of allocated bytes.
const COUNTERS: i64 = 0x5b0c_a110_a11b_1003;
const CONSTANT_LONG: u8 = 5;

/// What the class accesses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Accessed {
    /// Where the blocks lie: a power of two of bytes at a multiple of that.
    pub(crate) slab: (*mut u8, usize),
    /// Offsets in a `JavaThread`: the bytes that it has allocated, first byte and top of its buffer.
    pub(crate) counters: Option<[u16; 3]>,
}

/// Makes the class usable for `module`, that of the Java API. `false` if this VM does not allow it, or
/// the heap is full.
pub(crate) fn open(jvmti: Jvmti, jni: Jni, accessed: Accessed, module: &LocalRef<'_>) -> bool {
    jni.with_local_frame(|jni| {
        let mut defined = DEFINED.lock().unwrap_or_else(PoisonError::into_inner);
        *defined = *defined || define(*jni, accessed).is_some();
        *defined && jvmti.export_package(PACKAGE, module).is_ok()
    })
}

fn define(jni: Jni, accessed: Accessed) -> Option<()> {
    let (base, bytes) = accessed.slab;
    let mut class = class_file(NAME)?.to_vec();
    set_constant(&mut class, SLAB, base.expose_provenance())?;
    set_constant(&mut class, SLAB_BYTES, bytes)?;
    let offsets = accessed.counters.unwrap_or_default();
    let packed = offsets.iter().rev();
    let packed = packed.fold(0, |all, &offset| all << u16::BITS | usize::from(offset));
    set_constant(&mut class, COUNTERS, packed)?;
    let class = jni.define_boot_class(NAME, &class)?;
    // This initialises the class.
    jni.static_method_id(&class, c"origin", c"()J")?;
    Some(())
}

/// Replaces a `long` of the constant pool, which must be there once.
fn set_constant(class: &mut [u8], placeholder: i64, value: usize) -> Option<()> {
    let entry = |number: i64| {
        let mut entry = [CONSTANT_LONG; 9];
        entry[1..].copy_from_slice(&number.to_be_bytes());
        entry
    };
    let wanted = entry(placeholder);
    let mut places = (0..class.len()).filter(|at| class[*at..].starts_with(&wanted));
    let (Some(place), None) = (places.next(), places.next()) else {
        return None;
    };
    class[place..place + wanted.len()].copy_from_slice(&entry(i64::try_from(value).ok()?));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_takes_its_three_numbers() {
        let packed = class_file(NAME).expect("build.rs packs it");
        let mut class = packed.to_vec();
        assert!(set_constant(&mut class, SLAB, 0x7f00_0080_0000).is_some());
        assert!(set_constant(&mut class, SLAB_BYTES, 0x80_0000).is_some());
        assert!(set_constant(&mut class, COUNTERS, 0x0010_0020_0030).is_some());
        assert!(set_constant(&mut class, SLAB, 1).is_none(), "a second time");
        assert_eq!(class.len(), packed.len());
    }
}
