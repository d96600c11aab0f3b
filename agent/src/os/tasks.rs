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
