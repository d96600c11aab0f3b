//! The threads of this process as the kernel sees them, from `/proc`.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::thread;

/// Ids of all threads; empty where `/proc` cannot be read.
pub(crate) fn ids() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc/self/task") else {
        return Vec::new();
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter_map(|name| name.parse().ok()).collect()
}

/// Name of a thread, at most 15 bytes; `None` if the thread has exited.
pub(crate) fn name(tid: i32) -> Option<String> {
    let bytes = fs::read(format!("/proc/self/task/{tid}/comm")).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

/// The fields of `/proc/self/task/TID/stat` from the third one, the state. The name before it may
/// contain any byte.
pub(super) fn stat(tid: i32) -> Option<String> {
    let line = short_file(&format!("/proc/self/task/{tid}/stat"))?;
    let (_, fields) = line.rsplit_once(") ")?;
    Some(fields.to_owned())
}

/// A file of one line, by one read: the kernel generates the text anew for each read.
fn short_file(path: &str) -> Option<String> {
    let mut line = [0; 1024];
    let length = fs::File::open(path).ok()?.read(&mut line).ok()?;
    Some(String::from_utf8_lossy(line.get(..length)?).into_owned())
}

/// How many CPUs the calling thread may use at once, by its affinity (`taskset`) and the quota of
/// its control group.
pub(crate) fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Whether a system call filter is active for the calling thread: it may end the process at a call
/// that it does not know. `true` where `/proc` cannot be read.
pub(crate) fn calls_are_filtered() -> bool {
    // Of the thread, not of the process: a filter belongs to a thread and its descendants.
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    !status.lines().any(|line| line == "Seccomp:\t0")
}

/// Whether this signal is pending for the thread; `true` where `/proc` cannot be read.
pub(crate) fn is_pending(tid: i32, signal: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/self/task/{tid}/status")).unwrap_or_default();
    let pending = status.lines().find_map(|line| line.strip_prefix("SigPnd:"));
    let set = pending.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    set.is_none_or(|set| {
        set.checked_shr(signal.cast_unsigned().wrapping_sub(1))
            .unwrap_or(0)
            & 1
            == 1
    })
}

/// Whether the thread is still there; `true` where `/proc` cannot be read.
pub(crate) fn is_alive(tid: i32) -> bool {
    fs::exists(format!("/proc/self/task/{tid}")).unwrap_or(true)
        || !Path::new("/proc/self/task").exists()
}

#[cfg(test)]
#[expect(
    unsafe_code,
    reason = "calls of the operating system on the test's own thread"
)]
mod tests {
    use super::*;
    use crate::os::thread::current_tid;

    #[test]
    fn this_thread_is_listed_with_its_name() {
        let named = std::thread::Builder::new().name("a task".into()).spawn(|| {
            let tid = current_tid();
            assert!(ids().contains(&tid));
            assert_eq!(name(tid).as_deref(), Some("a task"));
        });
        named.expect("a thread").join().expect("no panic");
        assert_eq!(name(i32::MAX - 7), None);
    }

    #[test]
    fn only_a_blocked_signal_is_pending() {
        let blocked = std::thread::spawn(|| {
            let _blocked = crate::os::thread::SignalBlocked::new(libc::SIGPROF);
            let tid = current_tid();
            let sent = crate::os::send::to_thread(
                tid,
                libc::SIGVTALRM, // its companion
                signal_core::engine::Source::Wall,
            );
            sent.expect("a signal");
            let found = [libc::SIGVTALRM, libc::SIGPROF].map(|signal| is_pending(tid, signal));
            // The process has no action for the signal, so the thread consumes it here.
            // SAFETY: zero is a valid set to be overwritten.
            let mut wanted: libc::sigset_t = unsafe { std::mem::zeroed() };
            // SAFETY: a valid set and signal number.
            unsafe { libc::sigaddset(&raw mut wanted, libc::SIGVTALRM) };
            let mut received = 0;
            // SAFETY: a valid set, and memory for the number.
            unsafe { libc::sigwait(&raw const wanted, &raw mut received) };
            (found, received)
        });
        let answer = blocked.join().expect("no panic");
        assert_eq!(answer, ([true, false], libc::SIGVTALRM));
        assert!(is_pending(i32::MAX - 7, libc::SIGPROF), "cannot be read");
    }

    #[test]
    fn state_is_read_after_any_thread_name() {
        let named = std::thread::Builder::new()
            .name(") S 1 (".into())
            .spawn(|| {
                let tid = current_tid();
                let fields = stat(tid).expect("a live thread");
                assert!(fields.starts_with("R "), "{fields}");
            });
        named.expect("a thread").join().expect("no panic");
    }

    #[test]
    fn only_cpus_of_the_affinity_mask_count() {
        let confined = thread::spawn(|| {
            // SAFETY: zero is the empty set.
            let mut one: libc::cpu_set_t = unsafe { std::mem::zeroed() };
            // SAFETY: no arguments.
            let here = usize::try_from(unsafe { libc::sched_getcpu() }).expect("a CPU");
            // SAFETY: a valid set.
            unsafe { libc::CPU_SET(here, &mut one) };
            // SAFETY: reads the set; changes the calling thread only.
            let set = unsafe { libc::sched_setaffinity(0, size_of_val(&one), &raw const one) };
            assert_eq!(set, 0);
            processors()
        });
        assert_eq!(confined.join().expect("no panic"), 1);
        assert!(processors() >= 1);
    }

    #[test]
    fn a_system_call_filter_is_found_on_its_thread() {
        let here = calls_are_filtered();
        let confined = thread::spawn(|| {
            let mut allow_all = libc::sock_filter {
                code: 6, // BPF_RET
                jt: 0,
                jf: 0,
                k: 0x7fff_0000, // SECCOMP_RET_ALLOW
            };
            let program = libc::sock_fprog {
                len: 1,
                filter: &raw mut allow_all,
            };
            // SAFETY: numbers only; changes the calling thread only.
            let no_more = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
            // SAFETY: reads a valid program of one instruction; changes the calling thread only.
            let filtered = unsafe {
                libc::prctl(
                    libc::PR_SET_SECCOMP,
                    libc::SECCOMP_MODE_FILTER,
                    &raw const program,
                )
            };
            assert_eq!((no_more, filtered), (0, 0));
            calls_are_filtered()
        });
        assert!(confined.join().expect("no panic"));
        assert_eq!(calls_are_filtered(), here);
    }
}
