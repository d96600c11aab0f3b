//! Bugs that a test build has when it is told to: each must be found by a test (`make selftest`). In other builds [`is`] is the constant `false`.

/// A bug in the signal room. The other crates name theirs by text, see `jfr_format::planted`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Bug {
    /// A block is read although its owner is writing it.
    SequenceIgnored = 1,
    /// The first block of a neighbourhood is taken, whoever owns it.
    OwnerIgnored = 2,
    /// A sample without context keeps what its slot held before.
    SlotNotCleared = 3,
    /// A virtual thread is taken for its carrier.
    CarrierContext = 4,
    /// A sample that a filter leaves out is not counted.
    LossNotCounted = 5,
    /// The handler allocates.
    HandlerAllocates = 6,
    /// The handler changes a register of the interrupted code.
    RegisterChanged = 7,
    /// The VM's tables lead to the id of another virtual thread.
    VirtualId = 8,
}

/// Whether this build has this bug now.
#[cfg(not(feature = "planted"))]
#[inline]
pub const fn is(_bug: Bug) -> bool {
    false
}

#[cfg(feature = "planted")]
pub use chosen::{allocate, change_a_register, choose, is};

#[cfg(feature = "planted")]
mod chosen {
    use super::Bug;
    use core::ffi::c_void;
    use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

    /// The number of the bug; 0 = none.
    static CHOSEN: AtomicU32 = AtomicU32::new(0);

    /// The names by which a bug is chosen.
    const NAMES: [(&str, Bug); 8] = [
        ("sequence-ignored", Bug::SequenceIgnored),
        ("owner-ignored", Bug::OwnerIgnored),
        ("slot-not-cleared", Bug::SlotNotCleared),
        ("carrier-context", Bug::CarrierContext),
        ("loss-not-counted", Bug::LossNotCounted),
        ("handler-allocates", Bug::HandlerAllocates),
        ("register-changed", Bug::RegisterChanged),
        ("other-virtual-thread", Bug::VirtualId),
    ];

    /// From now on the room has this bug; a name that is none of its own is ignored.
    pub fn choose(name: &str) {
        if let Some((_, bug)) = NAMES.iter().find(|(known, _)| *known == name) {
            CHOSEN.store(*bug as u32, Relaxed);
        }
    }

    /// Whether this build has this bug now.
    pub fn is(bug: Bug) -> bool {
        CHOSEN.load(Relaxed) == bug as u32
    }

    /// What no handler may do.
    pub fn allocate() {
        // SAFETY: any size; the memory stays where it is.
        let memory = unsafe { libc::malloc(64) };
        core::hint::black_box(memory);
    }

    /// Leaves the interrupted code with another value in a register that it uses.
    pub fn change_a_register(ucontext: *mut c_void) {
        let context: *mut libc::ucontext_t = ucontext.cast();
        // SAFETY: the kernel's own context of this signal, writable until the handler returns.
        if let Some(context) = unsafe { context.as_mut() } {
            #[cfg(target_arch = "x86_64")]
            if let Some(register) = context.uc_mcontext.gregs.get_mut(libc::REG_RBX as usize) {
                *register ^= 1;
            }
            #[cfg(target_arch = "aarch64")]
            if let Some(register) = context.uc_mcontext.regs.get_mut(19) {
                *register ^= 1;
            }
        }
    }
}
