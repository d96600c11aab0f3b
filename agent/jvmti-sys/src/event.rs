//! Events and their callbacks, section "Events" of the specification.
//!
//! The callbacks are an array of pointers: event *n* is entry *n* − 50.

use core::ffi::{c_char, c_uchar, c_void};
use core::fmt;
use core::ptr;

use jni_sys::{JNIEnv, jclass, jfieldID, jint, jlong, jmethodID, jobject, jvalue};

use crate::env::JvmtiEnv;
use crate::types::{AddrLocationMap, Boolean, jlocation, jthread};

/// Number of one event.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Event(pub jint);

/// Number of the first event.
pub const FIRST_EVENT: jint = 50;
/// Number of the last event.
pub const LAST_EVENT: jint = 88;
/// Number of entries of [`EventCallbacks`], reserved ones included.
pub const CALLBACKS_LEN: usize = 39;

/// The callbacks of an environment, for `SetEventCallbacks`. An unset one is null.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EventCallbacks {
    entries: [*const c_void; CALLBACKS_LEN],
}

impl Default for EventCallbacks {
    fn default() -> Self {
        Self::NONE
    }
}

impl EventCallbacks {
    /// No callbacks.
    pub const NONE: Self = Self {
        entries: [ptr::null(); CALLBACKS_LEN],
    };

    /// Size in bytes, the second argument of `SetEventCallbacks`. A VM that knows fewer events
    /// reads the first part only.
    pub const SIZE: jint = 8 * 39;

    /// The callback of `event`; null if it is unset or the number is no event.
    pub const fn get(&self, event: Event) -> *const c_void {
        let index = event.0.wrapping_sub(FIRST_EVENT).cast_unsigned() as usize;
        if index < CALLBACKS_LEN {
            self.entries[index]
        } else {
            ptr::null()
        }
    }
}

const _: () = assert!(size_of::<EventCallbacks>() == 312, "39 pointers");
const _: () = assert!(EventCallbacks::SIZE == 312, "SIZE is the size");

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event({} {})", self.0, self.name().unwrap_or("reserved"))
    }
}

macro_rules! events {
    ($($number:literal $name:ident $upper:ident $setter:ident $callback:ident($(
        $arg:ident: $type:ty),*) $text:literal;)+) => {
        impl Event {
            $(#[doc = concat!($text, " (", $number, ", `", stringify!($name), "`).")]
            pub const $upper: Self = Self($number);)+

            /// Every event of the specification, in rising order.
            pub const ALL: &'static [Self] = &[$(Self($number)),+];

            /// Name in the specification; `None` for a number that is reserved or no event.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some(stringify!($name)),)+
                    _ => None,
                }
            }
        }

        $(
            #[doc = concat!("Callback of `", stringify!($name), "`: ", $text,
                ". Arguments after the environment: ", $("`", stringify!($arg), "` ",)* ".")]
            pub type $callback = unsafe extern "system" fn(JvmtiEnv, $($type),*);
        )+

        impl EventCallbacks {
            $(
                #[doc = concat!("With the callback of `", stringify!($name), "` set.")]
                #[must_use]
                pub const fn $setter(mut self, callback: $callback) -> Self {
                    self.entries[($number - FIRST_EVENT) as usize] = callback as *const c_void;
                    self
                }
            )+
        }

        /// Number, name and Rust types of the arguments of each callback; the header test turns
        /// them into C.
        #[doc(hidden)]
        pub const CALLBACK_SIGNATURES: &[(jint, &str, &[&str])] = &[
            $(($number, stringify!($name), &[$(stringify!($type)),*])),+
        ];
    };
}

events! {
    50 VMInit VM_INIT vm_init VmInit(jni: *mut JNIEnv, thread: jthread)
        "The VM is up, the live phase begins";
    51 VMDeath VM_DEATH vm_death VmDeath(jni: *mut JNIEnv) "The VM ends; the last event";
    52 ThreadStart THREAD_START thread_start ThreadStart(jni: *mut JNIEnv, thread: jthread)
        "A platform thread begins, on that thread";
    53 ThreadEnd THREAD_END thread_end ThreadEnd(jni: *mut JNIEnv, thread: jthread)
        "A platform thread ends, on that thread";
    54 ClassFileLoadHook CLASS_FILE_LOAD_HOOK class_file_load_hook ClassFileLoadHook(
        jni: *mut JNIEnv, redefined: jclass, loader: jobject, name: *const c_char, domain: jobject,
        len: jint, data: *const c_uchar, new_len: *mut jint, new_data: *mut *mut c_uchar)
        "A class file was read, it may be replaced";
    55 ClassLoad CLASS_LOAD class_load ClassLoad(jni: *mut JNIEnv, thread: jthread, class: jclass)
        "A class was loaded";
    56 ClassPrepare CLASS_PREPARE class_prepare ClassPrepare(jni: *mut JNIEnv, thread: jthread,
        class: jclass) "A class was prepared: its methods are known";
    57 VMStart VM_START vm_start VmStart(jni: *mut JNIEnv) "The VM starts, JNI can be used";
    58 Exception EXCEPTION exception Exception(jni: *mut JNIEnv, thread: jthread,
        method: jmethodID, location: jlocation, exception: jobject, catch_method: jmethodID,
        catch_location: jlocation) "An exception is thrown";
    59 ExceptionCatch EXCEPTION_CATCH exception_catch ExceptionCatch(jni: *mut JNIEnv,
        thread: jthread, method: jmethodID, location: jlocation, exception: jobject)
        "An exception is caught";
    60 SingleStep SINGLE_STEP single_step SingleStep(jni: *mut JNIEnv, thread: jthread,
        method: jmethodID, location: jlocation) "A thread is at a new location";
    61 FramePop FRAME_POP frame_pop FramePop(jni: *mut JNIEnv, thread: jthread, method: jmethodID,
        by_exception: Boolean) "A frame asked for is left";
    62 Breakpoint BREAKPOINT breakpoint Breakpoint(jni: *mut JNIEnv, thread: jthread,
        method: jmethodID, location: jlocation) "A thread is at a breakpoint";
    63 FieldAccess FIELD_ACCESS field_access FieldAccess(jni: *mut JNIEnv, thread: jthread,
        method: jmethodID, location: jlocation, class: jclass, object: jobject, field: jfieldID)
        "A watched field is read";
    64 FieldModification FIELD_MODIFICATION field_modification FieldModification(jni: *mut JNIEnv,
        thread: jthread, method: jmethodID, location: jlocation, class: jclass, object: jobject,
        field: jfieldID, type_char: c_char, value: jvalue) "A watched field is written";
    65 MethodEntry METHOD_ENTRY method_entry MethodEntry(jni: *mut JNIEnv, thread: jthread,
        method: jmethodID) "A method is entered";
    66 MethodExit METHOD_EXIT method_exit MethodExit(jni: *mut JNIEnv, thread: jthread,
        method: jmethodID, by_exception: Boolean, value: jvalue) "A method is left";
    67 NativeMethodBind NATIVE_METHOD_BIND native_method_bind NativeMethodBind(jni: *mut JNIEnv,
        thread: jthread, method: jmethodID, address: *mut c_void, new_address: *mut *mut c_void)
        "A native method is bound, its address may be replaced";
    68 CompiledMethodLoad COMPILED_METHOD_LOAD compiled_method_load CompiledMethodLoad(
        method: jmethodID, code_size: jint, code: *const c_void, map_len: jint,
        map: *const AddrLocationMap, info: *const c_void) "Compiled code of a method is in place";
    69 CompiledMethodUnload COMPILED_METHOD_UNLOAD compiled_method_unload CompiledMethodUnload(
        method: jmethodID, code: *const c_void) "Compiled code of a method goes away";
    70 DynamicCodeGenerated DYNAMIC_CODE_GENERATED dynamic_code_generated DynamicCodeGenerated(
        name: *const c_char, address: *const c_void, length: jint)
        "The VM made a piece of code for itself";
    71 DataDumpRequest DATA_DUMP_REQUEST data_dump_request DataDumpRequest()
        "Somebody asks for a dump of data";
    73 MonitorWait MONITOR_WAIT monitor_wait MonitorWait(jni: *mut JNIEnv, thread: jthread,
        object: jobject, timeout: jlong) "A thread begins to wait";
    74 MonitorWaited MONITOR_WAITED monitor_waited MonitorWaited(jni: *mut JNIEnv, thread: jthread,
        object: jobject, timed_out: Boolean) "A thread has waited";
    75 MonitorContendedEnter MONITOR_CONTENDED_ENTER monitor_contended_enter MonitorContendedEnter(
        jni: *mut JNIEnv, thread: jthread, object: jobject) "A thread blocks on a monitor";
    76 MonitorContendedEntered MONITOR_CONTENDED_ENTERED monitor_contended_entered MonitorContendedEntered(jni: *mut JNIEnv, thread: jthread, object: jobject) "A thread got the monitor it blocked on";
    80 ResourceExhausted RESOURCE_EXHAUSTED resource_exhausted ResourceExhausted(jni: *mut JNIEnv,
        flags: jint, reserved: *const c_void, description: *const c_char)
        "Heap or threads are used up";
    81 GarbageCollectionStart GARBAGE_COLLECTION_START garbage_collection_start GarbageCollectionStart() "A pause of the garbage collector begins";
    82 GarbageCollectionFinish GARBAGE_COLLECTION_FINISH garbage_collection_finish GarbageCollectionFinish() "A pause of the garbage collector ends";
    83 ObjectFree OBJECT_FREE object_free ObjectFree(tag: jlong) "A tagged object was freed";
    84 VMObjectAlloc VM_OBJECT_ALLOC vm_object_alloc VmObjectAlloc(jni: *mut JNIEnv,
        thread: jthread, object: jobject, class: jclass, size: jlong)
        "The VM itself allocated an object";
    86 SampledObjectAlloc SAMPLED_OBJECT_ALLOC sampled_object_alloc SampledObjectAlloc(
        jni: *mut JNIEnv, thread: jthread, object: jobject, class: jclass, size: jlong)
        "A sampled allocation";
    87 VirtualThreadStart VIRTUAL_THREAD_START virtual_thread_start VirtualThreadStart(
        jni: *mut JNIEnv, thread: jthread) "A virtual thread begins, on that thread (21 and later)";
    88 VirtualThreadEnd VIRTUAL_THREAD_END virtual_thread_end VirtualThreadEnd(jni: *mut JNIEnv,
        thread: jthread) "A virtual thread ends, on that thread (21 and later)";
}
