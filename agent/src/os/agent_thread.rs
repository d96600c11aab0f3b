//! Threads of the agent: named, marked so that they are never sampled.

use super::{thread as os_thread, timers};
use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{Builder, JoinHandle};

thread_local! {
    /// Not read in a handler.
    static IS_AGENT_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// OS ids of the running agent threads, for the scan of `/proc/self/task`.
static IDS: Mutex<Vec<i32>> = Mutex::new(Vec::new());

/// CPU time of the agent's threads that have ended, and what the agent has cost other threads, in
/// nanoseconds.
static OTHER_CPU_NS: AtomicU64 = AtomicU64::new(0);

/// Signals that an agent thread never receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockedSignals {
    /// All of them: for a thread that does not know which ones the agent uses.
    All,
    /// The one for the wall clock, the companion of this one for CPU time. Not that one: where a
    /// timer per CPU meets a thread that blocks it, the kernel wakes another thread.
    WallClock(i32),
}

/// The calling thread is one of the agent's while this lives.
#[derive(Debug)]
pub(crate) struct AgentThreadGuard(i32);

impl AgentThreadGuard {
    /// Marks the calling thread and blocks `signals` on it for the rest of its life.
    pub(crate) fn enter(signals: BlockedSignals) -> Self {
        match signals {
            BlockedSignals::All => os_thread::block_all_signals(),
            BlockedSignals::WallClock(signal) => os_thread::block_wall_clock_signal(signal),
        }
        IS_AGENT_THREAD.set(true);
        signal_core::tls::mark_agent_thread();
        let tid = os_thread::current_tid();
        lock().push(tid);
        Self(tid)
    }
}

impl Drop for AgentThreadGuard {
    fn drop(&mut self) {
        OTHER_CPU_NS.fetch_add(timers::thread_cpu_nanos(self.0), Relaxed);
        lock().retain(|tid| *tid != self.0);
    }
}

/// Starts a thread that runs `body`; returns once it is marked, because a scan for native threads
/// could otherwise register it as a thread of the application.
pub(crate) fn spawn(
    name: &str,
    signals: BlockedSignals,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let (marked, is_marked) = mpsc::channel();
    let thread = Builder::new().name(name.into()).spawn(move || {
        let _guard = AgentThreadGuard::enter(signals);
        let _ = marked.send(()); // `spawn` waits for it
        body();
    })?;
    let _ = is_marked.recv(); // fails if the thread has ended already
    Ok(thread)
}

/// Whether the calling thread is one of the agent's.
pub(crate) fn is_current() -> bool {
    IS_AGENT_THREAD.get()
}

/// OS ids of the agent's threads that run.
pub(crate) fn ids() -> Vec<i32> {
    lock().clone()
}

/// Adds CPU time that another thread has used for the agent.
pub(crate) fn add_cpu_nanos(nanos: u64) {
    OTHER_CPU_NS.fetch_add(nanos, Relaxed);
}

/// CPU time that the agent's threads have used, and others for them, in nanoseconds.
pub(crate) fn cpu_nanos() -> u64 {
    let running = lock()
        .iter()
        .map(|tid| timers::thread_cpu_nanos(*tid))
        .sum::<u64>();
    OTHER_CPU_NS.load(Relaxed).saturating_add(running)
}

fn lock() -> MutexGuard<'static, Vec<i32>> {
    IDS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_marked_from_spawn_to_its_end() {
        let (end, ended) = mpsc::channel::<()>();
        let (report, reported) = mpsc::channel();
        let thread = spawn("test", BlockedSignals::All, move || {
            let _ = report.send((os_thread::current_tid(), is_current()));
            let _ = ended.recv();
        })
        .expect("a thread");
        let (tid, is_marked) = reported.recv().expect("an id");
        assert!(is_marked && ids().contains(&tid) && !is_current());
        drop(end);
        thread.join().expect("no panic");
        assert!(!ids().contains(&tid));
    }
}
