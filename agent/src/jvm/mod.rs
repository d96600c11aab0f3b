//! Boundary to the JVM: JVMTI, JNI, the natives of the Java API, and the VM's own structures.

pub(crate) mod callbacks;
pub(crate) mod direct_memory;
pub(crate) mod identity;
pub(crate) mod jni;
pub(crate) mod jvmti;
pub(crate) mod layout;
pub(crate) mod live_threads;
pub(crate) mod method_ids;
pub(crate) mod methods;
pub(crate) mod monitors;
pub(crate) mod natives;
#[cfg(feature = "oracle")]
pub(crate) mod oracle;
mod symtab;
pub(crate) mod threads;
mod vm_dictionary;
pub(crate) mod vm_structs;
pub(crate) mod walk_tables;
