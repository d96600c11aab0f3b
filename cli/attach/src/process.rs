//! A JVM process: who it is, and its files as it sees them.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fstat};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, geteuid, pidfd_open, pidfd_send_signal};

use crate::command_line;
use crate::container;
use crate::error::AttachError;
use crate::mappings::{self, Mappings};
use crate::owner::{Helper, Owner, Task};
use crate::root;
use crate::status::ProcessStatus;

/// Limit of what is read of a file of the target.
const MAX_RELEASE_BYTES: u64 = 64 << 10;
/// Variables with options of the JVM.
const OPTION_VARIABLES: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// A process with a HotSpot VM in it. What it says of itself was read while the process had this
/// id, and signals go to this process only.
#[derive(Debug)]
pub struct JvmProcess {
    pid: u32,
    handle: OwnedFd,
    root: OwnedFd,
    status: ProcessStatus,
    mappings: Mappings,
}

impl JvmProcess {
    /// The JVM with this process id.
    ///
    /// # Errors
    /// There is no such process, it is no HotSpot VM, or it is closed to us.
    pub fn open(pid: u32) -> Result<Self, AttachError> {
        let handle = open_handle(pid)?;
        let status = read_status(pid)?;
        if status.is_dead() {
            return Err(AttachError::Ended);
        }
        let mappings = read_mappings(pid, status.user)?;
        if mappings.is_open_j9() {
            return Err(AttachError::OpenJ9);
        }
        if mappings.vm().is_none() {
            return Err(AttachError::NoJvm(status.name));
        }
        let root = root::open(&format!("/proc/{pid}/root"))
            .map_err(|error| closed("open its root", status.user, error))?;
        let process = Self {
            pid,
            handle,
            root,
            status,
            mappings,
        };
        // Else all of this may be of a later process of the same id.
        if process.has_ended() {
            return Err(AttachError::Ended);
        }
        Ok(process)
    }

    /// All JVMs of this machine that are open to us, by process id, and the number of processes
    /// called `java` that are not.
    ///
    /// # Errors
    /// `/proc` cannot be read.
    pub fn all() -> io::Result<(Vec<Self>, usize)> {
        let (mut found, mut closed) = (Vec::new(), 0);
        for entry in fs::read_dir("/proc")? {
            let Some(pid) = entry?.file_name().to_str().and_then(|n| n.parse().ok()) else {
                continue;
            };
            match Self::open(pid) {
                Ok(process) => found.push(process),
                Err(AttachError::OtherUser(_) | AttachError::Denied(_)) => {
                    let is_java = read_status(pid).is_ok_and(|status| status.name == "java");
                    closed += usize::from(is_java);
                }
                Err(_) => {}
            }
        }
        found.sort_by_key(|process| process.pid);
        Ok((found, closed))
    }

    /// Its process id in our namespace.
    pub const fn pid(&self) -> u32 {
        self.pid
    }

    /// Its process id as it sees it.
    pub const fn inner_pid(&self) -> u32 {
        self.status.inner_pid
    }

    /// The user that it runs as.
    pub const fn owner(&self) -> Owner {
        Owner {
            user: self.status.user,
            group: self.status.group,
        }
    }

    /// The id of the container that it is in, 64 hexadecimal digits, as far as `/proc` tells.
    pub fn container_id(&self) -> Option<String> {
        let text = |name| {
            let bytes = fs::read(format!("/proc/{}/{name}", self.pid)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        container::id(&text("cgroup"), &text("mountinfo"))
    }

    /// Its main class, jar or module; of a program that embeds the JVM its name.
    pub fn main_class(&self) -> Option<String> {
        command_line::main_class(&self.command_line())
    }

    /// Version of its JDK, like `21.0.8`, from the JDK's directory.
    pub fn java_version(&self) -> Option<String> {
        // HOME/lib/server/libjvm.so
        let home = self.mappings.vm()?.ancestors().nth(3)?;
        let release = root::open_below(&self.root, &home.join("release"), OFlags::RDONLY).ok()?;
        let mut text = String::new();
        let mut release = File::from(release).take(MAX_RELEASE_BYTES);
        release.read_to_string(&mut text).ok()?;
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("JAVA_VERSION="));
        line.map(|version| version.trim_matches('"').to_owned())
    }

    /// The first library that it has loaded whose file name fits, by path as it sees it; the file
    /// may be gone.
    pub fn loaded_library(&self, is_wanted: impl Fn(&str) -> bool) -> Option<&Path> {
        self.mappings.find(is_wanted)
    }

    /// Whether it has a thread of this name, which the kernel cuts to 15 bytes.
    pub fn has_thread(&self, name: &str) -> bool {
        let threads = fs::read_dir(format!("/proc/{}/task", self.pid)).into_iter();
        let names = threads.flatten().flatten().map(|thread| {
            let name = fs::read(thread.path().join("comm")).unwrap_or_default();
            String::from_utf8_lossy(&name).trim_end().to_owned()
        });
        names.into_iter().any(|found| found == name)
    }

    /// Whether its C library is musl.
    pub fn is_musl(&self) -> bool {
        self.mappings.is_musl()
    }

    /// Whether there is a file at this path as the process sees it.
    pub fn has_file(&self, path: &Path) -> bool {
        root::open_below(&self.root, path, OFlags::PATH).is_ok()
    }

    /// Opens a directory by its path as the process sees it. Returns its path without links too.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn open_directory(&self, path: &Path) -> io::Result<(OwnedFd, PathBuf)> {
        let directory = root::open_directory(&self.root, path)?;
        let real = self.path_of(&format!("/proc/self/fd/{}", directory.as_raw_fd()));
        Ok((directory, real.unwrap_or_else(|| path.to_owned())))
    }

    /// Opens a regular file of the JVM's user by its path as the process sees it.
    ///
    /// # Errors
    /// What the operating system says, or that it is no such file.
    pub fn open_file(&self, path: &Path) -> io::Result<File> {
        let working = || {
            let directory = self.working_directory();
            directory.ok_or_else(|| io::Error::other("its working directory is not known"))
        };
        let path = if path.is_absolute() {
            path.to_owned()
        } else {
            working()?.join(path)
        };
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        self.owner()
            .own_file(root::open_below(&self.root, &path, flags)?)
    }

    /// Opens the library of its VM.
    ///
    /// # Errors
    /// What the operating system says, or that it is no regular file.
    pub fn open_vm_library(&self) -> io::Result<File> {
        let path = self.mappings.vm().ok_or(ErrorKind::NotFound)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let file = File::from(root::open_below(&self.root, path, flags)?);
        if file.metadata()?.is_file() {
            Ok(file)
        } else {
            Err(ErrorKind::InvalidInput.into())
        }
    }

    /// Makes a directory, mode 0700, that belongs to the JVM's user, in a directory that
    /// [`open_directory`](Self::open_directory) gave; and in it a copy of a file, of this name.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn make_directory(
        &self,
        parent: &OwnedFd,
        name: &str,
        file: Option<(&str, &File)>,
        helper: Helper<'_>,
    ) -> io::Result<()> {
        let task = Task::MakeDirectory(name.to_owned(), file.map(|(name, _)| name.to_owned()));
        let content = file.map_or(parent.as_fd(), |(_, file)| file.as_fd());
        task.run_as(self.owner(), [parent.as_fd(), content], helper)
    }

    /// Its working directory; `None` where its path, as it sees it, cannot be told.
    pub fn working_directory(&self) -> Option<PathBuf> {
        self.path_of(&format!("/proc/{}/cwd", self.pid))
    }

    /// The path, as the process sees it, of the directory that a link of `/proc` leads to. The
    /// text of the link is a path from the root of a mount namespace, which need not be the root
    /// of the process.
    fn path_of(&self, link: &str) -> Option<PathBuf> {
        let path = mappings::below(&root_in_namespace(self.pid), &fs::read_link(link).ok()?);
        let identity = |directory: io::Result<OwnedFd>| {
            let facts = fstat(directory.ok()?).ok()?;
            Some((facts.st_dev, facts.st_ino))
        };
        let by_link = identity(root::open(link))?;
        let by_path = identity(root::open_directory(&self.root, &path))?;
        (by_link == by_path).then_some(path)
    }

    /// Waits until the process ends, at most for this time; returns whether it has ended.
    pub fn ended_within(&self, limit: Duration) -> bool {
        let mut handles = [PollFd::new(&self.handle, PollFlags::IN)];
        let limit = Timespec::try_from(limit).unwrap_or_default();
        // A failure is an interruption: a shorter wait.
        poll(&mut handles, Some(&limit)).is_ok_and(|ready| ready > 0)
    }

    /// Whether the process has ended.
    pub fn has_ended(&self) -> bool {
        self.ended_within(Duration::ZERO)
    }

    /// A descriptor that becomes readable when the process ends.
    pub fn end_signal(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    /// Its state, if it can answer.
    pub(crate) fn check_is_running(&self) -> Result<ProcessStatus, AttachError> {
        let status = read_status(self.pid)?;
        if status.is_dead() || self.has_ended() {
            return Err(AttachError::Ended);
        }
        if status.is_stopped() {
            return Err(AttachError::Stopped);
        }
        Ok(status)
    }

    /// Sends the signal that makes the JVM look for the file that asks it to listen. It would end a
    /// process that does not catch it, and print all stacks of a JVM that forbids attach.
    pub(crate) fn send_quit(&self) -> Result<(), AttachError> {
        if !self.check_is_running()?.catches_quit() {
            return Err(AttachError::NoSignalHandler);
        }
        if self.forbids_attach() {
            return Err(AttachError::Forbidden);
        }
        pidfd_send_signal(&self.handle, Signal::QUIT).map_err(|error| match error {
            Errno::SRCH => AttachError::Ended,
            Errno::PERM => AttachError::Denied("send it a signal"),
            error => AttachError::Io("send it a signal", error.into()),
        })
    }

    /// Why it could not be attached to, or not load an agent, as far as can be seen without asking
    /// it.
    pub fn obstacles(&self) -> Vec<AttachError> {
        let status = match self.check_is_running() {
            Ok(status) => status,
            Err(error) => return vec![error],
        };
        let mut obstacles = Vec::new();
        if !status.catches_quit() {
            obstacles.push(AttachError::NoSignalHandler);
        }
        if self.forbids_attach() {
            obstacles.push(AttachError::Forbidden);
        }
        if command_line::flag(&self.options(), "EnableDynamicAgentLoading") == Some(false) {
            obstacles.push(AttachError::NoDynamicAgents);
        }
        obstacles
    }

    /// Whether it has a handler for the signal of this number.
    pub fn catches(&self, signal: u32) -> bool {
        self.status.catches(signal)
    }

    /// Whether a filter (seccomp) decides about its system calls.
    pub const fn is_filtered(&self) -> bool {
        self.status.is_filtered
    }

    /// A soft limit by its name in `/proc/PID/limits`.
    pub fn limit(&self, name: &str) -> Option<String> {
        let limits = fs::read_to_string(format!("/proc/{}/limits", self.pid)).ok()?;
        let values = limits.lines().find_map(|line| line.strip_prefix(name))?;
        values.split_whitespace().next().map(str::to_owned)
    }

    /// Options of the JVM, in the environment too, and the words of its command line.
    pub fn options(&self) -> Vec<String> {
        let environment = fs::read(format!("/proc/{}/environ", self.pid)).unwrap_or_default();
        let variables = command_line::words(&environment);
        let of_variable = |name: &str| {
            let value = |variable: &String| {
                Some(variable.strip_prefix(name)?.strip_prefix('=')?.to_owned())
            };
            variables.iter().find_map(value).unwrap_or_default()
        };
        let texts = OPTION_VARIABLES.map(of_variable);
        let words = texts.iter().flat_map(|text| text.split_whitespace());
        words
            .map(str::to_owned)
            .chain(self.command_line())
            .collect()
    }

    fn forbids_attach(&self) -> bool {
        command_line::flag(&self.options(), "DisableAttachMechanism") == Some(true)
    }

    fn command_line(&self) -> Vec<String> {
        let text = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        command_line::words(&text)
    }
}

fn open_handle(pid: u32) -> Result<OwnedFd, AttachError> {
    let raw = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let pid = raw.ok_or(AttachError::NoProcess)?;
    pidfd_open(pid, PidfdFlags::empty()).map_err(|error| match error {
        // INVAL: the id of a thread.
        Errno::SRCH | Errno::INVAL | Errno::NOENT => AttachError::NoProcess,
        error => AttachError::Io("pidfd_open", error.into()),
    })
}

fn read_status(pid: u32) -> Result<ProcessStatus, AttachError> {
    let text = fs::read(format!("/proc/{pid}/status")).map_err(|_| AttachError::NoProcess)?;
    ProcessStatus::parse(&String::from_utf8_lossy(&text)).ok_or(AttachError::NoProcess)
}

fn read_mappings(pid: u32, user: u32) -> Result<Mappings, AttachError> {
    let text = fs::read(format!("/proc/{pid}/maps"));
    let text = text.map_err(|error| closed("read its memory map", user, error))?;
    Ok(Mappings::parse(
        &String::from_utf8_lossy(&text),
        &root_in_namespace(pid),
    ))
}

/// The root of a process as a path in its mount namespace: `/` but for `chroot`.
fn root_in_namespace(pid: u32) -> PathBuf {
    fs::read_link(format!("/proc/{pid}/root")).unwrap_or_else(|_| "/".into())
}

/// Why a file of `/proc/PID` cannot be opened.
fn closed(what: &'static str, user: u32, error: io::Error) -> AttachError {
    match error.kind() {
        ErrorKind::PermissionDenied if geteuid().as_raw() != user => AttachError::OtherUser(user),
        ErrorKind::PermissionDenied => AttachError::Denied(what),
        ErrorKind::NotFound => AttachError::NoProcess,
        // A process that ends has no memory any more.
        _ if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => AttachError::Ended,
        _ => AttachError::Io(what, error),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn process_without_a_jvm_is_named_and_left_alone() {
        let mut sleep = Command::new("sleep").arg("600").spawn().unwrap();
        let opened = JvmProcess::open(sleep.id());
        assert!(sleep.try_wait().unwrap().is_none());
        sleep.kill().unwrap();
        // Not waited for yet: only its id is left.
        let dead = std::iter::repeat_with(|| JvmProcess::open(sleep.id()))
            .find(|opened| !matches!(opened, Err(AttachError::NoJvm(_))));
        sleep.wait().unwrap();
        // Until `exec` it has the name of this test.
        assert!(matches!(opened, Err(AttachError::NoJvm(_))), "{opened:?}");
        assert!(matches!(dead, Some(Err(AttachError::Ended))), "{dead:?}");
    }

    #[test]
    fn ids_of_nobody_are_no_process() {
        for pid in [0, u32::MAX, i32::MAX.unsigned_abs()] {
            let opened = JvmProcess::open(pid);
            assert!(matches!(opened, Err(AttachError::NoProcess)), "{opened:?}");
        }
        let ended = Command::new("true").stdout(Stdio::null()).spawn();
        let mut ended = ended.unwrap();
        ended.wait().unwrap();
        assert!(matches!(
            JvmProcess::open(ended.id()),
            Err(AttachError::NoProcess)
        ));
    }
}
