//! The VM's structures as a walk needs them: offsets that the caller reads from the VM's own
//! tables, outside of handlers. None is guessed: a VM that does not name all of them is not walked.
//! All numbers are bytes unless said otherwise.

/// Code heaps at most: non-nmethods, profiled, non-profiled.
pub const MAX_HEAPS: usize = 4;

/// One part of the code cache. Reserved once, never moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CodeHeap {
    /// First address.
    pub low: usize,
    /// First address behind the reserved space.
    pub high: usize,
    /// Address of the word with the first address behind the part in use: behind it nothing is
    /// mapped, nor is the end of the segment map.
    pub end: usize,
    /// The segment map: one byte for each segment.
    pub segments: usize,
    /// Binary logarithm of the segment size.
    pub segment_shift: u32,
}

/// Fields of a `JavaFrameAnchor`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Anchor {
    /// `_last_Java_sp`.
    pub sp: usize,
    /// `_last_Java_pc`.
    pub pc: usize,
    /// `_last_Java_fp`.
    pub fp: usize,
}

/// The frame of an upcall stub, which holds the anchor of the Java frames before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UpcallFrame {
    /// `UpcallStub::_frame_data_offset`, 4 bytes: where the frame's data is, from the stack pointer.
    pub data: usize,
    /// The anchor in these data.
    pub anchor: Anchor,
}

/// Fields of a `CodeBlob`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlobLayout {
    /// `_name`, a C string.
    pub name: usize,
    /// `_size`, 4 bytes.
    pub size: usize,
    /// `_frame_size`, 4 bytes, in words.
    pub frame_size: usize,
    /// `_frame_complete_offset`: 2 bytes are enough, also where it has 4.
    pub frame_complete: usize,
    /// `_code_begin`.
    pub code: AddressField,
}

/// How a field of a blob or nmethod names an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressField {
    /// An address at this offset.
    Pointer(usize),
    /// A 4-byte distance at this offset, from the start of the blob.
    FromBlob(usize),
    /// A 2-byte distance at this offset, from the start of the code.
    FromCode(usize),
    /// A 4-byte distance at the second offset, from the address at the first.
    FromPointer(usize, usize),
}

impl Default for AddressField {
    fn default() -> Self {
        Self::Pointer(0)
    }
}

/// Fields of an `nmethod`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NmethodLayout {
    /// `_method`.
    pub method: usize,
    /// `_compile_id`, 4 bytes.
    pub compile_id: usize,
    /// `_comp_level`, 1 byte is enough.
    pub comp_level: usize,
    /// `_orig_pc_offset`, 4 bytes: where a frame keeps its real pc when its return address was
    /// replaced for deoptimization.
    pub orig_pc: usize,
    /// Verified entry point.
    pub verified_entry: AddressField,
    /// Deoptimization handler.
    pub deopt_handler: AddressField,
    /// The one for calls by method handles; compiled code without such calls has none.
    pub deopt_mh_handler: Option<AddressField>,
    /// `PcDesc`s.
    pub pcs: AddressField,
    /// End of the `PcDesc`s.
    pub pcs_end: AddressField,
    /// Scope descriptions.
    pub scopes: AddressField,
    /// Table of metadata (methods).
    pub metadata: AddressField,
}

/// Fields on the way from a `Method` to its id, index and name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MethodLayout {
    /// `Method::_constMethod`.
    pub const_method: usize,
    /// `Method::_access_flags`.
    pub access_flags: usize,
    /// `ConstMethod::_constants`.
    pub constants: usize,
    /// `ConstMethod::_code_size`, 2 bytes.
    pub code_size: usize,
    /// `ConstMethod::_method_idnum`, 2 bytes.
    pub idnum: usize,
    /// `ConstMethod::_name_index`, 2 bytes.
    pub name_index: usize,
    /// `ConstMethod::_signature_index`, 2 bytes.
    pub signature_index: usize,
    /// Size of `ConstMethod`: the bytecodes begin behind it.
    pub bytecodes: usize,
    /// `ConstantPool::_pool_holder`.
    pub holder: usize,
    /// Size of `ConstantPool`: the entries begin behind it.
    pub entries: usize,
    /// `InstanceKlass::_constants`.
    pub klass_constants: usize,
    /// `InstanceKlass::_methods_jmethod_ids`.
    pub ids: usize,
    /// Ids are numbers (26 and later); before, each is the address of a word with the method.
    pub numbered_ids: bool,
    /// `InstanceKlass::_methods`: an array, sorted by the addresses of the names.
    pub methods: usize,
    /// `Array::_length`, 4 bytes.
    pub array_length: usize,
    /// `Array<Method*>::_data`.
    pub array_data: usize,
    /// `Symbol::_length`, 2 bytes.
    pub symbol_length: usize,
    /// `Symbol::_body`.
    pub symbol_body: usize,
}

/// All offsets, and the few addresses that never change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VmTables {
    /// The anchor in a `JavaThread`, offsets from the thread.
    pub thread_anchor: Anchor,
    /// The anchor in a `JavaCallWrapper`, offsets from the wrapper.
    pub wrapper_anchor: Anchor,
    /// The frame in which native code calls Java by `java.lang.foreign`; `None` before 21.
    pub upcall: Option<UpcallFrame>,
    /// `JavaThread::_vframe_array_head`: not null while the thread's frames are being rebuilt.
    pub vframe_array_head: usize,
    /// `JavaThread::_saved_exception_pc`: where compiled code was left at a safepoint poll.
    pub saved_exception_pc: usize,
    /// `StubRoutines::_call_stub_return_address`: the pc that every Java frame called by the VM
    /// returns to.
    pub call_stub_return: usize,
    /// The interpreter's code.
    pub interpreter: (usize, usize),
    /// Code heaps in use.
    pub heaps: [CodeHeap; MAX_HEAPS],
    /// Lowest and highest address of all heaps.
    pub code: (usize, usize),
    /// Code of the VM's library, whose functions keep frame pointers; empty if it is not known.
    pub library: (usize, usize),
    /// Size of the header in front of a blob.
    pub block_header: usize,
    /// `HeapBlock::Header::_used`, 1 byte.
    pub block_used: usize,
    /// Fields of a `CodeBlob`.
    pub blob: BlobLayout,
    /// Fields of an `nmethod`.
    pub nmethod: NmethodLayout,
    /// Fields of methods and what they lead to.
    pub method: MethodLayout,
    /// What is excluded from the bytes of UNSIGNED5: 0 up to 19, 1 (the zero byte) from 20 on
    /// (JDK-8292758).
    pub unsigned5_excluded: u8,
    /// Interpreter frame: bytecode pointer, distance below the frame pointer.
    pub frame_bcp: usize,
    /// Entry frame: the call wrapper, distance below the frame pointer.
    pub frame_wrapper: usize,
    /// Virtual threads exist: the frame of `Continuation.enterSpecial` ends a walk.
    pub virtual_threads: bool,
}

/// Interpreter frame: the sender's stack pointer, distance below the frame pointer
/// (`interpreter_frame_sender_sp_offset`).
pub const FRAME_SENDER_SP: usize = 8;
/// Interpreter frame: the `Method`, distance below the frame pointer; behind sender's and last
/// stack pointer.
pub const FRAME_METHOD: usize = 24;
/// Size of a `PcDesc`: pc offset and scope offset come first, 4 bytes each. Checked against the
/// VM's tables at start.
pub const PC_DESC_SIZE: usize = 16;
