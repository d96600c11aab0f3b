//! Connects and look-ups of names that the application observes (`io.ctxagent.observe`): methods
//! of the JDK that do them call `NetCalls` and `NetChannels`, which tell the Java API.

use crate::class_hooks::on_demand::{HooksOnDemand, of_table};
use crate::jvm::jni::{Jni, LocalRef};
use crate::jvm::jvmti::Jvmti;
use crate::jvm::net_entries::{self, CALLS, CHANNELS};

const TABLE: &str = include_str!("network/hooks.txt");
/// The kinds by their numbers in `NetEntries`.
const KINDS: [&str; 2] = ["net", "dns"];

static HOOKS: HooksOnDemand<{ KINDS.len() }> = HooksOnDemand::new(
    "entries",
    KINDS,
    || of_table(TABLE, class_of),
    net_entries::prepare,
);

fn class_of(helper: &str) -> &'static str {
    if helper == "calls" { CALLS } else { CHANNELS }
}

/// An application observes a kind from now on, or no longer. `false` if that has no effect.
pub(crate) fn observe(
    jvmti: Jvmti,
    jni: Jni,
    kind: i32,
    observer: &LocalRef<'_>,
    on: bool,
) -> bool {
    let Some(number) = usize::try_from(kind).ok().filter(|n| *n < KINDS.len()) else {
        return false;
    };
    let known = HOOKS.are_in(number);
    let is_hooked = known.unwrap_or_else(|| on && HOOKS.insert(jvmti, jni, number));
    is_hooked && net_entries::observe(jni, kind, observer, on)
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
        check(&HOOKS, TABLE, [(17, 18), (21, 18), (25, 18)]);
    }
}
