//! The CPUs that threads may run on.
//!
//! Rules:
//! 1. The calls read or write a set of the caller's own; all-zero bytes are the empty set.
//! 2. They change the calling thread only.

#![expect(unsafe_code, reason = "boundary to the operating system")]

/// CPUs that a set can hold: those of the kernel's `cpu_set_t`.
pub(crate) const MAX_CPUS: usize = 1024;

/// A set of CPUs.
#[derive(Clone, Copy)]
pub(crate) struct CpuSet(libc::cpu_set_t);

impl std::fmt::Debug for CpuSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl CpuSet {
    fn empty() -> Self {
        // SAFETY: rule 1.
        Self(unsafe { std::mem::zeroed() })
    }

    /// The CPUs of a thread; empty if it has exited, or if there are more than a set can hold.
    fn of_thread(tid: i32) -> Self {
        let mut set = Self::empty();
        let size = size_of::<libc::cpu_set_t>();
        // SAFETY: rule 1.
        unsafe { libc::sched_getaffinity(tid, size, &raw mut set.0) };
        set
    }

    /// Its CPUs, in order.
    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        (0..MAX_CPUS).filter(move |cpu| self.has(*cpu))
    }

    pub(crate) fn has(&self, cpu: usize) -> bool {
        // SAFETY: rule 1: the number is below the size of the set.
        cpu < MAX_CPUS && unsafe { libc::CPU_ISSET(cpu, &self.0) }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.end() == 0
    }

    /// All its CPUs have numbers below this.
    pub(crate) fn end(self) -> usize {
        self.iter().last().map_or(0, |last| last + 1)
    }
}

impl PartialEq for CpuSet {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

/// The CPUs of the main thread; empty if they are not known.
pub(crate) fn of_main_thread() -> CpuSet {
    CpuSet::of_thread(i32::try_from(std::process::id()).unwrap_or(0))
}

/// The CPUs of this process: those of its main thread, and of the calling thread.
pub(crate) fn of_process() -> CpuSet {
    let mut set = of_main_thread();
    for cpu in CpuSet::of_thread(0).iter() {
        // SAFETY: rule 1: the number is below the size of the set.
        unsafe { libc::CPU_SET(cpu, &mut set.0) };
    }
    set
}

/// Moves the calling thread to a CPU, to which it is bound from now on; `false` if it may not run
/// there.
pub(crate) fn bind_to(cpu: usize) -> bool {
    let mut set = CpuSet::empty();
    if cpu >= MAX_CPUS {
        return false;
    }
    // SAFETY: rule 1.
    unsafe { libc::CPU_SET(cpu, &mut set.0) };
    // SAFETY: rules 1 and 2.
    unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set.0) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_runs_on_the_cpu_it_is_bound_to() {
        let all: Vec<usize> = of_process().iter().collect();
        assert!(!all.is_empty());
        let bound = std::thread::spawn(move || {
            for cpu in all {
                assert!(bind_to(cpu));
                // SAFETY: no arguments.
                assert_eq!(usize::try_from(unsafe { libc::sched_getcpu() }), Ok(cpu));
                assert_eq!(CpuSet::of_thread(0).iter().collect::<Vec<_>>(), [cpu]);
            }
            assert!(!bind_to(MAX_CPUS));
        });
        bound.join().expect("no panic");
    }
}
