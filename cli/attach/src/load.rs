//! Loads an agent into a JVM.

use std::io::ErrorKind;
use std::time::Duration;

use crate::channel;
use crate::error::AttachError;
use crate::owner::Helper;
use crate::process::JvmProcess;
use crate::protocol;

/// A process that ends closes its sockets before it counts as ended.
const END_DELAY: Duration = Duration::from_millis(200);

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
        let request = protocol::load_request(library, options)?;
        self.check_is_running()?;
        let stream = channel::connect(self, limit, helper)?;
        let reply = protocol::exchange(stream, &request).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => AttachError::NoAnswer(limit),
            _ => AttachError::Closed,
        });
        match reply.and_then(|reply| protocol::agent_code(&reply)) {
            Err(AttachError::Closed) if self.ended_within(END_DELAY) => Err(AttachError::Ended),
            other => other,
        }
    }
}
