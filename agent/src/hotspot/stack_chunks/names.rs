//! Symbols of libjvm. The offsets are static variables of 4 bytes.
pub(super) const THREAD_CONTINUATION: &str = "_ZN16java_lang_Thread20_continuation_offsetE";
pub(super) const VIRTUAL_CONTINUATION: &str = "_ZN23java_lang_VirtualThread20_continuation_offsetE";
pub(super) const PARENT: &str = "_ZN28jdk_internal_vm_Continuation14_parent_offsetE";
pub(super) const TAIL: &str = "_ZN28jdk_internal_vm_Continuation12_tail_offsetE";
pub(super) const CHUNK_PARENT: &str = "_ZN26jdk_internal_vm_StackChunk14_parent_offsetE";
pub(super) const CHUNK_SIZE: &str = "_ZN26jdk_internal_vm_StackChunk12_size_offsetE";
pub(super) const CHUNK_SP: &str = "_ZN26jdk_internal_vm_StackChunk10_sp_offsetE";
/// Since 21.0.5; another field was in its place before (JDK-8329088).
pub(super) const CHUNK_BOTTOM: &str = "_ZN26jdk_internal_vm_StackChunk14_bottom_offsetE";
pub(super) const CHUNK_PC: &str = "_ZN26jdk_internal_vm_StackChunk10_pc_offsetE";
pub(super) const CHUNK_STACK: &str = "_ZN23InstanceStackChunkKlass16_offset_of_stackE";
pub(super) const PAUSE_STATE: &str = "_ZN20SafepointSynchronize6_stateE";
pub(super) const PAUSE_COUNTER: &str = "_ZN20SafepointSynchronize18_safepoint_counterE";
pub(super) const YOUNG: &str = "_ZN11ZGeneration6_youngE";
pub(super) const OLD: &str = "_ZN11ZGeneration4_oldE";
pub(super) const LOAD_BAD_MASK: &str = "ZPointerLoadBadMask";
pub(super) const YOUNG_MASK: &str = "ZPointerRemappedYoungMask";
pub(super) const OLD_MASK: &str = "ZPointerRemappedOldMask";
pub(super) const OFFSET_MASK: &str = "ZAddressOffsetMask";
pub(super) const MAX_ADDRESS: &str = "ZAddressOffsetMax";
pub(super) const HEAP_BASE: &str = "ZAddressHeapBase";
pub(super) const BAD_MASK: &str = "XAddressBadMask";
pub(super) const WEAK_BAD_MASK: &str = "XAddressWeakBadMask";
pub(super) const HIGH_OFFSET_MASK: &str = "XAddressOffsetMask";
pub(super) const GOOD_MASK: &str = "XAddressGoodMask";
/// Flags of the VM: 1 byte each. One that a release does not have is off.
pub(super) const NARROW_REFERENCES: &str = "UseCompressedOops";
pub(super) const NARROW_CLASSES: &str = "UseCompressedClassPointers";
pub(super) const COMPACT_HEADERS: &str = "UseCompactObjectHeaders";
pub(super) const SHENANDOAH: &str = "UseShenandoahGC";
pub(super) const ZGC: &str = "UseZGC";

/// 21 only: later ZGC has generations always.
pub(super) const GENERATIONAL: &str = "ZGenerational";

pub(super) const ALL: [&str; 30] = [
    THREAD_CONTINUATION,
    VIRTUAL_CONTINUATION,
    PARENT,
    TAIL,
    CHUNK_PARENT,
    CHUNK_SIZE,
    CHUNK_SP,
    CHUNK_BOTTOM,
    CHUNK_PC,
    CHUNK_STACK,
    PAUSE_STATE,
    PAUSE_COUNTER,
    YOUNG,
    OLD,
    LOAD_BAD_MASK,
    YOUNG_MASK,
    OLD_MASK,
    OFFSET_MASK,
    MAX_ADDRESS,
    HEAP_BASE,
    BAD_MASK,
    WEAK_BAD_MASK,
    HIGH_OFFSET_MASK,
    GOOD_MASK,
    NARROW_REFERENCES,
    NARROW_CLASSES,
    COMPACT_HEADERS,
    SHENANDOAH,
    ZGC,
    GENERATIONAL,
];
