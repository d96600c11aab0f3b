//! The calling OS thread: its id, its signal mask.
//!
//! Rule: only the calling thread is touched.

#![expect(unsafe_code, reason = "boundary to the operating system")]

use super::sigaction::wall_signal;
use super::tasks;
use fault_injection::Fault;

/// Kernel id of the calling thread.
pub(crate) fn current_tid() -> i32 {
    // SAFETY: no arguments, cannot fail.
    let tid = unsafe { libc::syscall(libc::SYS_gettid) };
    i32::try_from(tid).unwrap_or(0)
}

/// Highest thread id that the kernel gives, from `/proc/sys/kernel/pid_max`; 4 Mi where it cannot be read.
pub(crate) fn max_tid() -> usize {
    std::fs::read_to_string("/proc/sys/kernel/pid_max")
        .ok()
        .and_then(|s| s.trim().parse().ok())
        .unwrap_or(1 << 22)
}

/// The kernel's `sched_attr`, in its first form.
#[repr(C)]
#[derive(Default)]
struct SchedAttr {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

/// The slices of processor time that the scheduler gives a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slices {
    /// The shortest.
    Short,
    /// The usual ones: the kernel does not know others, or refused.
    Usual,
    /// The usual ones: system calls are filtered, and some filters end the process for an unusual one.
    NotAskedFor,
}

/// Asks the scheduler for the shortest slices for the calling thread (Linux 6.12 and later): a thread that runs for microseconds only then gets
/// a processor when it wakes up, not when the thread there has used its own slice. Elsewhere it changes nothing. Not asked where system calls
/// are filtered: some filters end the process for this one.
pub(crate) fn ask_for_short_slices() -> Slices {
    const SHORTEST_NANOS: u64 = 100_000;
    if tasks::calls_are_filtered() {
        return Slices::NotAskedFor;
    }
    let mut attr = SchedAttr::default();
    let size = size_of::<SchedAttr>();
    // SAFETY: a place of that size, for the calling thread's attributes.
    let known = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attr, size, 0) };
    if known == 0 && attr.policy == libc::SCHED_OTHER.cast_unsigned() {
        attr.runtime = SHORTEST_NANOS;
        // SAFETY: reads the attributes; changes the calling thread only. Refused, it stays as it is.
        unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attr, 0) };
        // SAFETY: a place of that size, for the calling thread's attributes.
        unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attr, size, 0) };
        if attr.runtime == SHORTEST_NANOS {
            return Slices::Short;
        }
    }
    Slices::Usual
}

/// Blocks all signals for the rest of the calling thread's life.
pub(super) fn block_all_signals() {
    // SAFETY: zero is a valid set to be overwritten.
    let mut all: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: a valid place for a set.
    unsafe { libc::sigfillset(&raw mut all) };
    block(&all);
}

/// Blocks the signal of a file that becomes longer than the process may make one, for the rest of the thread's life: the write fails then, which is all.
pub(crate) fn block_file_size_signal() {
    // SAFETY: zero is a valid set to be overwritten.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: a valid place for a set.
    unsafe { libc::sigemptyset(&raw mut set) };
    // SAFETY: a valid set and signal number.
    unsafe { libc::sigaddset(&raw mut set, libc::SIGXFSZ) };
    block(&set);
}

/// Blocks these on the calling thread as well; gives what was blocked before.
fn block(signals: &libc::sigset_t) -> libc::sigset_t {
    // SAFETY: zero is a valid set to be overwritten.
    let mut before: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: both sets are valid; changes the calling thread's mask only.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, signals, &raw mut before) };
    before
}

/// Our two signals, the one for CPU time and the one for the wall clock, are blocked on the calling thread while this lives.
#[derive(Debug)]
pub(crate) struct SignalBlocked {
    before: libc::sigset_t,
}

impl SignalBlocked {
    /// Blocks `signal`, the one for CPU time, and its companion.
    pub(crate) fn new(signal: i32) -> Self {
        Self {
            before: block(&set_of(signal)),
        }
    }

    /// Blocks both for the rest of the thread's life.
    pub(super) fn block_permanently(signal: i32) {
        block(&set_of(signal));
    }
}

impl Drop for SignalBlocked {
    fn drop(&mut self) {
        if fault_injection::is(Fault::SignalsStayBlocked) {
            return;
        }
        // SAFETY: the set that `new` was given.
        unsafe {
            libc::pthread_sigmask(
                libc::SIG_SETMASK,
                &raw const self.before,
                std::ptr::null_mut(),
            )
        };
    }
}

fn set_of(signal: i32) -> libc::sigset_t {
    // SAFETY: zero is a valid set to be overwritten.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: a valid place for a set.
    unsafe { libc::sigemptyset(&raw mut set) };
    for ours in [signal, wall_signal(signal)] {
        // SAFETY: a valid set and signal number.
        unsafe { libc::sigaddset(&raw mut set, ours) };
    }
    set
}
