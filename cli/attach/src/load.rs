//! Loads an agent into a JVM.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use crate::channel;
use crate::error::AttachError;
use crate::owner::Helper;
use crate::process::JvmProcess;
use crate::protocol::{self, Version};

/// A process that ends closes its sockets before it counts as ended.
const END_DELAY: Duration = Duration::from_millis(200);
/// A JVM listens before it has started as far as it loads agents; how long that may take, and after
/// which time it is asked again.
const START_LIMIT: Duration = Duration::from_secs(10);
const START_PAUSE: Duration = Duration::from_millis(20);

impl JvmProcess {
    /// Has the JVM load an agent, or call a loaded one again, and returns what the agent's
    /// `Agent_OnAttach` returned. `library` is a path as the JVM sees it.
    ///
    /// # Errors
    /// The JVM cannot be attached to, or cannot load the library, or does not answer in this time.
    pub fn load_agent(
        &self,
        library: &str,
        options: &str,
        limit: Duration,
        helper: Helper<'_>,
    ) -> Result<i32, AttachError> {
        match self.load(library, options, limit, helper) {
            Err(AttachError::Closed) if self.ended_within(END_DELAY) => Err(AttachError::Ended),
            other => other,
        }
    }

    /// In version 2 of the protocol only what version 1 has no room for: that takes a request more.
    fn load(
        &self,
        library: &str,
        options: &str,
        limit: Duration,
        helper: Helper<'_>,
    ) -> Result<i32, AttachError> {
        let mut version = Version::One;
        if !version.fits(&[library, options]) {
            let reply = self.ask(&protocol::version_request(), limit, helper)?;
            version = Version::of_reply(&reply);
        }
        let request = version.load_request(library, options)?;
        let deadline = Instant::now() + START_LIMIT;
        loop {
            let reply = self.ask(&request, limit, helper)?;
            let may_wait = protocol::is_starting(&reply) && Instant::now() < deadline;
            if !may_wait || self.ended_within(START_PAUSE) {
                return protocol::agent_code(&reply);
            }
        }
    }

    /// Sends a request and returns the reply.
    fn ask(
        &self,
        request: &[u8],
        limit: Duration,
        helper: Helper<'_>,
    ) -> Result<String, AttachError> {
        self.check_is_running()?;
        let stream = channel::connect(self, limit, helper)?;
        protocol::exchange(stream, request).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => AttachError::NoAnswer(limit),
            _ => AttachError::Closed,
        })
    }
}
