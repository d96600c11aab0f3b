//! Boundary to the JVM through its standard interfaces: JVMTI and JNI.

mod boot_classes;
pub(crate) mod class_bundle;
pub(crate) mod direct_memory;
pub(crate) mod event_entry;
pub(crate) mod exact_inlining;
pub(crate) mod jfr_clock;
pub(crate) mod jni;
pub(crate) mod jvmti;
pub(crate) mod method_ids;
pub(crate) mod methods;
mod modified_utf8;
pub(crate) mod net_entries;
pub(crate) mod raw_frame;
pub(crate) mod task_entry;
