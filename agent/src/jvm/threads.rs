//! The directory of platform threads: who runs, what they are called, who has a timer.
//!
//! Rules: (1) records are filled, armed and retired under the lock of the directory; (2) a thread's own record is touched with our signal
//! blocked; (3) names outlive their thread until the writer has seen its last samples; (4) our own threads are never registered.

use super::jni::Jni;
use super::jvmti::Jvmti;
use super::layout::{self, Found};
use crate::os::{thread as os_thread, timers};
use crossbeam_queue::ArrayQueue;
use dashmap::DashMap;
use jni_sys::{jfieldID, jobject};
use signal_core::record::{ThreadFacts, ThreadRecord};
use signal_core::room::Room;
use signal_core::tls;
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

thread_local! {
    /// Set on threads of the agent: never sampled. Not read in a handler.
    static OURS: Cell<bool> = const { Cell::new(false) };
}

/// Marks the calling thread as one of the agent's.
pub(crate) fn mark_as_ours() {
    OURS.set(true);
}

/// What is known of a thread off-signal.
#[derive(Debug, Clone)]
pub(crate) struct ThreadInfo {
    pub(crate) name: String,
    pub(crate) os_tid: i32,
    pub(crate) java_tid: i64,
    /// Weak global reference to the thread object, to read its name again; 0 = none.
    weak: usize,
}

/// How threads are to be sampled now.
#[derive(Debug, Clone, Copy)]
struct Arming {
    signal: i32,
    fine: bool,
}

#[derive(Debug, Default)]
struct Inner {
    free: Vec<u32>,
    used: HashSet<u32>,
    next_index: u32,
    next_serial: u64,
    arming: Option<Arming>,
}

/// `java.lang.Thread` fields that the directory reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreadFields {
    tid: jfieldID,
    eetop: jfieldID,
}

// SAFETY: field ids are plain numbers, valid while the class is loaded; Thread never unloads.
unsafe impl Send for ThreadFields {}
// SAFETY: as above.
unsafe impl Sync for ThreadFields {}

impl ThreadFields {
    /// Looks the fields up.
    pub(crate) fn find(jni: Jni) -> Option<Self> {
        let class = jni.find_class(c"java/lang/Thread")?;
        let fields = Self {
            tid: jni.field_id(class, c"tid", c"J")?,
            eetop: jni.field_id(class, c"eetop", c"J")?,
        };
        jni.delete_local(class);
        Some(fields)
    }

    /// Java id of a thread object.
    pub(crate) fn java_tid(self, jni: Jni, thread: jobject) -> i64 {
        jni.long_field(thread, self.tid)
    }

    /// Address of the `JavaThread`, 0 if the thread is not alive.
    pub(crate) fn java_thread(self, jni: Jni, thread: jobject) -> usize {
        usize::try_from(jni.long_field(thread, self.eetop)).unwrap_or(0)
    }
}

/// The directory.
#[derive(Debug)]
pub(crate) struct ThreadDirectory {
    room: &'static Room,
    jvmti: Jvmti,
    fields: ThreadFields,
    found: Found,
    /// `JNIEnv` minus `JavaThread`: the same for all threads of a VM.
    env_offset: usize,
    inner: Mutex<Inner>,
    infos: DashMap<u64, ThreadInfo>,
    /// Serials of ended threads, for the writer to forget.
    ended: ArrayQueue<u64>,
    /// Live threads that should have a timer and have none.
    without_timer: AtomicU64,
    /// Threads that found no record.
    without_record: AtomicU64,
    armed: AtomicU64,
}

impl ThreadDirectory {
    /// An empty directory. Called on a Java thread, whose environment gives the distance between `JNIEnv` and `JavaThread`.
    pub(crate) fn new(
        room: &'static Room,
        jvmti: Jvmti,
        fields: ThreadFields,
        found: Found,
        env_offset: usize,
    ) -> Self {
        Self {
            room,
            jvmti,
            fields,
            found,
            env_offset,
            inner: Mutex::default(),
            infos: DashMap::new(),
            ended: ArrayQueue::new(room.records.capacity()),
            without_timer: AtomicU64::new(0),
            without_record: AtomicU64::new(0),
            armed: AtomicU64::new(0),
        }
    }

    /// Registers the calling thread, from its ThreadStart.
    pub(crate) fn register_current(&self, jni: Jni, thread: jobject, signal: i32) {
        if OURS.get() {
            return;
        }
        let _blocked = os_thread::SignalBlocked::new(signal); // rule 2
        let java_thread = jni.address().wrapping_sub(self.env_offset);
        let os_tid = os_thread::current_tid();
        if let Some(known) = self.room.records.by_os_tid(os_tid) {
            if known.java_thread.load(Relaxed) == java_thread {
                // Registered as an existing thread before its own ThreadStart came: the main thread.
                tls::set_record(Some(known));
                return;
            }
            // The OS thread begins a second life as a Java thread without having ended the first.
            self.unregister(known);
        }
        let record = self.register(jni, thread, java_thread, os_tid, true);
        tls::set_record(record);
    }

    /// Registers all threads that live already, from another thread.
    pub(crate) fn register_existing(&self, jni: Jni) {
        let own = os_thread::current_tid();
        for thread in self.jvmti.all_threads().unwrap_or_default() {
            let java_thread = self.fields.java_thread(jni, thread);
            let os_tid = if java_thread == 0 {
                None
            } else {
                layout::os_tid(&self.found, java_thread)
            };
            if let Some(os_tid) = os_tid
                && self.room.records.by_os_tid(os_tid).is_none()
            {
                self.register(jni, thread, java_thread, os_tid, os_tid == own);
            }
            jni.delete_local(thread);
        }
    }

    fn register(
        &self,
        jni: Jni,
        thread: jobject,
        java_thread: usize,
        os_tid: i32,
        on_thread: bool,
    ) -> Option<&'static ThreadRecord> {
        let name = self.jvmti.thread_name(thread).unwrap_or_default();
        let java_tid = self.fields.java_tid(jni, thread);
        let weak = jni.weak(thread).expose_provenance();
        let (stack_low, stack_high) =
            layout::stack_bounds(&self.found, java_thread).unwrap_or((0, 0));
        let mut inner = self.lock();
        let Some(index) = inner.take_index(self.room.records.capacity()) else {
            self.without_record.fetch_add(1, Relaxed);
            return None;
        };
        inner.next_serial += 1;
        let serial = inner.next_serial;
        let jni_env = java_thread.wrapping_add(self.env_offset);
        let facts = ThreadFacts {
            os_tid,
            serial,
            java_tid,
            java_thread,
            jni_env,
            stack_low,
            stack_high,
        };
        if !self.room.records.publish(index, &facts) {
            inner.give_back(index);
            self.without_record.fetch_add(1, Relaxed);
            return None;
        }
        self.infos.insert(
            serial,
            ThreadInfo {
                name,
                os_tid,
                java_tid,
                weak,
            },
        );
        let record = self.room.records.at(index)?;
        record.seed.store(seed(serial), Relaxed);
        self.arm(record, inner.arming, on_thread);
        Some(record)
    }

    /// Takes the calling thread out, from its ThreadEnd: timers first, then the record, then its context block.
    pub(crate) fn unregister_current(&self, signal: i32) {
        let _blocked = os_thread::SignalBlocked::new(signal);
        let tid = os_thread::current_tid();
        if let Some(record) = tls::record().or_else(|| self.room.records.by_os_tid(tid)) {
            tls::set_record(None);
            self.unregister(record);
        }
    }

    fn unregister(&self, record: &ThreadRecord) {
        let serial = record.serial.load(Relaxed);
        {
            let mut inner = self.lock();
            timers::delete(record);
            self.room.records.retire(record);
            inner.give_back(record.index.load(Relaxed));
        }
        self.room.blocks.release(record.java_tid.load(Relaxed));
        // Full only if 65 536 threads ended within a drain period; then the name stays until the next recording.
        let _ = self.ended.push(serial);
    }

    /// Gives every thread its timers, now and as they start.
    pub(crate) fn start_timers(&self, signal: i32, fine: bool) {
        let mut inner = self.lock();
        let arming = Some(Arming { signal, fine });
        inner.arming = arming;
        self.without_timer.store(0, Relaxed);
        for index in &inner.used {
            if let Some(record) = self.room.records.at(*index) {
                self.arm(record, arming, false);
            }
        }
    }

    /// Deletes all timers; none are made until the next start.
    pub(crate) fn stop_timers(&self) {
        let mut inner = self.lock();
        inner.arming = None;
        for index in &inner.used {
            if let Some(record) = self.room.records.at(*index) {
                timers::delete(record);
            }
        }
    }

    fn arm(&self, record: &ThreadRecord, arming: Option<Arming>, on_thread: bool) {
        let Some(arming) = arming else { return };
        if record.coarse_timer.load(Relaxed) != 0 {
            return;
        }
        match timers::create(record, arming.signal, arming.fine) {
            Ok(()) => {
                self.armed.fetch_add(1, Relaxed);
                let cpu = timers::thread_cpu_nanos(record.os_tid.load(Relaxed));
                self.room.engine.start(record, cpu, on_thread);
            }
            Err(error) => {
                if self.without_timer.fetch_add(1, Relaxed) == 0 {
                    crate::log::warn_rarely(&format!(
                        "no CPU timer for a thread ({error}); it will not be sampled. If this is EAGAIN, raise the limit of pending \
                         signals (ulimit -i)"
                    ));
                }
            }
        }
    }

    /// Name and ids of a thread that was sampled.
    pub(crate) fn info(&self, serial: u64) -> Option<ThreadInfo> {
        self.infos.get(&serial).map(|info| info.clone())
    }

    /// Reads the name of a thread again: it may have changed since its start.
    pub(crate) fn refresh(&self, jni: Jni, serial: u64) {
        let Some(weak) = self.infos.get(&serial).map(|info| info.weak) else {
            return;
        };
        let Some(thread) = jni.local(std::ptr::with_exposed_provenance_mut(weak)) else {
            return;
        };
        if let Ok(name) = self.jvmti.thread_name(thread)
            && let Some(mut info) = self.infos.get_mut(&serial)
        {
            info.name = name;
        }
        jni.delete_local(thread);
    }

    /// Takes the serials of threads that have ended since the last call. The caller forgets them after the samples that it has not yet drained.
    pub(crate) fn take_ended(&self, into: &mut Vec<u64>) {
        while let Some(serial) = self.ended.pop() {
            into.push(serial);
        }
    }

    /// Forgets an ended thread.
    pub(crate) fn forget(&self, jni: Jni, serial: u64) {
        if let Some((_, info)) = self.infos.remove(&serial) {
            jni.delete_weak(std::ptr::with_exposed_provenance_mut(info.weak));
        }
    }

    /// Threads known, timers made, threads without timer, threads without record.
    pub(crate) fn figures(&self) -> [u64; 4] {
        let known = self.lock().used.len() as u64;
        [
            known,
            self.armed.load(Relaxed),
            self.without_timer.load(Relaxed),
            self.without_record.load(Relaxed),
        ]
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn take_index(&mut self, capacity: usize) -> Option<u32> {
        let index = self.free.pop().or_else(|| {
            let next = self.next_index;
            ((next as usize) < capacity).then(|| {
                self.next_index += 1;
                next
            })
        })?;
        self.used.insert(index);
        Some(index)
    }

    fn give_back(&mut self, index: u32) {
        if self.used.remove(&index) {
            self.free.push(index);
        }
    }
}

/// A start value for a thread's random generator: differs per thread and per process, never 0.
fn seed(serial: u64) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(serial) | 1
}
