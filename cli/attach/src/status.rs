//! `/proc/PID/status`, parsed.

/// Number of SIGQUIT.
const QUIT: u32 = 3;

/// What is needed of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessStatus {
    /// Name of the program, cut to 15 bytes.
    pub(crate) name: String,
    /// `R`, `S`, `T` and so on.
    pub(crate) state: char,
    /// Effective user, in the numbers of our namespace.
    pub(crate) user: u32,
    /// Effective group, likewise.
    pub(crate) group: u32,
    /// Process id as the process itself sees it.
    pub(crate) inner_pid: u32,
    /// Whether a filter decides about its system calls.
    pub(crate) is_filtered: bool,
    /// Signals with a handler.
    caught: u64,
}

impl ProcessStatus {
    /// `None` if a line is missing.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|line| line.strip_prefix(':')).map(str::trim)
        };
        let word = |name: &str, index: usize| value(name)?.split_whitespace().nth(index);
        // A kernel without pid namespaces has no such line.
        let inner = value("NSpid").or_else(|| value("Pid"))?;
        Some(Self {
            name: value("Name")?.to_owned(),
            state: value("State")?.chars().next()?,
            user: word("Uid", 1)?.parse().ok()?,
            group: word("Gid", 1)?.parse().ok()?,
            inner_pid: inner.split_whitespace().next_back()?.parse().ok()?,
            // A kernel without filters has no such line.
            is_filtered: value("Seccomp").is_some_and(|mode| mode == "2"),
            caught: u64::from_str_radix(value("SigCgt")?, 16).ok()?,
        })
    }

    /// Whether SIGQUIT has a handler; without one it ends the process.
    pub(crate) fn catches_quit(&self) -> bool {
        self.catches(QUIT)
    }

    /// Whether the signal of this number has a handler.
    pub(crate) fn catches(&self, signal: u32) -> bool {
        let bit = signal.checked_sub(1).and_then(|bit| 1_u64.checked_shl(bit));
        bit.is_some_and(|bit| self.caught & bit != 0)
    }

    /// Whether a signal or a debugger holds it.
    pub(crate) fn is_stopped(&self) -> bool {
        matches!(self.state, 'T' | 't')
    }

    /// Whether it has ended and only its id is left.
    pub(crate) fn is_dead(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x')
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const JVM: &str = "Name:\tjava\nState:\tS (sleeping)\nPid:\t4711\nUid:\t1000\t1001\t1000\t1000\n\
        Gid:\t5\t6\t5\t5\nNSpid:\t4711\t12\t1\nSigCgt:\t2000000181005ccf\n";

    #[test]
    fn effective_ids_innermost_pid_and_handlers_are_taken() {
        let status = ProcessStatus::parse(JVM).unwrap();
        assert_eq!((status.user, status.group), (1001, 6));
        assert_eq!(status.inner_pid, 1);
        assert!(status.catches_quit() && !status.is_stopped() && !status.is_dead());
        assert!(!status.is_filtered && !status.catches(27) && status.catches(33));
        let filtered = format!("{JVM}Seccomp:\t2\n");
        assert!(ProcessStatus::parse(&filtered).unwrap().is_filtered);
    }

    #[test]
    fn state_and_missing_handler_are_seen() {
        let stopped = JVM
            .replace("S (sl", "T (st")
            .replace("5ccf", "5ccb")
            .replace("NSpid", "Other");
        let status = ProcessStatus::parse(&stopped).unwrap();
        assert!(status.is_stopped() && !status.catches_quit());
        assert_eq!(status.inner_pid, 4711);
        assert!(ProcessStatus::parse(&JVM.replace("S (sl", "Z (zo")).is_some_and(|s| s.is_dead()));
    }

    #[test]
    fn status_without_a_needed_line_is_none() {
        for line in JVM.lines().filter(|line| !line.contains("id:\t4711")) {
            assert_eq!(ProcessStatus::parse(&JVM.replace(line, "")), None, "{line}");
        }
    }
}
