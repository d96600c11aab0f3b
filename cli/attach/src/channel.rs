//! The connection to a JVM: makes it listen where it does not yet, and connects as its user.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FileType, statat, unlinkat};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use crate::error::AttachError;
use crate::owner::{Helper, Owner, Task};
use crate::process::JvmProcess;
use crate::root;

/// HotSpot makes its socket here, whatever the settings of temporary directories say.
const TEMPORARY: &str = "/tmp";
/// How long a JVM may take to listen; the JDK's own tools wait as long.
const LISTEN_LIMIT: Duration = Duration::from_secs(10);
const MIN_PAUSE: Duration = Duration::from_millis(5);
const MAX_PAUSE: Duration = Duration::from_millis(250);

/// Connects to the JVM; sending and receiving have this limit.
pub(crate) fn connect(
    jvm: &JvmProcess,
    limit: Duration,
    helper: Helper<'_>,
) -> Result<UnixStream, AttachError> {
    let temporary = jvm.open_directory(Path::new(TEMPORARY));
    let (temporary, _) = temporary.map_err(|error| AttachError::Io("open its /tmp", error))?;
    let address = Address {
        directory: &temporary,
        name: format!(".java_pid{}", jvm.inner_pid()),
        owner: jvm.owner(),
        limit,
        helper,
    };
    if let Some(stream) = address.connect()? {
        return Ok(stream);
    }
    let _asked = RequestFile::create(jvm, temporary.try_clone(), helper)?;
    jvm.send_quit()?;
    let began = Instant::now();
    let deadline = began + LISTEN_LIMIT;
    let mut last_chance = Some(began + LISTEN_LIMIT / 2);
    let mut pause = MIN_PAUSE;
    while Instant::now() < deadline {
        // A JVM that has just begun removes what it takes for an old socket: its new one. Asked
        // again it makes another.
        if last_chance.is_some_and(|at| at < Instant::now()) {
            last_chance = None;
            jvm.send_quit()?;
        }
        if jvm.ended_within(pause) {
            return Err(AttachError::Ended);
        }
        if let Some(stream) = address.connect()? {
            return Ok(stream);
        }
        pause = (pause * 2).min(MAX_PAUSE);
    }
    Err(AttachError::NotListening(LISTEN_LIMIT))
}

/// Where a JVM listens.
struct Address<'a> {
    directory: &'a OwnedFd,
    name: String,
    owner: Owner,
    limit: Duration,
    helper: Helper<'a>,
}

impl Address<'_> {
    /// A connection; `None` if nobody listens.
    fn connect(&self) -> Result<Option<UnixStream>, AttachError> {
        if !self.has_socket()? {
            return Ok(None);
        }
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None);
        let socket = socket.map_err(|error| AttachError::Io("socket", error.into()))?;
        for timeout in [Timeout::Send, Timeout::Recv] {
            set_socket_timeout(&socket, timeout, Some(self.limit))
                .map_err(|error| AttachError::Io("setsockopt", error.into()))?;
        }
        let files = [socket.as_fd(), self.directory.as_fd()];
        let connected = Task::Connect(self.name.clone()).run_as(self.owner, files, self.helper);
        match connected.map_err(|error| Errno::from_io_error(&error).ok_or(error)) {
            Ok(()) => Ok(Some(UnixStream::from(socket))),
            // A socket without a listener is left of an earlier process; the JVM replaces it.
            Err(Ok(Errno::NOENT | Errno::CONNREFUSED)) => Ok(None),
            Err(Ok(Errno::AGAIN)) => Err(AttachError::NoAnswer(self.limit)),
            Err(Ok(Errno::ACCESS | Errno::PERM)) => {
                Err(AttachError::Denied("connect to its socket"))
            }
            Err(Ok(error)) => Err(AttachError::Io("connect to its socket", error.into())),
            Err(Err(error)) => Err(AttachError::Io("connect to its socket", error)),
        }
    }

    /// Whether there is a socket of the JVM's user, or of root: anybody may make a name in `/tmp`.
    fn has_socket(&self) -> Result<bool, AttachError> {
        match statat(self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(facts) if FileType::from_raw_mode(facts.st_mode) != FileType::Socket => Ok(false),
            Ok(facts) if facts.st_uid != self.owner.user && facts.st_uid != 0 => {
                Err(AttachError::ForeignSocket(self.name.clone()))
            }
            Ok(_) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(AttachError::Io("look into its /tmp", error.into())),
        }
    }
}

/// The file that, with the signal, asks a JVM to listen; removed at the end.
struct RequestFile {
    directory: OwnedFd,
    name: String,
}

impl RequestFile {
    /// Makes it in the JVM's working directory, or else in its `/tmp`. `None` if another tool asks
    /// at the same time.
    fn create(
        jvm: &JvmProcess,
        temporary: io::Result<OwnedFd>,
        helper: Helper<'_>,
    ) -> Result<Option<Self>, AttachError> {
        let name = format!(".attach_pid{}", jvm.inner_pid());
        let working = root::open(&format!("/proc/{}/cwd", jvm.pid()));
        let create_in = |directory: io::Result<OwnedFd>| {
            let directory = directory?;
            let is_new = make_for(jvm.owner(), &directory, &name, helper)?;
            let name = name.clone();
            Ok(is_new.then_some(Self { directory, name }))
        };
        create_in(working)
            .or_else(|_: io::Error| create_in(temporary))
            .map_err(|error| AttachError::Io("make a file in its working directory or /tmp", error))
    }
}

impl Drop for RequestFile {
    fn drop(&mut self) {
        // Nothing can be done about a failure.
        let _left = unlinkat(&self.directory, &self.name, AtFlags::empty());
    }
}

/// Makes an empty file that belongs to the JVM's user, which the JVM checks. `false` if there is
/// one.
fn make_for(owner: Owner, directory: &OwnedFd, name: &str, helper: Helper<'_>) -> io::Result<bool> {
    let files = [directory.as_fd(), directory.as_fd()];
    match Task::MakeFile(name.to_owned()).run_as(owner, files, helper) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let facts = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
            if facts.st_uid == owner.user || facts.st_uid == 0 {
                Ok(false)
            } else {
                Err(io::ErrorKind::PermissionDenied.into())
            }
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use rustix::process::{getegid, geteuid};
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    struct Directory {
        path: std::path::PathBuf,
        fd: OwnedFd,
    }

    impl Directory {
        fn new(name: &str) -> Self {
            let path = format!("hotspot-attach-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(path);
            std::fs::create_dir_all(&path).unwrap();
            let fd = root::open(path.to_str().unwrap()).unwrap();
            Self { path, fd }
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }

    fn owner() -> Owner {
        Owner {
            user: geteuid().as_raw(),
            group: getegid().as_raw(),
        }
    }

    fn no_helper() -> Command {
        Command::new("/nonexistent")
    }

    #[test]
    fn socket_without_listener_counts_as_none() {
        let directory = Directory::new("socket");
        let address = Address {
            directory: &directory.fd,
            name: ".java_pid1".to_owned(),
            owner: owner(),
            limit: Duration::from_mins(1),
            helper: &no_helper,
        };
        assert!(address.connect().unwrap().is_none());
        let listener = UnixListener::bind(directory.path.join(".java_pid1")).unwrap();
        assert!(address.connect().unwrap().is_some());
        drop(listener);
        assert!(address.connect().unwrap().is_none());
        std::fs::remove_file(directory.path.join(".java_pid1")).unwrap();
        std::fs::write(directory.path.join(".java_pid1"), "").unwrap();
        assert!(address.connect().unwrap().is_none());
    }

    #[test]
    fn request_file_of_another_tool_is_not_ours() {
        let directory = Directory::new("request");
        let make = |name: &str| make_for(owner(), &directory.fd, name, &no_helper).unwrap();
        assert!(make("x"));
        assert!(!make("x"));
    }
}
