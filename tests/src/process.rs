//! A child process: its lines as they come, conditions with a deadline, a time limit that ends it.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::workspace::env_number;

/// How long a process may run unless the test says otherwise: far more than it needs, also beside
/// busy processes, so that only a hang meets it.
const LIMIT: Duration = Duration::from_mins(5);

/// The limit; `CTXAGENT_TEST_SECONDS` makes it another one, for runs that are to find a hang.
pub fn limit() -> Duration {
    env_number("CTXAGENT_TEST_SECONDS").map_or(LIMIT, Duration::from_secs)
}

/// What is known of a child; changed by its threads, waited on by the test.
#[derive(Debug, Default)]
struct State {
    stdout: Vec<String>,
    stderr: Vec<String>,
    /// Streams that are still open.
    open: usize,
    status: Option<ExitStatus>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// A child process that runs.
#[derive(Debug)]
pub struct Process {
    name: String,
    pid: u32,
    shared: Arc<Shared>,
    deadline: Instant,
    /// Texts of the agent's warnings that the test expects; `None` for other processes than JVMs.
    warnings: Option<Vec<String>>,
    /// Where else than on stderr the agent writes.
    logs: Vec<PathBuf>,
}

/// A child process that ended.
#[derive(Clone, Debug)]
pub struct ProcessOutput {
    /// Exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
}

impl ProcessOutput {
    /// Lines of stderr that the agent wrote, without those of [`start_lines`](Self::start_lines).
    pub fn agent_lines(&self) -> Vec<&str> {
        let mut lines = self.all_agent_lines();
        lines.retain(|line| !is_start_line(line));
        lines
    }

    /// Lines in which the agent says what it records, or that it records nothing: one is expected
    /// of each JVM that has the agent.
    pub fn start_lines(&self) -> Vec<&str> {
        let mut lines = self.all_agent_lines();
        lines.retain(|line| is_start_line(line));
        lines
    }

    /// What it wrote to stderr, without [`start_lines`](Self::start_lines).
    pub fn stderr_but_start(&self) -> String {
        let lines = self.stderr.lines();
        lines.filter(|line| !is_start_line(line)).collect()
    }

    fn all_agent_lines(&self) -> Vec<&str> {
        self.stderr
            .lines()
            .filter(|line| line.starts_with("ctxagent:"))
            .collect()
    }

    /// The line by which the agent says that the end of the JVM had no time for the last write; see
    /// [`retry_late_write`](crate::retry_late_write).
    pub fn late_write(&self) -> Option<&str> {
        let is_late = |line: &&str| {
            line.contains("the writer did not answer within 500 ms; ")
                && line.ends_with(" is readable up to its last flush")
        };
        self.agent_lines().into_iter().find(is_late)
    }

    /// What follows `prefix` in each line of stdout and stderr that begins with it.
    pub fn lines_after<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        let lines = self.stdout.lines().chain(self.stderr.lines());
        lines.filter_map(move |line| line.strip_prefix(prefix))
    }

    /// The whole number of the line `name: NUMBER`, 0 if there is none.
    pub fn counter(&self, name: &str) -> u64 {
        let begin = format!("{name}: ");
        let number = self.lines_after(&begin).next();
        number.map_or(0, |number| number.trim().parse().unwrap())
    }

    /// The whole numbers in the first line that begins with `prefix`; fails if there is none.
    pub fn numbers(&self, prefix: &str) -> Vec<u64> {
        let line = self.lines_after(prefix).next();
        let line =
            line.unwrap_or_else(|| panic!("no '{prefix}'\n{}\n{}", self.stdout, self.stderr));
        line.split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect()
    }

    /// Fails unless the exit code is 0.
    #[allow(
        clippy::must_use_candidate,
        clippy::return_self_not_must_use,
        reason = "often only the check is wanted"
    )]
    pub fn success(self) -> Self {
        assert_eq!(
            self.code,
            Some(0),
            "exit code\n--- stdout\n{}\n--- stderr\n{}",
            self.stdout,
            self.stderr
        );
        self
    }
}

fn is_start_line(line: &str) -> bool {
    let message = line.strip_prefix("ctxagent: ");
    message.is_some_and(|message| {
        message.starts_with("recording to ") || message.starts_with("loaded, not recording; ")
    })
}

impl Process {
    /// Starts a command that may run until `limit` has passed.
    pub fn start(mut command: Command, limit: Duration) -> Self {
        let name = format!("{command:?}");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let shared = Arc::new(Shared::default());
        shared.state.lock().unwrap().open = 2;
        let pid = child.id();
        let stdout = child.stdout.take().unwrap();
        let stderr = child.stderr.take().unwrap();
        collect_lines(stdout, &shared, |state| &mut state.stdout);
        collect_lines(stderr, &shared, |state| &mut state.stderr);
        collect_status(child, &shared);
        Self {
            name,
            pid,
            shared,
            deadline: Instant::now() + limit,
            warnings: None,
            logs: Vec::new(),
        }
    }

    /// The agent may warn of this, a text in its line, and of nothing else: any other line of level
    /// `warning` or `error`, on stderr or in these logs, fails the test.
    #[must_use]
    pub fn may_warn(mut self, warnings: Vec<String>, logs: Vec<PathBuf>) -> Self {
        self.warnings = Some(warnings);
        self.logs = logs;
        self
    }

    /// May run until `limit` has passed from now on.
    pub fn limit_rest(&mut self, limit: Duration) {
        self.deadline = Instant::now() + limit;
    }

    /// Process id.
    pub const fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits until a line of stdout or stderr holds `text` and returns the line.
    pub fn wait_for_line(&self, text: &str) -> String {
        let found = self.wait(|state| {
            if let Some(line) = state
                .stdout
                .iter()
                .chain(&state.stderr)
                .find(|line| line.contains(text))
            {
                return Some(Some(line.clone()));
            }
            (state.status.is_some() && state.open == 0).then_some(None)
        });
        match found {
            Some(Some(line)) => line,
            Some(None) => panic!(
                "{} ended without '{text}'\n{}",
                self.name,
                self.transcript()
            ),
            None => panic!("{}: no '{text}' in time\n{}", self.name, self.transcript()),
        }
    }

    /// Waits until `condition` holds, which is looked at each millisecond; fails at the time limit
    /// or when the process ends.
    pub fn wait_until(&self, what: &str, mut condition: impl FnMut() -> bool) {
        while !condition() {
            let next = Instant::now() + Duration::from_millis(1);
            let ended = self.wait_before(next, |state| state.status);
            assert!(
                ended.is_none(),
                "{} ended before: {what}\n{}",
                self.name,
                self.transcript()
            );
            assert!(
                Instant::now() < self.deadline,
                "{}: not in time: {what}\n{}",
                self.name,
                self.transcript()
            );
        }
    }

    /// Waits for the end.
    pub fn finish(&self) -> ProcessOutput {
        let ended = self.wait(|state| state.status.filter(|_| state.open == 0));
        let Some(status) = ended else {
            // A JVM writes its stacks to stdout when asked to.
            self.signal("QUIT");
            let asked = Instant::now() + Duration::from_secs(3);
            self.wait_before(asked, |state| {
                state
                    .stdout
                    .iter()
                    .any(|line| line.contains("JNI global refs"))
                    .then_some(())
            });
            panic!(
                "{}: still running at its time limit\n{}",
                self.name,
                self.transcript()
            );
        };
        self.check_warnings();
        let state = self.shared.state.lock().unwrap();
        ProcessOutput {
            code: status.code(),
            stdout: join_lines(&state.stdout),
            stderr: join_lines(&state.stderr),
        }
    }

    /// Fails if the agent has warned of something that the test does not declare.
    fn check_warnings(&self) {
        let Some(declared) = &self.warnings else {
            return;
        };
        let logs = self
            .logs
            .iter()
            .filter_map(|log| fs::read_to_string(log).ok());
        let mut lines: Vec<String> = logs.flat_map(|log| own_lines(&log)).collect();
        lines.extend(self.shared.state.lock().unwrap().stderr.clone());
        let is_declared = |line: &String| declared.iter().any(|text| line.contains(text));
        lines.retain(|line| is_warning(line) && !is_declared(line));
        assert!(
            lines.is_empty(),
            "the agent warns of what the test does not declare by `Jvm::may_warn`: {lines:#?}\n{}",
            self.transcript()
        );
    }

    /// Sends a signal by name, like `KILL`, unless the process has ended.
    pub fn signal(&self, name: &str) {
        let ended = self.shared.state.lock().unwrap().status.is_some();
        if !ended {
            let sent = Command::new("kill")
                .arg(format!("-{name}"))
                .arg(self.pid.to_string())
                .output();
            assert!(sent.is_ok(), "kill -{name} {}: {sent:?}", self.pid);
        }
    }

    /// Waits on a condition until the process's deadline.
    fn wait<T>(&self, condition: impl FnMut(&State) -> Option<T>) -> Option<T> {
        self.wait_before(self.deadline, condition)
    }

    fn wait_before<T>(
        &self,
        deadline: Instant,
        mut condition: impl FnMut(&State) -> Option<T>,
    ) -> Option<T> {
        let mut state = self.shared.state.lock().unwrap();
        loop {
            if let Some(found) = condition(&state) {
                return Some(found);
            }
            let left = deadline.checked_duration_since(Instant::now())?;
            state = self.shared.changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// All that was written until now.
    fn transcript(&self) -> String {
        let state = self.shared.state.lock().unwrap();
        format!(
            "--- stdout\n{}--- stderr\n{}",
            join_lines(&state.stdout),
            join_lines(&state.stderr)
        )
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal("KILL");
        if !thread::panicking() {
            self.check_warnings();
        }
    }
}

/// Whether the agent has written this line as a warning or an error.
fn is_warning(line: &str) -> bool {
    let message = line.strip_prefix("ctxagent: ");
    message.is_some_and(|text| text.starts_with("warning: ") || text.starts_with("error: "))
}

fn own_lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

fn join_lines(lines: &[String]) -> String {
    lines
        .iter()
        .fold(String::new(), |text, line| text + line + "\n")
}

fn collect_lines(
    stream: impl Read + Send + 'static,
    shared: &Arc<Shared>,
    pick: fn(&mut State) -> &mut Vec<String>,
) {
    let shared = Arc::clone(shared);
    thread::spawn(move || {
        let mut reader = BufReader::new(stream);
        let mut line = Vec::new();
        while reader
            .read_until(b'\n', &mut line)
            .is_ok_and(|count| count > 0)
        {
            let text = String::from_utf8_lossy(&line)
                .trim_end_matches('\n')
                .to_owned();
            pick(&mut shared.state.lock().unwrap()).push(text);
            shared.changed.notify_all();
            line.clear();
        }
        shared.state.lock().unwrap().open -= 1;
        shared.changed.notify_all();
    });
}

fn collect_status(mut child: Child, shared: &Arc<Shared>) {
    let shared = Arc::clone(shared);
    thread::spawn(move || {
        let status = child.wait().unwrap();
        shared.state.lock().unwrap().status = Some(status);
        shared.changed.notify_all();
    });
}

/// Runs a command to its end.
pub fn run(command: Command) -> ProcessOutput {
    Process::start(command, limit()).finish()
}

/// Removes the variables that would give options to a JVM or to the agent.
pub fn remove_jvm_options(command: &mut Command) {
    for name in [
        "CTXAGENT_OPTS",
        "JAVA_TOOL_OPTIONS",
        "JDK_JAVA_OPTIONS",
        "_JAVA_OPTIONS",
    ] {
        command.env_remove(name);
    }
}
