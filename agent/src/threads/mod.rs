//! The directory of platform threads: who runs, what they are called, who has a timer.
//!
//! Rules: (1) records are filled, armed and retired under the lock of the directory; (2) a thread's own record is touched with our signal
//! blocked; (3) names outlive their thread until the writer, if there is one, has seen its last samples; (4) our own threads are never registered;
//! (5) the VM is not called under that lock, nor while an entry of `infos` is held, which is waited for under it: a debugger may hold a thread in such a call
//! for as long as it likes, and every start and end waits for the lock; nor is anything said, which may start a thread.

#![expect(
    unsafe_code,
    reason = "publishes records and sets the thread-local word of a thread"
)]

pub(crate) mod live_threads;
mod thread_ref;
pub(crate) mod virtual_threads;

pub(crate) use thread_ref::ThreadRef;

use crate::hotspot::layout::{self, Loads, VmOffsets};
use crate::jvm::jni::{Jni, Vm};
use crate::jvm::jvmti::Jvmti;
use crate::log;
use crate::os::pages::Pages;
use crate::os::seed::seed;
use crate::os::{agent_thread, send, sigaction, tasks, thread as os_thread, timers};
use crossbeam_queue::ArrayQueue;
use ctxagent_events::VmThreadKind;
use dashmap::DashMap;
use fault_injection::Fault;
use jni_sys::{jfieldID, jobject};
use signal_core::counters::Counter;
use signal_core::engine::{Source, monotonic_nanos};
use signal_core::handler_state::HandlerState;
use signal_core::record::{ThreadFacts, ThreadRecord};
use signal_core::tls;
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is known of a thread off-signal.
#[derive(Debug, Clone)]
pub(crate) struct ThreadInfo {
    pub(crate) name: String,
    pub(crate) os_tid: i32,
    pub(crate) java_tid: i64,
    /// Group of a thread that is not a Java thread, see [`VmThreadKind`].
    pub(crate) group: Option<&'static str>,
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
    /// Threads that are not Java threads, by OS id: index of their record. Nobody tells when they end.
    natives: HashMap<i32, u32>,
    /// While the threads that lived before us are registered: addresses of the `JavaThread`s of those that ended before it was their turn.
    ended_unknown: Option<HashSet<usize>>,
    arming: Option<Arming>,
    /// Of the table from OS ids to records.
    pages: Pages,
    /// A writer wants to know the names of ended threads for a while.
    is_read: bool,
    /// Records of threads that should have timers and have none, and of those that got one instead of two.
    without_timer: HashSet<u32>,
    on_tick: HashSet<u32>,
    /// It was said that there are threads without timer, in this recording; or is to be said, once the lock is free (rule 5).
    is_told: bool,
    untold: Option<io::Error>,
    /// Weak references of threads that were forgotten, to be given back once the lock is free (rule 5).
    left: Vec<usize>,
    /// The thread whose name the writer reads again now; 0 = none. If it is forgotten meanwhile, its weak reference is left to the writer.
    read_again: u64,
    left_to_writer: Option<usize>,
}

/// What the VM's structures say of a live thread.
#[derive(Debug, Clone, Copy)]
struct Seen {
    java_thread: usize,
    os_tid: i32,
    stack: Option<(usize, usize)>,
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
    handler: &'static HandlerState,
    vm: Vm,
    jvmti: Jvmti,
    fields: ThreadFields,
    offsets: VmOffsets,
    /// `JNIEnv` minus `JavaThread`: the same for all threads of a VM.
    env_offset: usize,
    inner: Mutex<Inner>,
    infos: DashMap<u64, ThreadInfo>,
    /// Indices of the records of Java threads, by Java id and by address of the `JavaThread`.
    by_java_tid: DashMap<i64, u32>,
    by_java_thread: DashMap<usize, u32>,
    /// Serials of ended threads, for the writer to forget.
    ended: ArrayQueue<u64>,
    /// Threads that found no record.
    without_record: AtomicU64,
    armed: AtomicU64,
    /// Threads registered so far.
    births: AtomicU64,
    stalled: Mutex<Stalled>,
}

/// Threads that had no timer armed at the last look, and where the next look begins.
#[derive(Debug, Default)]
struct Stalled {
    /// Index of the record, by serial.
    found: HashMap<u64, u32>,
    cursor: u32,
}

/// Threads that one look for lost signals asks about, at most: two questions to the kernel each. The next look goes on with the next ones.
const ASKED_AT_ONCE: u32 = 512;

impl ThreadDirectory {
    /// An empty directory. Called on a Java thread, whose environment gives the distance between `JNIEnv` and `JavaThread`.
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
            inner: Mutex::default(),
            infos: DashMap::new(),
            by_java_tid: DashMap::new(),
            by_java_thread: DashMap::new(),
            ended: ArrayQueue::new(handler.records.capacity()),
            without_record: AtomicU64::new(0),
            armed: AtomicU64::new(0),
            births: AtomicU64::new(0),
            stalled: Mutex::default(),
        }
    }

    /// Registers the calling thread, from its ThreadStart.
    pub(crate) fn register_current(&self, jni: Jni, thread: jobject, signal: i32) {
        if agent_thread::is_current() {
            return;
        }
        let _blocked = os_thread::SignalBlocked::new(signal); // rule 2
        let java_thread = jni.address().wrapping_sub(self.env_offset);
        // SAFETY: the calling thread cannot end meanwhile.
        let own = unsafe { Loads::plain() };
        let seen = Seen {
            java_thread,
            os_tid: os_thread::current_tid(),
            stack: layout::stack_bounds(&self.offsets, &own, java_thread),
        };
        let record = self.register(jni, thread, &seen, true);
        // SAFETY: the calling thread's, which takes itself out before it ends.
        unsafe { tls::set_record(record) };
    }

    /// Registers all threads that live already, from another thread, in a local frame of the caller's. Any of them may end meanwhile.
    pub(crate) fn register_existing(&self, jni: Jni) {
        let loads = Loads::of_others();
        let own = os_thread::current_tid();
        self.lock().ended_unknown = Some(HashSet::new());
        for thread in self.jvmti.all_threads().unwrap_or_default() {
            let address = || self.fields.java_thread(jni, thread);
            let look = |java_thread| {
                let os_tid = layout::os_tid(&self.offsets, &loads, java_thread)?;
                let stack = layout::stack_bounds(&self.offsets, &loads, java_thread);
                Some((os_tid, stack))
            };
            if let Some((java_thread, (os_tid, stack))) = layout::of_living(address, look) {
                let seen = Seen {
                    java_thread,
                    os_tid,
                    stack,
                };
                self.register(jni, thread, &seen, os_tid == own);
            }
        }
        self.lock().ended_unknown = None;
    }

    fn register(
        &self,
        jni: Jni,
        thread: jobject,
        seen: &Seen,
        on_thread: bool,
    ) -> Option<&'static ThreadRecord> {
        let Seen {
            java_thread,
            os_tid,
            stack,
        } = *seen;
        if let Some(known) = self.known(os_tid, java_thread) {
            // The main thread: found by the scan of existing threads, then announced by its own ThreadStart.
            return Some(known);
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
            weak: jni.weak(thread).expose_provenance(),
        };
        let mut inner = self.lock();
        let ended = |all: &HashSet<usize>| all.contains(&java_thread);
        let record = if !on_thread && inner.ended_unknown.as_ref().is_some_and(ended) {
            inner.left.push(info.weak);
            None
        } else {
            self.add(&mut inner, facts, info, on_thread)
        };
        self.unlock(inner);
        record
    }

    /// The record of an OS thread, if it is that of this Java thread (0 = of any).
    fn known(&self, os_tid: i32, java_thread: usize) -> Option<&'static ThreadRecord> {
        let known = self.handler.records.by_os_tid(os_tid)?;
        (java_thread == 0 || known.java_thread.load(Relaxed) == java_thread).then_some(known)
    }

    fn add(
        &self,
        inner: &mut Inner,
        facts: ThreadFacts,
        info: ThreadInfo,
        on_thread: bool,
    ) -> Option<&'static ThreadRecord> {
        if let Some(earlier) = self.handler.records.by_os_tid(facts.os_tid) {
            if earlier.java_thread.load(Relaxed) == facts.java_thread {
                // Registered meanwhile, by itself or by a scan. Its thread-local word may name this record already: it must stay.
                inner.left.push(info.weak);
                return Some(earlier);
            }
            // Its life before: as a native thread, or as a Java thread that ended without telling.
            self.remove(inner, earlier);
        }
        let Some(record) = self.publish(inner, facts) else {
            inner.left.push(info.weak);
            self.without_record.fetch_add(1, Relaxed);
            return None;
        };
        self.infos.insert(record.serial.load(Relaxed), info);
        if facts.java_thread != 0 {
            let index = record.index.load(Relaxed);
            self.by_java_tid.insert(facts.java_tid, index);
            self.by_java_thread.insert(facts.java_thread, index);
        }
        record.seed.store(seed(), Relaxed);
        self.arm(inner, record, on_thread);
        // Relaxed: who sees it asks for the records under the lock, which the caller holds.
        self.births.fetch_add(1, Relaxed);
        Some(record)
    }

    /// A record with these facts and a new serial; `None` if there is none left, or the table of ids ends before this one.
    fn publish(&self, inner: &mut Inner, mut facts: ThreadFacts) -> Option<&'static ThreadRecord> {
        let records = &self.handler.records;
        let index = inner.take_index(records.capacity())?;
        inner.next_serial += 1;
        facts.serial = inner.next_serial;
        // SAFETY: the thread has this JavaThread and JNIEnv until its ThreadEnd retires the record.
        if unsafe { records.publish(index, &facts) } {
            inner.pages.taken(facts.os_tid);
            return records.at(index);
        }
        inner.give_back(index);
        None
    }

    /// Finds the threads that are not Java threads: collectors, compilers, threads of native libraries. They get the coarse timer only, which
    /// never interrupts a sleep: native code may not expect that. Called about once a second; shorter lives stay unseen.
    pub(crate) fn scan_natives(&self) {
        let tids = tasks::ids();
        if tids.is_empty() {
            return; // we are one of them: the look has failed, nobody has ended
        }
        let mut inner = self.lock();
        if inner.arming.is_some() {
            self.add_natives(&mut inner, &tids);
        }
        let live: HashSet<i32> = tids.into_iter().collect();
        let gone: Vec<i32> = inner
            .natives
            .keys()
            .filter(|tid| !live.contains(tid))
            .copied()
            .collect();
        for tid in gone {
            if let Some(record) = self.handler.records.by_os_tid(tid) {
                self.remove(&mut inner, record);
            }
        }
        self.unlock(inner);
    }

    fn add_natives(&self, inner: &mut Inner, tids: &[i32]) {
        let ours = agent_thread::ids();
        for tid in tids {
            if ours.contains(tid) || self.known(*tid, 0).is_some() {
                continue;
            }
            let Some(name) = tasks::name(*tid) else {
                continue;
            };
            let facts = ThreadFacts {
                os_tid: *tid,
                ..ThreadFacts::default()
            };
            let group = Some(VmThreadKind::of(&name).group());
            let info = ThreadInfo {
                name,
                os_tid: *tid,
                java_tid: 0,
                group,
                weak: 0,
            };
            if let Some(record) = self.add(inner, facts, info, false) {
                inner.natives.insert(*tid, record.index.load(Relaxed));
            }
        }
    }

    /// Takes the calling thread out, from its ThreadEnd: timers first, then the record, then its context block.
    pub(crate) fn unregister_current(&self, jni: Jni, signal: i32) {
        self.take_last_sample(signal);
        let _blocked = os_thread::SignalBlocked::new(signal);
        let tid = os_thread::current_tid();
        let mut inner = self.lock();
        if let Some(record) = tls::record().or_else(|| self.handler.records.by_os_tid(tid)) {
            // SAFETY: none is always right.
            unsafe { tls::set_record(None) };
            self.remove(&mut inner, record);
        } else if let Some(ended) = &mut inner.ended_unknown {
            ended.insert(jni.address().wrapping_sub(self.env_offset));
        }
        self.unlock(inner);
    }

    /// A thread that sleeps is sampled some time after its sample point; one that ends meanwhile, now.
    fn take_last_sample(&self, signal: i32) {
        let handler = self.handler;
        let overdue = tls::record().is_some_and(|record| handler.engine.is_overdue(record));
        if overdue && handler.enabled.load(Relaxed) && sigaction::is_ours(signal) {
            // The handler has run when this returns, unless the thread has our signal blocked: then there is no sample.
            let _ = send::to_thread(os_thread::current_tid(), signal, Source::IdleSampler);
        }
    }

    /// Takes a thread out: timers first, then the record, then its context block.
    fn remove(&self, inner: &mut Inner, record: &ThreadRecord) {
        let serial = record.serial.load(Relaxed);
        timers::delete(record);
        record.ended_at_ns.store(monotonic_nanos(), Relaxed);
        let records = &self.handler.records;
        // SAFETY: rule 2 for the calling thread's own; any other has ended.
        unsafe { records.retire(record) };
        inner
            .pages
            .freed(record.os_tid.load(Relaxed), records.cells());
        let index = record.index.load(Relaxed);
        // Only if they still name this record: both numbers may belong to a new thread already.
        let is_this = |_: &_, named: &u32| *named == index;
        let (tid, java_thread) = (&record.java_tid, &record.java_thread);
        self.by_java_tid.remove_if(&tid.load(Relaxed), is_this);
        let is_this = |_: &_, named: &u32| *named == index;
        self.by_java_thread
            .remove_if(&java_thread.load(Relaxed), is_this);
        inner.give_back(index);
        inner.without_timer.remove(&index);
        inner.on_tick.remove(&index);
        inner.natives.remove(&record.os_tid.load(Relaxed));
        self.handler.blocks.release(record.java_tid.load(Relaxed));
        // Nobody will ask for the name of a thread that ends while nothing is recorded. And if more have ended than a writer takes (it hangs), the first of
        // them is forgotten: its last samples may have no name then.
        let forgettable = if inner.is_read {
            self.ended.force_push(serial)
        } else {
            Some(serial)
        };
        let Some(serial) = forgettable else { return };
        if let Some(weak) = self.forgotten(serial) {
            if inner.read_again == serial {
                inner.left_to_writer = Some(weak);
            } else {
                inner.left.push(weak);
            }
        }
    }

    /// The calling carrier has mounted this virtual thread, or unmounted the one it had.
    pub(crate) fn mounted(&self, jni: Jni, thread: Option<jobject>) {
        let record = tls::record().or_else(|| {
            let tid = os_thread::current_tid();
            self.handler.records.by_os_tid(tid)
        });
        if let Some(record) = record {
            let tid = thread.map_or(0, |thread| self.fields.java_tid(jni, thread));
            // Relaxed: read by this thread's own handler only.
            record.mounted.store(tid, Relaxed);
        }
    }

    /// Java ids of the platform threads that are known.
    pub(crate) fn java_tids(&self) -> HashSet<i64> {
        let inner = self.lock();
        let records = self.records(&inner);
        records
            .map(|record| record.java_tid.load(Relaxed))
            .collect()
    }

    /// Gives every thread its timers, now and as they start.
    pub(crate) fn start_timers(&self, signal: i32, fine: bool) {
        self.arm_known(signal, fine);
        self.scan_natives();
    }

    fn arm_known(&self, signal: i32, fine: bool) {
        let mut inner = self.lock();
        inner.arming = Some(Arming { signal, fine });
        inner.without_timer.clear();
        inner.on_tick.clear();
        inner.is_told = false;
        self.forget_other_natives(&mut inner);
        let known: Vec<_> = self.records(&inner).collect();
        for record in known {
            self.arm(&mut inner, record, false);
        }
        self.unlock(inner);
    }

    /// While nothing was sampled nobody looked for native threads: an id may be another thread's now, or a thread have another name.
    fn forget_other_natives(&self, inner: &mut Inner) {
        let ours = agent_thread::ids();
        let natives = inner.natives.keys().copied();
        let known: Vec<_> = natives.filter_map(|tid| self.known(tid, 0)).collect();
        for record in known {
            let tid = record.os_tid.load(Relaxed);
            let info = self.info(record.serial.load(Relaxed));
            // A name that cannot be read says nothing: without a file descriptor no other is found either.
            let same_name =
                tasks::name(tid).is_none_or(|name| info.is_some_and(|i| i.name == name));
            if ours.contains(&tid) || !same_name || !tasks::is_alive(tid) {
                self.remove(inner, record);
            }
        }
    }

    /// Deletes all timers; none are made until the next start.
    pub(crate) fn stop_timers(&self) {
        let mut inner = self.lock();
        inner.arming = None;
        if fault_injection::is(Fault::TimersKept) {
            return;
        }
        self.records(&inner).for_each(timers::delete);
    }

    /// Begins anew with threads that were found without an armed timer at two looks in a row, this one and the last: another owner's action had our signal
    /// for a moment and met the one that was due, and nothing else would arm them. How many sample points they had reached since.
    pub(crate) fn rearm_stalled(&self) -> u64 {
        let inner = self.lock();
        let Some(Arming { signal, fine: true }) = inner.arming else {
            return 0; // periodic timers stay armed
        };
        let indices = inner.next_index;
        drop(inner);
        let mut stalled = self.stalled.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = stalled.next_to_ask(indices);
        let known = asked.into_iter().filter_map(|i| self.handler.records.at(i));
        let found: Vec<_> = known.filter(|r| self.is_stalled(r)).collect();
        let numbers = |r: &&ThreadRecord| (r.serial.load(Relaxed), r.index.load(Relaxed));
        let before = std::mem::replace(&mut stalled.found, found.iter().map(numbers).collect());
        let is_lost = |record: &ThreadRecord| {
            // A thread that has the signal blocked still has it.
            before.contains_key(&record.serial.load(Relaxed))
                && !tasks::is_pending(record.os_tid.load(Relaxed), signal)
        };
        let lost = found.into_iter().filter(|record| is_lost(record));
        lost.map(|record| u64::from(self.begin_anew(record))).sum()
    }

    /// Neither timer will come, and the poll does not look at it.
    fn is_stalled(&self, record: &ThreadRecord) -> bool {
        record.running()
            && !self.handler.engine.idle.has(record.index.load(Relaxed))
            && timers::are_disarmed(record)
    }

    fn begin_anew(&self, record: &ThreadRecord) -> u32 {
        let inner = self.lock(); // rule 1
        if inner.arming.is_none() || !record.running() || !self.is_stalled(record) {
            return 0;
        }
        // Last: a handler that is at work has found the timers disarmed, too. It counts the points, and arms them.
        if record.in_handler.load(Relaxed) != 0 {
            return 0;
        }
        let cpu = timers::thread_cpu_nanos(record.os_tid.load(Relaxed));
        let open = self.handler.engine.end(record, cpu);
        self.handler.engine.start(record, cpu, false);
        open
    }

    /// After the end of sampling: how many sample points threads had reached that no sample was taken for. A thread whose handler is still at work is
    /// left out: that may count them itself.
    pub(crate) fn end_sampling(&self) -> u64 {
        let inner = self.lock();
        let cpu = |record: &ThreadRecord| timers::thread_cpu_nanos(record.os_tid.load(Relaxed));
        self.records(&inner)
            .filter(|record| record.in_handler.load(Relaxed) == 0)
            .map(|record| u64::from(self.handler.engine.end(record, cpu(record))))
            .sum()
    }

    fn arm(&self, inner: &mut Inner, record: &ThreadRecord, on_thread: bool) {
        let Some(arming) = inner.arming else { return };
        if record.coarse_timer.load(Relaxed) != 0 {
            return;
        }
        let fine = arming.fine && record.java_thread.load(Relaxed) != 0;
        let index = record.index.load(Relaxed);
        match timers::create(record, arming.signal, fine) {
            Ok(complete) => {
                self.armed.fetch_add(1, Relaxed);
                if !complete {
                    inner.on_tick.insert(index);
                }
                let cpu = timers::thread_cpu_nanos(record.os_tid.load(Relaxed));
                self.handler.engine.start(record, cpu, on_thread);
            }
            // A thread that a scan found may have ended meanwhile: there is nothing to tell then.
            Err(_) if !tasks::is_alive(record.os_tid.load(Relaxed)) => {}
            Err(error) => {
                inner.without_timer.insert(index);
                if !std::mem::replace(&mut inner.is_told, true) {
                    inner.untold = Some(error);
                }
            }
        }
    }

    /// How many threads were registered so far: as long as that stays, there is none that `java_records` has not told.
    pub(crate) fn births(&self) -> u64 {
        self.births.load(Relaxed)
    }

    /// The records of all Java threads, for the wall-clock thread: some may end while it looks at them.
    pub(crate) fn java_records(&self, into: &mut Vec<&'static ThreadRecord>) {
        into.clear();
        into.extend(self.records(&self.lock()).filter(|r| is_java(r)));
    }

    /// The record of the platform thread with this Java id.
    pub(crate) fn by_java_tid(&self, tid: i64) -> Option<&'static ThreadRecord> {
        let index = *self.by_java_tid.get(&tid)?;
        self.handler.records.at(index)
    }

    /// The record of the Java thread whose `JavaThread` is at `address`, or whose stack has this address.
    pub(crate) fn by_address(&self, address: usize) -> Option<&'static ThreadRecord> {
        if let Some(index) = self.by_java_thread.get(&address) {
            return self.handler.records.at(*index);
        }
        let inner = self.lock();
        let mut records = self.records(&inner).filter(|r| is_java(r));
        records.find(|record| {
            let low = record.stack_low.load(Relaxed);
            (low..record.stack_high.load(Relaxed)).contains(&address)
        })
    }

    /// The records in use; who asks holds the lock.
    fn records(&self, inner: &Inner) -> impl Iterator<Item = &'static ThreadRecord> {
        let all = &self.handler.records;
        inner.used.iter().filter_map(|index| all.at(*index))
    }

    /// Name and ids of a thread that was sampled.
    pub(crate) fn info(&self, serial: u64) -> Option<ThreadInfo> {
        self.infos.get(&serial).map(|info| info.clone())
    }

    /// Reads the name of a thread again: it may have changed since its start. For the writer, who forgets threads: nobody else deletes the reference before
    /// `end_reading`.
    pub(crate) fn refresh(&self, jni: Jni, serial: u64) {
        let weak = self.begin_reading(serial);
        let weak = weak.map(std::ptr::with_exposed_provenance_mut);
        let thread = weak.and_then(|weak| jni.local(weak)); // rule 5
        self.end_reading(jni);
        let Some(thread) = thread else {
            return;
        };
        if let Ok(name) = self.jvmti.thread_name(jni, thread)
            && let Some(mut info) = self.infos.get_mut(&serial)
        {
            info.name = name;
        }
        jni.delete_local(thread);
    }

    /// The weak reference to a thread.
    fn begin_reading(&self, serial: u64) -> Option<usize> {
        let mut inner = self.lock();
        inner.read_again = serial;
        let weak = self.infos.get(&serial).map(|info| info.weak);
        weak.filter(|weak| *weak != 0)
    }

    fn end_reading(&self, jni: Jni) {
        let mut inner = self.lock();
        inner.read_again = 0;
        let left = inner.left_to_writer.take();
        drop(inner);
        if let Some(weak) = left {
            jni.delete_weak(std::ptr::with_exposed_provenance_mut(weak));
        }
    }

    /// From now on, and as long as the answer lives, names of ended threads stay until [`forget`](Self::forget). To be called before anything is sampled.
    pub(crate) fn read_ended(&self) -> ReadEnded<'_> {
        self.lock().is_read = true;
        ReadEnded(self)
    }

    /// Takes the serials of threads that have ended since the last call. The caller forgets them after the samples that it has not yet drained.
    pub(crate) fn take_ended(&self, into: &mut Vec<u64>) {
        while let Some(serial) = self.ended.pop() {
            into.push(serial);
        }
    }

    /// Forgets an ended thread.
    pub(crate) fn forget(&self, jni: Jni, serial: u64) {
        if let Some(weak) = self.forgotten(serial) {
            jni.delete_weak(std::ptr::with_exposed_provenance_mut(weak));
        }
    }

    /// Takes a thread's name out; the weak reference that is to be given back.
    fn forgotten(&self, serial: u64) -> Option<usize> {
        if fault_injection::is(Fault::ExitedThreadsKept) {
            return None;
        }
        self.infos.remove(&serial).map(|(_, info)| info.weak)
    }

    /// Its counters.
    pub(crate) fn counts(&self) -> [(Counter, u64); 5] {
        let inner = self.lock();
        [
            (Counter::ThreadsKnown, inner.used.len() as u64),
            (Counter::ThreadsTimersMade, self.armed.load(Relaxed)),
            (Counter::ThreadsCoarseOnly, inner.on_tick.len() as u64),
            (
                Counter::ThreadsWithoutTimer,
                inner.without_timer.len() as u64,
            ),
            (
                Counter::ThreadsWithoutRecord,
                self.without_record.load(Relaxed),
            ),
        ]
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of the lock, then does what must not be done under it (rule 5).
    fn unlock(&self, mut inner: MutexGuard<'_, Inner>) {
        let untold = inner.untold.take();
        let jni = (!inner.left.is_empty()).then(|| self.vm.env()).flatten();
        // Without an environment the next one does it.
        let left = jni.map(|jni| (jni, std::mem::take(&mut inner.left)));
        drop(inner);
        if let Some(error) = untold {
            log::warn(&format!(
                "no CPU timer for a thread ({error}); it will not be sampled. If this is EAGAIN, raise the limit of pending signals \
                 (ulimit -i)"
            ));
        }
        if let Some((jni, left)) = left {
            for weak in left {
                jni.delete_weak(std::ptr::with_exposed_provenance_mut(weak));
            }
        }
    }
}

/// Somebody takes the serials of ended threads, and forgets them.
#[derive(Debug)]
pub(crate) struct ReadEnded<'a>(&'a ThreadDirectory);

impl Drop for ReadEnded<'_> {
    fn drop(&mut self) {
        self.0.lock().is_read = false;
        let mut left = Vec::new();
        self.0.take_ended(&mut left);
        if let Some(jni) = self.0.vm.env() {
            for serial in left {
                self.0.forget(jni, serial);
            }
        }
    }
}

impl Stalled {
    /// Of so many indices: those of threads that are to be asked about a second time, and the next ones in turn.
    fn next_to_ask(&mut self, indices: u32) -> Vec<u32> {
        let count = indices.min(ASKED_AT_ONCE);
        let next = (0..count).map(|i| (self.cursor + i) % indices);
        let again = self.found.values().copied();
        let asked: HashSet<u32> = next.chain(again).collect();
        self.cursor = (self.cursor + count).checked_rem(indices).unwrap_or(0);
        asked.into_iter().collect()
    }
}

fn is_java(record: &ThreadRecord) -> bool {
    record.java_thread.load(Relaxed) != 0
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_are_asked_about_in_turn_and_some_again() {
        let mut stalled = Stalled::default();
        assert_eq!(stalled.next_to_ask(0), [0; 0]);
        assert_eq!(stalled.next_to_ask(3).len(), 3, "few of them each time");
        assert_eq!(stalled.next_to_ask(3).len(), 3);
        let mut stalled = Stalled::default();
        let mut seen = HashSet::new();
        for _ in 0..4 {
            let asked = stalled.next_to_ask(4 * ASKED_AT_ONCE);
            assert_eq!(asked.len(), ASKED_AT_ONCE as usize);
            seen.extend(asked);
        }
        assert_eq!(seen.len(), 4 * ASKED_AT_ONCE as usize);
        stalled.found.insert(70, 1000);
        let asked = stalled.next_to_ask(4 * ASKED_AT_ONCE);
        assert!(
            asked.contains(&1000) && asked.contains(&0),
            "again, and the next ones"
        );
        // Fewer than before: threads are never taken out of the table, but a look may come first.
        assert!(stalled.next_to_ask(2).iter().all(|i| *i < 2 || *i == 1000));
    }
}
