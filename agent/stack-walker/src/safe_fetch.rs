//! Checked loads by the VM's own `SafeFetchN`: a two-instruction function of libjvm whose faulting
//! load the VM's SIGSEGV and SIGBUS actions recognise by its address and step over.
//!
//! No signal action of ours is installed and none of the VM's is replaced: implicit null checks and
//! safepoint polls never pass through our code, and `-Xcheck:jni` has nothing to report.
//! `process_vm_readv` would do as well, but costs a system call for each word (1.4 us).
//!
//! Guarantee: a load of any address gives its value or `None`, and has no other effect. Assumption:
//! the VM's action for SIGSEGV is in place, or whoever replaced it passes on to it;
//! [`SafeFetch::self_test`] tries this before the first walk.

use crate::memory::{Memory, plausible, prefetch};
use core::ptr;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

/// The VM's function; see the module.
#[derive(Debug, Clone, Copy)]
pub struct SafeFetch {
    function: extern "C" fn(*const usize, usize) -> usize,
}

/// Loads of plausible addresses that could not be read.
static FAULTS: AtomicU64 = AtomicU64::new(0);

/// Signal-safe: how many loads of this process faulted and were contained.
pub fn contained_faults() -> u64 {
    FAULTS.load(Relaxed)
}

/// Two values that memory is unlikely to hold, as answers for a fault: a load that gives the first
/// is tried again with the second.
const ABSENT: [usize; 2] = [0x5afe_fe7c_0000_0bad, 0x0bad_0000_5afe_fe7c];

/// What `SafeFetchN_impl` and the continuation behind it consist of: load, return; move the second
/// argument to the result, return.
#[cfg(target_arch = "x86_64")]
const CODE: [u8; 8] = [0x48, 0x8b, 0x07, 0xc3, 0x48, 0x89, 0xf0, 0xc3];
/// As above.
#[cfg(target_arch = "aarch64")]
const CODE: [u8; 16] = [
    0x00, 0x00, 0x40, 0xf9, 0xc0, 0x03, 0x5f, 0xd6, 0xe0, 0x03, 0x01, 0xaa, 0xc0, 0x03, 0x5f, 0xd6,
];

/// Set-up methods.
impl SafeFetch {
    /// The function at `address`, `None` if its code is not the one we know.
    ///
    /// # Safety
    /// `address` is that of a symbol of libjvm's text, followed by 16 readable bytes; libjvm stays
    /// loaded, and its actions for SIGSEGV and SIGBUS are in place or passed on to whenever this
    /// loads a word.
    pub unsafe fn at(address: usize) -> Option<Self> {
        let code: *const [u8; CODE.len()] = ptr::with_exposed_provenance(address);
        // SAFETY: the caller promises readable bytes.
        if address == 0 || unsafe { code.read_unaligned() } != CODE {
            return None;
        }
        let entry: *const () = ptr::with_exposed_provenance(address);
        // SAFETY: the bytes are those of a leaf function with this signature.
        let function = unsafe {
            core::mem::transmute::<*const (), extern "C" fn(*const usize, usize) -> usize>(entry)
        };
        Some(Self { function })
    }

    /// Whether a good address gives its value and the unreadable address `unmapped` gives nothing.
    pub fn self_test(self, unmapped: usize) -> bool {
        let word: usize = 0x1234_5678_9abc_def0;
        self.load(ptr::from_ref(&word).expose_provenance()) == Some(word)
            && plausible(unmapped)
            && self.load(unmapped).is_none()
    }
}

/// Signal-safe methods.
impl SafeFetch {
    /// The word at a plausible address; a fault is not counted.
    #[inline]
    fn load(self, address: usize) -> Option<usize> {
        let source: *const usize = ptr::with_exposed_provenance(address);
        ABSENT.iter().find_map(|absent| {
            let found = (self.function)(source, *absent);
            (found != *absent).then_some(found)
        })
    }
}

impl Memory for SafeFetch {
    #[inline]
    fn word(&self, address: usize) -> Option<usize> {
        #[cfg(feature = "faults")]
        let address = faults::inject(address);
        if !plausible(address) {
            return None;
        }
        let found = self.load(address);
        if found.is_none() {
            FAULTS.fetch_add(1, Relaxed); // Relaxed: only counted
        }
        found
    }

    #[inline]
    fn prefetch(&self, address: usize) {
        prefetch(address);
    }
}

/// Test builds: one load in so many reads another address.
#[cfg(feature = "faults")]
pub mod faults {
    use core::sync::atomic::AtomicUsize;
    use core::sync::atomic::Ordering::Relaxed;

    /// One bad load in this many is injected; 0 = none.
    pub static ONE_IN: AtomicUsize = AtomicUsize::new(0);
    static SEED: AtomicUsize = AtomicUsize::new(0x9e37_79b9);

    /// The address, or another one: anything at all, anything in user space, one bit off, or where
    /// nothing ever is.
    pub(super) fn inject(address: usize) -> usize {
        let one_in = ONE_IN.load(Relaxed);
        if one_in == 0 {
            return address;
        }
        let seed = SEED
            .load(Relaxed)
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        SEED.store(seed, Relaxed);
        let dice = seed.wrapping_shr(33);
        if dice.checked_rem(one_in) != Some(0) {
            return address;
        }
        let random = seed.wrapping_mul(0x2545_F491_4F6C_DD1D);
        match dice.wrapping_shr(16) & 3 {
            0 => random,
            1 => random.wrapping_shr(17),
            2 => {
                address ^ 1_usize.wrapping_shl(u32::try_from(random.wrapping_shr(58)).unwrap_or(0))
            }
            _ => 0x2_0000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNMAPPED: usize = 0x2_0000;

    /// As the VM's function: the word, or `absent` where nothing is.
    extern "C" fn fetch(source: *const usize, absent: usize) -> usize {
        if source.addr() == UNMAPPED {
            return absent;
        }
        // SAFETY: the tests give addresses of their own variables only.
        unsafe { source.read() }
    }

    extern "C" fn always_absent(_source: *const usize, absent: usize) -> usize {
        absent
    }

    extern "C" fn always_seven(_source: *const usize, _absent: usize) -> usize {
        7
    }

    #[test]
    fn self_test_refuses_a_function_that_does_not_tell_faults() {
        assert!(SafeFetch { function: fetch }.self_test(UNMAPPED));
        for function in [always_absent, always_seven] {
            assert!(!SafeFetch { function }.self_test(UNMAPPED));
        }
        assert!(
            !SafeFetch { function: fetch }.self_test(0),
            "no address at all"
        );
    }

    #[test]
    fn a_word_equal_to_a_fault_answer_is_read() {
        let memory = SafeFetch { function: fetch };
        for word in ABSENT.into_iter().chain([0, 1]) {
            let address = ptr::from_ref(&word).expose_provenance();
            assert_eq!(memory.word(address), Some(word));
        }
        let before = contained_faults();
        assert_eq!(memory.word(UNMAPPED), None);
        assert!(contained_faults() > before, "counted");
        assert_eq!(memory.word(0), None, "not even asked");
    }
}
