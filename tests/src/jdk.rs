//! The JDKs.

use std::fmt;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::workspace::{find_tool, full_run};

/// A JDK or run time.
#[derive(Clone, Copy, Debug)]
pub struct Jdk {
    /// Feature version.
    pub version: u32,
    home: &'static Path,
}

impl fmt::Display for Jdk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JDK {}", self.version)
    }
}

impl Jdk {
    /// Whether `AsyncGetCallTrace` of this build is known to crash: 17 before 17.0.16
    /// (JDK-8352649).
    pub fn is_deny_listed(self) -> bool {
        let release = std::fs::read_to_string(self.home.join("release")).unwrap_or_default();
        let version = release
            .lines()
            .find_map(|line| line.strip_prefix("JAVA_VERSION=\"17.0."));
        let update = version.map(|rest| rest.trim_end_matches('"').split('.').next().unwrap_or(""));
        update.is_some_and(|update| update.parse().is_ok_and(|n: u32| n < 16))
    }

    /// JDK 17, 21 or 25; `None`, with a line on stdout, if this machine has none.
    pub fn find(version: u32) -> Option<Self> {
        static HOMES: [OnceLock<Option<PathBuf>>; 3] =
            [OnceLock::new(), OnceLock::new(), OnceLock::new()];
        let cell = match version {
            17 => &HOMES[0],
            21 => &HOMES[1],
            25 => &HOMES[2],
            _ => panic!("no test is written for JDK {version}"),
        };
        let home = cell
            .get_or_init(|| find_tool(&format!("jdk{version}")))
            .as_deref();
        if home.is_none() {
            println!("SKIP JDK {version}: not on this machine");
        }
        home.map(|home| Self { version, home })
    }

    /// The JDKs of this run: 21, and with `JDKS=all` every one that is there, the oldest first. For
    /// a test of what does not depend on the VM.
    pub fn all() -> Vec<Self> {
        if full_run() {
            Self::every()
        } else {
            vec![Self::main()]
        }
    }

    /// Every JDK of the three that is there, the oldest first, in each run: for a test of what reads
    /// the VM or changes its classes.
    pub fn every() -> Vec<Self> {
        [17, 21, 25].into_iter().filter_map(Self::find).collect()
    }

    /// Those of [`every`](Self::every) that have virtual threads.
    pub fn with_virtual_threads() -> Vec<Self> {
        let mut jdks = Self::every();
        jdks.retain(Self::has_virtual_threads);
        jdks
    }

    /// Those of [`all`](Self::all) with the kinds of threads that each has.
    pub fn with_kinds_of_threads() -> Vec<(Self, &'static str)> {
        let kinds = |jdk: Self| {
            let newer = jdk.has_virtual_threads().then_some("virtual");
            iter::once("platform")
                .chain(newer)
                .map(move |kind| (jdk, kind))
        };
        Self::all().into_iter().flat_map(kinds).collect()
    }

    /// JDK 21: always there.
    pub fn main() -> Self {
        Self::find(21).expect("scripts/toolchain.sh jdk21 finds or fetches it")
    }

    /// A run time that this JDK has made.
    #[must_use]
    pub fn linked(self, home: PathBuf) -> Self {
        let home = Box::leak(home.into_boxed_path());
        Self { home, ..self }
    }

    /// Whether it has an archive of its own classes, to which those of programs are added.
    pub fn has_class_archive(self) -> bool {
        self.home.join("lib/server/classes.jsa").exists()
    }

    /// A tool of its `bin` directory.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }

    /// Its directory.
    pub fn home(&self) -> &Path {
        self.home
    }

    /// `25.0.3+9-LTS`, as it names itself.
    pub fn runtime_version(&self) -> Option<String> {
        let release = std::fs::read_to_string(self.home.join("release")).ok()?;
        let line = release
            .lines()
            .find_map(|line| line.strip_prefix("JAVA_RUNTIME_VERSION="));
        Some(line?.trim_matches('"').to_owned())
    }

    /// Whether it has virtual threads.
    pub const fn has_virtual_threads(&self) -> bool {
        self.version >= 21
    }
}
