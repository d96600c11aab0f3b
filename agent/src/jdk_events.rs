//! Parks and exceptions: methods of the JDK that park a thread, or give an exception its stack,
//! call `EventEntry`, which reports to the agent what a recording wants.
//!
//! Nothing of that is in the VM before a recording wants it.

use crate::class_hooks::on_demand::{HooksOnDemand, of_table};
use crate::jvm::event_entry::{self, EVENTS};
use crate::jvm::jni::{Jni, LocalRef};
use crate::jvm::jvmti::Jvmti;
use crate::log;
use crate::options::Options;
use std::time::Duration;

const TABLE: &str = include_str!("jdk_events/hooks.txt");
const PARK: usize = 0;
const EXCEPTION: usize = 1;
/// The kinds by these numbers: the options that want them.
const KINDS: [&str; 2] = ["park", "exception"];
/// No parks are recorded.
const OFF: i64 = -1;

// `begin` has defined the classes before.
static HOOKS: HooksOnDemand<{ KINDS.len() }> =
    HooksOnDemand::new("events", KINDS, || of_table(TABLE, |_| EVENTS), |_| true);

/// A recording begins with these options. `bind` binds the native of `EventSink`.
pub(crate) fn begin(
    jvmti: Jvmti,
    jni: Jni,
    options: &Options,
    bind: fn(Jni, &LocalRef<'_>) -> bool,
) {
    if options.park.is_none() && !options.exceptions {
        return;
    }
    if !event_entry::prepare(jni, bind) {
        return log::warn("parks and exceptions are not recorded: their class cannot be defined");
    }
    let is_hooked = |kind| HOOKS.insert(jvmti, jni, kind);
    let park = options.park.filter(|_| is_hooked(PARK));
    let exceptions = options.exceptions && is_hooked(EXCEPTION);
    event_entry::turn(jni, park.map_or(OFF, nanos), exceptions);
}

fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// The recording has ended.
pub(crate) fn end(jni: Jni) {
    event_entry::turn(jni, OFF, false);
}

/// The class with hooks; `None` if it gets none.
pub(crate) fn patched(name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    HOOKS.patched(name, bytes)
}

/// The lines of `status`.
pub(crate) fn status() -> Vec<String> {
    HOOKS.status()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_hooks::on_demand::tests::check;

    #[test]
    fn each_line_of_the_table_is_a_hook() {
        check(&HOOKS, TABLE, [(17, 7), (21, 9), (25, 11)]);
    }
}
