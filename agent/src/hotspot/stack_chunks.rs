//! Where the VM keeps the frames of virtual threads in the heap: offsets, and how it stores
//! references. They come from libjvm's symbols and from the VM's tables. Where one is missing this
//! module returns the reason; it never guesses.
//!
//! The walker proves the layout: it drops what it read in chunks until a first walk has reached the
//! root of a virtual thread.

mod names;
mod statics;
mod zgc;

use super::vm_dictionary::VmDictionary;
use stack_walker::heap::{ChunkLayout, ChunkTables, ClassPointer, Collector, Width};
use stack_walker::safe_fetch::SafeFetch;
use statics::Statics;

/// Fields of a structure that holds base and shift, up to 21.
const NARROW_OOP: [&str; 2] = ["_narrow_oop._base", "_narrow_oop._shift"];
const NARROW_KLASS: [&str; 2] = ["_narrow_klass._base", "_narrow_klass._shift"];

/// The layout of stack chunks in this VM, or why it is not known.
pub(super) fn find(d: &VmDictionary, memory: SafeFetch) -> Result<ChunkTables, String> {
    let vm = Statics::read(memory)?;
    Ok(ChunkTables {
        thread_object: d.offset("JavaThread", "_threadObj")?,
        thread_continuation: vm.offset(names::THREAD_CONTINUATION)?,
        virtual_continuation: vm.offset(names::VIRTUAL_CONTINUATION)?,
        continuation_parent: vm.offset(names::PARENT)?,
        continuation_tail: vm.offset(names::TAIL)?,
        chunk: ChunkLayout {
            parent: vm.offset(names::CHUNK_PARENT)?,
            size: vm.offset(names::CHUNK_SIZE)?,
            sp: vm.offset(names::CHUNK_SP)?,
            bottom: vm.offset(names::CHUNK_BOTTOM)?,
            pc: vm.offset(names::CHUNK_PC)?,
            stack: vm.offset(names::CHUNK_STACK)?,
        },
        class_name: d.offset("Klass", "_name")?,
        width: width(d, &vm)?,
        collector: collector(d, &vm)?,
        class_pointer: class_pointer(d, &vm)?,
        pause_state: vm.address(names::PAUSE_STATE)?,
        pause_counter: vm.address(names::PAUSE_COUNTER)?,
    })
}

fn width(d: &VmDictionary, vm: &Statics) -> Result<Width, String> {
    if !vm.flag(names::NARROW_REFERENCES) {
        return Ok(Width::Full);
    }
    let (base, shift) = vm.encoding(d, "CompressedOops", NARROW_OOP)?;
    Ok(Width::Narrow { base, shift })
}

fn class_pointer(d: &VmDictionary, vm: &Statics) -> Result<ClassPointer, String> {
    let encoding = || vm.encoding(d, "CompressedKlassPointers", NARROW_KLASS);
    if vm.flag(names::COMPACT_HEADERS) {
        let (base, shift) = encoding()?;
        return Ok(ClassPointer::InHeader { base, shift });
    }
    if vm.flag(names::NARROW_CLASSES) {
        let (base, shift) = encoding()?;
        return Ok(ClassPointer::Narrow { base, shift });
    }
    Ok(ClassPointer::Full)
}

fn collector(d: &VmDictionary, vm: &Statics) -> Result<Collector, String> {
    if vm.flag(names::SHENANDOAH) {
        return Ok(Collector::Forwarding);
    }
    if !vm.flag(names::ZGC) {
        return Ok(Collector::InPauses);
    }
    if vm.has(names::GENERATIONAL) && !vm.flag(names::GENERATIONAL) {
        return zgc::high_bits(d, vm).map(Collector::HighBits);
    }
    zgc::coloured(d, vm).map(Collector::Coloured)
}
