//! The two timers of a sampled thread: CPU clock (coarse) and monotonic clock (fine). Both signal
//! the thread.
//!
//! Rules:
//! 1. System calls are raw: `timer_create` of the C library does not accept another thread's clock.
//!    They read or write structures of the caller only, for which all-zero bytes are a value.
//! 2. A kernel id may be 0, so records keep id + 1.
//! 3. Code that creates or deletes the timers of a thread holds the lock of the thread directory.

#![expect(unsafe_code, reason = "boundary to the operating system")]

use signal_core::engine::Source;
use signal_core::handler;
use signal_core::record::ThreadRecord;
use std::io;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

/// Creates the timers of a thread, not yet armed. Returns whether it has all of them: where the
/// kernel grants only one, the thread has the coarse timer.
pub(crate) fn create(record: &ThreadRecord, signal: i32, fine: bool) -> io::Result<bool> {
    let tid = record.os_tid.load(Relaxed);
    // The kernel names the CPU clock of a thread by the complement of its id, shifted, with the
    // bits for "per thread" and "scheduler time".
    let cpu_clock = (!tid << 3) | 6;
    create_one(&record.coarse_timer, cpu_clock, tid, signal, Source::Coarse)?;
    // A handler that may not arm a timer cannot report it, so this finds out.
    if let Err(error) = disarm(&record.coarse_timer) {
        delete(record);
        return Err(error);
    }
    let fine_made = !fine
        || create_one(
            &record.fine_timer,
            libc::CLOCK_MONOTONIC,
            tid,
            signal,
            Source::Fine,
        )
        .is_ok();
    Ok(fine_made)
}

/// Disarms a timer, armed or not. An error means that timers cannot be armed here (a seccomp
/// filter).
fn disarm(timer: &AtomicI32) -> io::Result<()> {
    // SAFETY: rule 1.
    let never: libc::itimerspec = unsafe { std::mem::zeroed() };
    let (id, none) = (timer.load(Relaxed) - 1, ptr::null_mut::<libc::itimerspec>());
    // SAFETY: rule 1.
    let result = unsafe { libc::syscall(libc::SYS_timer_settime, id, 0, &raw const never, none) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Deletes the timers of a thread. Pending signals may still arrive.
pub(crate) fn delete(record: &ThreadRecord) {
    for timer in [&record.coarse_timer, &record.fine_timer] {
        let id = timer.swap(0, Relaxed);
        if id > 0 {
            // SAFETY: rule 3: `create_one` made the timer, and nobody has deleted it.
            unsafe { libc::syscall(libc::SYS_timer_delete, id - 1) };
        }
    }
}

fn create_one(
    timer: &AtomicI32,
    clock: i32,
    tid: i32,
    signal: i32,
    source: Source,
) -> io::Result<()> {
    // SAFETY: rule 1.
    let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
    event.sigev_notify = libc::SIGEV_THREAD_ID;
    event.sigev_signo = signal;
    event.sigev_value = libc::sigval {
        sival_ptr: ptr::with_exposed_provenance_mut(handler::cookie(source)),
    };
    event.sigev_notify_thread_id = tid;
    let mut id: i32 = 0;
    // SAFETY: rule 1.
    let result =
        unsafe { libc::syscall(libc::SYS_timer_create, clock, &raw const event, &raw mut id) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    timer.store(id + 1, Relaxed);
    Ok(())
}

/// Whether a thread has timers, and none of them is armed. Without the lock the answer may be about
/// another thread's timers.
pub(crate) fn are_disarmed(record: &ThreadRecord) -> bool {
    let [coarse, fine] = [&record.coarse_timer, &record.fine_timer].map(|t| t.load(Relaxed));
    coarse > 0 && is_disarmed(coarse) && (fine == 0 || is_disarmed(fine))
}

/// `timer`: kernel id plus one.
fn is_disarmed(timer: i32) -> bool {
    // SAFETY: rule 1.
    let mut left: libc::itimerspec = unsafe { std::mem::zeroed() };
    // SAFETY: rule 1; a deleted timer is an error.
    let answer = unsafe { libc::syscall(libc::SYS_timer_gettime, timer - 1, &raw mut left) };
    answer == 0 && left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0
}

/// CPU time that a thread has used, in nanoseconds; 0 if the thread has exited.
pub(crate) fn thread_cpu_nanos(tid: i32) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: rule 1.
    if unsafe { libc::clock_gettime((!tid << 3) | 6, &raw mut time) } != 0 {
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

    #[test]
    fn an_ended_thread_gets_no_timers() {
        let tid = std::thread::spawn(crate::os::thread::current_tid)
            .join()
            .expect("an id");
        // SAFETY: a record is atomics only; zero is valid.
        let record: ThreadRecord = unsafe { std::mem::zeroed() };
        record.os_tid.store(tid, Relaxed);
        // The kernel removes an ended thread a moment after it was joined.
        while crate::os::tasks::is_alive(tid) {
            std::thread::yield_now();
        }
        assert!(create(&record, libc::SIGPROF, true).is_err());
        assert_eq!(record.coarse_timer.load(Relaxed), 0);
    }

    #[test]
    fn timers_of_a_live_thread_are_created_and_deleted() {
        // SAFETY: a record is atomics only; zero is valid.
        let record: ThreadRecord = unsafe { std::mem::zeroed() };
        record
            .os_tid
            .store(crate::os::thread::current_tid(), Relaxed);
        assert!(create(&record, libc::SIGPROF, true).expect("two timers"));
        assert!(record.coarse_timer.load(Relaxed) > 0 && record.fine_timer.load(Relaxed) > 0);
        assert!(are_disarmed(&record), "not armed yet");
        for timer in [&record.coarse_timer, &record.fine_timer] {
            let hour = libc::timespec {
                tv_sec: 3600,
                tv_nsec: 0,
            };
            let mut spec = libc::itimerspec {
                it_interval: libc::timespec {
                    tv_sec: 0,
                    tv_nsec: 0,
                },
                it_value: hour,
            };
            let mut set = || {
                let (id, none) = (timer.load(Relaxed) - 1, ptr::null_mut::<libc::itimerspec>());
                // SAFETY: a timer of this test; reads one itimerspec.
                unsafe { libc::syscall(libc::SYS_timer_settime, id, 0, &raw const spec, none) };
                let answer = are_disarmed(&record);
                spec.it_value.tv_sec = 0;
                answer
            };
            assert_eq!((set(), set()), (false, true));
        }
        delete(&record);
        assert!(!are_disarmed(&record), "there are none");
        assert_eq!(record.coarse_timer.load(Relaxed), 0);
    }

    /// Creates timers for the calling thread under rising limits, until a limit allows the first
    /// one only. Other processes of the user create and delete timers too, so the caller tries
    /// again.
    fn a_limit_allows_one_of_two() -> bool {
        // SAFETY: a record is atomics only; zero is valid.
        let record: ThreadRecord = unsafe { std::mem::zeroed() };
        record
            .os_tid
            .store(crate::os::thread::current_tid(), Relaxed);
        let mut limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: writes one limit.
        unsafe { libc::getrlimit(libc::RLIMIT_SIGPENDING, &raw mut limit) };
        for max_pending in 0..limit.rlim_max {
            limit.rlim_cur = max_pending;
            // SAFETY: reads one limit.
            unsafe { libc::setrlimit(libc::RLIMIT_SIGPENDING, &raw const limit) };
            let created = create(&record, libc::SIGPROF, true);
            let only_coarse = record.fine_timer.load(Relaxed) == 0;
            delete(&record);
            match created {
                Ok(false) => return only_coarse,
                Ok(true) if max_pending == 0 => return true, // the limit has no effect here
                Ok(true) if max_pending > 1 => return false,
                _ => {}
            }
        }
        false
    }

    #[test]
    fn the_coarse_timer_is_kept_if_the_kernel_grants_only_one() {
        let found = (0..20).any(|_| {
            // SAFETY: the child makes system calls only, and ends by one.
            let child = unsafe { libc::fork() };
            if child == 0 {
                let code = i32::from(!a_limit_allows_one_of_two());
                // SAFETY: ends the child without running code of the parent's.
                unsafe { libc::_exit(code) };
            }
            let mut status = -1;
            // SAFETY: waits for the child and writes its status.
            unsafe { libc::waitpid(child, &raw mut status, 0) };
            status == 0
        });
        assert!(found);
    }

    #[test]
    fn an_unknown_thread_gets_no_timer() {
        // SAFETY: a record is atomics only; zero is valid.
        let record: ThreadRecord = unsafe { std::mem::zeroed() };
        record.os_tid.store(i32::MAX - 7, Relaxed);
        assert!(create(&record, libc::SIGPROF, true).is_err());
        assert_eq!(record.coarse_timer.load(Relaxed), 0);
        assert_eq!(thread_cpu_nanos(i32::MAX - 7), 0);
    }
}
