//! The JVMTI functions that the agent uses, as safe methods.
//!
//! Rules: (1) the environment was made in `Agent_OnLoad`/`Agent_OnAttach` and is disposed of only if no agent came of it; (2) memory that the VM hands out is
//! copied and given back before a method returns; (3) object references are local references of the calling thread or global ones.

#![expect(unsafe_code, reason = "boundary to JVMTI and JNI")]

use super::jni::Jni;
use fault_injection::Fault;
use jni_sys::{JNIEnv, JavaVM, jclass, jint, jmethodID, jobject};
use jvmti_sys::{
    Capabilities, Capability, Event, EventCallbacks, EventMode, ExtensionEvent, ExtensionEventInfo,
    FrameInfo, JvmtiEnv, JvmtiError, LineNumberEntry, ThreadInfo,
};
use std::ffi::{CStr, CString, c_char};
use std::ptr;

/// The environment of this agent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Jvmti(JvmtiEnv);

// SAFETY: JVMTI environments may be used from any thread (specification, "Environments").
unsafe impl Send for Jvmti {}
// SAFETY: as above; the VM synchronises inside.
unsafe impl Sync for Jvmti {}

/// Callback of an extension event about a thread.
pub(crate) type ThreadCallback = unsafe extern "C" fn(JvmtiEnv, *mut JNIEnv, jobject);

/// Callbacks of the events that a virtual thread was mounted on the calling carrier, or unmounted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MountCallbacks {
    pub(crate) mounted: ThreadCallback,
    pub(crate) unmounted: ThreadCallback,
}

/// A result of JVMTI.
pub(crate) type Result<T> = std::result::Result<T, JvmtiError>;

/// Name, descriptor and modifiers of a method, and its class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MethodName {
    pub(crate) name: String,
    pub(crate) descriptor: String,
    pub(crate) modifiers: u32,
}

impl Jvmti {
    /// Makes the environment: one per process, because its mere existence costs each virtual-thread switch.
    pub(crate) fn new(vm: *mut JavaVM) -> Result<Self> {
        // SAFETY: `vm` is the VM that called the agent's entry point.
        let env = unsafe { JvmtiEnv::from_vm(vm, jvmti_sys::VERSION_11) }
            .map_err(|_| JvmtiError::NOT_AVAILABLE)?;
        Ok(Self(env))
    }

    /// Gives the environment back: no agent came of it, and nobody has a copy that uses it.
    pub(crate) fn dispose(self) {
        // SAFETY: rule 1. Failure: it stays, without any event.
        let _ = unsafe { self.0.dispose_environment() };
    }

    /// Adds what the recording needs: line numbers, GC pauses.
    pub(crate) fn add_capabilities(self) -> Result<()> {
        let wanted = Capabilities::NONE
            .with(Capability::CAN_GET_LINE_NUMBERS)
            .with(Capability::CAN_GENERATE_GARBAGE_COLLECTION_EVENTS);
        // SAFETY: rule 1; the VM copies the bits.
        unsafe { self.0.add_capabilities(&raw const wanted) }.ok()
    }

    /// Adds a capability that only some recordings need.
    pub(crate) fn add_capability(self, capability: Capability) -> Result<()> {
        let wanted = Capabilities::NONE.with(capability);
        // SAFETY: rule 1; the VM copies the bits.
        unsafe { self.0.add_capabilities(&raw const wanted) }.ok()
    }

    /// Gives a capability back, for other agents.
    pub(crate) fn relinquish(self, capability: Capability) -> Result<()> {
        let unwanted = Capabilities::NONE.with(capability);
        // SAFETY: rule 1; the VM copies the bits.
        unsafe { self.0.relinquish_capabilities(&raw const unwanted) }.ok()
    }

    /// Mean bytes between two sampled allocations.
    pub(crate) fn set_heap_sampling_interval(self, bytes: u64) -> Result<()> {
        let bytes = jint::try_from(bytes).unwrap_or(jint::MAX);
        // SAFETY: rule 1.
        unsafe { self.0.set_heap_sampling_interval(bytes) }.ok()
    }

    /// The stack of the calling thread, platform or virtual, as (method id, bytecode index), topmost first; empty if it has none.
    pub(crate) fn stack_here(self, depth: usize) -> Vec<(usize, i32)> {
        // Space for the deepest stack is made only for a deep one.
        const ORDINARY: usize = 256;
        let frames = self.frames_here(depth.min(ORDINARY));
        if frames.len() == ORDINARY && depth > ORDINARY {
            return self.frames_here(depth);
        }
        frames
    }

    fn frames_here(self, depth: usize) -> Vec<(usize, i32)> {
        let none = FrameInfo {
            method: ptr::null_mut(),
            location: 0,
        };
        let mut frames = vec![none; depth];
        let mut count: jint = 0;
        // SAFETY: rule 1; null = the calling thread; room for `depth` frames.
        let answer = unsafe {
            self.0.get_stack_trace(
                ptr::null_mut(),
                0,
                jint::try_from(depth).unwrap_or(0),
                frames.as_mut_ptr(),
                &raw mut count,
            )
        };
        if answer.ok().is_err() {
            return Vec::new();
        }
        let found = frames.iter().take(usize::try_from(count).unwrap_or(0));
        found
            .map(|f| {
                let bci = i32::try_from(f.location).unwrap_or(-1);
                (f.method.expose_provenance(), bci)
            })
            .collect()
    }

    /// `System.identityHashCode` of an object.
    pub(crate) fn identity_hash(self, object: jobject) -> Result<u32> {
        let mut hash: jint = 0;
        // SAFETY: rule 1 and 3; a valid place.
        unsafe { self.0.get_object_hash_code(object, &raw mut hash) }.ok()?;
        Ok(hash.cast_unsigned())
    }

    /// Sets all callbacks at once.
    pub(crate) fn set_callbacks(self, callbacks: &EventCallbacks) -> Result<()> {
        // SAFETY: rule 1; the VM copies the table.
        unsafe {
            self.0
                .set_event_callbacks(ptr::from_ref(callbacks), EventCallbacks::SIZE)
        }
        .ok()
    }

    /// Turns an event on or off for all threads.
    pub(crate) fn notify(self, event: Event, on: bool) -> Result<()> {
        let mode = if on {
            EventMode::ENABLE
        } else {
            EventMode::DISABLE
        };
        // SAFETY: rule 1; null = all threads.
        unsafe {
            self.0
                .set_event_notification_mode(mode, event, ptr::null_mut())
        }
        .ok()
    }

    /// Turns the events on or off that a recording with stacks needs: AsyncGetCallTrace answers nothing
    /// unless ClassLoad is on.
    pub(crate) fn notify_of_classes(self, on: bool) -> Result<()> {
        [Event::CLASS_LOAD, Event::CLASS_PREPARE]
            .into_iter()
            .try_for_each(|event| self.notify(event, on))
    }

    /// Has the VM post each mount of a virtual thread, for the life of the VM: the last resort, see
    /// `vthreads=events`. It costs each switch of a virtual thread.
    pub(crate) fn enable_mount_events(self, callbacks: MountCallbacks) -> Result<()> {
        self.add_capability(Capability::CAN_SUPPORT_VIRTUAL_THREADS)?;
        let MountCallbacks { mounted, unmounted } = callbacks;
        self.watch_extension(c"com.sun.hotspot.events.VirtualThreadMount", mounted)?;
        self.watch_extension(c"com.sun.hotspot.events.VirtualThreadUnmount", unmounted)
    }

    /// Calls `callback` at each event of this VM's own that has the identifier `id` and a thread as its argument.
    fn watch_extension(self, id: &CStr, callback: ThreadCallback) -> Result<()> {
        let index = self.extension_event(id).ok_or(JvmtiError::NOT_AVAILABLE)?;
        // SAFETY: only the list of arguments differs; the VM passes those of `ThreadCallback` to this event.
        let callback: ExtensionEvent = unsafe { std::mem::transmute(callback) };
        // SAFETY: rule 1; an index that the VM gave.
        unsafe { self.0.set_extension_event_callback(index, Some(callback)) }.ok()?;
        // The callback alone gets nothing on HotSpot.
        self.notify(Event(index), true)
    }

    /// Number of an event of this VM's own.
    fn extension_event(self, id: &CStr) -> Option<jint> {
        let mut count: jint = 0;
        let mut events: *mut ExtensionEventInfo = ptr::null_mut();
        // SAFETY: rule 1; valid places.
        unsafe { self.0.get_extension_events(&raw mut count, &raw mut events) }
            .ok()
            .ok()?;
        let mut found = None;
        for event in self.take_array(events, count) {
            if self.take_string(event.id).as_deref() == id.to_str().ok() {
                found = Some(event.extension_event_index);
            }
            self.deallocate(event.short_description.cast());
            for param in self.take_array(event.params, event.param_count) {
                self.deallocate(param.name.cast());
            }
        }
        found
    }

    /// A property of the VM, `None` if there is none of that name.
    pub(crate) fn property(self, name: &CStr) -> Option<String> {
        let mut value: *mut c_char = ptr::null_mut();
        // SAFETY: rule 1; valid name and place.
        unsafe { self.0.get_system_property(name.as_ptr(), &raw mut value) }
            .ok()
            .ok()?;
        self.take_string(value)
    }

    /// Lets the module `to` use `package` (with dots) of the boot loader's module that has it.
    pub(crate) fn export_package(self, package: &CStr, to: jobject) -> Result<()> {
        let internal = CString::new(
            package
                .to_bytes()
                .iter()
                .map(|b| if *b == b'.' { b'/' } else { *b })
                .collect::<Vec<_>>(),
        )
        .map_err(|_| JvmtiError::ILLEGAL_ARGUMENT)?;
        let mut module: jobject = ptr::null_mut();
        // SAFETY: rule 1; null = boot loader; valid name and place.
        unsafe {
            self.0
                .get_named_module(ptr::null_mut(), internal.as_ptr(), &raw mut module)
        }
        .ok()?;
        // SAFETY: rule 1 and 3; both modules are references of the calling thread.
        unsafe { self.0.add_module_exports(module, package.as_ptr(), to) }.ok()
    }

    /// Lets the classes of a module use what another one exports. Nothing to do for an unnamed module.
    pub(crate) fn add_reads(self, module: jobject, other: jobject) -> Result<()> {
        // SAFETY: rule 1 and 3; both modules are references of the calling thread.
        unsafe { self.0.add_module_reads(module, other) }.ok()
    }

    /// All properties of the VM.
    pub(crate) fn properties(self) -> Vec<(String, String)> {
        let mut count: jint = 0;
        let mut names: *mut *mut c_char = ptr::null_mut();
        // SAFETY: rule 1; valid places.
        if unsafe { self.0.get_system_properties(&raw mut count, &raw mut names) }
            .ok()
            .is_err()
        {
            return Vec::new();
        }
        let names: Vec<*mut c_char> = self.take_array(names, count);
        let names: Vec<String> = names
            .into_iter()
            .filter_map(|name| self.take_string(name))
            .collect();
        let value = |name: &String| self.property(&CString::new(name.as_str()).ok()?);
        names
            .into_iter()
            .filter_map(|name| value(&name).map(|v| (name, v)))
            .collect()
    }

    /// All live platform threads, as local references.
    pub(crate) fn all_threads(self) -> Result<Vec<jobject>> {
        let mut count: jint = 0;
        let mut threads: *mut jobject = ptr::null_mut();
        // SAFETY: rule 1; valid places.
        unsafe { self.0.get_all_threads(&raw mut count, &raw mut threads) }.ok()?;
        Ok(self.take_array(threads, count))
    }

    /// All loaded classes, as local references.
    pub(crate) fn loaded_classes(self) -> Result<Vec<jclass>> {
        let mut count: jint = 0;
        let mut classes: *mut jclass = ptr::null_mut();
        // SAFETY: rule 1; valid places.
        unsafe { self.0.get_loaded_classes(&raw mut count, &raw mut classes) }.ok()?;
        Ok(self.take_array(classes, count))
    }

    /// Makes the method ids of a class exist, so that a walk in a signal finds them. Answers how many there are.
    pub(crate) fn create_method_ids(self, class: jclass) -> Result<usize> {
        let mut count: jint = 0;
        let mut methods: *mut jmethodID = ptr::null_mut();
        // SAFETY: rule 1 and 3; valid places.
        unsafe {
            self.0
                .get_class_methods(class, &raw mut count, &raw mut methods)
        }
        .ok()?;
        self.deallocate(methods.cast());
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// Name of a thread.
    pub(crate) fn thread_name(self, jni: Jni, thread: jobject) -> Result<String> {
        let mut info = ThreadInfo {
            name: ptr::null_mut(),
            priority: 0,
            is_daemon: 0,
            thread_group: ptr::null_mut(),
            context_class_loader: ptr::null_mut(),
        };
        // SAFETY: rule 1 and 3; a valid place.
        unsafe { self.0.get_thread_info(thread, &raw mut info) }.ok()?;
        // The writer thread has no frame that ends: what it keeps, it keeps for ever, and with it the loader's classes.
        if !fault_injection::is(Fault::ReferencesKept) {
            jni.delete_local(info.thread_group);
            jni.delete_local(info.context_class_loader);
        }
        Ok(self.take_string(info.name).unwrap_or_default())
    }

    /// The class that declares a method, as a local reference: it pins the class.
    pub(crate) fn declaring_class(self, method: jmethodID) -> Result<jclass> {
        let mut class: jclass = ptr::null_mut();
        // SAFETY: rule 1; on 17 to 25 a stale method id is answered with an error, not used.
        unsafe { self.0.get_method_declaring_class(method, &raw mut class) }.ok()?;
        if class.is_null() {
            Err(JvmtiError::INVALID_METHODID)
        } else {
            Ok(class)
        }
    }

    /// Signature of a class, like `Ljava/lang/String;`.
    pub(crate) fn class_signature(self, class: jclass) -> Result<String> {
        let mut signature: *mut c_char = ptr::null_mut();
        // SAFETY: rule 1 and 3; a valid place.
        unsafe {
            self.0
                .get_class_signature(class, &raw mut signature, ptr::null_mut())
        }
        .ok()?;
        self.take_string(signature).ok_or(JvmtiError::INVALID_CLASS)
    }

    /// Name, descriptor, modifiers of a method. The caller holds its class.
    pub(crate) fn method_name(self, method: jmethodID) -> Result<MethodName> {
        let (mut name, mut descriptor): (*mut c_char, *mut c_char) =
            (ptr::null_mut(), ptr::null_mut());
        // SAFETY: rule 1; the class is held, so the id is valid; valid places.
        unsafe {
            self.0
                .get_method_name(method, &raw mut name, &raw mut descriptor, ptr::null_mut())
        }
        .ok()?;
        let (name, descriptor) = (self.take_string(name), self.take_string(descriptor));
        let mut modifiers: jint = 0;
        // SAFETY: as above.
        unsafe { self.0.get_method_modifiers(method, &raw mut modifiers) }.ok()?;
        Ok(MethodName {
            name: name.unwrap_or_default(),
            descriptor: descriptor.unwrap_or_default(),
            modifiers: modifiers.cast_unsigned(),
        })
    }

    /// Line table of a method as (first bytecode index, line), empty if it has none.
    pub(crate) fn line_table(self, method: jmethodID) -> Vec<(i32, i32)> {
        let mut count: jint = 0;
        let mut table: *mut LineNumberEntry = ptr::null_mut();
        // SAFETY: rule 1; the class is held by the caller; valid places.
        let answer = unsafe {
            self.0
                .get_line_number_table(method, &raw mut count, &raw mut table)
        };
        if answer.ok().is_err() {
            return Vec::new();
        }
        let entries: Vec<LineNumberEntry> = self.take_array(table, count);
        entries
            .iter()
            .map(|e| {
                (
                    i32::try_from(e.start_location).unwrap_or(i32::MAX),
                    e.line_number,
                )
            })
            .collect()
    }

    fn take_string(self, text: *mut c_char) -> Option<String> {
        if text.is_null() {
            return None;
        }
        // SAFETY: rule 2: a NUL-terminated string of the VM.
        let bytes = unsafe { CStr::from_ptr(text) }.to_bytes();
        let copy = super::jni::from_modified_utf8(bytes);
        self.deallocate(text.cast());
        Some(copy)
    }

    fn take_array<T: Copy>(self, array: *mut T, count: jint) -> Vec<T> {
        let count = usize::try_from(count).unwrap_or(0);
        let copy = if array.is_null() || count == 0 {
            Vec::new()
        } else {
            // SAFETY: rule 2: an array of `count` elements of the VM.
            unsafe { std::slice::from_raw_parts(array, count) }.to_vec()
        };
        self.deallocate(array.cast());
        copy
    }

    fn deallocate(self, memory: *mut u8) {
        // SAFETY: rule 2: null or memory of the VM, given back once.
        let _ = unsafe { self.0.deallocate(memory) };
    }
}
