//! The owner of the monitor that a thread waits for, by the VM's exported tables. This stops no
//! thread and reads no heap.
//!
//! While a thread waits to enter a monitor, and during the callback of that event, the VM keeps the
//! `ObjectMonitor` in `_current_pending_monitor` of the thread and does not free it. Its `_owner`
//! is a thread id from 24 on. Before that it is the owner's `JavaThread`, or an address on the
//! stack of an owner that locked the monitor before any contention.

use super::vm_dictionary::VmDictionary;
use stack_walker::Memory;

/// Smaller values of `_owner` are markers: none, anonymous, in deflation. Thread ids begin here;
/// addresses are far larger.
const FIRST_OWNER: usize = 3;

/// Offsets in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MonitorLayout {
    /// In a `JavaThread`.
    pending: usize,
    /// In an `ObjectMonitor`.
    owner: usize,
    by_id: bool,
}

/// The owner as the VM writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Java id of the logical thread.
    Id(i64),
    /// Address of a `JavaThread`, or of a word on its stack.
    Address(usize),
}

impl MonitorLayout {
    /// `None` if this VM does not name the fields.
    pub(crate) fn find() -> Option<Self> {
        let dictionary = VmDictionary::read()?;
        Some(Self {
            pending: dictionary
                .offset("JavaThread", "_current_pending_monitor")
                .ok()?,
            owner: dictionary.offset("ObjectMonitor", "_owner").ok()?,
            by_id: dictionary.has("JavaThread", "_monitor_owner_id"),
        })
    }

    /// The owner of the monitor that the thread of `java_thread` waits for; `None` if there is no
    /// owner, or the VM does not name it.
    pub(crate) fn owner(self, memory: &impl Memory, java_thread: usize) -> Option<Owner> {
        let monitor = memory.word(java_thread.checked_add(self.pending)?)?;
        if monitor == 0 {
            return None;
        }
        let owner = memory.word(monitor.checked_add(self.owner)?)?;
        if !(FIRST_OWNER..=usize::MAX / 2).contains(&owner) {
            return None;
        }
        if self.by_id {
            i64::try_from(owner).ok().map(Owner::Id)
        } else {
            Some(Owner::Address(owner))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (address, word).
    struct Image([(usize, usize); 2]);

    impl Memory for Image {
        fn word(&self, address: usize) -> Option<usize> {
            let found = self.0.iter().find(|(at, _)| *at == address);
            found.map(|(_, word)| *word)
        }
    }

    #[test]
    fn the_owner_is_read_through_the_pending_monitor() {
        let read = |by_id, monitor, owner| {
            let layout = MonitorLayout {
                pending: 0x100,
                owner: 64,
                by_id,
            };
            layout.owner(&Image([(0x1100, monitor), (0x2040, owner)]), 0x1000)
        };
        assert_eq!(read(true, 0x2000, 33), Some(Owner::Id(33)));
        assert_eq!(
            read(false, 0x2000, 0x7f00_1000),
            Some(Owner::Address(0x7f00_1000))
        );
        for marker in [0, 1, 2, usize::MAX] {
            assert_eq!(read(false, 0x2000, marker), None);
        }
        assert_eq!(read(true, 0, 33), None, "waits for nothing");
        assert_eq!(read(true, 0x3000, 33), None, "unreadable");
    }
}
