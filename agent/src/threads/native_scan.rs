//! Threads that are not Java threads: GC, JIT compilers, threads of native libraries. No event
//! reports their start or end, so a scan finds them.

use super::directory::{DirectoryState, ThreadDirectory};
use super::thread_names::ThreadInfo;
use super::thread_ref::ThreadRef;
use crate::jvm::jni::WeakRef;
use crate::os::{agent_thread, tasks};
use ctxagent_events::VmThreadKind;
use signal_core::record::ThreadFacts;
use std::collections::HashSet;
use std::sync::atomic::Ordering::Relaxed;

impl ThreadDirectory {
    /// A recording begins: no scan ran before it, so an OS id may belong to another thread now.
    pub(crate) fn start_scans(&self) {
        let mut state = self.lock();
        self.remove_outdated_natives(&mut state);
        self.unlock(state);
        self.scan_natives();
    }

    /// Removes native threads that have ended. Where timers per CPU sample, this is enough: a new
    /// thread is registered when it is sampled.
    pub(crate) fn remove_ended_natives(&self) {
        let mut state = self.lock();
        self.remove_natives(&mut state, |tid| !tasks::is_alive(tid));
        self.unlock(state);
    }

    fn remove_natives(&self, state: &mut DirectoryState, has_ended: impl Fn(i32) -> bool) {
        let natives = state.natives.keys().copied();
        let ended: Vec<i32> = natives.filter(|tid| has_ended(*tid)).collect();
        for tid in ended {
            if let Some(record) = self.handler.records.by_os_tid(tid) {
                self.remove(state, record);
            }
        }
    }

    /// Registers new native threads and removes ended ones. Housekeeping calls this about once a
    /// second where each thread needs a timer.
    pub(crate) fn scan_natives(&self) {
        let tids = tasks::ids();
        if tids.is_empty() {
            return; // the calling thread is missing, so the read failed
        }
        let mut state = self.lock();
        self.add_natives(&mut state, &tids);
        let live: HashSet<i32> = tids.into_iter().collect();
        self.remove_natives(&mut state, |tid| !live.contains(&tid));
        self.unlock(state);
    }

    /// The thread with this OS id, which was sampled without a record: before its start or after
    /// its end was known. It is registered now if it lives and is no Java thread.
    /// [`ThreadRef::UNKNOWN`] if nothing is known of it.
    pub(crate) fn register_late(&self, os_tid: i32) -> ThreadRef {
        if let Some(thread) = self.names.by_os_tid(os_tid) {
            return thread;
        }
        let mut state = self.lock();
        self.add_natives(&mut state, &[os_tid]);
        self.unlock(state);
        self.names.by_os_tid(os_tid).unwrap_or(ThreadRef::UNKNOWN)
    }

    fn add_natives(&self, state: &mut DirectoryState, tids: &[i32]) {
        let agent_tids = agent_thread::ids();
        for &os_tid in tids {
            if agent_tids.contains(&os_tid) || self.registered(os_tid, 0).is_some() {
                continue;
            }
            let Some(name) = tasks::name(os_tid) else {
                continue;
            };
            let facts = ThreadFacts {
                os_tid,
                ..ThreadFacts::default()
            };
            let group = Some(VmThreadKind::of(&name).group());
            let info = ThreadInfo {
                name,
                os_tid,
                java_tid: 0,
                group,
                weak: WeakRef::NONE,
            };
            if let Some(record) = self.add(state, facts, info) {
                state.natives.insert(os_tid, record.index.load(Relaxed));
            }
        }
    }

    /// Removes native threads that have ended or were replaced by others. No scan ran while nothing
    /// was sampled: an OS id may belong to another thread, or a thread may have another name.
    fn remove_outdated_natives(&self, state: &mut DirectoryState) {
        let agent_tids = agent_thread::ids();
        let natives = state.natives.keys().copied();
        let records: Vec<_> = natives.filter_map(|tid| self.registered(tid, 0)).collect();
        for record in records {
            let tid = record.os_tid.load(Relaxed);
            let info = self.info(record.serial.load(Relaxed));
            // An unreadable name proves nothing: the process may be out of file descriptors.
            let has_same_name =
                tasks::name(tid).is_none_or(|name| info.is_some_and(|i| i.name == name));
            if agent_tids.contains(&tid) || !has_same_name || !tasks::is_alive(tid) {
                self.remove(state, record);
            }
        }
    }
}
