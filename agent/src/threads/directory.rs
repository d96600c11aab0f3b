//! The directory of platform threads: registers them, removes them, and finds their records.
//!
//! Rules for `unsafe`, besides those of [the module](super): (6) only the thread itself sets its
//! thread-local word, and clears it in its ThreadEnd; (7) a thread has the same `JavaThread` and
//! `JNIEnv` from its start until its ThreadEnd, which retires the record.

#![expect(
    unsafe_code,
    reason = "publishes records and sets the thread-local word of a thread"
)]

use super::cpu_timers::CpuTimers;
use super::record_pool::RecordPool;
use super::thread_fields::ThreadFields;
use super::thread_names::{NameRetention, ThreadInfo, ThreadNames};
use crate::hotspot::layout::{self, Loads, VmOffsets};
use crate::jvm::jni::{Jni, LocalRef, Vm};
use crate::jvm::jvmti::Jvmti;
use crate::os::seed::seed;
use crate::os::{agent_thread, thread as os_thread, timers};
use dashmap::DashMap;
use signal_core::counters::Counter;
use signal_core::engine::monotonic_nanos;
use signal_core::handler_state::HandlerState;
use signal_core::record::{ThreadFacts, ThreadRecord};
use signal_core::tls;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the lock of the directory guards.
#[derive(Debug, Default)]
pub(super) struct DirectoryState {
    pub(super) pool: RecordPool,
    pub(super) timers: CpuTimers,
    pub(super) names: NameRetention,
    /// Threads that are not Java threads, by OS id: index of their record.
    pub(super) natives: HashMap<i32, u32>,
    /// While `register_existing` runs: the `JavaThread` addresses of threads that ended before they
    /// were registered.
    ended_unregistered: Option<HashSet<usize>>,
    /// Threads that found no free record.
    without_record: u64,
}

/// What the VM's structures contain about a live thread.
#[derive(Debug, Clone, Copy)]
struct LiveThread {
    java_thread: usize,
    os_tid: i32,
    stack: Option<(usize, usize)>,
}

/// All platform threads of the process, except the agent's own.
#[derive(Debug)]
pub(crate) struct ThreadDirectory {
    pub(super) handler: &'static HandlerState,
    pub(super) vm: Vm,
    pub(super) jvmti: Jvmti,
    pub(super) fields: ThreadFields,
    offsets: VmOffsets,
    /// `JNIEnv` minus `JavaThread`: the same for all threads of a VM.
    env_offset: usize,
    state: Mutex<DirectoryState>,
    pub(super) names: ThreadNames,
    /// Indices of the records of Java threads, by Java id and by address of the `JavaThread`.
    by_java_tid: DashMap<i64, u32>,
    by_java_thread: DashMap<usize, u32>,
    /// Threads registered so far.
    births: AtomicU64,
}

/// Start and end of threads.
impl ThreadDirectory {
    /// An empty directory. The calling thread is a Java thread: `env_offset` comes from it.
    pub(crate) fn new(
        handler: &'static HandlerState,
        vm: Vm,
        jvmti: Jvmti,
        fields: ThreadFields,
        offsets: VmOffsets,
        env_offset: usize,
    ) -> Self {
        Self {
            handler,
            vm,
            jvmti,
            fields,
            offsets,
            env_offset,
            state: Mutex::default(),
            names: ThreadNames::new(handler.records.capacity()),
            by_java_tid: DashMap::new(),
            by_java_thread: DashMap::new(),
            births: AtomicU64::new(0),
        }
    }

    /// Registers the calling thread, from its ThreadStart.
    pub(crate) fn register_current(&self, jni: Jni, thread: &LocalRef<'_>, signal: i32) {
        if agent_thread::is_current() {
            return;
        }
        let _blocked = os_thread::SignalBlocked::new(signal); // rule 2
        let java_thread = jni.address().wrapping_sub(self.env_offset);
        // SAFETY: rule 7: the loads read the `JavaThread` of the calling thread.
        let own_memory = unsafe { Loads::plain() };
        let live = LiveThread {
            java_thread,
            os_tid: os_thread::current_tid(),
            stack: layout::stack_bounds(&self.offsets, &own_memory, java_thread),
        };
        let record = self.register(jni, thread, &live, true);
        // SAFETY: rule 6.
        unsafe { tls::set_record(record) };
    }

    /// Registers all threads that live already. The caller has opened a local frame. Any of the
    /// threads may end meanwhile.
    pub(crate) fn register_existing(&self, jni: Jni) {
        let loads = Loads::of_others();
        let own_tid = os_thread::current_tid();
        self.lock().ended_unregistered = Some(HashSet::new());
        for thread in self.jvmti.all_threads(&jni).unwrap_or_default() {
            let address = || self.fields.java_thread(jni, &thread);
            let read = |java_thread| {
                let os_tid = layout::os_tid(&self.offsets, &loads, java_thread)?;
                let stack = layout::stack_bounds(&self.offsets, &loads, java_thread);
                Some((os_tid, stack))
            };
            if let Some((java_thread, (os_tid, stack))) = layout::of_living(address, read) {
                let live = LiveThread {
                    java_thread,
                    os_tid,
                    stack,
                };
                self.register(jni, &thread, &live, os_tid == own_tid);
            }
        }
        self.lock().ended_unregistered = None;
    }

    fn register(
        &self,
        jni: Jni,
        thread: &LocalRef<'_>,
        live: &LiveThread,
        on_thread: bool,
    ) -> Option<&'static ThreadRecord> {
        let LiveThread {
            java_thread,
            os_tid,
            stack,
        } = *live;
        if let Some(record) = self.registered(os_tid, java_thread) {
            // The main thread: `register_existing` finds it, then its own ThreadStart follows.
            return Some(record);
        }
        let (stack_low, stack_high) = stack.unwrap_or((0, 0));
        let java_tid = self.fields.java_tid(jni, thread);
        let facts = ThreadFacts {
            os_tid,
            serial: 0,
            java_tid,
            java_thread,
            jni_env: java_thread.wrapping_add(self.env_offset),
            stack_low,
            stack_high,
        };
        // Before the lock (rule 5).
        let info = ThreadInfo {
            name: self.jvmti.thread_name(jni, thread).unwrap_or_default(),
            os_tid,
            java_tid,
            group: None,
            weak: jni.weak(thread),
        };
        let mut state = self.lock();
        let has_ended = |ended: &HashSet<usize>| ended.contains(&java_thread);
        let record = if !on_thread && state.ended_unregistered.as_ref().is_some_and(has_ended) {
            state.names.unused.push(info.weak);
            None
        } else {
            self.add(&mut state, facts, info)
        };
        self.unlock(state);
        record
    }

    /// The record of an OS thread, if it belongs to this Java thread (0 = to any).
    pub(super) fn registered(
        &self,
        os_tid: i32,
        java_thread: usize,
    ) -> Option<&'static ThreadRecord> {
        let record = self.handler.records.by_os_tid(os_tid)?;
        (java_thread == 0 || record.java_thread.load(Relaxed) == java_thread).then_some(record)
    }

    pub(super) fn add(
        &self,
        state: &mut DirectoryState,
        facts: ThreadFacts,
        info: ThreadInfo,
    ) -> Option<&'static ThreadRecord> {
        if let Some(previous) = self.handler.records.by_os_tid(facts.os_tid) {
            if previous.java_thread.load(Relaxed) == facts.java_thread {
                // Its own ThreadStart or a scan has registered it meanwhile. The record must stay:
                // the thread-local word of the thread may name it.
                state.names.unused.push(info.weak);
                return Some(previous);
            }
            // A native thread that became a Java thread, or a Java thread without a ThreadEnd.
            self.remove(state, previous);
        }
        // SAFETY: rule 7; a native thread has neither.
        let Some(record) = (unsafe { state.pool.publish(&self.handler.records, facts) }) else {
            state.names.unused.push(info.weak);
            state.without_record += 1;
            return None;
        };
        self.names.start(record.serial.load(Relaxed), info);
        if facts.java_thread != 0 {
            let index = record.index.load(Relaxed);
            self.by_java_tid.insert(facts.java_tid, index);
            self.by_java_thread.insert(facts.java_thread, index);
        }
        record.seed.store(seed(), Relaxed);
        state.timers.arm(&self.handler.engine, record);
        // Relaxed: a reader that sees the new value takes the lock, which the caller holds, before
        // it lists the records.
        self.births.fetch_add(1, Relaxed);
        Some(record)
    }

    /// Removes the calling thread, from its ThreadEnd.
    pub(crate) fn unregister_current(&self, jni: Jni, signal: i32) {
        let _blocked = os_thread::SignalBlocked::new(signal); // rule 2
        let mut state = self.lock();
        if let Some(record) = self.current_record() {
            // SAFETY: rule 6.
            unsafe { tls::set_record(None) };
            self.remove(&mut state, record);
        } else if let Some(ended) = &mut state.ended_unregistered {
            ended.insert(jni.address().wrapping_sub(self.env_offset));
        }
        self.unlock(state);
    }

    /// Removes a thread: its timer first, then the record, then its context block. The thread is the
    /// calling one with the signal blocked, or it has ended.
    pub(super) fn remove(&self, state: &mut DirectoryState, record: &ThreadRecord) {
        let (serial, index) = (record.serial.load(Relaxed), record.index.load(Relaxed));
        timers::delete(record);
        record.ended_at_ns.store(monotonic_nanos(), Relaxed);
        // SAFETY: rule 2 for the calling thread's own record; any other thread has ended.
        unsafe { state.pool.retire(&self.handler.records, record) };
        // Only if they still name this record: a new thread may have either number.
        let tid = record.java_tid.load(Relaxed);
        self.by_java_tid.remove_if(&tid, |_, i| *i == index);
        let java_thread = record.java_thread.load(Relaxed);
        self.by_java_thread
            .remove_if(&java_thread, |_, i| *i == index);
        state.timers.forget(index);
        state.natives.remove(&record.os_tid.load(Relaxed));
        self.handler.blocks.release(tid);
        self.names.end(&mut state.names, serial);
    }
}

/// Queries.
impl ThreadDirectory {
    /// The record of the calling thread.
    pub(super) fn current_record(&self) -> Option<&'static ThreadRecord> {
        let by_os_tid = || {
            let tid = os_thread::current_tid();
            self.handler.records.by_os_tid(tid)
        };
        tls::record().or_else(by_os_tid)
    }

    /// The records in use; the caller holds the lock.
    pub(super) fn records(
        &self,
        state: &DirectoryState,
    ) -> impl Iterator<Item = &'static ThreadRecord> {
        state.pool.used(&self.handler.records)
    }

    /// Java ids of the registered threads.
    pub(crate) fn java_tids(&self) -> HashSet<i64> {
        let state = self.lock();
        self.records(&state)
            .map(|record| record.java_tid.load(Relaxed))
            .collect()
    }

    /// How many threads were registered so far: while it stays the same, `java_records` has no new
    /// thread.
    pub(crate) fn births(&self) -> u64 {
        self.births.load(Relaxed)
    }

    /// The records of all Java threads, for the wall-clock thread. Some may end while it uses them.
    pub(crate) fn java_records(&self, into: &mut Vec<&'static ThreadRecord>) {
        into.clear();
        into.extend(self.records(&self.lock()).filter(|r| is_java(r)));
    }

    /// The record of the platform thread with this Java id.
    pub(crate) fn by_java_tid(&self, tid: i64) -> Option<&'static ThreadRecord> {
        let index = *self.by_java_tid.get(&tid)?;
        self.handler.records.at(index)
    }

    /// The record of the Java thread whose `JavaThread` is at `address`, or whose stack contains
    /// it.
    pub(crate) fn by_address(&self, address: usize) -> Option<&'static ThreadRecord> {
        if let Some(index) = self.by_java_thread.get(&address) {
            return self.handler.records.at(*index);
        }
        let state = self.lock();
        let mut records = self.records(&state).filter(|r| is_java(r));
        records.find(|record| {
            let low = record.stack_low.load(Relaxed);
            (low..record.stack_high.load(Relaxed)).contains(&address)
        })
    }

    /// The counters of the directory.
    pub(crate) fn counts(&self) -> [(Counter, u64); 4] {
        let state = self.lock();
        let timers = state.timers.counts();
        [
            (Counter::ThreadsKnown, state.pool.used_count() as u64),
            (Counter::ThreadsTimersMade, timers.created),
            (Counter::ThreadsWithoutTimer, timers.without_timer),
            (Counter::ThreadsWithoutRecord, state.without_record),
        ]
    }
}

/// The lock.
impl ThreadDirectory {
    pub(super) fn lock(&self) -> MutexGuard<'_, DirectoryState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Releases the lock, then does what rule 5 forbids under it.
    pub(super) fn unlock(&self, mut state: MutexGuard<'_, DirectoryState>) {
        let failure = state.timers.failure.take();
        let has_unused = !state.names.unused.is_empty();
        let jni = has_unused.then(|| self.vm.env()).flatten();
        // Without an environment they stay for a later caller.
        let unused = jni.map(|jni| (jni, std::mem::take(&mut state.names.unused)));
        drop(state);
        if let Some(failure) = failure {
            failure.report();
        }
        if let Some((jni, unused)) = unused {
            for weak in unused {
                jni.delete_weak(weak);
            }
        }
    }
}

fn is_java(record: &ThreadRecord) -> bool {
    record.java_thread.load(Relaxed) != 0
}
