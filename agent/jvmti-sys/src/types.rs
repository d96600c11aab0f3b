//! Plain types of the specification. Names as there, without the prefix `jvmti`.

#![allow(
    non_camel_case_types,
    reason = "reference types keep the names JNI and JVMTI programmers know"
)]

use core::ffi::{c_char, c_uchar, c_void};

use jni_sys::{JNIEnv, jclass, jint, jlong, jmethodID, jobject};

use crate::env::JvmtiEnv;
use crate::error::JvmtiError;

/// Reference to a thread.
pub type jthread = jobject;
/// Reference to a thread group.
pub type jthreadGroup = jobject;
/// Reference to a module.
pub type jmodule = jobject;
/// A truth value in the VM's memory: 0 or 1. Not Rust's `bool`, whose other bit patterns are
/// undefined behaviour.
pub type Boolean = c_uchar;
/// Place in a method: a bytecode index, -1 in a native method.
pub type jlocation = jlong;
/// A raw monitor.
pub type jrawMonitorID = *mut _jrawMonitorID;

/// What a [`jrawMonitorID`] points to; never looked into.
#[repr(C)]
#[derive(Debug)]
pub struct _jrawMonitorID {
    _private: [u8; 0],
}

/// Version 1.2, what JDK 8 gives.
pub const VERSION_1_2: jint = 0x3001_0200;
/// Version 9.
pub const VERSION_9: jint = 0x3009_0000;
/// Version 11: the newest that every supported JDK (17, 21, 25) accepts in `GetEnv`.
pub const VERSION_11: jint = 0x300B_0000;
/// Version 19.
pub const VERSION_19: jint = 0x3013_0000;
/// Version 21: virtual threads.
pub const VERSION_21: jint = 0x3015_0000;

macro_rules! numbers {
    ($(#[$doc:meta])* $type:ident $base:ty; $($value:literal $name:ident $text:literal;)+) => {
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $type(pub $base);

        impl $type {
            $(#[doc = concat!($text, " (", $value, ").")]
            pub const $name: Self = Self($value);)+

            /// Every value of the specification.
            pub const ALL: &'static [Self] = &[$(Self($value)),+];

            /// Name of the constant; `None` for a number the specification does not list.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some(stringify!($name)),)+
                    _ => None,
                }
            }
        }
    };
}

numbers! {
    /// Where the VM is in its life (`GetPhase`).
    Phase jint;
    1 ONLOAD "Inside `Agent_OnLoad`";
    2 PRIMORDIAL "Between `Agent_OnLoad` and VM start";
    6 START "Between VM start and VM initialisation";
    4 LIVE "Between VM initialisation and VM death";
    8 DEAD "After VM death, or when starting failed";
}

numbers! {
    /// Whether an event is delivered (`SetEventNotificationMode`).
    EventMode jint;
    0 DISABLE "Do not deliver";
    1 ENABLE "Deliver";
}

numbers! {
    /// Direction of an argument of an extension function or event.
    ParamKind jint;
    91 IN "Read by the function";
    92 IN_PTR "Pointer, read by the function";
    93 IN_BUF "Array, read by the function";
    94 ALLOC_BUF "Array that the function allocates, free it with `Deallocate`";
    95 ALLOC_ALLOC_BUF "Array of arrays that the function allocates";
    96 OUT "Pointer, written by the function";
    97 OUT_BUF "Array, written by the function";
}

numbers! {
    /// Type of an argument of an extension function or event.
    ParamType jint;
    101 JBYTE "`jbyte`";
    102 JCHAR "`jchar`";
    103 JSHORT "`jshort`";
    104 JINT "`jint`";
    105 JLONG "`jlong`";
    106 JFLOAT "`jfloat`";
    107 JDOUBLE "`jdouble`";
    108 JBOOLEAN "`jboolean`";
    109 JOBJECT "`jobject`";
    110 JTHREAD "`jthread`";
    111 JCLASS "`jclass`";
    112 JVALUE "`jvalue`";
    113 JFIELDID "`jfieldID`";
    114 JMETHODID "`jmethodID`";
    115 CCHAR "`char`";
    116 CVOID "`void`";
    117 JNIENV "`JNIEnv`";
}

numbers! {
    /// How locations are counted (`GetJLocationFormat`).
    JLocationFormat jint;
    0 OTHER "Neither of the others";
    1 JVMBCI "Bytecode index";
    2 MACHINEPC "Machine code address";
}

numbers! {
    /// What `SetVerboseFlag` switches.
    VerboseFlag jint;
    0 OTHER "Anything else";
    1 GC "Garbage collection";
    2 CLASS "Class loading";
    4 JNI "JNI";
}

numbers! {
    /// How a timer counts.
    TimerKind jint;
    30 USER_CPU "CPU time of user code";
    31 TOTAL_CPU "CPU time of user code and the kernel for it";
    32 ELAPSED "Time that passed";
}

/// Bits of `GetThreadState`.
pub mod thread_state {
    use jni_sys::jint;

    /// Started and not dead.
    pub const ALIVE: jint = 0x0001;
    /// Dead.
    pub const TERMINATED: jint = 0x0002;
    /// Runnable.
    pub const RUNNABLE: jint = 0x0004;
    /// Waits for a monitor to enter.
    pub const BLOCKED_ON_MONITOR_ENTER: jint = 0x0400;
    /// Waits.
    pub const WAITING: jint = 0x0080;
    /// Waits without limit.
    pub const WAITING_INDEFINITELY: jint = 0x0010;
    /// Waits with a time limit.
    pub const WAITING_WITH_TIMEOUT: jint = 0x0020;
    /// Sleeps.
    pub const SLEEPING: jint = 0x0040;
    /// In `Object.wait`.
    pub const IN_OBJECT_WAIT: jint = 0x0100;
    /// Parked.
    pub const PARKED: jint = 0x0200;
    /// Suspended.
    pub const SUSPENDED: jint = 0x0010_0000;
    /// Interrupted.
    pub const INTERRUPTED: jint = 0x0020_0000;
    /// In native code.
    pub const IN_NATIVE: jint = 0x0040_0000;
}

/// Flags of the event `ResourceExhausted`.
pub mod resource {
    use jni_sys::jint;

    /// An `OutOfMemoryError` is thrown.
    pub const OOM_ERROR: jint = 0x0001;
    /// The Java heap is used up.
    pub const JAVA_HEAP: jint = 0x0002;
    /// No thread can be made.
    pub const THREADS: jint = 0x0004;
}

/// Lowest priority for `RunAgentThread`.
pub const THREAD_MIN_PRIORITY: jint = 1;
/// Normal priority for `RunAgentThread`.
pub const THREAD_NORM_PRIORITY: jint = 5;
/// Highest priority for `RunAgentThread`.
pub const THREAD_MAX_PRIORITY: jint = 10;

/// Result of `GetThreadInfo`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ThreadInfo {
    /// Name, modified UTF-8; free with `Deallocate`.
    pub name: *mut c_char,
    /// Priority.
    pub priority: jint,
    /// 1 for a daemon thread.
    pub is_daemon: Boolean,
    /// Local reference, null for a dead thread.
    pub thread_group: jthreadGroup,
    /// Local reference, may be null.
    pub context_class_loader: jobject,
}

/// Result of `GetThreadGroupInfo`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ThreadGroupInfo {
    /// Local reference, null at the top.
    pub parent: jthreadGroup,
    /// Name, modified UTF-8; free with `Deallocate`.
    pub name: *mut c_char,
    /// Highest priority of the group.
    pub max_priority: jint,
    /// 1 for a daemon group.
    pub is_daemon: Boolean,
}

/// One frame of `GetStackTrace`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FrameInfo {
    /// The method.
    pub method: jmethodID,
    /// Bytecode index, -1 in a native method.
    pub location: jlocation,
}

/// One thread of `GetAllStackTraces`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct StackInfo {
    /// Local reference.
    pub thread: jthread,
    /// Bits of [`thread_state`].
    pub state: jint,
    /// Frames; freed with the whole.
    pub frame_buffer: *mut FrameInfo,
    /// Number of frames.
    pub frame_count: jint,
}

/// One row of `GetLineNumberTable`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LineNumberEntry {
    /// First bytecode index of the line.
    pub start_location: jlocation,
    /// Line number.
    pub line_number: jint,
}

/// One row of `GetLocalVariableTable`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LocalVariableEntry {
    /// First bytecode index where the variable is valid.
    pub start_location: jlocation,
    /// Length of the range.
    pub length: jint,
    /// Name; free with `Deallocate`.
    pub name: *mut c_char,
    /// Type signature; free with `Deallocate`.
    pub signature: *mut c_char,
    /// Generic signature or null; free with `Deallocate`.
    pub generic_signature: *mut c_char,
    /// Slot.
    pub slot: jint,
}

/// One range of the event `CompiledMethodLoad`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AddrLocationMap {
    /// First machine code address.
    pub start_address: *const c_void,
    /// Bytecode index, -1 for a prologue or an epilogue.
    pub location: jlocation,
}

/// A class for `RedefineClasses`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ClassDefinition {
    /// The class.
    pub klass: jclass,
    /// Length of the class file in bytes.
    pub class_byte_count: jint,
    /// The class file.
    pub class_bytes: *const c_uchar,
}

/// Result of `GetObjectMonitorUsage`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MonitorUsage {
    /// Owner or null; local reference.
    pub owner: jthread,
    /// How often the owner entered.
    pub entry_count: jint,
    /// Number of threads that want to enter.
    pub waiter_count: jint,
    /// Threads that want to enter.
    pub waiters: *mut jthread,
    /// Number of threads that wait to be notified.
    pub notify_waiter_count: jint,
    /// Threads that wait to be notified.
    pub notify_waiters: *mut jthread,
}

/// One monitor of `GetOwnedMonitorStackDepthInfo`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MonitorStackDepthInfo {
    /// The object; local reference.
    pub monitor: jobject,
    /// Depth of the frame that entered, -1 if unknown.
    pub stack_depth: jint,
}

/// Result of `GetTimerInfo` and its relatives.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TimerInfo {
    /// Largest value, seen as unsigned.
    pub max_value: jlong,
    /// 1 if the timer may be set forward.
    pub may_skip_forward: Boolean,
    /// 1 if the timer may be set backward.
    pub may_skip_backward: Boolean,
    /// What is counted.
    pub kind: TimerKind,
    /// Not used.
    pub reserved1: jlong,
    /// Not used.
    pub reserved2: jlong,
}

/// An argument of an extension function or event.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ParamInfo {
    /// Name.
    pub name: *mut c_char,
    /// Direction.
    pub kind: ParamKind,
    /// Type.
    pub base_type: ParamType,
    /// 1 if null is allowed.
    pub null_ok: Boolean,
}

/// A function of `GetExtensionFunctions`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ExtensionFunctionInfo {
    /// The function.
    pub func: Option<ExtensionFunction>,
    /// Identifier, like a package name.
    pub id: *mut c_char,
    /// One sentence.
    pub short_description: *mut c_char,
    /// Number of arguments after the environment.
    pub param_count: jint,
    /// The arguments.
    pub params: *mut ParamInfo,
    /// Number of errors it may return beyond the universal ones.
    pub error_count: jint,
    /// These errors.
    pub errors: *mut JvmtiError,
}

/// An event of `GetExtensionEvents`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ExtensionEventInfo {
    /// Number for `SetExtensionEventCallback`.
    pub extension_event_index: jint,
    /// Identifier, like a package name.
    pub id: *mut c_char,
    /// One sentence.
    pub short_description: *mut c_char,
    /// Number of arguments after the environment.
    pub param_count: jint,
    /// The arguments.
    pub params: *mut ParamInfo,
}

/// An extension function: [`ExtensionFunctionInfo::params`] describes its arguments.
pub type ExtensionFunction = unsafe extern "C" fn(JvmtiEnv, ...) -> JvmtiError;
/// Callback of an extension event. The VM calls it with the arguments described by
/// [`ExtensionEventInfo::params`]: cast your function to this type, with that list of arguments
/// after the environment.
pub type ExtensionEvent = unsafe extern "C" fn(JvmtiEnv, ...);
/// Body of a thread started with `RunAgentThread`.
pub type StartFunction = unsafe extern "system" fn(JvmtiEnv, *mut JNIEnv, *mut c_void);
