//! Why a process cannot be attached to.

use std::fmt;
use std::io;
use std::time::Duration;

/// The reason; `Display` is what follows "process 4711": "has ended".
#[derive(Debug)]
#[non_exhaustive]
pub enum AttachError {
    /// There is no process of this id.
    NoProcess,
    /// The process ended meanwhile.
    Ended,
    /// The process, of this name, has no JVM in it.
    NoJvm(String),
    /// A JVM that is not HotSpot.
    OpenJ9,
    /// Its user, by id, is another one, and we are not root.
    OtherUser(u32),
    /// Its files or its socket are closed to us; the operation that was refused.
    Denied(&'static str),
    /// A socket of this name in its `/tmp` belongs to another user.
    ForeignSocket(String),
    /// It is stopped by a signal or a debugger.
    Stopped,
    /// It does not catch the signal that asks it to listen.
    NoSignalHandler,
    /// Its command line forbids attach.
    Forbidden,
    /// It forbids to load an agent.
    NoDynamicAgents,
    /// It does not listen after this time.
    NotListening(Duration),
    /// It listens, and gave no answer in this time.
    NoAnswer(Duration),
    /// It closed the connection without an answer.
    Closed,
    /// Its answer makes no sense.
    BadReply(String),
    /// It could not load the library, and says why.
    NotLoaded(String),
    /// An argument is longer than the protocol allows, which is this many bytes.
    TooLong(String, usize),
    /// An operation of ours failed.
    Io(&'static str, io::Error),
}

impl fmt::Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProcess => f.write_str("does not exist"),
            Self::Ended => f.write_str("has ended"),
            Self::NoJvm(name) => write!(f, "is no JVM: '{name}' has no libjvm.so in it"),
            Self::OpenJ9 => f.write_str("is an OpenJ9 JVM; only HotSpot can be attached to"),
            Self::OtherUser(user) => write!(
                f,
                "belongs to the user with id {user}; run this as that user, or as root"
            ),
            Self::Denied(what) => write!(
                f,
                "is closed to this user (cannot {what}); run this as root, or in its container"
            ),
            Self::ForeignSocket(name) => write!(
                f,
                "cannot be attached to: /tmp/{name} belongs to another user; remove it"
            ),
            Self::Stopped => f.write_str(
                "is stopped by a signal or a debugger; continue it first, as kill -CONT does",
            ),
            Self::NoSignalHandler => f.write_str(
                "does not catch SIGQUIT: it is still starting, or runs with -Xrs; nothing was sent",
            ),
            Self::Forbidden => f.write_str(
                "forbids attach (-XX:+DisableAttachMechanism); only -agentpath at its start works",
            ),
            Self::NoDynamicAgents => f.write_str(
                "forbids to load agents (-XX:-EnableDynamicAgentLoading); only -agentpath at its \
                 start works",
            ),
            Self::NotListening(limit) => write!(
                f,
                "did not begin to listen within {} s: it hangs, or cannot write to its /tmp",
                limit.as_secs()
            ),
            Self::NoAnswer(limit) => write!(f, "gave no answer within {} s", limit.as_secs()),
            Self::Closed => f.write_str(
                "closed the connection without an answer; it serves its own user and group, and \
                 root",
            ),
            Self::BadReply(reply) => write!(f, "answered '{reply}', which is not the protocol"),
            Self::NotLoaded(why) => write!(f, "could not load the agent: {why}"),
            Self::TooLong(argument, limit) => {
                write!(f, "takes at most {limit} bytes per argument: {argument}")
            }
            Self::Io(what, error) => write!(f, "cannot be attached to: {what}: {error}"),
        }
    }
}

impl std::error::Error for AttachError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(_, error) => Some(error),
            _ => None,
        }
    }
}
