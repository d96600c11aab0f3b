//! What a virtual thread waits for, by its own fields.

use crate::jvm::jni::{Jni, LocalRef};
use jni_sys::jfieldID;
use std::ffi::CStr;

/// Waits for a time in `Thread.sleep`.
const SLEEPING: &str = "STATE_SLEEPING";
/// Waits for a time in `LockSupport.parkNanos`.
const PARKED_TIMED: &str = "STATE_PARKED_TIMED";
/// Could run, and no carrier is free.
const WAITING_FOR_CARRIER: &str = "STATE_WAITING_FOR_CARRIER";

/// Constants of `java.lang.VirtualThread` for threads that no carrier runs, and what a recording
/// calls the state. A JDK has not all of them.
const STATES: [(&CStr, &str); 9] = [
    (c"STARTED", WAITING_FOR_CARRIER),
    (c"PARKED", "STATE_PARKED"),
    (c"TIMED_PARKED", PARKED_TIMED),
    (c"UNPARKED", WAITING_FOR_CARRIER),
    (c"YIELDED", WAITING_FOR_CARRIER),
    (c"BLOCKED", "STATE_BLOCKED_ON_MONITOR_ENTER"),
    (c"UNBLOCKED", WAITING_FOR_CARRIER),
    (c"WAIT", "STATE_IN_OBJECT_WAIT"),
    (c"TIMED_WAIT", "STATE_IN_OBJECT_WAIT_TIMED"),
];

/// Fields of a virtual thread.
#[derive(Debug)]
pub(super) struct VirtualThreadFields {
    tid: jfieldID,
    state: jfieldID,
    blocker: jfieldID,
    /// Set in `state` while a debugger or a thread dump holds the thread.
    suspended: i32,
    /// Value and name of each state.
    states: Vec<(i32, &'static str)>,
}

impl VirtualThreadFields {
    /// `None` if this JDK has other ones.
    pub(super) fn find(jni: &Jni) -> Option<Self> {
        let class = jni.find_class(c"java/lang/VirtualThread")?;
        let states = STATES.iter().filter_map(|(constant, name)| {
            let value = jni.static_int(&class, constant)?;
            Some((value, *name))
        });
        Some(Self {
            tid: jni.field_id(&class, c"tid", c"J")?,
            state: jni.field_id(&class, c"state", c"I")?,
            blocker: jni.field_id(&class, c"parkBlocker", c"Ljava/lang/Object;")?,
            suspended: jni.static_int(&class, c"SUSPENDED")?,
            states: states.collect(),
        })
    }

    /// The id of the thread.
    pub(super) fn tid(&self, jni: Jni, thread: &LocalRef<'_>) -> i64 {
        jni.long_field(thread, self.tid)
    }

    /// What the thread waits for; `None` if a carrier runs it, it was not started, or it has ended.
    ///
    /// Sleeping is a timed wait without a blocker: so is `LockSupport.parkNanos` without one.
    pub(super) fn state(&self, jni: Jni, thread: &LocalRef<'_>) -> Option<&'static str> {
        let value = jni.int_field(thread, self.state) & !self.suspended;
        let (_, name) = self.states.iter().find(|(state, _)| *state == value)?;
        if *name == PARKED_TIMED {
            return match jni.object_field(thread, self.blocker) {
                None => Some(SLEEPING),
                Some(blocker) => {
                    jni.delete_local(blocker);
                    Some(PARKED_TIMED)
                }
            };
        }
        Some(name)
    }
}
