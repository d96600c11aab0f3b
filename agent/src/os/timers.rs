//! Timers that signal: of a thread, on its CPU clock; of the process, on the monotonic clock.
//!
//! Rules:
//! 1. System calls are raw: `timer_create` of the C library does not accept another thread's clock.
//!    They read or write structures of the caller only, for which all-zero bytes are a value.
//! 2. A kernel id may be 0, so what others keep is id + 1.
//! 3. Code that creates or deletes the timer of a thread holds the lock of the thread directory.

#![expect(unsafe_code, reason = "boundary to the operating system")]

use signal_core::engine::Source;
use signal_core::handler;
use signal_core::record::ThreadRecord;
use std::io;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;

/// A timer on the monotonic clock that signals the process; deleted when dropped.
#[derive(Debug)]
pub(crate) struct ProcessTimer(i32);

impl ProcessTimer {
    /// Creates one, not armed, whose signal carries `value`.
    pub(crate) fn create(signal: i32, value: usize) -> io::Result<Self> {
        create_timer(libc::CLOCK_MONOTONIC, signal, value, None).map(Self)
    }

    /// Rule 2.
    pub(crate) const fn id_plus_one(&self) -> i32 {
        self.0 + 1
    }

    /// Whether it is not armed, or not any more; `false` if the kernel does not tell.
    pub(crate) fn has_expired(&self) -> bool {
        // SAFETY: rule 1.
        let mut left: libc::itimerspec = unsafe { std::mem::zeroed() };
        // SAFETY: rule 1.
        let result = unsafe { libc::syscall(libc::SYS_timer_gettime, self.0, &raw mut left) };
        result == 0 && left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0
    }

    /// Leaves the timer to the process.
    pub(crate) fn leak(self) {
        let _kept = ManuallyDrop::new(self);
    }
}

impl Drop for ProcessTimer {
    /// A pending signal may still arrive.
    fn drop(&mut self) {
        delete_timer(self.0);
    }
}

/// Creates the timer of a thread on its CPU clock, not yet armed.
pub(crate) fn create(record: &ThreadRecord, signal: i32) -> io::Result<()> {
    let tid = record.os_tid.load(Relaxed);
    let cookie = handler::cookie(Source::Tick);
    let id = create_timer(cpu_clock(tid), signal, cookie, Some(tid))?;
    // A handler that may not arm a timer cannot report it, so this finds out.
    if let Err(error) = disarm(id) {
        delete_timer(id);
        return Err(error);
    }
    record.cpu_timer.store(id + 1, Relaxed);
    Ok(())
}

/// Deletes the timer of a thread. A pending signal may still arrive.
pub(crate) fn delete(record: &ThreadRecord) {
    let id = record.cpu_timer.swap(0, Relaxed);
    if id > 0 {
        delete_timer(id - 1);
    }
}

/// The kernel names the CPU clock of a thread by the complement of its id, shifted, with the bits
/// for "per thread" and "scheduler time".
const fn cpu_clock(tid: i32) -> i32 {
    (!tid << 3) | 6
}

/// Creates a timer that signals the thread `tid`, or the process.
fn create_timer(clock: i32, signal: i32, value: usize, tid: Option<i32>) -> io::Result<i32> {
    // SAFETY: rule 1.
    let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
    event.sigev_notify = tid.map_or(libc::SIGEV_SIGNAL, |_| libc::SIGEV_THREAD_ID);
    event.sigev_signo = signal;
    event.sigev_value = libc::sigval {
        sival_ptr: ptr::with_exposed_provenance_mut(value),
    };
    event.sigev_notify_thread_id = tid.unwrap_or(0);
    let mut id: i32 = 0;
    // SAFETY: rule 1.
    let result =
        unsafe { libc::syscall(libc::SYS_timer_create, clock, &raw const event, &raw mut id) };
    if result == 0 {
        Ok(id)
    } else {
        Err(io::Error::last_os_error())
    }
}

fn delete_timer(id: i32) {
    // SAFETY: rule 1: a timer of ours, which nobody has deleted.
    unsafe { libc::syscall(libc::SYS_timer_delete, id) };
}

/// Disarms a timer, armed or not. An error means that timers cannot be armed here (a seccomp
/// filter).
fn disarm(id: i32) -> io::Result<()> {
    // SAFETY: rule 1.
    let never: libc::itimerspec = unsafe { std::mem::zeroed() };
    let none = ptr::null_mut::<libc::itimerspec>();
    // SAFETY: rule 1.
    let result = unsafe { libc::syscall(libc::SYS_timer_settime, id, 0, &raw const never, none) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// CPU time that this process has used, in nanoseconds.
pub(crate) fn process_cpu_nanos() -> u64 {
    clock_nanos(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU time that a thread has used, in nanoseconds; 0 if the thread has exited.
pub(crate) fn thread_cpu_nanos(tid: i32) -> u64 {
    clock_nanos(cpu_clock(tid))
}

fn clock_nanos(clock: i32) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: rule 1.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return 0;
    }
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// Length of the kernel's tick, from its coarse clock.
pub(crate) fn tick_nanos() -> u64 {
    let mut resolution = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: rule 1.
    let result = unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut resolution) };
    match u64::try_from(resolution.tv_nsec) {
        Ok(nanos) if result == 0 && (500_000..=20_000_000).contains(&nanos) => nanos,
        _ => 4_000_000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tick_is_a_plausible_one() {
        assert!((500_000..=20_000_000).contains(&tick_nanos()));
    }

    fn record_of(tid: i32) -> ThreadRecord {
        // SAFETY: a record is atomics only; zero is valid.
        let record: ThreadRecord = unsafe { std::mem::zeroed() };
        record.os_tid.store(tid, Relaxed);
        record
    }

    #[test]
    fn unknown_thread_gets_no_timer() {
        let record = record_of(i32::MAX - 7);
        assert!(create(&record, libc::SIGPROF).is_err());
        assert_eq!(record.cpu_timer.load(Relaxed), 0);
        assert_eq!(thread_cpu_nanos(i32::MAX - 7), 0);
    }

    #[test]
    fn timer_of_a_live_thread_is_created_and_deleted() {
        let record = record_of(crate::os::thread::current_tid());
        create(&record, libc::SIGPROF).expect("a timer");
        assert!(record.cpu_timer.load(Relaxed) > 0);
        delete(&record);
        assert_eq!(record.cpu_timer.load(Relaxed), 0);
    }

    #[test]
    fn dropped_timer_of_the_process_is_deleted() {
        let timer = ProcessTimer::create(libc::SIGPROF, 1).expect("a timer");
        let id = timer.id_plus_one() - 1;
        assert!(disarm(id).is_ok());
        drop(timer);
        assert!(disarm(id).is_err());
    }
}
