//! The agent of this process: what lives from load to the end of the VM.
//!
//! The first load sets `AGENT`, once. VMInit or the attach sets `Agent::session`, once. The session
//! changes under its own lock. The agent is never freed: a late handler, callback or native may
//! still read it. No module below `entry` knows it.

use crate::jvm::jni::{Jni, Vm};
use crate::jvm::jvmti::Jvmti;
use crate::options::Options;
use crate::session::{Hooks, Session};
use signal_core::engine::monotonic_nanos;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

static AGENT: OnceLock<Agent> = OnceLock::new();

/// The global state of the agent.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) vm: Vm,
    pub(crate) jvmti: Jvmti,
    /// Options of the load.
    pub(crate) options: Options,
    session: OnceLock<Session>,
    /// When it was loaded, and when the VM was up.
    loaded_nanos: u64,
    live_nanos: AtomicU64,
}

/// The agent, if it was loaded.
pub(crate) fn agent() -> Option<&'static Agent> {
    AGENT.get()
}

/// Its session, once the VM is up.
pub(crate) fn session() -> Option<&'static Session> {
    agent()?.session()
}

/// Creates the agent; `None` if there is one already.
pub(crate) fn create(vm: Vm, jvmti: Jvmti, options: Options) -> Option<&'static Agent> {
    let mut is_new = false;
    let agent = AGENT.get_or_init(|| {
        is_new = true;
        Agent {
            vm,
            jvmti,
            options,
            session: OnceLock::new(),
            loaded_nanos: monotonic_nanos(),
            live_nanos: AtomicU64::new(0),
        }
    });
    is_new.then_some(agent)
}

impl Agent {
    /// When it was loaded, and when the VM was up: `CLOCK_MONOTONIC` nanoseconds, 0 = not yet.
    pub(crate) fn milestones(&self) -> [u64; 2] {
        [self.loaded_nanos, self.live_nanos.load(Relaxed)]
    }

    /// The session, once the VM is up.
    pub(crate) fn session(&self) -> Option<&Session> {
        self.session.get()
    }

    /// The VM is up: builds the session and registers the live threads.
    pub(crate) fn go_live(&self, hooks: Hooks, jni: Jni) -> Result<&Session, String> {
        if let Some(session) = self.session.get() {
            return Ok(session);
        }
        let session = Session::new((self.vm, self.jvmti), &self.options, hooks, jni)?;
        let session = self.session.get_or_init(|| session);
        self.live_nanos.store(monotonic_nanos(), Relaxed);
        jni.with_local_frame(|jni| session.components.threads.register_existing(*jni));
        Ok(session)
    }
}
