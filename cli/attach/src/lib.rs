//! HotSpot's attach protocol on Linux: finds the JVMs of this machine and its containers, and loads
//! agents into them.
//!
//! | module | duty |
//! |---|---|
//! | `process` | a JVM process: who it is, its files as it sees them |
//! | `status`, `mappings`, `command_line`, `container` | what `/proc` says of a process, parsed |
//! | `owner` | what must be done as the JVM's user |
//! | `root` | directories below the root of another process |
//! | `load` | has a JVM load an agent |
//! | `channel` | makes the JVM listen, connects |
//! | `protocol` | the bytes of a request and of a reply |
//! | `error` | why it is not possible, a line each |
//!
//! Rules:
//! 1. A signal is sent only to a process that maps a HotSpot VM and catches it, through a handle of
//!    the process: neither another program nor a later process of the same id can get it.
//! 2. The target's files are reached below `/proc/PID/root`, never by entering a namespace. Links
//!    in there stay in there.
//! 3. Connections and files for another user's JVM are made by a child process that is this user.
//! 4. Every wait has a limit, and ends when the process ends.

#![forbid(unsafe_code)]

mod channel;
mod command_line;
mod container;
mod error;
mod load;
mod mappings;
mod owner;
mod process;
mod protocol;
mod root;
mod status;

pub use error::AttachError;
pub use owner::{Helper, Owner, run_helper};
pub use process::JvmProcess;
pub use protocol::{MAX_ARGUMENT_BYTES, MAX_LONG_ARGUMENT_BYTES};
