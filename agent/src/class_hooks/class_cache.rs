//! Whether this JVM makes a cache of its classes for later ones: an AOT cache or a CDS archive.
//!
//! A cache has neither classes that were loaded anew nor their subclasses. A JVM that makes one of
//! all classes (JDK 24 and later) crashes where it cannot do without them, as without `Thread`. So
//! no class gets hooks then.

use crate::hotspot::vm_flags::VmFlags;
use crate::log;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Flags with the name of the file to make.
const FILES: [&str; 2] = ["AOTCacheOutput", "ArchiveClassesAtExit"];
/// Flags that are on then.
const SWITCHES: [&str; 3] = [
    "DumpSharedSpaces",
    "DynamicDumpSharedSpaces",
    "RecordDynamicDumpInfo",
];
/// A flag that has one of these values then.
const MODE: &str = "AOTMode";
const MODES: [&str; 2] = ["record", "create"];
/// Why no class gets hooks.
const REASON: &str = "this JVM makes a cache of its classes";

static IS_MADE: LazyLock<bool> = LazyLock::new(|| VmFlags::read().is_some_and(|f| makes_one(&f)));
/// Whether somebody wanted hooks then.
static WAS_WANTED: AtomicBool = AtomicBool::new(false);

fn makes_one(flags: &VmFlags) -> bool {
    let mode = flags.text(MODE);
    SWITCHES.iter().any(|name| flags.is_on(name))
        || FILES.iter().any(|name| flags.text(name).is_some())
        || mode.is_some_and(|mode| MODES.contains(&mode))
}

/// Whether classes get no hooks, which somebody wants; the first time a line says so.
pub(crate) fn refuses_hooks() -> bool {
    if *IS_MADE && !WAS_WANTED.swap(true, Relaxed) {
        log::notice(&format!(
            "{REASON}: none of them gets hooks (propagate, labels, park, exception, observers)"
        ));
    }
    *IS_MADE
}

/// The line of `status`, once hooks were wanted.
pub(crate) fn status() -> Option<String> {
    let was_wanted = WAS_WANTED.load(Relaxed);
    was_wanted.then(|| format!("hooks: off ({REASON})"))
}
