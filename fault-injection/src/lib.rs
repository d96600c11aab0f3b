//! Seeded faults: wrong behaviour that a test build takes on when it is told to, so that the test
//! of each promise can be seen to fail (`make selftest`, `tests/reliability/faults.tsv`).
//!
//! Without the feature `enabled` [`is`] is the constant `false`, and no name of a fault is in the
//! build. A process has at most one fault: it chooses one at its start, by
//! [`choose_from_environment`] or `choose`. [`is`] is one relaxed load, and so may be called in a
//! signal handler. `jfr-format` has faults of its own, see its feature `deviations`.
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

/// A fault, named after what goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Fault {
    /// A bad option makes the load fail.
    BadOptionEndsJvm = 1,
    /// A virtual thread gets the context of its carrier.
    CarrierContext,
    /// The command line is recorded unasked.
    CommandLineRecorded,
    /// The dictionary of values has no limit.
    DictionaryUnbounded,
    /// Threads that exited are never forgotten.
    ExitedThreadsKept,
    /// Control characters of a recording reach the terminal.
    EscapesLeftOut,
    /// A start that fails ends the process.
    FailedStartEndsJvm,
    /// The file is written at rotations only.
    FlushLeftOut,
    /// The handler allocates.
    HandlerAllocates,
    /// A link that has the file's name is written to as a file.
    LinkReplaced,
    /// A sample that a filter leaves out is not counted.
    LossNotCounted,
    /// A late attach does not register the threads that run already.
    LiveThreadsMissed,
    /// The VM's tables lead to the id of another virtual thread.
    OtherVirtualThread,
    /// A context block is read whoever owns it.
    OwnerIgnored,
    /// A redacted value is written as it is.
    RedactionLeftOut,
    /// The writer keeps the JNI references that it is given.
    ReferencesKept,
    /// The handler changes a register of the interrupted code.
    RegisterChanged,
    /// A context block is read while its owner writes it.
    SequenceIgnored,
    /// A signal stays blocked on threads of the application.
    SignalsStayBlocked,
    /// A sample without context keeps that of an earlier sample.
    SlotNotCleared,
    /// A stop leaves the timers.
    TimersKept,
    /// A thread that starts waits for the writer.
    WaitsForWriter,
    /// Time stamps follow the wall clock.
    WallClockTimes,
}

/// Whether this process has this fault.
#[cfg(not(feature = "enabled"))]
#[inline]
pub const fn is(_fault: Fault) -> bool {
    false
}

/// Nothing: this build has no faults.
#[cfg(not(feature = "std"))]
pub fn choose_from_environment() {}

#[cfg(feature = "enabled")]
pub use chosen::{choose, is};

#[cfg(feature = "std")]
pub use chosen::choose_from_environment;

#[cfg(feature = "enabled")]
mod chosen {
    use super::Fault;
    use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

    /// The number of the fault; 0 = none.
    static CHOSEN: AtomicU32 = AtomicU32::new(0);

    /// From now on the process has this fault.
    pub fn choose(fault: Fault) {
        CHOSEN.store(fault as u32, Relaxed);
    }

    /// Whether this process has this fault.
    pub fn is(fault: Fault) -> bool {
        CHOSEN.load(Relaxed) == fault as u32
    }

    /// Chooses the fault that the variable `CTXAGENT_SEEDED_FAULT` names, if it names one of this
    /// crate.
    #[cfg(feature = "std")]
    pub fn choose_from_environment() {
        let name = std::env::var("CTXAGENT_SEEDED_FAULT").unwrap_or_default();
        if let Some((_, fault)) = NAMES.iter().find(|(known, _)| *known == name) {
            choose(*fault);
        }
    }

    /// The names by which a fault is chosen.
    #[cfg(feature = "std")]
    const NAMES: [(&str, Fault); 23] = [
        ("bad-option-ends-jvm", Fault::BadOptionEndsJvm),
        ("carrier-context", Fault::CarrierContext),
        ("command-line-recorded", Fault::CommandLineRecorded),
        ("dictionary-unbounded", Fault::DictionaryUnbounded),
        ("exited-threads-kept", Fault::ExitedThreadsKept),
        ("escapes-left-out", Fault::EscapesLeftOut),
        ("failed-start-ends-jvm", Fault::FailedStartEndsJvm),
        ("flush-left-out", Fault::FlushLeftOut),
        ("handler-allocates", Fault::HandlerAllocates),
        ("link-replaced", Fault::LinkReplaced),
        ("live-threads-missed", Fault::LiveThreadsMissed),
        ("loss-not-counted", Fault::LossNotCounted),
        ("other-virtual-thread", Fault::OtherVirtualThread),
        ("owner-ignored", Fault::OwnerIgnored),
        ("redaction-left-out", Fault::RedactionLeftOut),
        ("references-kept", Fault::ReferencesKept),
        ("register-changed", Fault::RegisterChanged),
        ("sequence-ignored", Fault::SequenceIgnored),
        ("signals-stay-blocked", Fault::SignalsStayBlocked),
        ("slot-not-cleared", Fault::SlotNotCleared),
        ("timers-kept", Fault::TimersKept),
        ("waits-for-writer", Fault::WaitsForWriter),
        ("wall-clock-times", Fault::WallClockTimes),
    ];
}
