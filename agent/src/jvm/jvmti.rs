//! The JVMTI functions that the agent uses, as safe methods.
//!
//! Rules:
//! 1. `Agent_OnLoad` or `Agent_OnAttach` creates the environment. It is disposed of only if the
//!    agent fails to load.
//! 2. Memory that the VM returns is copied and deallocated before a method returns.
//! 3. Object references are local references of the calling thread, or global ones.
//! 4. Arguments are memory of the caller that outlives the call; the VM copies what it keeps.
//! 5. A method id is valid while its class is referenced. On 17 to 25 the VM answers a stale id
//!    with an error.

#![expect(unsafe_code, reason = "boundary to JVMTI and JNI")]

use super::jni::{Jni, LocalRef};
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

// SAFETY: rule 1; JVMTI environments may be used from any thread (specification, "Environments").
unsafe impl Send for Jvmti {}
// SAFETY: rule 1; the VM synchronises inside.
unsafe impl Sync for Jvmti {}

/// Callback of an extension event about a thread.
pub(crate) type ThreadCallback = unsafe extern "C" fn(JvmtiEnv, *mut JNIEnv, jobject);

/// Callbacks of the events that the calling carrier has mounted or unmounted a virtual thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MountCallbacks {
    pub(crate) mounted: ThreadCallback,
    pub(crate) unmounted: ThreadCallback,
}

/// A result of JVMTI.
pub(crate) type Result<T> = std::result::Result<T, JvmtiError>;

/// Name, descriptor and modifiers of a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MethodName {
    pub(crate) name: String,
    pub(crate) descriptor: String,
    pub(crate) modifiers: u32,
}

impl Jvmti {
    /// Creates the environment. The process has one only: its mere existence makes each switch of a
    /// virtual thread slower.
    pub(crate) fn new(vm: *mut JavaVM) -> Result<Self> {
        // SAFETY: rule 1: `vm` is the VM that called the agent's entry point.
        let env = unsafe { JvmtiEnv::from_vm(vm, jvmti_sys::VERSION_11) }
            .map_err(|_| JvmtiError::NOT_AVAILABLE)?;
        Ok(Self(env))
    }

    /// Disposes of the environment after a failed load; no copy of it is in use.
    pub(crate) fn dispose(self) {
        // SAFETY: rule 1. On failure it stays, without any event.
        let _ = unsafe { self.0.dispose_environment() };
    }

    /// Adds what the recording needs: line numbers, GC pauses.
    pub(crate) fn add_capabilities(self) -> Result<()> {
        let wanted = Capabilities::NONE
            .with(Capability::CAN_GET_LINE_NUMBERS)
            .with(Capability::CAN_GENERATE_GARBAGE_COLLECTION_EVENTS);
        // SAFETY: rules 1 and 4.
        unsafe { self.0.add_capabilities(&raw const wanted) }.ok()
    }

    /// Adds a capability that only some recordings need.
    pub(crate) fn add_capability(self, capability: Capability) -> Result<()> {
        let wanted = Capabilities::NONE.with(capability);
        // SAFETY: rules 1 and 4.
        unsafe { self.0.add_capabilities(&raw const wanted) }.ok()
    }

    /// Relinquishes a capability, for other agents.
    pub(crate) fn relinquish(self, capability: Capability) -> Result<()> {
        let unwanted = Capabilities::NONE.with(capability);
        // SAFETY: rules 1 and 4.
        unsafe { self.0.relinquish_capabilities(&raw const unwanted) }.ok()
    }

    /// Mean bytes between two sampled allocations.
    pub(crate) fn set_heap_sampling_interval(self, bytes: u64) -> Result<()> {
        let bytes = jint::try_from(bytes).unwrap_or(jint::MAX);
        // SAFETY: rule 1.
        unsafe { self.0.set_heap_sampling_interval(bytes) }.ok()
    }

    /// The stack of the calling thread, platform or virtual, as (method id, bytecode index),
    /// topmost first; empty if it has none.
    pub(crate) fn stack_here(self, depth: usize) -> Vec<(usize, i32)> {
        // Only a deep stack pays for a large buffer.
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
        // SAFETY: rules 1 and 4; null = the calling thread; memory for `depth` frames.
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
    pub(crate) fn identity_hash(self, object: &LocalRef<'_>) -> Result<u32> {
        let mut hash: jint = 0;
        // SAFETY: rules 1, 3 and 4.
        unsafe { self.0.get_object_hash_code(object.raw(), &raw mut hash) }.ok()?;
        Ok(hash.cast_unsigned())
    }

    /// Sets all callbacks at once.
    pub(crate) fn set_callbacks(self, callbacks: &EventCallbacks) -> Result<()> {
        // SAFETY: rules 1 and 4.
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

    /// Turns ClassLoad on or off: unless it is on, AsyncGetCallTrace fails.
    pub(crate) fn notify_of_loaded_classes(self, on: bool) -> Result<()> {
        self.notify(Event::CLASS_LOAD, on)
    }

    /// Turns ClassPrepare on or off, which stacks need and hooks in libraries.
    pub(crate) fn notify_of_prepared_classes(self, on: bool) -> Result<()> {
        self.notify(Event::CLASS_PREPARE, on)
    }

    /// Makes the VM post each mount of a virtual thread, for the life of the VM. This is the last
    /// resort (`vthreads=events`), because it makes each switch of a virtual thread slower.
    pub(crate) fn enable_mount_events(self, callbacks: MountCallbacks) -> Result<()> {
        self.add_capability(Capability::CAN_SUPPORT_VIRTUAL_THREADS)?;
        let MountCallbacks { mounted, unmounted } = callbacks;
        self.watch_extension(c"com.sun.hotspot.events.VirtualThreadMount", mounted)?;
        self.watch_extension(c"com.sun.hotspot.events.VirtualThreadUnmount", unmounted)
    }

    /// Sets the callback of the extension event `id`, whose argument is a thread.
    fn watch_extension(self, id: &CStr, callback: ThreadCallback) -> Result<()> {
        let index = self.extension_event(id).ok_or(JvmtiError::NOT_AVAILABLE)?;
        // SAFETY: rule 4: only the arguments differ, and the VM passes those of `ThreadCallback` to
        // this event.
        let callback: ExtensionEvent = unsafe { std::mem::transmute(callback) };
        // SAFETY: rule 1; the VM returned the index.
        unsafe { self.0.set_extension_event_callback(index, Some(callback)) }.ok()?;
        // HotSpot does not call it unless the event is also enabled.
        self.notify(Event(index), true)
    }

    /// Index of an extension event.
    fn extension_event(self, id: &CStr) -> Option<jint> {
        let mut count: jint = 0;
        let mut events: *mut ExtensionEventInfo = ptr::null_mut();
        // SAFETY: rules 1 and 4.
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
        // SAFETY: rules 1 and 4.
        unsafe { self.0.get_system_property(name.as_ptr(), &raw mut value) }
            .ok()
            .ok()?;
        self.take_string(value)
    }

    /// Exports `package` (with dots) of the boot loader's module that contains it to the module
    /// `to`.
    pub(crate) fn export_package(self, package: &CStr, to: &LocalRef<'_>) -> Result<()> {
        let internal = CString::new(
            package
                .to_bytes()
                .iter()
                .map(|b| if *b == b'.' { b'/' } else { *b })
                .collect::<Vec<_>>(),
        )
        .map_err(|_| JvmtiError::ILLEGAL_ARGUMENT)?;
        let mut module: jobject = ptr::null_mut();
        // SAFETY: rules 1 and 4; null = boot loader.
        unsafe {
            self.0
                .get_named_module(ptr::null_mut(), internal.as_ptr(), &raw mut module)
        }
        .ok()?;
        // SAFETY: rules 1, 3 and 4.
        unsafe {
            self.0
                .add_module_exports(module, package.as_ptr(), to.raw())
        }
        .ok()
    }

    /// Lets the module `from` read the module `to`.
    pub(crate) fn add_module_reads(self, from: &LocalRef<'_>, to: &LocalRef<'_>) -> Result<()> {
        // SAFETY: rules 1, 3 and 4.
        unsafe { self.0.add_module_reads(from.raw(), to.raw()) }.ok()
    }

    /// The loader that defined a class; `None` is the boot loader.
    pub(crate) fn class_loader<'e>(
        self,
        env: &'e Jni,
        class: &LocalRef<'_>,
    ) -> Result<Option<LocalRef<'e>>> {
        let mut loader: jobject = ptr::null_mut();
        // SAFETY: rules 1, 3 and 4.
        unsafe { self.0.get_class_loader(class.raw(), &raw mut loader) }.ok()?;
        // SAFETY: the VM has just made this reference for the calling thread, or it is null.
        Ok(unsafe { LocalRef::new(env, loader) })
    }

    /// All properties of the VM.
    pub(crate) fn properties(self) -> Vec<(String, String)> {
        let mut count: jint = 0;
        let mut names: *mut *mut c_char = ptr::null_mut();
        // SAFETY: rules 1 and 4.
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

    /// All live platform threads.
    pub(crate) fn all_threads(self, env: &Jni) -> Result<Vec<LocalRef<'_>>> {
        let mut count: jint = 0;
        let mut threads: *mut jobject = ptr::null_mut();
        // SAFETY: rules 1 and 4.
        unsafe { self.0.get_all_threads(&raw mut count, &raw mut threads) }.ok()?;
        Ok(self.take_references(env, threads, count))
    }

    /// All loaded classes.
    pub(crate) fn loaded_classes(self, env: &Jni) -> Result<Vec<LocalRef<'_>>> {
        let mut count: jint = 0;
        let mut classes: *mut jclass = ptr::null_mut();
        // SAFETY: rules 1 and 4.
        unsafe { self.0.get_loaded_classes(&raw mut count, &raw mut classes) }.ok()?;
        Ok(self.take_references(env, classes, count))
    }

    /// The version of the JDK: 21.
    pub(crate) fn jdk_version(self) -> Result<u32> {
        let mut version: jint = 0;
        // SAFETY: rules 1 and 4.
        unsafe { self.0.get_version_number(&raw mut version) }.ok()?;
        // The major version of the interface, which is that of the JDK.
        Ok(version.cast_unsigned() >> 16 & 0x0FFF)
    }

    /// Has the VM post the bytes of each class that it loads, or loads anew.
    pub(crate) fn watch_class_files(self) -> Result<()> {
        self.add_capability(Capability::CAN_RETRANSFORM_CLASSES)?;
        self.notify(Event::CLASS_FILE_LOAD_HOOK, true)
    }

    /// Has the VM load classes anew: it posts the bytes that they were made of.
    pub(crate) fn retransform(self, classes: &[LocalRef<'_>]) -> Result<()> {
        let count = jint::try_from(classes.len()).unwrap_or(jint::MAX);
        let raw: Vec<jclass> = classes.iter().map(LocalRef::raw).collect();
        // SAFETY: rules 1, 3 and 4.
        unsafe { self.0.retransform_classes(count, raw.as_ptr()) }.ok()
    }

    /// A copy of these bytes in memory of the VM, which will free it.
    pub(crate) fn copy_bytes(self, bytes: &[u8]) -> Result<*mut u8> {
        let mut memory: *mut u8 = ptr::null_mut();
        let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        // SAFETY: rules 1 and 4.
        unsafe { self.0.allocate(size, &raw mut memory) }.ok()?;
        // SAFETY: the VM has just allocated so many bytes, for this only.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len()) };
        Ok(memory)
    }

    /// Creates the method ids of a class, so that a stack walk in a handler finds them. Returns
    /// their number.
    pub(crate) fn create_method_ids(self, class: &LocalRef<'_>) -> Result<usize> {
        let mut count: jint = 0;
        let mut methods: *mut jmethodID = ptr::null_mut();
        // SAFETY: rules 1, 3 and 4.
        unsafe {
            self.0
                .get_class_methods(class.raw(), &raw mut count, &raw mut methods)
        }
        .ok()?;
        self.deallocate(methods.cast());
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// Name of a thread.
    pub(crate) fn thread_name(self, jni: Jni, thread: &LocalRef<'_>) -> Result<String> {
        let mut info = ThreadInfo {
            name: ptr::null_mut(),
            priority: 0,
            is_daemon: 0,
            thread_group: ptr::null_mut(),
            context_class_loader: ptr::null_mut(),
        };
        // SAFETY: rules 1, 3 and 4.
        unsafe { self.0.get_thread_info(thread.raw(), &raw mut info) }.ok()?;
        // The writer thread never returns to Java, so its local references would live as long as it
        // does, and keep the classes of the loader loaded.
        for object in [info.thread_group, info.context_class_loader] {
            // SAFETY: rule 3.
            if let Some(local) = unsafe { LocalRef::new(&jni, object) } {
                jni.delete_local(local);
            }
        }
        Ok(self.take_string(info.name).unwrap_or_default())
    }

    /// The class that declares a method. The reference keeps the class loaded.
    pub(crate) fn declaring_class(self, env: &Jni, method: jmethodID) -> Result<LocalRef<'_>> {
        let mut class: jclass = ptr::null_mut();
        // SAFETY: rules 1, 4 and 5.
        unsafe { self.0.get_method_declaring_class(method, &raw mut class) }.ok()?;
        // SAFETY: rule 3.
        unsafe { LocalRef::new(env, class) }.ok_or(JvmtiError::INVALID_METHODID)
    }

    /// Signature of a class, like `Ljava/lang/String;`.
    pub(crate) fn class_signature(self, class: &LocalRef<'_>) -> Result<String> {
        let mut signature: *mut c_char = ptr::null_mut();
        // SAFETY: rules 1, 3 and 4.
        unsafe {
            self.0
                .get_class_signature(class.raw(), &raw mut signature, ptr::null_mut())
        }
        .ok()?;
        self.take_string(signature).ok_or(JvmtiError::INVALID_CLASS)
    }

    /// The constants of a class, as in a class file.
    pub(crate) fn constant_pool(self, class: &LocalRef<'_>) -> Result<Vec<u8>> {
        self.add_capability(Capability::CAN_GET_CONSTANT_POOL)?;
        let (mut entries, mut count): (jint, jint) = (0, 0);
        let mut bytes: *mut u8 = ptr::null_mut();
        // SAFETY: rules 1, 3 and 4.
        unsafe {
            self.0.get_constant_pool(
                class.raw(),
                &raw mut entries,
                &raw mut count,
                &raw mut bytes,
            )
        }
        .ok()?;
        Ok(self.take_array(bytes, count))
    }

    /// Name, descriptor, modifiers of a method. The caller holds a reference to its class.
    pub(crate) fn method_name(self, method: jmethodID) -> Result<MethodName> {
        let (mut name, mut descriptor): (*mut c_char, *mut c_char) =
            (ptr::null_mut(), ptr::null_mut());
        // SAFETY: rules 1, 4 and 5.
        unsafe {
            self.0
                .get_method_name(method, &raw mut name, &raw mut descriptor, ptr::null_mut())
        }
        .ok()?;
        let (name, descriptor) = (self.take_string(name), self.take_string(descriptor));
        let mut modifiers: jint = 0;
        // SAFETY: rules 1, 4 and 5.
        unsafe { self.0.get_method_modifiers(method, &raw mut modifiers) }.ok()?;
        Ok(MethodName {
            name: name.unwrap_or_default(),
            descriptor: descriptor.unwrap_or_default(),
            modifiers: modifiers.cast_unsigned(),
        })
    }

    /// Line table of a method as (first bytecode index, line), empty if it has none. The caller
    /// holds a reference to its class.
    pub(crate) fn line_table(self, method: jmethodID) -> Vec<(i32, i32)> {
        let mut count: jint = 0;
        let mut table: *mut LineNumberEntry = ptr::null_mut();
        // SAFETY: rules 1, 4 and 5.
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
        let copy = super::modified_utf8::from_modified_utf8(bytes);
        self.deallocate(text.cast());
        Some(copy)
    }

    fn take_references(self, env: &Jni, array: *mut jobject, count: jint) -> Vec<LocalRef<'_>> {
        let objects = self.take_array(array, count).into_iter();
        // SAFETY: rule 3.
        let references = objects.filter_map(|object| unsafe { LocalRef::new(env, object) });
        references.collect()
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
        // SAFETY: rule 2: null, or memory of the VM that is deallocated once.
        let _ = unsafe { self.0.deallocate(memory) };
    }
}
