//! Checked loads: a word of memory that may not be there, or `None`. Every read of a stack walk goes through [`Memory`].
//!
//! The production way is the VM's own `SafeFetchN`: a two-instruction function of libjvm whose faulting load the VM's own SIGSEGV and
//! SIGBUS actions recognise by its address and step over. So no signal action of ours is installed, none of the VM's is replaced, and implicit
//! null checks and safepoint polls never pass through our code. Not a signal action of ours, because it would stand in front of all of these
//! and make `-Xcheck:jni` warn; not `process_vm_readv`, because it costs a system call for each word (1.4 us).
//!
//! Guarantees: a load of any address gives its value or `None`, and has no other effect. Assumption: the VM's action for SIGSEGV is in place, or
//! whoever replaced it passes on to it; [`SafeFetch::prove`] tries this once before the first walk.

use core::ptr;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

/// Lowest address that is ever read: nothing is mapped below.
const LOWEST: usize = 0x1_0000;
/// First address beyond user space (47 bits on x86-64, 48 on aarch64).
const BEYOND: usize = if cfg!(target_arch = "aarch64") {
    1 << 48
} else {
    1 << 47
};

/// Memory that may be read word by word.
pub trait Memory {
    /// The 8 bytes at `address`, `None` if they cannot be read.
    fn word(&self, address: usize) -> Option<usize>;

    /// Has the cache line at `address` brought near, if it is anywhere: a hint, which reads nothing, so any address will do.
    fn fetch_ahead(&self, _address: usize) {}

    /// Four bytes.
    fn u32(&self, address: usize) -> Option<u32> {
        u32::try_from(self.part(address, 4)? & 0xffff_ffff).ok()
    }

    /// Four bytes, signed.
    fn i32(&self, address: usize) -> Option<i32> {
        self.u32(address).map(u32::cast_signed)
    }

    /// Two bytes.
    fn u16(&self, address: usize) -> Option<u16> {
        u16::try_from(self.part(address, 2)? & 0xffff).ok()
    }

    /// One byte.
    fn u8(&self, address: usize) -> Option<u8> {
        u8::try_from(self.part(address, 1)? & 0xff).ok()
    }

    /// `size` bytes at `address` in the low bits. Read from the aligned word around them, so that the last bytes of a page never touch the next.
    fn part(&self, address: usize, size: usize) -> Option<usize> {
        let inside = address & 7;
        if inside.wrapping_add(size) > 8 {
            return self.word(address);
        }
        let bits = u32::try_from(inside.wrapping_mul(8)).unwrap_or(0);
        Some(self.word(address & !7)?.wrapping_shr(bits))
    }
}

/// Whether an address can be one of this process's at all.
pub fn plausible(address: usize) -> bool {
    (LOWEST..BEYOND).contains(&address)
}

/// The VM's function; see the module.
#[derive(Debug, Clone, Copy)]
pub struct SafeFetch {
    function: extern "C" fn(*const usize, usize) -> usize,
}

/// Loads that met nothing where there could have been something.
static FAULTS: AtomicU64 = AtomicU64::new(0);

/// Signal-safe: how many loads of this process have met nothing.
pub fn contained_faults() -> u64 {
    FAULTS.load(Relaxed)
}

/// Two answers that memory is unlikely to hold: a load that gives the first is tried again with the second.
const ABSENT: [usize; 2] = [0x5afe_fe7c_0000_0bad, 0x0bad_0000_5afe_fe7c];

/// What `SafeFetchN_impl` and the continuation behind it consist of: load, return; move the second argument to the result, return.
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
    /// `address` is that of a symbol of libjvm's text, followed by 16 readable bytes, and libjvm stays loaded.
    pub unsafe fn at(address: usize) -> Option<Self> {
        let code: *const [u8; CODE.len()] = ptr::with_exposed_provenance(address);
        // SAFETY: the caller's promise.
        if address == 0 || unsafe { code.read_unaligned() } != CODE {
            return None;
        }
        let place: *const () = ptr::with_exposed_provenance(address);
        // SAFETY: the bytes are those of a leaf function with this signature.
        let function = unsafe {
            core::mem::transmute::<*const (), extern "C" fn(*const usize, usize) -> usize>(place)
        };
        Some(Self { function })
    }

    /// Whether a good address gives its value and the unreadable address `hole` gives nothing.
    pub fn prove(self, hole: usize) -> bool {
        let word: usize = 0x1234_5678_9abc_def0;
        self.word(ptr::from_ref(&word).expose_provenance()) == Some(word)
            && plausible(hole)
            && self.word(hole).is_none()
    }
}

impl Memory for SafeFetch {
    #[inline]
    fn word(&self, address: usize) -> Option<usize> {
        #[cfg(feature = "faults")]
        let address = faults::disturb(address);
        if !plausible(address) {
            return None;
        }
        let place: *const usize = ptr::with_exposed_provenance(address);
        let found = ABSENT.iter().find_map(|absent| {
            let found = (self.function)(place, *absent);
            (found != *absent).then_some(found)
        });
        if found.is_none() {
            FAULTS.fetch_add(1, Relaxed); // Relaxed: only counted
        }
        found
    }

    #[inline]
    fn fetch_ahead(&self, address: usize) {
        fetch_ahead(address);
    }
}

/// Signal-safe: the processor's hint, see [`Memory::fetch_ahead`].
#[inline]
pub(crate) fn fetch_ahead(address: usize) {
    // SAFETY: the instruction accesses no memory for the program and never faults, whatever the address is.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        core::arch::asm!("prefetcht0 [{0}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    // SAFETY: the same for aarch64.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{0}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
}

/// Test builds: one load in so many goes astray.
#[cfg(feature = "faults")]
pub mod faults {
    use core::sync::atomic::AtomicUsize;
    use core::sync::atomic::Ordering::Relaxed;

    /// How many loads there are for one that goes astray; 0 = none does.
    pub static ONE_IN: AtomicUsize = AtomicUsize::new(0);
    static SEED: AtomicUsize = AtomicUsize::new(0x9e37_79b9);

    /// The address, or another one: anything at all, anything in user space, one bit off, or where nothing ever is.
    pub(super) fn disturb(address: usize) -> usize {
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

    const HOLE: usize = 0x2_0000;

    /// As the VM's function: the word, or `absent` where nothing is.
    extern "C" fn fetch(place: *const usize, absent: usize) -> usize {
        if place.addr() == HOLE {
            return absent;
        }
        // SAFETY: the tests give addresses of their own variables only.
        unsafe { place.read() }
    }

    extern "C" fn always_absent(_place: *const usize, absent: usize) -> usize {
        absent
    }

    extern "C" fn always_seven(_place: *const usize, _absent: usize) -> usize {
        7
    }

    #[test]
    fn a_function_is_believed_that_tells_memory_from_a_hole() {
        assert!(SafeFetch { function: fetch }.prove(HOLE));
        for function in [always_absent, always_seven] {
            assert!(!SafeFetch { function }.prove(HOLE));
        }
        assert!(!SafeFetch { function: fetch }.prove(0), "no address at all");
    }

    #[test]
    fn a_word_that_looks_like_an_answer_for_nothing_is_read() {
        let memory = SafeFetch { function: fetch };
        for word in ABSENT.into_iter().chain([0, 1]) {
            let address = ptr::from_ref(&word).expose_provenance();
            assert_eq!(memory.word(address), Some(word));
        }
        let before = contained_faults();
        assert_eq!(memory.word(HOLE), None);
        assert!(contained_faults() > before, "counted");
        assert_eq!(memory.word(0), None, "not even asked");
    }
}
