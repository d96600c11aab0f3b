//! Function numbers, section "Function Index" of the specification.

use core::fmt;

/// Number of one function: entry `number - 1` of the table.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Function(pub u8);

/// Number of entries of the table, empty ones included.
pub const TABLE_LEN: usize = 156;

macro_rules! functions {
    ($($number:literal $name:ident $upper:ident;)+) => {
        impl Function {
            $(#[doc = concat!("`", stringify!($name), "` (", $number, ").")]
            pub const $upper: Self = Self($number);)+

            /// Every function of the specification, in rising order.
            pub const ALL: &'static [Self] = &[$(Self($number)),+];

            /// Name in the specification; `None` for a reserved entry or a number past the table.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some(stringify!($name)),)+
                    _ => None,
                }
            }
        }
    };
}

functions! {
    2 SetEventNotificationMode SET_EVENT_NOTIFICATION_MODE;
    3 GetAllModules GET_ALL_MODULES;
    4 GetAllThreads GET_ALL_THREADS;
    5 SuspendThread SUSPEND_THREAD;
    6 ResumeThread RESUME_THREAD;
    7 StopThread STOP_THREAD;
    8 InterruptThread INTERRUPT_THREAD;
    9 GetThreadInfo GET_THREAD_INFO;
    10 GetOwnedMonitorInfo GET_OWNED_MONITOR_INFO;
    11 GetCurrentContendedMonitor GET_CURRENT_CONTENDED_MONITOR;
    12 RunAgentThread RUN_AGENT_THREAD;
    13 GetTopThreadGroups GET_TOP_THREAD_GROUPS;
    14 GetThreadGroupInfo GET_THREAD_GROUP_INFO;
    15 GetThreadGroupChildren GET_THREAD_GROUP_CHILDREN;
    16 GetFrameCount GET_FRAME_COUNT;
    17 GetThreadState GET_THREAD_STATE;
    18 GetCurrentThread GET_CURRENT_THREAD;
    19 GetFrameLocation GET_FRAME_LOCATION;
    20 NotifyFramePop NOTIFY_FRAME_POP;
    21 GetLocalObject GET_LOCAL_OBJECT;
    22 GetLocalInt GET_LOCAL_INT;
    23 GetLocalLong GET_LOCAL_LONG;
    24 GetLocalFloat GET_LOCAL_FLOAT;
    25 GetLocalDouble GET_LOCAL_DOUBLE;
    26 SetLocalObject SET_LOCAL_OBJECT;
    27 SetLocalInt SET_LOCAL_INT;
    28 SetLocalLong SET_LOCAL_LONG;
    29 SetLocalFloat SET_LOCAL_FLOAT;
    30 SetLocalDouble SET_LOCAL_DOUBLE;
    31 CreateRawMonitor CREATE_RAW_MONITOR;
    32 DestroyRawMonitor DESTROY_RAW_MONITOR;
    33 RawMonitorEnter RAW_MONITOR_ENTER;
    34 RawMonitorExit RAW_MONITOR_EXIT;
    35 RawMonitorWait RAW_MONITOR_WAIT;
    36 RawMonitorNotify RAW_MONITOR_NOTIFY;
    37 RawMonitorNotifyAll RAW_MONITOR_NOTIFY_ALL;
    38 SetBreakpoint SET_BREAKPOINT;
    39 ClearBreakpoint CLEAR_BREAKPOINT;
    40 GetNamedModule GET_NAMED_MODULE;
    41 SetFieldAccessWatch SET_FIELD_ACCESS_WATCH;
    42 ClearFieldAccessWatch CLEAR_FIELD_ACCESS_WATCH;
    43 SetFieldModificationWatch SET_FIELD_MODIFICATION_WATCH;
    44 ClearFieldModificationWatch CLEAR_FIELD_MODIFICATION_WATCH;
    45 IsModifiableClass IS_MODIFIABLE_CLASS;
    46 Allocate ALLOCATE;
    47 Deallocate DEALLOCATE;
    48 GetClassSignature GET_CLASS_SIGNATURE;
    49 GetClassStatus GET_CLASS_STATUS;
    50 GetSourceFileName GET_SOURCE_FILE_NAME;
    51 GetClassModifiers GET_CLASS_MODIFIERS;
    52 GetClassMethods GET_CLASS_METHODS;
    53 GetClassFields GET_CLASS_FIELDS;
    54 GetImplementedInterfaces GET_IMPLEMENTED_INTERFACES;
    55 IsInterface IS_INTERFACE;
    56 IsArrayClass IS_ARRAY_CLASS;
    57 GetClassLoader GET_CLASS_LOADER;
    58 GetObjectHashCode GET_OBJECT_HASH_CODE;
    59 GetObjectMonitorUsage GET_OBJECT_MONITOR_USAGE;
    60 GetFieldName GET_FIELD_NAME;
    61 GetFieldDeclaringClass GET_FIELD_DECLARING_CLASS;
    62 GetFieldModifiers GET_FIELD_MODIFIERS;
    63 IsFieldSynthetic IS_FIELD_SYNTHETIC;
    64 GetMethodName GET_METHOD_NAME;
    65 GetMethodDeclaringClass GET_METHOD_DECLARING_CLASS;
    66 GetMethodModifiers GET_METHOD_MODIFIERS;
    67 ClearAllFramePops CLEAR_ALL_FRAME_POPS;
    68 GetMaxLocals GET_MAX_LOCALS;
    69 GetArgumentsSize GET_ARGUMENTS_SIZE;
    70 GetLineNumberTable GET_LINE_NUMBER_TABLE;
    71 GetMethodLocation GET_METHOD_LOCATION;
    72 GetLocalVariableTable GET_LOCAL_VARIABLE_TABLE;
    73 SetNativeMethodPrefix SET_NATIVE_METHOD_PREFIX;
    74 SetNativeMethodPrefixes SET_NATIVE_METHOD_PREFIXES;
    75 GetBytecodes GET_BYTECODES;
    76 IsMethodNative IS_METHOD_NATIVE;
    77 IsMethodSynthetic IS_METHOD_SYNTHETIC;
    78 GetLoadedClasses GET_LOADED_CLASSES;
    79 GetClassLoaderClasses GET_CLASS_LOADER_CLASSES;
    80 PopFrame POP_FRAME;
    81 ForceEarlyReturnObject FORCE_EARLY_RETURN_OBJECT;
    82 ForceEarlyReturnInt FORCE_EARLY_RETURN_INT;
    83 ForceEarlyReturnLong FORCE_EARLY_RETURN_LONG;
    84 ForceEarlyReturnFloat FORCE_EARLY_RETURN_FLOAT;
    85 ForceEarlyReturnDouble FORCE_EARLY_RETURN_DOUBLE;
    86 ForceEarlyReturnVoid FORCE_EARLY_RETURN_VOID;
    87 RedefineClasses REDEFINE_CLASSES;
    88 GetVersionNumber GET_VERSION_NUMBER;
    89 GetCapabilities GET_CAPABILITIES;
    90 GetSourceDebugExtension GET_SOURCE_DEBUG_EXTENSION;
    91 IsMethodObsolete IS_METHOD_OBSOLETE;
    92 SuspendThreadList SUSPEND_THREAD_LIST;
    93 ResumeThreadList RESUME_THREAD_LIST;
    94 AddModuleReads ADD_MODULE_READS;
    95 AddModuleExports ADD_MODULE_EXPORTS;
    96 AddModuleOpens ADD_MODULE_OPENS;
    97 AddModuleUses ADD_MODULE_USES;
    98 AddModuleProvides ADD_MODULE_PROVIDES;
    99 IsModifiableModule IS_MODIFIABLE_MODULE;
    100 GetAllStackTraces GET_ALL_STACK_TRACES;
    101 GetThreadListStackTraces GET_THREAD_LIST_STACK_TRACES;
    102 GetThreadLocalStorage GET_THREAD_LOCAL_STORAGE;
    103 SetThreadLocalStorage SET_THREAD_LOCAL_STORAGE;
    104 GetStackTrace GET_STACK_TRACE;
    106 GetTag GET_TAG;
    107 SetTag SET_TAG;
    108 ForceGarbageCollection FORCE_GARBAGE_COLLECTION;
    109 IterateOverObjectsReachableFromObject ITERATE_OVER_OBJECTS_REACHABLE_FROM_OBJECT;
    110 IterateOverReachableObjects ITERATE_OVER_REACHABLE_OBJECTS;
    111 IterateOverHeap ITERATE_OVER_HEAP;
    112 IterateOverInstancesOfClass ITERATE_OVER_INSTANCES_OF_CLASS;
    114 GetObjectsWithTags GET_OBJECTS_WITH_TAGS;
    115 FollowReferences FOLLOW_REFERENCES;
    116 IterateThroughHeap ITERATE_THROUGH_HEAP;
    118 SuspendAllVirtualThreads SUSPEND_ALL_VIRTUAL_THREADS;
    119 ResumeAllVirtualThreads RESUME_ALL_VIRTUAL_THREADS;
    120 SetJNIFunctionTable SET_JNI_FUNCTION_TABLE;
    121 GetJNIFunctionTable GET_JNI_FUNCTION_TABLE;
    122 SetEventCallbacks SET_EVENT_CALLBACKS;
    123 GenerateEvents GENERATE_EVENTS;
    124 GetExtensionFunctions GET_EXTENSION_FUNCTIONS;
    125 GetExtensionEvents GET_EXTENSION_EVENTS;
    126 SetExtensionEventCallback SET_EXTENSION_EVENT_CALLBACK;
    127 DisposeEnvironment DISPOSE_ENVIRONMENT;
    128 GetErrorName GET_ERROR_NAME;
    129 GetJLocationFormat GET_JLOCATION_FORMAT;
    130 GetSystemProperties GET_SYSTEM_PROPERTIES;
    131 GetSystemProperty GET_SYSTEM_PROPERTY;
    132 SetSystemProperty SET_SYSTEM_PROPERTY;
    133 GetPhase GET_PHASE;
    134 GetCurrentThreadCpuTimerInfo GET_CURRENT_THREAD_CPU_TIMER_INFO;
    135 GetCurrentThreadCpuTime GET_CURRENT_THREAD_CPU_TIME;
    136 GetThreadCpuTimerInfo GET_THREAD_CPU_TIMER_INFO;
    137 GetThreadCpuTime GET_THREAD_CPU_TIME;
    138 GetTimerInfo GET_TIMER_INFO;
    139 GetTime GET_TIME;
    140 GetPotentialCapabilities GET_POTENTIAL_CAPABILITIES;
    142 AddCapabilities ADD_CAPABILITIES;
    143 RelinquishCapabilities RELINQUISH_CAPABILITIES;
    144 GetAvailableProcessors GET_AVAILABLE_PROCESSORS;
    145 GetClassVersionNumbers GET_CLASS_VERSION_NUMBERS;
    146 GetConstantPool GET_CONSTANT_POOL;
    147 GetEnvironmentLocalStorage GET_ENVIRONMENT_LOCAL_STORAGE;
    148 SetEnvironmentLocalStorage SET_ENVIRONMENT_LOCAL_STORAGE;
    149 AddToBootstrapClassLoaderSearch ADD_TO_BOOTSTRAP_CLASS_LOADER_SEARCH;
    150 SetVerboseFlag SET_VERBOSE_FLAG;
    151 AddToSystemClassLoaderSearch ADD_TO_SYSTEM_CLASS_LOADER_SEARCH;
    152 RetransformClasses RETRANSFORM_CLASSES;
    153 GetOwnedMonitorStackDepthInfo GET_OWNED_MONITOR_STACK_DEPTH_INFO;
    154 GetObjectSize GET_OBJECT_SIZE;
    155 GetLocalInstance GET_LOCAL_INSTANCE;
    156 SetHeapSamplingInterval SET_HEAP_SAMPLING_INTERVAL;
}

impl Function {
    /// Index in the table, if the number is inside it.
    pub const fn index(self) -> Option<usize> {
        match (self.0 as usize).checked_sub(1) {
            Some(index) if index < TABLE_LEN => Some(index),
            _ => None,
        }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Function({} {})",
            self.0,
            self.name().unwrap_or("reserved")
        )
    }
}
