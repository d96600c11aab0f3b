//! The threads of this process as the kernel sees them: ids and names from `/proc/self/task`.

use std::fs;
use std::path::Path;

/// Ids of all threads; empty where `/proc` cannot be read.
pub(crate) fn ids() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc/self/task") else {
        return Vec::new();
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter_map(|name| name.parse().ok()).collect()
}

/// Name of a thread, at most 15 bytes; `None` if it is gone.
pub(crate) fn name(tid: i32) -> Option<String> {
    let bytes = fs::read(format!("/proc/self/task/{tid}/comm")).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

/// Whether the thread runs, or would if it had a processor; `false` where `/proc` cannot be read.
pub(crate) fn is_runnable(tid: i32) -> bool {
    let Ok(line) = fs::read(format!("/proc/self/task/{tid}/stat")) else {
        return false;
    };
    // "id (name) state …"; the name may hold any byte.
    let behind = line.iter().rposition(|byte| *byte == b')');
    behind.and_then(|at| line.get(at + 2)) == Some(&b'R')
}

/// Whether this machine has a processor for each thread that is runnable now, the calling one not counted; `false` where `/proc` cannot be read.
pub(crate) fn processors_suffice() -> bool {
    // SAFETY: no memory is touched by the question.
    let processors = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    // "load load load runnable/all last-id"
    let line = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let counts = line
        .split(' ')
        .nth(3)
        .and_then(|counts| counts.split_once('/'));
    let runnable = counts.and_then(|(runnable, _)| runnable.parse::<i64>().ok());
    runnable.is_some_and(|runnable| runnable - 1 <= processors)
}

/// Whether the thread is still there; `true` where `/proc` cannot be read.
pub(crate) fn is_alive(tid: i32) -> bool {
    fs::exists(format!("/proc/self/task/{tid}")).unwrap_or(true)
        || !Path::new("/proc/self/task").exists()
}

#[cfg(test)]
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
}
