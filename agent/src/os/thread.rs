//! An OS thread, mostly the calling one: its id, its signal mask, its scheduling.
//!
//! Rules:
//! 1. The calls change the calling thread only, or of another one its time slices.
//! 2. The structures are the caller's own; all-zero bytes are a value of them.

#![expect(unsafe_code, reason = "boundary to the operating system")]

use super::sigaction::wall_signal;
use super::tasks;
use std::ptr;

/// Kernel id of the calling thread.
pub(crate) fn current_tid() -> i32 {
    // SAFETY: rule 1: no arguments, cannot fail.
    let tid = unsafe { libc::syscall(libc::SYS_gettid) };
    i32::try_from(tid).unwrap_or(0)
}

/// How often the calling thread has given up its CPU, or lost it.
pub(crate) fn context_switches() -> i64 {
    // SAFETY: rule 2.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: rule 2: writes the structure; fails for a wrong pointer only.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    usage.ru_nvcsw + usage.ru_nivcsw
}

/// Highest thread id that the kernel gives, from `/proc/sys/kernel/pid_max`; 4 Mi where it cannot
/// be read.
pub(crate) fn max_tid() -> usize {
    std::fs::read_to_string("/proc/sys/kernel/pid_max")
        .ok()
        .and_then(|s| s.trim().parse().ok())
        .unwrap_or(1 << 22)
}

/// The kernel's `sched_attr`, in its first form.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
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

/// The shortest time slices for a thread (Linux 6.12 and later), until this is dropped. A thread that
/// runs for microseconds then gets a CPU when it wakes up, not when the running thread has used its
/// own slice.
#[derive(Debug)]
pub(crate) struct ShortSlices {
    tid: i32,
    before: SchedAttr,
}

impl ShortSlices {
    /// Requests them for the thread `tid` of this process, 0 = the calling one. `None` if the kernel
    /// refuses, and where system calls are filtered: then there is no request.
    pub(crate) fn request(tid: i32) -> Option<Self> {
        const MIN_SLICE_NS: u64 = 100_000;
        if tasks::calls_are_filtered() {
            return None;
        }
        let mut before = SchedAttr::default();
        let size = size_of::<SchedAttr>();
        // SAFETY: rule 2: memory of that size.
        let result =
            unsafe { libc::syscall(libc::SYS_sched_getattr, tid, &raw mut before, size, 0) };
        let is_usual = result == 0 && before.policy == libc::SCHED_OTHER.cast_unsigned();
        let short = SchedAttr {
            runtime: MIN_SLICE_NS,
            ..before
        };
        (is_usual && short.set(tid)).then_some(Self { tid, before })
    }
}

impl Drop for ShortSlices {
    fn drop(&mut self) {
        self.before.set(self.tid);
    }
}

impl SchedAttr {
    /// `false` if the kernel refuses: the thread stays as it is.
    fn set(&self, tid: i32) -> bool {
        // SAFETY: rules 1 and 2.
        unsafe { libc::syscall(libc::SYS_sched_setattr, tid, ptr::from_ref(self), 0) == 0 }
    }
}

/// Blocks all signals for the rest of the calling thread's life.
pub(super) fn block_all_signals() {
    // SAFETY: rule 2.
    let mut all: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: rule 2.
    unsafe { libc::sigfillset(&raw mut all) };
    block(&all);
}

/// Blocks the companion of `signal`, for the wall clock, for the rest of the thread's life.
pub(super) fn block_wall_clock_signal(signal: i32) {
    block(&set_of(&[wall_signal(signal)]));
}

/// Blocks SIGXFSZ for the rest of the thread's life: a write beyond the file size limit then fails
/// instead of ending the process.
pub(crate) fn block_file_size_signal() {
    block(&set_of(&[libc::SIGXFSZ]));
}

/// Blocks these on the calling thread as well. Returns the previous mask.
fn block(signals: &libc::sigset_t) -> libc::sigset_t {
    // SAFETY: rule 2.
    let mut before: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: rules 1 and 2.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, signals, &raw mut before) };
    before
}

/// The agent's two signals, for CPU time and the wall clock, are blocked on the calling thread
/// while this lives.
#[derive(Debug)]
pub(crate) struct SignalBlocked {
    before: libc::sigset_t,
}

impl SignalBlocked {
    /// Blocks `signal`, the one for CPU time, and its companion.
    pub(crate) fn new(signal: i32) -> Self {
        Self {
            before: block(&set_of(&[signal, wall_signal(signal)])),
        }
    }
}

impl Drop for SignalBlocked {
    fn drop(&mut self) {
        // SAFETY: rules 1 and 2.
        unsafe {
            libc::pthread_sigmask(
                libc::SIG_SETMASK,
                &raw const self.before,
                std::ptr::null_mut(),
            )
        };
    }
}

fn set_of(signals: &[i32]) -> libc::sigset_t {
    // SAFETY: rule 2.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: rule 2.
    unsafe { libc::sigemptyset(&raw mut set) };
    for &signal in signals {
        // SAFETY: rule 2.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    set
}
