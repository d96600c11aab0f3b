//! The agent of this process: what lives from load to the end of the VM.
//!
//! The first load sets `AGENT`, once. VMInit or the attach sets `Agent::session`, once. The session
//! changes under its own lock. The agent is never freed: a late handler, callback or native may
//! still read it. No module below `entry` knows it.

use crate::jvm::jni::{Jni, Vm};
use crate::jvm::jvmti::Jvmti;
use crate::options::Options;
use crate::session::{Hooks, Session};
use std::sync::OnceLock;

static AGENT: OnceLock<Agent> = OnceLock::new();

/// The global state of the agent.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) vm: Vm,
    pub(crate) jvmti: Jvmti,
    /// Options of the load.
    pub(crate) options: Options,
    session: OnceLock<Session>,
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
        }
    });
    is_new.then_some(agent)
}

impl Agent {
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
        jni.with_local_frame(|jni| session.components.threads.register_existing(*jni));
        Ok(session)
    }
}
