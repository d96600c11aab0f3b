//! Words of thread-local memory in the *initial-exec* model (rule 9). Reading one is two
//! instructions and never allocates. Rust's own `thread_local!` cannot promise that in a library
//! brought in by `dlopen`: its first touch calls malloc. On musl it is a call, see `tls_offset`.

use crate::record::ThreadRecord;
use core::ptr;

macro_rules! tls_word {
    ($name:literal) => {
        core::arch::global_asm!(
            concat!(".section .tbss.", $name, ",\"awT\",%nobits"),
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            concat!(".type ", $name, ",%object"),
            concat!(".size ", $name, ", 8"),
            ".p2align 3",
            concat!($name, ":"),
            ".zero 8",
            ".text"
        );
    };
}

/// Distance of a word from the thread pointer, which the loader has put into the GOT.
#[cfg(not(feature = "musl"))]
macro_rules! tls_offset {
    ($name:literal) => {{
        let offset: usize;
        // SAFETY: loads from the GOT of this library, clobbers nothing.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            core::arch::asm!(
                concat!("mov {0}, qword ptr [rip + ", $name, "@GOTTPOFF]"),
                out(reg) offset,
                options(nostack, pure, readonly)
            );
        }
        // SAFETY: the same for aarch64.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            core::arch::asm!(
                concat!("adrp {0}, :gottprel:", $name),
                concat!("ldr {0}, [{0}, :gottprel_lo12:", $name, "]"),
                out(reg) offset,
                options(nostack, pure, readonly)
            );
        }
        offset
    }};
}

/// The same by a descriptor: musl refuses a library that wants initial-exec words and is brought in
/// by `dlopen`, and gives all threads their memory then. So the call is a few loads and never
/// allocates, which it would do in glibc.
#[cfg(feature = "musl")]
macro_rules! tls_offset {
    ($name:literal) => {{
        let offset: usize;
        // SAFETY: the resolver of the descriptor changes no register but its result.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            core::arch::asm!(
                concat!("lea rax, [rip + ", $name, "@tlsdesc]"),
                concat!("call qword ptr [rax + ", $name, "@tlscall]"),
                out("rax") offset,
            );
        }
        // SAFETY: the same for aarch64, where the call changes the link register, too.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            core::arch::asm!(
                concat!("adrp x0, :tlsdesc:", $name),
                concat!("ldr x1, [x0, :tlsdesc_lo12:", $name, "]"),
                concat!("add x0, x0, :tlsdesc_lo12:", $name),
                concat!(".tlsdesccall ", $name),
                "blr x1",
                out("x0") offset,
                out("x1") _,
                out("x30") _,
            );
        }
        offset
    }};
}

macro_rules! tls_address {
    ($name:literal) => {{
        let offset = tls_offset!($name);
        let address: *mut u64;
        // SAFETY: computes the address of our word: thread pointer plus its distance. Clobbers
        // nothing.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            core::arch::asm!(
                "add {0}, qword ptr fs:[0]",
                inout(reg) offset => address,
                options(nostack, pure, readonly)
            );
        }
        // SAFETY: the same for aarch64.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            core::arch::asm!(
                "mrs {1}, tpidr_el0",
                "add {0}, {0}, {1}",
                inout(reg) offset => address,
                out(reg) _,
                options(nostack, pure, readonly)
            );
        }
        address
    }};
}

tls_word!("ctxagent_thread_record");

/// The record of the calling thread, or `None` if it was never set (then the table by OS thread id
/// decides).
pub fn record() -> Option<&'static ThreadRecord> {
    let word_address: *const u64 = tls_address!("ctxagent_thread_record");
    // SAFETY: rule 9: 8 readable bytes of this thread.
    let word = unsafe { ptr::read(word_address) };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a pointer of this process, 64 bits on both targets"
    )]
    let pointer = word as usize as *const ThreadRecord;
    // SAFETY: the word is null or was set by `set_record` from a `&'static`.
    unsafe { pointer.as_ref() }
}

/// Sets or clears the record of the calling thread.
///
/// # Safety
/// Rule 5: `record` is the calling thread's own, and is cleared or replaced before it is retired.
pub unsafe fn set_record(record: Option<&'static ThreadRecord>) {
    let word_address: *mut u64 = tls_address!("ctxagent_thread_record");
    let word = record.map_or(0, |r| ptr::from_ref(r) as usize as u64);
    // SAFETY: rule 9: our own word, 8 bytes, of the calling thread.
    unsafe { ptr::write(word_address, word) };
}

tls_word!("ctxagent_passing_on");

/// The signals that the calling thread is passing on now, as bits: the other action may lead back
/// to ours.
pub(crate) fn passing_on() -> u64 {
    let word_address: *const u64 = tls_address!("ctxagent_passing_on");
    // SAFETY: rule 9. Volatile: a handler on top of this one must see what this one has stored.
    unsafe { ptr::read_volatile(word_address) }
}

/// Notes which signals the calling thread passes on from now.
pub(crate) fn set_passing_on(signals: u64) {
    let word_address: *mut u64 = tls_address!("ctxagent_passing_on");
    // SAFETY: rule 9.
    unsafe { ptr::write_volatile(word_address, signals) };
}

tls_word!("ctxagent_agent_thread");

/// Whether the calling thread is one of the agent's.
pub(crate) fn is_agent_thread() -> bool {
    let word_address: *const u64 = tls_address!("ctxagent_agent_thread");
    // SAFETY: rule 9. Volatile: set once, before the thread can be met.
    unsafe { ptr::read_volatile(word_address) != 0 }
}

/// Set-up: the calling thread is one of the agent's for the rest of its life.
pub fn mark_agent_thread() {
    let word_address: *mut u64 = tls_address!("ctxagent_agent_thread");
    // SAFETY: rule 9.
    unsafe { ptr::write_volatile(word_address, 1) };
}

/// Test builds: the truth that a test program declares about the code between two calls,
/// independent of block and dictionary.
#[cfg(feature = "oracle")]
pub mod truth {
    tls_word!("ctxagent_truth");

    /// What the calling thread declared last, 0 = nothing.
    pub fn get() -> u64 {
        let word_address: *const u64 = tls_address!("ctxagent_truth");
        // SAFETY: rule 9. Volatile: the handler must see the store of `set` in program order.
        unsafe { core::ptr::read_volatile(word_address) }
    }

    /// Declares the truth for the calling OS thread.
    pub fn set(value: u64) {
        let word_address: *mut u64 = tls_address!("ctxagent_truth");
        // SAFETY: rule 9.
        unsafe { core::ptr::write_volatile(word_address, value) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::boxed::Box;

    #[test]
    fn each_thread_has_its_own_word_and_starts_with_none() {
        // SAFETY: a record is atomics only; zero is a valid (free) record.
        let zero: ThreadRecord = unsafe { core::mem::zeroed() };
        let record: &'static ThreadRecord = Box::leak(Box::new(zero));
        assert!(super::record().is_none());
        // SAFETY: no handler runs here.
        unsafe { set_record(Some(record)) };
        assert!(core::ptr::eq(super::record().expect("just set"), record));
        std::thread::spawn(|| assert!(super::record().is_none()))
            .join()
            .expect("no panic");
        // SAFETY: as above.
        unsafe { set_record(None) };
        assert!(super::record().is_none());
    }
}
