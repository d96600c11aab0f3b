//! Capabilities, section "Capability" of the specification: one bit each, 16 bytes in all.

/// Number of one capability: its bit, counted from the lowest bit of the first byte.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Capability(pub u8);

/// A set of capabilities, laid out as the VM expects it.
#[repr(C, align(4))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Capabilities {
    bytes: [u8; 16],
}

const _: () = assert!(
    size_of::<Capabilities>() == 16,
    "the specification's structure has 16 bytes"
);

macro_rules! capabilities {
    ($($bit:literal $name:ident $lower:literal $text:literal;)+) => {
        impl Capability {
            $(#[doc = concat!($text, " (bit ", $bit, ", `", $lower, "`).")]
            pub const $name: Self = Self($bit);)+

            /// Every capability of the specification, in rising order.
            pub const ALL: &'static [Self] = &[$(Self($bit)),+];

            /// Name in the specification; `None` for a bit it does not list.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($bit => Some($lower),)+
                    _ => None,
                }
            }
        }
    };
}

capabilities! {
    0 CAN_TAG_OBJECTS "can_tag_objects" "Set and get tags";
    1 CAN_GENERATE_FIELD_MODIFICATION_EVENTS "can_generate_field_modification_events"
        "Watch writes of fields";
    2 CAN_GENERATE_FIELD_ACCESS_EVENTS "can_generate_field_access_events" "Watch reads of fields";
    3 CAN_GET_BYTECODES "can_get_bytecodes" "Get the bytecodes of a method";
    4 CAN_GET_SYNTHETIC_ATTRIBUTE "can_get_synthetic_attribute"
        "Ask whether a field or method is synthetic";
    5 CAN_GET_OWNED_MONITOR_INFO "can_get_owned_monitor_info" "List the monitors a thread owns";
    6 CAN_GET_CURRENT_CONTENDED_MONITOR "can_get_current_contended_monitor"
        "Get the monitor a thread waits for";
    7 CAN_GET_MONITOR_INFO "can_get_monitor_info" "Get owner and waiters of a monitor";
    8 CAN_POP_FRAME "can_pop_frame" "Pop frames";
    9 CAN_REDEFINE_CLASSES "can_redefine_classes" "Redefine classes";
    10 CAN_SIGNAL_THREAD "can_signal_thread" "Stop or interrupt threads";
    11 CAN_GET_SOURCE_FILE_NAME "can_get_source_file_name" "Get the source file of a class";
    12 CAN_GET_LINE_NUMBERS "can_get_line_numbers" "Get the line numbers of a method";
    13 CAN_GET_SOURCE_DEBUG_EXTENSION "can_get_source_debug_extension"
        "Get the debug extension of a class";
    14 CAN_ACCESS_LOCAL_VARIABLES "can_access_local_variables" "Read and write local variables";
    15 CAN_MAINTAIN_ORIGINAL_METHOD_ORDER "can_maintain_original_method_order"
        "Return methods in the order of the class file";
    16 CAN_GENERATE_SINGLE_STEP_EVENTS "can_generate_single_step_events" "Get single step events";
    17 CAN_GENERATE_EXCEPTION_EVENTS "can_generate_exception_events"
        "Get exception thrown and caught events";
    18 CAN_GENERATE_FRAME_POP_EVENTS "can_generate_frame_pop_events" "Get frame pop events";
    19 CAN_GENERATE_BREAKPOINT_EVENTS "can_generate_breakpoint_events" "Set breakpoints";
    20 CAN_SUSPEND "can_suspend" "Suspend and resume threads";
    21 CAN_REDEFINE_ANY_CLASS "can_redefine_any_class"
        "Redefine any class that is not primitive or an array";
    22 CAN_GET_CURRENT_THREAD_CPU_TIME "can_get_current_thread_cpu_time"
        "Get the CPU time of the current thread";
    23 CAN_GET_THREAD_CPU_TIME "can_get_thread_cpu_time" "Get the CPU time of any thread";
    24 CAN_GENERATE_METHOD_ENTRY_EVENTS "can_generate_method_entry_events"
        "Get method entry events";
    25 CAN_GENERATE_METHOD_EXIT_EVENTS "can_generate_method_exit_events" "Get method exit events";
    26 CAN_GENERATE_ALL_CLASS_HOOK_EVENTS "can_generate_all_class_hook_events"
        "Get class file load events for every class";
    27 CAN_GENERATE_COMPILED_METHOD_LOAD_EVENTS "can_generate_compiled_method_load_events"
        "Get compiled method events";
    28 CAN_GENERATE_MONITOR_EVENTS "can_generate_monitor_events" "Get monitor events";
    29 CAN_GENERATE_VM_OBJECT_ALLOC_EVENTS "can_generate_vm_object_alloc_events"
        "Get events for objects the VM allocates";
    30 CAN_GENERATE_NATIVE_METHOD_BIND_EVENTS "can_generate_native_method_bind_events"
        "Get native method bind events";
    31 CAN_GENERATE_GARBAGE_COLLECTION_EVENTS "can_generate_garbage_collection_events"
        "Get garbage collection events";
    32 CAN_GENERATE_OBJECT_FREE_EVENTS "can_generate_object_free_events" "Get object free events";
    33 CAN_FORCE_EARLY_RETURN "can_force_early_return" "Return early from a method";
    34 CAN_GET_OWNED_MONITOR_STACK_DEPTH_INFO "can_get_owned_monitor_stack_depth_info"
        "List owned monitors with their depth";
    35 CAN_GET_CONSTANT_POOL "can_get_constant_pool" "Get the constant pool of a class";
    36 CAN_SET_NATIVE_METHOD_PREFIX "can_set_native_method_prefix"
        "Set a prefix for native methods";
    37 CAN_RETRANSFORM_CLASSES "can_retransform_classes" "Retransform classes";
    38 CAN_RETRANSFORM_ANY_CLASS "can_retransform_any_class"
        "Retransform any class that is not primitive or an array";
    39 CAN_GENERATE_RESOURCE_EXHAUSTION_HEAP_EVENTS "can_generate_resource_exhaustion_heap_events"
        "Get heap exhaustion events";
    40 CAN_GENERATE_RESOURCE_EXHAUSTION_THREADS_EVENTS
        "can_generate_resource_exhaustion_threads_events" "Get thread exhaustion events";
    41 CAN_GENERATE_EARLY_VMSTART "can_generate_early_vmstart"
        "Get VM start in the primordial phase";
    42 CAN_GENERATE_EARLY_CLASS_HOOK_EVENTS "can_generate_early_class_hook_events"
        "Get class file load events in the primordial phase";
    43 CAN_GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS "can_generate_sampled_object_alloc_events"
        "Get sampled allocation events";
    44 CAN_SUPPORT_VIRTUAL_THREADS "can_support_virtual_threads"
        "Support virtual threads (21 and later)";
}

impl Capabilities {
    /// The empty set.
    pub const NONE: Self = Self { bytes: [0; 16] };

    /// This set with `capability` added. A number past the structure's last bit changes nothing.
    #[must_use]
    pub const fn with(mut self, capability: Capability) -> Self {
        let byte = (capability.0 / 8) as usize;
        if byte < self.bytes.len() {
            self.bytes[byte] |= 1 << (capability.0 % 8);
        }
        self
    }

    /// Whether `capability` is in the set.
    pub const fn has(&self, capability: Capability) -> bool {
        let byte = (capability.0 / 8) as usize;
        byte < self.bytes.len() && self.bytes[byte] & (1 << (capability.0 % 8)) != 0
    }

    /// The raw bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.bytes
    }
}
