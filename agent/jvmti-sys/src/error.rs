//! Error codes, section "Error Codes" of the specification.

use core::fmt;

use jni_sys::jint;

/// What every function returns. Any number is a valid value: VMs may add codes.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "a call that failed did nothing"]
pub struct JvmtiError(pub jint);

macro_rules! errors {
    ($($code:literal $name:ident $text:literal;)+) => {
        impl JvmtiError {
            $(#[doc = concat!($text, " (", $code, ", `JVMTI_ERROR_", stringify!($name), "`).")]
            pub const $name: Self = Self($code);)+

            /// Every code of the specification, in rising order.
            pub const ALL: &'static [Self] = &[$(Self($code)),+];

            /// Name in the specification, without `JVMTI_ERROR_`; `None` for a code it does not
            /// list.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($code => Some(stringify!($name)),)+
                    _ => None,
                }
            }
        }
    };
}

errors! {
    0 NONE "No error";
    10 INVALID_THREAD "The thread is not a valid thread";
    11 INVALID_THREAD_GROUP "The thread group is not valid";
    12 INVALID_PRIORITY "The priority is not valid";
    13 THREAD_NOT_SUSPENDED "The thread was not suspended";
    14 THREAD_SUSPENDED "The thread was already suspended";
    15 THREAD_NOT_ALIVE "The thread has not been started or is dead";
    20 INVALID_OBJECT "The object is not valid";
    21 INVALID_CLASS "The class is not valid";
    22 CLASS_NOT_PREPARED "The class is loaded but not yet prepared";
    23 INVALID_METHODID "The method is not valid";
    24 INVALID_LOCATION "The location is not valid";
    25 INVALID_FIELDID "The field is not valid";
    26 INVALID_MODULE "The module is not valid";
    31 NO_MORE_FRAMES "There are no frames at this depth";
    32 OPAQUE_FRAME "Nothing is known about this frame, or it is native";
    34 TYPE_MISMATCH "The variable has another type";
    35 INVALID_SLOT "The slot is not valid";
    40 DUPLICATE "The item is already set";
    41 NOT_FOUND "The item was not found";
    50 INVALID_MONITOR "The raw monitor is not valid";
    51 NOT_MONITOR_OWNER "This thread does not own the raw monitor";
    52 INTERRUPT "The call was interrupted";
    60 INVALID_CLASS_FORMAT "The new class file is malformed";
    61 CIRCULAR_CLASS_DEFINITION "The new class would be its own superclass";
    62 FAILS_VERIFICATION "The new class file does not verify";
    63 UNSUPPORTED_REDEFINITION_METHOD_ADDED "The new class adds a method";
    64 UNSUPPORTED_REDEFINITION_SCHEMA_CHANGED "The new class changes a field";
    65 INVALID_TYPESTATE "The state of the thread does not allow it";
    66 UNSUPPORTED_REDEFINITION_HIERARCHY_CHANGED
        "The new class changes its superclass or interfaces";
    67 UNSUPPORTED_REDEFINITION_METHOD_DELETED "The new class lacks a method";
    68 UNSUPPORTED_VERSION "The version is not supported";
    69 NAMES_DONT_MATCH "The new class file has another name";
    70 UNSUPPORTED_REDEFINITION_CLASS_MODIFIERS_CHANGED "The new class has other modifiers";
    71 UNSUPPORTED_REDEFINITION_METHOD_MODIFIERS_CHANGED "A method has other modifiers";
    72 UNSUPPORTED_REDEFINITION_CLASS_ATTRIBUTE_CHANGED "The new class has other class attributes";
    73 UNSUPPORTED_OPERATION "The operation is not supported for this thread";
    79 UNMODIFIABLE_CLASS "The class cannot be modified";
    80 UNMODIFIABLE_MODULE "The module cannot be modified";
    98 NOT_AVAILABLE "The functionality is not available in this VM";
    99 MUST_POSSESS_CAPABILITY "The environment lacks a capability";
    100 NULL_POINTER "A pointer is null that must not be";
    101 ABSENT_INFORMATION "The information is not available";
    102 INVALID_EVENT_TYPE "The event number is not known";
    103 ILLEGAL_ARGUMENT "An argument is not allowed";
    104 NATIVE_METHOD "The method is native";
    106 CLASS_LOADER_UNSUPPORTED "The class loader does not support it";
    110 OUT_OF_MEMORY "The VM has no memory left";
    111 ACCESS_DENIED "Debugging is not enabled in this VM";
    112 WRONG_PHASE "The call is not allowed in this phase";
    113 INTERNAL "An error inside the VM";
    115 UNATTACHED_THREAD "The calling thread is not attached to the VM";
    116 INVALID_ENVIRONMENT "The environment is not valid";
}

impl JvmtiError {
    /// `Ok` for [`NONE`](Self::NONE), else `Err` of this code.
    ///
    /// # Errors
    /// Every code but [`NONE`](Self::NONE).
    pub const fn ok(self) -> Result<(), Self> {
        if self.0 == Self::NONE.0 {
            Ok(())
        } else {
            Err(self)
        }
    }
}

impl fmt::Display for JvmtiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "JVMTI error {} ({name})", self.0),
            None => write!(f, "JVMTI error {}", self.0),
        }
    }
}

impl fmt::Debug for JvmtiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for JvmtiError {}
