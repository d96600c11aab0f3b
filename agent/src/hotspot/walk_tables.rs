//! What the agent's stack walker needs to know of this VM: read from the VM's exported tables and
//! checked for plausibility. On a mismatch this module returns the reason; it never guesses.
//!
//! Rules:
//! 1. The words are those of libjvm's data and of structures that the VM's tables name. The VM is
//!    up, and frees none of them.
//! 2. `SafeFetchN` of the VM is used only if its code matches the known code byte for byte.
//! 3. The test page is a mapping of this module, and no other code refers to it.
//! 4. The caches consist of atomics; a zero bucket is free.

#![expect(unsafe_code, reason = "boundary to the structures of HotSpot")]

use super::identity::Identity;
use super::stack_chunks;
use super::symtab;
use super::vm_dictionary::VmDictionary;
use super::vm_structs::symbol;
use crate::log;
use crate::os::library::Library;
use crate::os::slab::{self, ZeroIsValid};
use signal_core::handler_state::OwnWalker;
use stack_walker::Memory;
use stack_walker::cache::WalkCaches;
use stack_walker::cache::call_sites::{CallSiteBucket, CallSiteCache};
use stack_walker::cache::method_ids::{MethodIdBucket, MethodIdCache};
use stack_walker::safe_fetch::SafeFetch;
use stack_walker::tables::{
    AddressField, Anchor, BlobLayout, CodeHeap, FRAME_METHOD, FRAME_SENDER_SP, MAX_HEAPS,
    MethodLayout, NmethodLayout, PC_DESC_SIZE, UpcallFrame, VmTables,
};
use std::ptr;

/// Cached addresses in compiled code: 1.5 MiB.
const CALL_SITES: usize = 8192;
/// Methods with a cached id: 64 KiB.
const METHODS: usize = 4096;
/// The size limit of a code cache.
const MAX_CODE: usize = 4 << 30;

/// Everything for the walker, or why it does not support this VM. `some_id` is the id of any
/// method.
pub(crate) fn find(identity: &Identity, some_id: Option<usize>) -> Result<OwnWalker, String> {
    if !identity.is_hotspot() {
        return Err(format!("{} is not HotSpot", identity.name));
    }
    if identity.feature < 17 {
        return Err(format!("{} is older than 17", identity.version));
    }
    let dictionary = VmDictionary::read().ok_or("this VM exports no tables of its structures")?;
    let memory = safe_fetch()?;
    let mut tables = tables(&dictionary, identity.feature, memory)?;
    tables.method.numbered_ids = some_id.is_some_and(|id| memory.word(id).is_none());
    let walker = OwnWalker::new(tables, memory, empty_caches()?);
    if !tables.virtual_threads {
        return Ok(walker);
    }
    match stack_chunks::find(&dictionary, memory) {
        Ok(chunks) => Ok(walker.with_chunks(chunks)),
        Err(why) => {
            log::info(&format!(
                "the stack of a virtual thread that has blocked ends where it was resumed: {why}"
            ));
            Ok(walker)
        }
    }
}

/// The memory of both caches, in one piece.
#[repr(C)]
struct CacheMemory {
    call_sites: [CallSiteBucket; CALL_SITES],
    method_ids: [MethodIdBucket; METHODS],
}

// SAFETY: rule 4.
unsafe impl ZeroIsValid for CacheMemory {}

/// Empty caches, which live as long as the process.
fn empty_caches() -> Result<WalkCaches, String> {
    let memory: &CacheMemory =
        slab::huge().map_err(|error| format!("no memory for its tables: {error}"))?;
    Ok(WalkCaches {
        call_sites: CallSiteCache::new(&memory.call_sites),
        method_ids: MethodIdCache::new(&memory.method_ids),
    })
}

/// The VM's checked loads, or why the agent does not use them.
pub(super) fn safe_fetch() -> Result<SafeFetch, String> {
    const NAME: &str = "SafeFetchN_impl";
    let data = symbol("gHotSpotVMStructs").ok_or("this VM exports no tables of its structures")?;
    let library = Library::of(data).ok_or("libjvm is not found among the loaded libraries")?;
    let offset = symtab::function(&library.path, NAME)
        .ok_or_else(|| format!("libjvm has no symbol {NAME} (stripped?)"))?;
    // SAFETY: rule 2; a symbol of libjvm's text, which is never unloaded.
    let found = unsafe { SafeFetch::at(library.base.wrapping_add(offset)) };
    let found = found.ok_or_else(|| format!("{NAME} of this VM is not the known code"))?;
    let page = UnreadablePage::new().ok_or("no address space for a test page")?;
    if !found.self_test(page.0) {
        return Err(format!("{NAME} of this VM failed validation"));
    }
    Ok(found)
}

/// Where the code of libjvm is; empty if its file cannot be read.
fn library_code() -> (usize, usize) {
    let library = symbol("gHotSpotVMStructs").and_then(Library::of);
    let code = library.and_then(|library| Some((symtab::code(&library.path)?, library.base)));
    code.map_or((0, 0), |(code, base)| {
        (base.wrapping_add(code.start), base.wrapping_add(code.end))
    })
}

/// A page that cannot be read.
struct UnreadablePage(usize);

const PAGE: usize = 4096;

impl UnreadablePage {
    fn new() -> Option<Self> {
        // SAFETY: rule 3: a new mapping at any address.
        let page = unsafe {
            libc::mmap(
                ptr::null_mut(),
                PAGE,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        (page != libc::MAP_FAILED).then(|| Self(page.expose_provenance()))
    }
}

impl Drop for UnreadablePage {
    fn drop(&mut self) {
        // SAFETY: rule 3.
        unsafe { libc::munmap(ptr::with_exposed_provenance_mut(self.0), PAGE) };
    }
}

fn tables(d: &VmDictionary, feature: u32, memory: SafeFetch) -> Result<VmTables, String> {
    let thread = anchor(d, d.offset("JavaThread", "_anchor")?)?;
    let wrapper = anchor(d, d.offset("JavaCallWrapper", "_anchor")?)?;
    frame_layout_is_known(d)?;
    let heaps = heaps(d, memory)?;
    let used = || heaps.iter().filter(|heap| heap.high != 0);
    let code = (
        used().map(|heap| heap.low).min().unwrap_or(0),
        used().map(|heap| heap.high).max().unwrap_or(0),
    );
    if code.0 == 0 || code.1 - code.0 > MAX_CODE {
        return Err("the code cache is not where it should be".into());
    }
    let word = |address: usize| memory.word(address).ok_or("a static field cannot be read");
    let call_stub_return = word(d.address("StubRoutines", "_call_stub_return_address")?)?;
    let queue = word(d.address("AbstractInterpreter", "_code")?)?;
    let buffer = word(queue + d.offset("StubQueue", "_stub_buffer")?)?;
    let size = memory
        .u32(queue + d.offset("StubQueue", "_buffer_limit")?)
        .unwrap_or(0) as usize;
    let inside = |address: usize| (code.0..code.1).contains(&address);
    if !inside(call_stub_return) || !inside(buffer) || !(0x1000..=0x10_0000).contains(&size) {
        return Err("interpreter and stubs are not in the code cache".into());
    }
    Ok(VmTables {
        thread_anchor: thread,
        wrapper_anchor: wrapper,
        vframe_array_head: d.offset("JavaThread", "_vframe_array_head")?,
        saved_exception_pc: d.offset("JavaThread", "_saved_exception_pc")?,
        call_stub_return,
        interpreter: (buffer, buffer + size),
        heaps,
        code,
        library: library_code(),
        block_header: d.size("HeapBlock")?,
        block_used: d.offset("HeapBlock::Header", "_used")?,
        blob: blob(d)?,
        nmethod: nmethod(d)?,
        method: method(d)?,
        unsigned5_excluded: u8::from(feature >= 20),
        frame_bcp: if cfg!(target_arch = "aarch64") {
            72
        } else {
            64
        },
        frame_wrapper: wrapper_distance(d)?,
        upcall: upcall(d)?,
        virtual_threads: feature >= 21,
    })
}

fn anchor(d: &VmDictionary, at: usize) -> Result<Anchor, String> {
    Ok(Anchor {
        sp: at + d.offset("JavaFrameAnchor", "_last_Java_sp")?,
        pc: at + d.offset("JavaFrameAnchor", "_last_Java_pc")?,
        fp: at + d.offset("JavaFrameAnchor", "_last_Java_fp")?,
    })
}

/// The frames of upcall stubs, if this VM names them.
fn upcall(d: &VmDictionary) -> Result<Option<UpcallFrame>, String> {
    if !d.has("UpcallStub", "_frame_data_offset") {
        return Ok(None);
    }
    Ok(Some(UpcallFrame {
        data: d.offset("UpcallStub", "_frame_data_offset")?,
        anchor: anchor(d, d.offset("UpcallStub::FrameData", "jfa")?)?,
    }))
}

/// Compares the walker's constants with those that the VM exports.
fn frame_layout_is_known(d: &VmDictionary) -> Result<(), String> {
    let words = |bytes: usize| i32::try_from(bytes / 8).ok();
    let sender = d
        .constant("frame::interpreter_frame_sender_sp_offset")
        .map(|offset| -offset);
    let last = d
        .constant("frame::interpreter_frame_last_sp_offset")
        .map(|offset| -offset);
    let known = sender.is_none_or(|n| Some(n) == words(FRAME_SENDER_SP))
        && last.is_none_or(|n| Some(n + 1) == words(FRAME_METHOD));
    let pc_desc = d.size("PcDesc")? == PC_DESC_SIZE
        && d.offset("PcDesc", "_pc_offset")? == 0
        && d.offset("PcDesc", "_scope_decode_offset")? == 4;
    if known && pc_desc {
        Ok(())
    } else {
        Err("the layout of frames or of PcDesc is not the known one".into())
    }
}

/// Distance from the frame pointer to the call wrapper; the VM does not export it on aarch64.
fn wrapper_distance(d: &VmDictionary) -> Result<usize, String> {
    match d.constant("frame::entry_frame_call_wrapper_offset") {
        Some(words @ -16..=-1) => Ok(words.unsigned_abs() as usize * 8),
        None if cfg!(target_arch = "aarch64") => Ok(64),
        _ => Err("the layout of entry frames is not the known one".into()),
    }
}

fn heaps(d: &VmDictionary, memory: SafeFetch) -> Result<[CodeHeap; MAX_HEAPS], String> {
    const INVALID: &str = "the code heaps are not what they should be";
    let word = |address: usize| memory.word(address).ok_or(INVALID);
    let array = word(d.address("CodeCache", "_heaps")?)?;
    let count = memory
        .u32(array + d.offset("GrowableArrayBase", "_len")?)
        .ok_or(INVALID)? as usize;
    let data = word(array + d.offset("GrowableArray<int>", "_data")?)?;
    if !(1..=MAX_HEAPS).contains(&count) {
        return Err(INVALID.into());
    }
    let (space, segments) = (
        d.offset("CodeHeap", "_memory")?,
        d.offset("CodeHeap", "_segmap")?,
    );
    let (low, high, end) = (
        d.offset("VirtualSpace", "_low_boundary")?,
        d.offset("VirtualSpace", "_high_boundary")?,
        d.offset("VirtualSpace", "_high")?,
    );
    let shift = d.offset("CodeHeap", "_log2_segment_size")?;
    let mut heaps = [CodeHeap::default(); MAX_HEAPS];
    for (index, heap) in heaps.iter_mut().enumerate().take(count) {
        let at = word(data + index * 8)?;
        *heap = CodeHeap {
            low: word(at + space + low)?,
            high: word(at + space + high)?,
            end: at + space + end,
            segments: word(at + segments + low)?,
            segment_shift: memory.u32(at + shift).ok_or(INVALID)?,
        };
        let plausible = heap.low != 0
            && heap.low < heap.high
            && heap.segments != 0
            && (4..=12).contains(&heap.segment_shift);
        if !plausible {
            return Err(INVALID.into());
        }
    }
    Ok(heaps)
}

fn blob(d: &VmDictionary) -> Result<BlobLayout, String> {
    let at = |field| d.offset("CodeBlob", field);
    let code = if d.has("CodeBlob", "_code_begin") {
        AddressField::Pointer(at("_code_begin")?)
    } else {
        AddressField::FromBlob(at("_code_offset")?)
    };
    Ok(BlobLayout {
        name: at("_name")?,
        size: at("_size")?,
        frame_size: at("_frame_size")?,
        frame_complete: at("_frame_complete_offset")?,
        code,
    })
}

/// Up to 21 an nmethod is one block of memory with offsets from its start. In 25 two more blocks
/// exist, mutable and immutable data.
fn nmethod(d: &VmDictionary) -> Result<NmethodLayout, String> {
    let at = |field| d.offset("nmethod", field);
    let optional = |of, field| d.has(of, field).then(|| d.offset(of, field)).transpose();
    if d.has("nmethod", "_immutable_data") {
        let immutable = at("_immutable_data")?;
        let scopes = AddressField::FromPointer(immutable, at("_scopes_data_offset")?);
        return Ok(NmethodLayout {
            method: at("_method")?,
            compile_id: at("_compile_id")?,
            comp_level: at("_comp_level")?,
            orig_pc: at("_orig_pc_offset")?,
            verified_entry: AddressField::FromCode(at("_verified_entry_offset")?),
            // 26 renames it, since it is no longer where the handler's code begins.
            deopt_handler: AddressField::FromBlob(
                optional("nmethod", "_deopt_handler_entry_offset")?
                    .map_or_else(|| at("_deopt_handler_offset"), Ok)?,
            ),
            deopt_mh_handler: optional("nmethod", "_deopt_mh_handler_offset")?
                .map(AddressField::FromBlob),
            pcs: AddressField::FromPointer(immutable, at("_scopes_pcs_offset")?),
            pcs_end: scopes,
            scopes,
            metadata: AddressField::FromPointer(
                d.offset("CodeBlob", "_mutable_data")?,
                d.offset("CodeBlob", "_relocation_size")?,
            ),
        });
    }
    let compiled = |field| d.offset("CompiledMethod", field);
    Ok(NmethodLayout {
        method: compiled("_method")?,
        compile_id: at("_compile_id")?,
        comp_level: at("_comp_level")?,
        orig_pc: at("_orig_pc_offset")?,
        verified_entry: AddressField::Pointer(at("_verified_entry_point")?),
        deopt_handler: AddressField::Pointer(compiled("_deopt_handler_begin")?),
        deopt_mh_handler: optional("CompiledMethod", "_deopt_mh_handler_begin")?
            .map(AddressField::Pointer),
        pcs: AddressField::FromBlob(at("_scopes_pcs_offset")?),
        pcs_end: AddressField::FromBlob(at("_dependencies_offset")?),
        scopes: AddressField::Pointer(compiled("_scopes_data_begin")?),
        metadata: AddressField::FromBlob(at("_metadata_offset")?),
    })
}

fn method(d: &VmDictionary) -> Result<MethodLayout, String> {
    let constant = |field| d.offset("ConstMethod", field);
    Ok(MethodLayout {
        const_method: d.offset("Method", "_constMethod")?,
        access_flags: d.offset("Method", "_access_flags")?,
        constants: constant("_constants")?,
        code_size: constant("_code_size")?,
        idnum: constant("_method_idnum")?,
        name_index: constant("_name_index")?,
        signature_index: constant("_signature_index")?,
        bytecodes: d.size("ConstMethod")?,
        holder: d.offset("ConstantPool", "_pool_holder")?,
        entries: d.size("ConstantPool")?,
        klass_constants: d.offset("InstanceKlass", "_constants")?,
        ids: d.offset("InstanceKlass", "_methods_jmethod_ids")?,
        numbered_ids: false,
        methods: d.offset("InstanceKlass", "_methods")?,
        array_length: d.offset("Array<int>", "_length")?,
        array_data: d.offset("Array<Method*>", "_data")?,
        symbol_length: d.offset("Symbol", "_length")?,
        symbol_body: d.offset("Symbol", "_body")?,
    })
}
