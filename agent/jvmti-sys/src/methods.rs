//! One method of [`JvmtiEnv`] for each function that the agent calls; rules 1 to 3 of
//! [`env`](mod@crate::env).

use core::ffi::{c_char, c_uchar, c_void};

use jni_sys::{
    JNINativeInterface_, jclass, jdouble, jfieldID, jfloat, jint, jlong, jmethodID, jobject,
};

use crate::capability::Capabilities;
use crate::env::JvmtiEnv;
use crate::error::JvmtiError;
use crate::event::{Event, EventCallbacks};
use crate::function::Function;
use crate::types::{
    Boolean, ClassDefinition, EventMode, ExtensionEvent, ExtensionEventInfo, ExtensionFunctionInfo,
    FrameInfo, JLocationFormat, LineNumberEntry, LocalVariableEntry, MonitorStackDepthInfo,
    MonitorUsage, Phase, StackInfo, StartFunction, ThreadGroupInfo, ThreadInfo, TimerInfo,
    VerboseFlag, jlocation, jrawMonitorID, jthread, jthreadGroup,
};

impl JvmtiEnv {
    /// Turns delivery of `event` on or off, for one thread or, with a null `thread`, for all.
    ///
    /// # Safety
    /// Rule 3.
    pub unsafe fn set_event_notification_mode(
        self,
        mode: EventMode,
        event: Event,
        thread: jthread,
    ) -> JvmtiError {
        type Signature =
            unsafe extern "C" fn(JvmtiEnv, EventMode, Event, jthread, ...) -> JvmtiError;
        // SAFETY: rule 1 is passed on to the caller.
        let entry = unsafe { self.entry(Function::SET_EVENT_NOTIFICATION_MODE) };
        // SAFETY: rule 2: null, or function 2, which is variadic in C and so needs this type.
        let function: Option<Signature> =
            unsafe { core::mem::transmute::<*const c_void, Option<Signature>>(entry) };
        match function {
            // SAFETY: rule 3 is passed on to the caller; no argument is read beyond the named ones.
            Some(function) => unsafe { function(self, mode, event, thread) },
            None => JvmtiError::NOT_AVAILABLE,
        }
    }
}

macro_rules! typed {
    ($($(#[$doc:meta])+ $number:literal $name:ident $method:ident($($arg:ident: $type:ty),*);)+) => {
        impl JvmtiEnv {
            $(
                $(#[$doc])+
                ///
                #[doc = concat!("Function ", $number, ", `", stringify!($name), "`.")]
                ///
                /// # Safety
                /// Rules 1 to 3 of the [module](self).
                pub unsafe fn $method(self, $($arg: $type),*) -> JvmtiError {
                    type Signature = unsafe extern "system" fn(JvmtiEnv, $($type),*) -> JvmtiError;
                    // SAFETY: rule 1 is passed on to the caller.
                    let entry = unsafe { self.entry(Function($number)) };
                    // SAFETY: rule 2: null, or the function of this number with this signature.
                    let function = unsafe { core::mem::transmute::<*const c_void,
                        Option<Signature>>(entry) };
                    match function {
                        // SAFETY: rule 3 is passed on to the caller.
                        Some(function) => unsafe { function(self, $($arg),*) },
                        None => JvmtiError::NOT_AVAILABLE,
                    }
                }
            )+
        }

        /// Number, name and Rust types of the arguments of each typed function; the header test
        /// turns them into C.
        #[doc(hidden)]
        pub const SIGNATURES: &[(u8, &str, &[&str])] = &[
            (2, "SetEventNotificationMode", &["EventMode", "Event", "jthread", "..."]),
            $(($number, stringify!($name), &[$(stringify!($type)),*])),+
        ];
    };
}

typed! {
    /// Modules known to the VM; free the array with `Deallocate`.
    3 GetAllModules get_all_modules(count: *mut jint, modules: *mut *mut jobject);
    /// Live platform threads with a Java peer; free the array with `Deallocate`.
    4 GetAllThreads get_all_threads(count: *mut jint, threads: *mut *mut jthread);
    /// Suspends a thread.
    5 SuspendThread suspend_thread(thread: jthread);
    /// Resumes a suspended thread.
    6 ResumeThread resume_thread(thread: jthread);
    /// Throws `exception` in a thread.
    7 StopThread stop_thread(thread: jthread, exception: jobject);
    /// Interrupts a thread.
    8 InterruptThread interrupt_thread(thread: jthread);
    /// Name, priority, group and class loader; free the name with `Deallocate`.
    9 GetThreadInfo get_thread_info(thread: jthread, info: *mut ThreadInfo);
    /// Monitors a thread owns.
    10 GetOwnedMonitorInfo get_owned_monitor_info(thread: jthread, count: *mut jint,
        monitors: *mut *mut jobject);
    /// Monitor a thread waits for.
    11 GetCurrentContendedMonitor get_current_contended_monitor(thread: jthread,
        monitor: *mut jobject);
    /// Starts a thread of the agent on a new `java.lang.Thread` object.
    12 RunAgentThread run_agent_thread(thread: jthread, body: StartFunction,
        argument: *const c_void, priority: jint);
    /// Groups without a parent.
    13 GetTopThreadGroups get_top_thread_groups(count: *mut jint, groups: *mut *mut jthreadGroup);
    /// Name and parent of a group.
    14 GetThreadGroupInfo get_thread_group_info(group: jthreadGroup, info: *mut ThreadGroupInfo);
    /// Threads and groups of a group.
    15 GetThreadGroupChildren get_thread_group_children(group: jthreadGroup,
        thread_count: *mut jint, threads: *mut *mut jthread, group_count: *mut jint,
        groups: *mut *mut jthreadGroup);
    /// Depth of the stack.
    16 GetFrameCount get_frame_count(thread: jthread, count: *mut jint);
    /// Bits of [`thread_state`](crate::types::thread_state).
    17 GetThreadState get_thread_state(thread: jthread, state: *mut jint);
    /// The current thread, virtual if it is.
    18 GetCurrentThread get_current_thread(thread: *mut jthread);
    /// Method and bytecode index of one frame.
    19 GetFrameLocation get_frame_location(thread: jthread, depth: jint, method: *mut jmethodID,
        location: *mut jlocation);
    /// Asks for an event when the frame is left.
    20 NotifyFramePop notify_frame_pop(thread: jthread, depth: jint);
    /// Reads a local variable.
    21 GetLocalObject get_local_object(thread: jthread, depth: jint, slot: jint,
        value: *mut jobject);
    /// Reads a local variable.
    22 GetLocalInt get_local_int(thread: jthread, depth: jint, slot: jint, value: *mut jint);
    /// Reads a local variable.
    23 GetLocalLong get_local_long(thread: jthread, depth: jint, slot: jint, value: *mut jlong);
    /// Reads a local variable.
    24 GetLocalFloat get_local_float(thread: jthread, depth: jint, slot: jint, value: *mut jfloat);
    /// Reads a local variable.
    25 GetLocalDouble get_local_double(thread: jthread, depth: jint, slot: jint,
        value: *mut jdouble);
    /// Writes a local variable.
    26 SetLocalObject set_local_object(thread: jthread, depth: jint, slot: jint, value: jobject);
    /// Writes a local variable.
    27 SetLocalInt set_local_int(thread: jthread, depth: jint, slot: jint, value: jint);
    /// Writes a local variable.
    28 SetLocalLong set_local_long(thread: jthread, depth: jint, slot: jint, value: jlong);
    /// Writes a local variable.
    29 SetLocalFloat set_local_float(thread: jthread, depth: jint, slot: jint, value: jfloat);
    /// Writes a local variable.
    30 SetLocalDouble set_local_double(thread: jthread, depth: jint, slot: jint, value: jdouble);
    /// Makes a raw monitor.
    31 CreateRawMonitor create_raw_monitor(name: *const c_char, monitor: *mut jrawMonitorID);
    /// Ends a raw monitor.
    32 DestroyRawMonitor destroy_raw_monitor(monitor: jrawMonitorID);
    /// Enters a raw monitor.
    33 RawMonitorEnter raw_monitor_enter(monitor: jrawMonitorID);
    /// Leaves a raw monitor.
    34 RawMonitorExit raw_monitor_exit(monitor: jrawMonitorID);
    /// Waits to be notified; 0 without limit.
    35 RawMonitorWait raw_monitor_wait(monitor: jrawMonitorID, millis: jlong);
    /// Wakes one waiting thread.
    36 RawMonitorNotify raw_monitor_notify(monitor: jrawMonitorID);
    /// Wakes all waiting threads.
    37 RawMonitorNotifyAll raw_monitor_notify_all(monitor: jrawMonitorID);
    /// Sets a breakpoint.
    38 SetBreakpoint set_breakpoint(method: jmethodID, location: jlocation);
    /// Removes a breakpoint.
    39 ClearBreakpoint clear_breakpoint(method: jmethodID, location: jlocation);
    /// Module of a package.
    40 GetNamedModule get_named_module(loader: jobject, package: *const c_char,
        module: *mut jobject);
    /// Watches reads of a field.
    41 SetFieldAccessWatch set_field_access_watch(class: jclass, field: jfieldID);
    /// Ends watching reads of a field.
    42 ClearFieldAccessWatch clear_field_access_watch(class: jclass, field: jfieldID);
    /// Watches writes of a field.
    43 SetFieldModificationWatch set_field_modification_watch(class: jclass, field: jfieldID);
    /// Ends watching writes of a field.
    44 ClearFieldModificationWatch clear_field_modification_watch(class: jclass, field: jfieldID);
    /// Whether a class can be redefined.
    45 IsModifiableClass is_modifiable_class(class: jclass, result: *mut Boolean);
    /// Memory of the VM; free it with `Deallocate`.
    46 Allocate allocate(size: jlong, memory: *mut *mut c_uchar);
    /// Frees memory the VM gave; null is allowed.
    47 Deallocate deallocate(memory: *mut c_uchar);
    /// Signature like `Ljava/lang/String;`; either pointer may be null. Free with `Deallocate`.
    48 GetClassSignature get_class_signature(class: jclass, signature: *mut *mut c_char,
        generic: *mut *mut c_char);
    /// Bits: 1 verified, 2 prepared, 4 initialised, 8 error, 16 array, 32 primitive.
    49 GetClassStatus get_class_status(class: jclass, status: *mut jint);
    /// Source file of a class; free with `Deallocate`.
    50 GetSourceFileName get_source_file_name(class: jclass, name: *mut *mut c_char);
    /// Access flags of a class.
    51 GetClassModifiers get_class_modifiers(class: jclass, modifiers: *mut jint);
    /// Methods of a prepared class, and makes their ids; free the array with `Deallocate`.
    52 GetClassMethods get_class_methods(class: jclass, count: *mut jint,
        methods: *mut *mut jmethodID);
    /// Fields of a prepared class; free the array with `Deallocate`.
    53 GetClassFields get_class_fields(class: jclass, count: *mut jint, fields: *mut *mut jfieldID);
    /// Direct interfaces of a class.
    54 GetImplementedInterfaces get_implemented_interfaces(class: jclass, count: *mut jint,
        interfaces: *mut *mut jclass);
    /// Whether a class is an interface.
    55 IsInterface is_interface(class: jclass, result: *mut Boolean);
    /// Whether a class is an array.
    56 IsArrayClass is_array_class(class: jclass, result: *mut Boolean);
    /// Loader of a class, null for the boot loader.
    57 GetClassLoader get_class_loader(class: jclass, loader: *mut jobject);
    /// Hash that tells objects apart.
    58 GetObjectHashCode get_object_hash_code(object: jobject, hash: *mut jint);
    /// Owner and waiters of a monitor.
    59 GetObjectMonitorUsage get_object_monitor_usage(object: jobject, usage: *mut MonitorUsage);
    /// Name and signature of a field; free with `Deallocate`.
    60 GetFieldName get_field_name(class: jclass, field: jfieldID, name: *mut *mut c_char,
        signature: *mut *mut c_char, generic: *mut *mut c_char);
    /// Class that declares a field.
    61 GetFieldDeclaringClass get_field_declaring_class(class: jclass, field: jfieldID,
        declaring: *mut jclass);
    /// Access flags of a field.
    62 GetFieldModifiers get_field_modifiers(class: jclass, field: jfieldID, modifiers: *mut jint);
    /// Whether the compiler made a field.
    63 IsFieldSynthetic is_field_synthetic(class: jclass, field: jfieldID, result: *mut Boolean);
    /// Name and signature of a method; each pointer may be null. Free with `Deallocate`.
    64 GetMethodName get_method_name(method: jmethodID, name: *mut *mut c_char,
        signature: *mut *mut c_char, generic: *mut *mut c_char);
    /// Class that declares a method; a local reference.
    65 GetMethodDeclaringClass get_method_declaring_class(method: jmethodID,
        declaring: *mut jclass);
    /// Access flags of a method.
    66 GetMethodModifiers get_method_modifiers(method: jmethodID, modifiers: *mut jint);
    /// Takes back all `NotifyFramePop` of a thread (25 and later).
    67 ClearAllFramePops clear_all_frame_pops(thread: jthread);
    /// Number of local variable slots.
    68 GetMaxLocals get_max_locals(method: jmethodID, max: *mut jint);
    /// Number of argument slots.
    69 GetArgumentsSize get_arguments_size(method: jmethodID, size: *mut jint);
    /// Line numbers of a method; free with `Deallocate`.
    70 GetLineNumberTable get_line_number_table(method: jmethodID, count: *mut jint,
        table: *mut *mut LineNumberEntry);
    /// First and last location of a method.
    71 GetMethodLocation get_method_location(method: jmethodID, start: *mut jlocation,
        end: *mut jlocation);
    /// Local variables of a method.
    72 GetLocalVariableTable get_local_variable_table(method: jmethodID, count: *mut jint,
        table: *mut *mut LocalVariableEntry);
    /// Prefix tried when a native method is bound.
    73 SetNativeMethodPrefix set_native_method_prefix(prefix: *const c_char);
    /// Prefixes tried when a native method is bound.
    74 SetNativeMethodPrefixes set_native_method_prefixes(count: jint, prefixes: *mut *mut c_char);
    /// Bytecodes of a method; free with `Deallocate`.
    75 GetBytecodes get_bytecodes(method: jmethodID, count: *mut jint,
        bytecodes: *mut *mut c_uchar);
    /// Whether a method is native.
    76 IsMethodNative is_method_native(method: jmethodID, result: *mut Boolean);
    /// Whether the compiler made a method.
    77 IsMethodSynthetic is_method_synthetic(method: jmethodID, result: *mut Boolean);
    /// Every loaded class, as local references; free the array with `Deallocate`.
    78 GetLoadedClasses get_loaded_classes(count: *mut jint, classes: *mut *mut jclass);
    /// Classes a loader can find by name.
    79 GetClassLoaderClasses get_class_loader_classes(loader: jobject, count: *mut jint,
        classes: *mut *mut jclass);
    /// Drops the topmost frame of a suspended thread.
    80 PopFrame pop_frame(thread: jthread);
    /// Returns from the topmost frame.
    81 ForceEarlyReturnObject force_early_return_object(thread: jthread, value: jobject);
    /// Returns from the topmost frame.
    82 ForceEarlyReturnInt force_early_return_int(thread: jthread, value: jint);
    /// Returns from the topmost frame.
    83 ForceEarlyReturnLong force_early_return_long(thread: jthread, value: jlong);
    /// Returns from the topmost frame.
    84 ForceEarlyReturnFloat force_early_return_float(thread: jthread, value: jfloat);
    /// Returns from the topmost frame.
    85 ForceEarlyReturnDouble force_early_return_double(thread: jthread, value: jdouble);
    /// Returns from the topmost frame.
    86 ForceEarlyReturnVoid force_early_return_void(thread: jthread);
    /// Gives classes new code.
    87 RedefineClasses redefine_classes(count: jint, definitions: *const ClassDefinition);
    /// Version of the interface, like [`VERSION_21`](crate::types::VERSION_21).
    88 GetVersionNumber get_version_number(version: *mut jint);
    /// Capabilities this environment has.
    89 GetCapabilities get_capabilities(capabilities: *mut Capabilities);
    /// Debug extension of a class.
    90 GetSourceDebugExtension get_source_debug_extension(class: jclass,
        extension: *mut *mut c_char);
    /// Whether a method was replaced by `RedefineClasses`.
    91 IsMethodObsolete is_method_obsolete(method: jmethodID, result: *mut Boolean);
    /// Suspends threads.
    92 SuspendThreadList suspend_thread_list(count: jint, threads: *const jthread,
        results: *mut JvmtiError);
    /// Resumes threads.
    93 ResumeThreadList resume_thread_list(count: jint, threads: *const jthread,
        results: *mut JvmtiError);
    /// Makes a module read another.
    94 AddModuleReads add_module_reads(module: jobject, to_module: jobject);
    /// Exports a package of a module.
    95 AddModuleExports add_module_exports(module: jobject, package: *const c_char,
        to_module: jobject);
    /// Opens a package of a module.
    96 AddModuleOpens add_module_opens(module: jobject, package: *const c_char, to_module: jobject);
    /// Adds a service a module uses.
    97 AddModuleUses add_module_uses(module: jobject, service: jclass);
    /// Adds a service a module provides.
    98 AddModuleProvides add_module_provides(module: jobject, service: jclass,
        implementation: jclass);
    /// Whether a module can be changed.
    99 IsModifiableModule is_modifiable_module(module: jobject, result: *mut Boolean);
    /// Stacks of all live platform threads; one `Deallocate` for all.
    100 GetAllStackTraces get_all_stack_traces(max_frames: jint, stacks: *mut *mut StackInfo,
        count: *mut jint);
    /// Stacks of some threads; one `Deallocate` for all.
    101 GetThreadListStackTraces get_thread_list_stack_traces(count: jint, threads: *const jthread,
        max_frames: jint, stacks: *mut *mut StackInfo);
    /// Pointer this environment keeps for a thread.
    102 GetThreadLocalStorage get_thread_local_storage(thread: jthread, data: *mut *mut c_void);
    /// Keeps a pointer for a thread.
    103 SetThreadLocalStorage set_thread_local_storage(thread: jthread, data: *const c_void);
    /// Stack of one thread, into the caller's buffer.
    104 GetStackTrace get_stack_trace(thread: jthread, start_depth: jint, max_frames: jint,
        frames: *mut FrameInfo, count: *mut jint);
    /// Tag of an object, 0 for none.
    106 GetTag get_tag(object: jobject, tag: *mut jlong);
    /// Sets the tag of an object, 0 for none.
    107 SetTag set_tag(object: jobject, tag: jlong);
    /// Collects garbage now.
    108 ForceGarbageCollection force_garbage_collection();
    /// Objects that carry one of the tags.
    114 GetObjectsWithTags get_objects_with_tags(tag_count: jint, tags: *const jlong,
        count: *mut jint, objects: *mut *mut jobject, object_tags: *mut *mut jlong);
    /// Suspends all virtual threads but some (21 and later).
    118 SuspendAllVirtualThreads suspend_all_virtual_threads(except_count: jint,
        except: *const jthread);
    /// Resumes all virtual threads but some (21 and later).
    119 ResumeAllVirtualThreads resume_all_virtual_threads(except_count: jint,
        except: *const jthread);
    /// Replaces the JNI functions.
    120 SetJNIFunctionTable set_jni_function_table(table: *const JNINativeInterface_);
    /// A copy of the JNI functions; free with `Deallocate`.
    121 GetJNIFunctionTable get_jni_function_table(table: *mut *mut JNINativeInterface_);
    /// Sets the callbacks; the VM copies them. Pass [`EventCallbacks::SIZE`].
    122 SetEventCallbacks set_event_callbacks(callbacks: *const EventCallbacks, size: jint);
    /// Posts `CompiledMethodLoad` or `DynamicCodeGenerated` for what exists already.
    123 GenerateEvents generate_events(event: Event);
    /// Functions beyond the specification.
    124 GetExtensionFunctions get_extension_functions(count: *mut jint,
        extensions: *mut *mut ExtensionFunctionInfo);
    /// Events beyond the specification.
    125 GetExtensionEvents get_extension_events(count: *mut jint,
        extensions: *mut *mut ExtensionEventInfo);
    /// Sets, or with `None` removes, the callback of an extension event.
    126 SetExtensionEventCallback set_extension_event_callback(index: jint,
        callback: Option<ExtensionEvent>);
    /// Ends this environment; it must not be used afterwards.
    127 DisposeEnvironment dispose_environment();
    /// Name of an error; free with `Deallocate`.
    128 GetErrorName get_error_name(error: JvmtiError, name: *mut *mut c_char);
    /// How locations are counted.
    129 GetJLocationFormat get_jlocation_format(format: *mut JLocationFormat);
    /// Names of the VM's properties.
    130 GetSystemProperties get_system_properties(count: *mut jint,
        properties: *mut *mut *mut c_char);
    /// A property of the VM; free with `Deallocate`.
    131 GetSystemProperty get_system_property(property: *const c_char, value: *mut *mut c_char);
    /// Sets a property, only in `Agent_OnLoad`.
    132 SetSystemProperty set_system_property(property: *const c_char, value: *const c_char);
    /// Where the VM is in its life.
    133 GetPhase get_phase(phase: *mut Phase);
    /// About `GetCurrentThreadCpuTime`.
    134 GetCurrentThreadCpuTimerInfo get_current_thread_cpu_timer_info(info: *mut TimerInfo);
    /// CPU time of the current thread.
    135 GetCurrentThreadCpuTime get_current_thread_cpu_time(nanos: *mut jlong);
    /// About `GetThreadCpuTime`.
    136 GetThreadCpuTimerInfo get_thread_cpu_timer_info(info: *mut TimerInfo);
    /// CPU time of a thread.
    137 GetThreadCpuTime get_thread_cpu_time(thread: jthread, nanos: *mut jlong);
    /// About `GetTime`.
    138 GetTimerInfo get_timer_info(info: *mut TimerInfo);
    /// The VM's timer.
    139 GetTime get_time(nanos: *mut jlong);
    /// Capabilities this environment could get now.
    140 GetPotentialCapabilities get_potential_capabilities(capabilities: *mut Capabilities);
    /// Gets capabilities.
    142 AddCapabilities add_capabilities(capabilities: *const Capabilities);
    /// Gives capabilities back.
    143 RelinquishCapabilities relinquish_capabilities(capabilities: *const Capabilities);
    /// Number of CPUs.
    144 GetAvailableProcessors get_available_processors(count: *mut jint);
    /// Version of a class file.
    145 GetClassVersionNumbers get_class_version_numbers(class: jclass, minor: *mut jint,
        major: *mut jint);
    /// Constant pool of a class.
    146 GetConstantPool get_constant_pool(class: jclass, count: *mut jint, byte_count: *mut jint,
        bytes: *mut *mut c_uchar);
    /// Pointer kept for this environment.
    147 GetEnvironmentLocalStorage get_environment_local_storage(data: *mut *mut c_void);
    /// Keeps a pointer for this environment.
    148 SetEnvironmentLocalStorage set_environment_local_storage(data: *const c_void);
    /// Adds a jar to the boot class path.
    149 AddToBootstrapClassLoaderSearch add_to_bootstrap_class_loader_search(
        segment: *const c_char);
    /// Switches output of the VM.
    150 SetVerboseFlag set_verbose_flag(flag: VerboseFlag, value: Boolean);
    /// Adds a jar to the class path.
    151 AddToSystemClassLoaderSearch add_to_system_class_loader_search(segment: *const c_char);
    /// Runs the class file hooks again.
    152 RetransformClasses retransform_classes(count: jint, classes: *const jclass);
    /// Owned monitors with their depth.
    153 GetOwnedMonitorStackDepthInfo get_owned_monitor_stack_depth_info(thread: jthread,
        count: *mut jint, monitors: *mut *mut MonitorStackDepthInfo);
    /// Size of an object in bytes.
    154 GetObjectSize get_object_size(object: jobject, size: *mut jlong);
    /// `this` of a frame.
    155 GetLocalInstance get_local_instance(thread: jthread, depth: jint, value: *mut jobject);
    /// Mean bytes between sampled allocations.
    156 SetHeapSamplingInterval set_heap_sampling_interval(interval: jint);
}
