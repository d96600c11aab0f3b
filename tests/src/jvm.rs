//! A JVM with agent, class path and directory of its own.

use std::fs;
use std::io::ErrorKind;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::build;
use crate::jdk::Jdk;
use crate::process::{Process, ProcessOutput, limit, remove_jvm_options, run};
use crate::recording::{Recording, SHORT_LIVED};
use crate::workspace::{ScratchDir, target};

/// Repeats an attempt whose last write was too late. The end of a JVM grants that write half a
/// second, and a stall may be longer now and then, but not each time. Such an attempt gives `None`,
/// after it has checked what holds then too.
pub fn retry_late_write<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
    const TRIES: u32 = 5;
    let found = (0..TRIES).find_map(|_| attempt());
    found.unwrap_or_else(|| panic!("the last write was too late {TRIES} times"))
}

/// A directory of one test, removed when the test succeeds.
#[derive(Debug)]
pub struct TestDir {
    dir: Arc<ScratchDir>,
}

impl TestDir {
    /// A new directory. Where an earlier process of the same id left one, because its test failed,
    /// it is another one.
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let runs = target().join("e2e/runs");
        fs::create_dir_all(&runs).unwrap();
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = runs.join(format!("{}-{number}", std::process::id()));
            match fs::create_dir(&path) {
                Ok(()) => {
                    let dir = Arc::new(ScratchDir { path });
                    return Self { dir };
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => panic!("{}: {error}", path.display()),
            }
        }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.dir.path
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Makes `app.jar` in it, of these directories of classes, with a `jar` of any JDK; `None`, with
    /// a line on stdout, if there is none.
    pub fn jar(&self, manifest: &str, classes: &[&str]) -> Option<PathBuf> {
        let mut tools = Jdk::all().into_iter().map(|jdk| jdk.tool("jar"));
        let Some(tool) = tools.find(|tool| tool.exists()) else {
            println!("SKIP: no JDK with a jar tool");
            return None;
        };
        let (text, jar) = (self.file("manifest"), self.file("app.jar"));
        fs::write(&text, manifest).unwrap();
        let mut command = Command::new(tool);
        command.arg("cfm").arg(&jar).arg(&text);
        for directory in classes {
            command.args(["-C", directory, "."]);
        }
        run(command).success();
        Some(jar)
    }

    /// The recording in it; fails if there is not exactly one.
    pub fn recording(&self) -> Recording {
        only_recording(self.path())
    }

    /// Every `*.jfr` in it, by name.
    pub fn recordings(&self) -> Vec<Recording> {
        recordings_in(self.path())
    }
}

fn files_in(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().path())
}

fn recordings_in(directory: &Path) -> Vec<Recording> {
    let is_recording = |path: &PathBuf| path.extension().is_some_and(|ext| ext == "jfr");
    let mut paths: Vec<_> = files_in(directory).filter(is_recording).collect();
    paths.sort();
    paths.into_iter().map(Recording::new).collect()
}

fn only_recording(directory: &Path) -> Recording {
    let mut all = recordings_in(directory);
    assert_eq!(all.len(), 1, "in {}: {all:?}", directory.display());
    all.remove(0)
}

impl Default for TestDir {
    fn default() -> Self {
        Self::new()
    }
}

/// A JVM to start.
#[derive(Debug)]
pub struct Jvm {
    jdk: Jdk,
    dir: PathBuf,
    /// The same, if it is the JVM's own.
    own_dir: Option<TestDir>,
    flags: Vec<String>,
    class_path: Vec<String>,
    program: Vec<String>,
    environment: Vec<(String, String)>,
    limit: Duration,
    limits: Vec<String>,
    launcher: Vec<String>,
    warnings: Vec<String>,
    logs: Vec<PathBuf>,
}

impl Jvm {
    /// A JVM that works in `test_dir`.
    pub fn new(jdk: Jdk, test_dir: &TestDir) -> Self {
        // Small and quiet; errors of the JVM stay in the directory.
        let flags = [
            "-Xmx256m",
            "-XX:-UsePerfData",
            "-XX:ErrorFile=hs_err_pid%p.log",
        ];
        let mut flags: Vec<String> = flags.map(String::from).into();
        if jdk.version >= 21 {
            flags.push("-XX:+EnableDynamicAgentLoading".into());
        }
        Self {
            jdk,
            dir: test_dir.path().to_owned(),
            own_dir: None,
            flags,
            class_path: vec![build::class_path().to_owned()],
            program: Vec::new(),
            environment: Vec::new(),
            limit: limit(),
            limits: Vec::new(),
            launcher: Vec::new(),
            warnings: Vec::new(),
            logs: Vec::new(),
        }
    }

    /// A JVM that works in a directory of its own.
    pub fn alone(jdk: Jdk) -> Self {
        let test_dir = TestDir::new();
        let jvm = Self::new(jdk, &test_dir);
        Self {
            own_dir: Some(test_dir),
            ..jvm
        }
    }

    /// A JVM in a directory of its own, with the agent, which records to `app.jfr` with these
    /// options; for [`record`](Self::record).
    pub fn recording(jdk: Jdk, options: &str) -> Self {
        Self::alone(jdk).agent(&format!("start,file=app.jfr,{options}"))
    }

    /// A program on the main JDK that ends at once, with the agent and these options, which may be
    /// wrong.
    pub fn brief(test_dir: &TestDir, options: &str) -> Self {
        let jvm = Self::new(Jdk::main(), test_dir).agent(options);
        jvm.main("Target", &["exit", "return"]).may_warn("error: ")
    }

    /// With the agent and these options.
    #[must_use]
    pub fn agent(self, options: &str) -> Self {
        self.agent_at(build::agent(), options)
    }

    /// With another build of the agent and exactly these options.
    #[must_use]
    pub fn agent_at(mut self, library: &Path, options: &str) -> Self {
        let logs = options
            .split(',')
            .filter_map(|option| option.strip_prefix("log="));
        self.logs.extend(logs.map(|log| self.dir.join(log)));
        let separator = if options.is_empty() { "" } else { "=" };
        self.flag(&format!(
            "-agentpath:{}{separator}{options}",
            library.display()
        ))
    }

    /// With `-javaagent` of `ctxagent.jar`, which has the Java API, too.
    #[must_use]
    pub fn java_agent(mut self, jar: &Path, options: &str) -> Self {
        self.class_path = vec![build::programs().to_owned()];
        self.flag(&format!("-javaagent:{}={options}", jar.display()))
    }

    /// With `ctxagent.jar` in the place of the Java API.
    #[must_use]
    pub fn bundle(mut self, jar: &Path) -> Self {
        self.class_path = vec![jar.display().to_string(), build::programs().to_owned()];
        self
    }

    /// With a flag of the JVM.
    #[must_use]
    pub fn flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.to_owned());
        self
    }

    /// Without a flag that JVMs of tests usually have.
    #[must_use]
    pub fn without_flag(mut self, flag: &str) -> Self {
        self.flags.retain(|known| known != flag);
        self
    }

    /// With one more directory or jar at the end of the class path.
    #[must_use]
    pub fn class_path(mut self, path: &Path) -> Self {
        self.class_path.push(path.display().to_string());
        self
    }

    /// Without the Java API on the class path, where the agent would prepare it; the program finds
    /// it in `-Dapi=`.
    #[must_use]
    pub fn without_api(mut self) -> Self {
        let (api, programs) = build::class_path().split_once(':').unwrap();
        self.flags.push(format!("-Dapi={api}"));
        self.class_path = vec![programs.to_owned()];
        self
    }

    /// With the services of `tests/services` on the class path, and neither the Java API nor other
    /// programs.
    #[must_use]
    pub fn services(mut self) -> Self {
        self.class_path = vec![build::services().to_owned()];
        self
    }

    /// With those of `tests/services/javax`.
    #[must_use]
    pub fn javax_services(mut self) -> Self {
        self.class_path = vec![build::javax_services()];
        self
    }

    /// With the service of `tests/starter` and `ctxagent.jar` on the class path, which is what a
    /// user's one line gives, and nothing else.
    #[must_use]
    pub fn starter(mut self) -> Self {
        let agent = build::agent_jar().display().to_string();
        self.class_path = vec![agent, build::starter().to_owned()];
        self
    }

    /// With an environment variable.
    #[must_use]
    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With a heap of 64 MiB that is there from the start, one collector thread and one arena of
    /// `malloc`: what grows then is not the JVM's heap.
    #[must_use]
    pub fn fixed_memory(self) -> Self {
        self.flag("-XX:+UseSerialGC")
            .flag("-Xms64m")
            .flag("-Xmx64m")
            .flag("-XX:+AlwaysPreTouch")
            .environment("MALLOC_ARENA_MAX", "1")
    }

    /// With a library of `tests/shim` loaded before all others. What its faults lead to is for the
    /// test to judge: the agent may warn of anything.
    #[must_use]
    pub fn preload(self, shim: &str) -> Self {
        self.may_warn("")
            .environment("LD_PRELOAD", &build::shim(shim).display().to_string())
    }

    /// With the faults of `tests/shim/faults.c` that these words choose: `WRITES=1` sets
    /// `FAULT_WRITES`.
    #[must_use]
    pub fn faults(self, words: &str) -> Self {
        let set = |jvm: Self, word: &str| {
            let (name, value) = word.split_once('=').unwrap();
            jvm.environment(&format!("FAULT_{name}"), value)
        };
        words.split(' ').fold(self.preload("faults"), set)
    }

    /// Runs this command line: a class and its arguments.
    #[must_use]
    pub fn program(self, words: &str) -> Self {
        let mut words = words.split_whitespace();
        let class = words.next().unwrap();
        self.main(class, &words.collect::<Vec<_>>())
    }

    /// Runs this class with these arguments.
    #[must_use]
    pub fn main(mut self, class: &str, arguments: &[&str]) -> Self {
        self.program = std::iter::once(&class)
            .chain(arguments)
            .map(|&word| word.to_owned())
            .collect();
        self
    }

    /// Ends the recording when the main of the class has returned, so that its file is complete:
    /// the end of the JVM grants the last write half a second only, and a stall may be longer. To
    /// be called after [`main`](Self::main).
    #[must_use]
    pub fn stop_recording_at_end(mut self) -> Self {
        self.program.insert(0, "Stopped".to_owned());
        self
    }

    /// With a limit of signals and timers that may be pending (`ulimit -i`). The kernel counts those
    /// of all processes of a user, so that there may be none for the engine.
    #[must_use]
    pub fn pending_signals(self, most: u32) -> Self {
        self.ulimit('i', most)
            .may_warn("samples come on the kernel's tick")
    }

    /// With a limit of open files (`ulimit -n`).
    #[must_use]
    pub fn open_files(self, most: u32) -> Self {
        self.ulimit('n', most)
    }

    /// With a limit of its address space in KiB (`ulimit -v`).
    #[must_use]
    pub fn address_space(self, most: u32) -> Self {
        self.ulimit('v', most)
    }

    /// With a limit of the size of files in KiB (`ulimit -f`).
    #[must_use]
    pub fn file_size(self, most: u32) -> Self {
        self.ulimit('f', most)
    }

    fn ulimit(mut self, option: char, most: u32) -> Self {
        self.limits.push(format!("ulimit -{option} {most} && "));
        self
    }

    /// Started without the standard streams that this redirection closes (`0<&- 1>&-`).
    #[must_use]
    pub fn redirect(mut self, redirection: &str) -> Self {
        self.limits.push(format!("exec {redirection} && "));
        self
    }

    /// Started by a program that runs the words after its own, like `env`; several are nested.
    #[must_use]
    pub fn launched_by(mut self, words: &[&str]) -> Self {
        self.launcher
            .extend(words.iter().map(|&word| word.to_owned()));
        self
    }

    /// The agent may warn of this: a text in its line. Any other warning or error fails the test.
    #[must_use]
    pub fn may_warn(mut self, text: &str) -> Self {
        self.warnings.push(text.to_owned());
        self
    }

    /// With another time limit.
    #[must_use]
    pub const fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Starts it.
    pub fn start(self) -> RunningJvm {
        // Needed for commands later on: not built within the time limit.
        let _built = build::agent();
        let java = self.jdk.tool("java");
        let mut command = if let [program, words @ ..] = &*self.launcher {
            let mut launcher = Command::new(program);
            launcher.args(words).arg(java);
            launcher
        } else if self.limits.is_empty() {
            Command::new(java)
        } else {
            let mut shell = Command::new("bash");
            let script = self.limits.concat() + "exec \"$0\" \"$@\"";
            shell.arg("-c").arg(script).arg(java);
            shell
        };
        command
            .args(&self.flags)
            .arg("-cp")
            .arg(self.class_path.join(":"))
            .args(&self.program);
        command.current_dir(&self.dir);
        remove_jvm_options(&mut command);
        command.envs(self.environment);
        RunningJvm {
            jdk: self.jdk,
            process: Process::start(command, self.limit).may_warn(self.warnings, self.logs),
            dir: self.dir,
            own_dir: self.own_dir,
        }
    }

    /// Starts it and waits for the program's line `ready`.
    pub fn start_ready(self) -> RunningJvm {
        let jvm = self.start();
        jvm.wait_for_line("ready");
        jvm
    }

    /// Starts a program that works until it is told to end, and waits until it does.
    pub fn serve(self) -> RunningJvm {
        self.main("Target", &["serve"]).start_ready()
    }

    /// Runs it to its end, which must be a success.
    pub fn run_ok(self) -> ProcessOutput {
        self.run().success()
    }

    /// Runs it to its end.
    pub fn run(self) -> ProcessOutput {
        self.start().finish_without_crash()
    }

    /// Runs it to the end of its program, which must be a success, and ends the recording: what it
    /// wrote, and the only recording.
    pub fn record(self) -> (ProcessOutput, Recording) {
        self.stop_recording_at_end().record_to_exit()
    }

    /// The same where the program or the end of the JVM ends the recording.
    pub fn record_to_exit(self) -> (ProcessOutput, Recording) {
        let mut jvm = self.start();
        let output = jvm.finish_without_crash().success();
        let recording = only_recording(&jvm.dir).kept_by(jvm.own_dir.take().map(|own| own.dir));
        (output, recording)
    }
}

/// Runs a program, a class and its arguments, with a recording with these options: what it wrote,
/// and the recording.
pub fn record(jdk: Jdk, options: &str, program: &str) -> (ProcessOutput, Recording) {
    Jvm::recording(jdk, options).program(program).record()
}

/// A JVM that runs.
#[derive(Debug)]
pub struct RunningJvm {
    jdk: Jdk,
    process: Process,
    dir: PathBuf,
    own_dir: Option<TestDir>,
}

impl Deref for RunningJvm {
    type Target = Process;

    fn deref(&self) -> &Process {
        &self.process
    }
}

impl DerefMut for RunningJvm {
    fn deref_mut(&mut self) -> &mut Process {
        &mut self.process
    }
}

impl RunningJvm {
    fn finish_without_crash(&self) -> ProcessOutput {
        let finished = self.finish();
        let crash = files_in(&self.dir).find(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("hs_err"))
        });
        assert!(
            crash.is_none(),
            "the JVM crashed: {crash:?}\n{}{}",
            finished.stdout,
            finished.stderr
        );
        finished
    }

    /// Tells a program that serves to end, and waits for that.
    pub fn end(&self) -> ProcessOutput {
        let done = self.dir.join("done");
        fs::write(&done, b"").unwrap();
        let output = self.finish().success();
        // The next JVM in this directory serves too.
        fs::remove_file(done).unwrap();
        output
    }

    /// Gives the agent a command by attach, as a user does: `jcmd PID JVMTI.agent_load`. Loads the
    /// agent if it is not there yet.
    pub fn agent_command(&self, options: &str) -> ProcessOutput {
        // jcmd cuts its arguments at commas and equal signs unless they are in quotes.
        let mut command = Command::new(self.jdk.tool("jcmd"));
        command
            .args(SHORT_LIVED)
            .arg(self.pid().to_string())
            .arg("JVMTI.agent_load")
            .arg(build::agent())
            .arg(format!("\"{options}\""));
        run(command)
    }

    /// The same; answers the number that jcmd prints as `return code`.
    pub fn return_code(&self, options: &str) -> Option<i32> {
        let answer = self.agent_command(options);
        let code = answer.lines_after("return code: ").next();
        code.and_then(|code| code.parse().ok())
    }

    /// The same, for a command that the agent must accept.
    pub fn agent_command_ok(&self, options: &str) -> ProcessOutput {
        let answer = self.agent_command(options);
        assert!(
            answer.stdout.contains("return code: 0"),
            "{options:?} was refused: {}\n{}",
            answer.stdout,
            answer.stderr
        );
        answer
    }
}
