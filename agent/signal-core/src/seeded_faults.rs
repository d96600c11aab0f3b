//! Test builds: wrong behaviour that a program with the oracle chooses while it runs, to show that
//! the oracle sees it. Other faults are patches of the source, `tests/reliability/faults`.

/// A fault, named after what goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Fault {
    /// A context block is read while its owner writes it.
    SequenceIgnored = 1,
    /// A context block is read whoever owns it.
    OwnerIgnored,
    /// The VM's tables lead to the id of another virtual thread.
    OtherVirtualThread,
}

/// Whether this process has this fault.
#[cfg(not(feature = "oracle"))]
#[inline]
pub(crate) const fn is(_fault: Fault) -> bool {
    false
}

#[cfg(feature = "oracle")]
pub use chosen::choose;
#[cfg(feature = "oracle")]
pub(crate) use chosen::is;

#[cfg(feature = "oracle")]
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
    pub(crate) fn is(fault: Fault) -> bool {
        CHOSEN.load(Relaxed) == fault as u32
    }
}
