//! The natives of `io.ctxagent.internal.agent.Native`, bound by name; the interface `Agent` beside
//! it describes them. And those of `io.ctxagent.labels.Labels`.
//!
//! Rules:
//! 1. Each native is one call of the guard, with its failure policy. A panic or JNI error gives the
//!    default value, which means "no context" to Java. Only `execute` throws.
//! 2. No native is on the hot path: they run once per key, per distinct value or per thread, on
//!    misuse, or as a command.
//! 3. [`Jni`] creates all Java objects, see there. `null` means "not now" to Java.
//! 4. The exported symbols are those of classes of ours, which no other library defines.

#![expect(unsafe_code, reason = "boundary: what the VM calls")]
#![expect(
    unreachable_pub,
    reason = "the JVM finds natives by name in the dynamic symbol table"
)]

mod blocks;
mod labels;
mod observing;
mod support;

pub(crate) use labels::methods_of_labels;
pub(crate) use support::{NULL, answer, method, text};

use blocks::{
    Java_io_ctxagent_internal_agent_Native_abi, Java_io_ctxagent_internal_agent_Native_attribute,
    Java_io_ctxagent_internal_agent_Native_bindKey,
    Java_io_ctxagent_internal_agent_Native_bindKeys,
    Java_io_ctxagent_internal_agent_Native_carryTasks,
    Java_io_ctxagent_internal_agent_Native_count,
    Java_io_ctxagent_internal_agent_Native_currentThreadKey,
    Java_io_ctxagent_internal_agent_Native_describeAttribute,
    Java_io_ctxagent_internal_agent_Native_execute, Java_io_ctxagent_internal_agent_Native_failed,
    Java_io_ctxagent_internal_agent_Native_filterWithoutContext,
    Java_io_ctxagent_internal_agent_Native_intern, Java_io_ctxagent_internal_agent_Native_layout,
    Java_io_ctxagent_internal_agent_Native_openMemory,
    Java_io_ctxagent_internal_agent_Native_refused, Java_io_ctxagent_internal_agent_Native_slab,
    Java_io_ctxagent_internal_agent_Native_value,
    Java_io_ctxagent_internal_agent_Native_verifyVirtual,
    Java_io_ctxagent_internal_agent_Native_wantsTasks,
};
use observing::{
    Java_io_ctxagent_internal_agent_Native_mark, Java_io_ctxagent_internal_agent_Native_milestones,
    Java_io_ctxagent_internal_agent_Native_observeNetwork,
    Java_io_ctxagent_internal_agent_Native_observePauses,
    Java_io_ctxagent_internal_agent_Native_prepareLabels,
    Java_io_ctxagent_internal_agent_Native_sampleNanos,
    Java_io_ctxagent_internal_agent_Native_scopeClosed,
    Java_io_ctxagent_internal_agent_Native_scopeThreshold,
    Java_io_ctxagent_internal_agent_Native_takePauses,
};
use support::methods;

/// That of the managed bean.
pub(crate) fn methods_of_management() -> Vec<jni_sys::JNINativeMethod> {
    methods! {
        c"execute" c"(Ljava/lang/String;)Ljava/lang/String;" Java_io_ctxagent_internal_agent_Native_execute;
    }
}

/// Those of `Native`. While `Agent_OnAttach` runs, the VM does not find them by name.
pub(crate) fn methods() -> Vec<jni_sys::JNINativeMethod> {
    methods! {
        c"abi" c"()I" Java_io_ctxagent_internal_agent_Native_abi;
        c"refused" c"(I)V" Java_io_ctxagent_internal_agent_Native_refused;
        c"failed" c"(Ljava/lang/String;)V" Java_io_ctxagent_internal_agent_Native_failed;
        c"layout" c"()[J" Java_io_ctxagent_internal_agent_Native_layout;
        c"slab" c"()Ljava/nio/ByteBuffer;" Java_io_ctxagent_internal_agent_Native_slab;
        c"bindKey" c"(Ljava/lang/String;)I" Java_io_ctxagent_internal_agent_Native_bindKey;
        c"bindKeys" c"([Ljava/lang/String;)[I" Java_io_ctxagent_internal_agent_Native_bindKeys;
        c"describeAttribute" c"(ILjava/lang/String;Ljava/lang/String;Ljava/lang/String;)V" Java_io_ctxagent_internal_agent_Native_describeAttribute;
        c"filterWithoutContext" c"(I)V" Java_io_ctxagent_internal_agent_Native_filterWithoutContext;
        c"intern" c"(ILjava/lang/String;)I" Java_io_ctxagent_internal_agent_Native_intern;
        c"attribute" c"(I)Ljava/lang/String;" Java_io_ctxagent_internal_agent_Native_attribute;
        c"value" c"(I)Ljava/lang/String;" Java_io_ctxagent_internal_agent_Native_value;
        c"currentThreadKey" c"()J" Java_io_ctxagent_internal_agent_Native_currentThreadKey;
        c"verifyVirtual" c"(J)Z" Java_io_ctxagent_internal_agent_Native_verifyVirtual;
        c"openMemory" c"(Ljava/lang/Module;)Z" Java_io_ctxagent_internal_agent_Native_openMemory;
        c"wantsTasks" c"()Z" Java_io_ctxagent_internal_agent_Native_wantsTasks;
        c"carryTasks" c"(Ljava/util/function/BinaryOperator;)V" Java_io_ctxagent_internal_agent_Native_carryTasks;
        c"scopeThreshold" c"()J" Java_io_ctxagent_internal_agent_Native_scopeThreshold;
        c"scopeClosed" c"(JJII)I" Java_io_ctxagent_internal_agent_Native_scopeClosed;
        c"observePauses" c"(Z)V" Java_io_ctxagent_internal_agent_Native_observePauses;
        c"takePauses" c"()[J" Java_io_ctxagent_internal_agent_Native_takePauses;
        c"observeNetwork" c"(ILjava/util/function/Function;Z)Z" Java_io_ctxagent_internal_agent_Native_observeNetwork;
        c"prepareLabels" c"()Z" Java_io_ctxagent_internal_agent_Native_prepareLabels;
        c"mark" c"(Ljava/lang/String;JJ)V" Java_io_ctxagent_internal_agent_Native_mark;
        c"sampleNanos" c"()J" Java_io_ctxagent_internal_agent_Native_sampleNanos;
        c"milestones" c"()[J" Java_io_ctxagent_internal_agent_Native_milestones;
        c"count" c"(I)V" Java_io_ctxagent_internal_agent_Native_count;
        c"execute" c"(Ljava/lang/String;)Ljava/lang/String;" Java_io_ctxagent_internal_agent_Native_execute;
    }
}
