//! The JDKs on this machine, and their `jfr` tool.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// For a tool that runs for a second: half the CPU time, as it compiles less and has one collector
/// thread.
const TOOL_OPTIONS: &str =
    "-Dfile.encoding=UTF-8 -Xshare:auto -XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

/// A JDK.
#[derive(Debug, Clone)]
pub(crate) struct Jdk {
    pub(crate) version: u32,
    home: PathBuf,
}

/// The JDKs that can be found, of 17, 21 and 25.
pub(crate) fn all() -> Vec<Jdk> {
    [17, 21, 25].into_iter().filter_map(find).collect()
}

/// `JAVA_HOME_<version>`, then the usual directories, then what `scripts/toolchain.sh` fetched.
fn find(version: u32) -> Option<Jdk> {
    let named = std::env::var_os(format!("JAVA_HOME_{version}")).map(PathBuf::from);
    let cache = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.toolchain");
    let directories = [
        "/usr/lib/jvm".into(),
        cache.clone(),
        cache.join(format!("jdk-{version}")),
    ];
    let listed = directories
        .iter()
        .filter_map(|f: &PathBuf| f.read_dir().ok())
        .flatten();
    let mut homes: Vec<PathBuf> = listed.filter_map(|e| Some(e.ok()?.path())).collect();
    homes.sort();
    let mut homes = named.into_iter().chain(homes);
    homes
        .find(|h| is_version(h, version))
        .map(|home| Jdk { version, home })
}

fn is_version(home: &Path, version: u32) -> bool {
    let release = std::fs::read_to_string(home.join("release")).unwrap_or_default();
    release.contains(&format!("JAVA_VERSION=\"{version}")) && home.join("bin/java").exists()
}

impl Jdk {
    /// A command that runs `java`.
    pub(crate) fn java(&self) -> Command {
        Command::new(self.home.join("bin/java"))
    }

    /// A command that runs a tool of its `bin` directory.
    pub(crate) fn tool(&self, name: &str) -> Command {
        Command::new(self.home.join("bin").join(name))
    }

    /// The same for one that is done soon.
    pub(crate) fn short_lived(&self, name: &str) -> Command {
        let mut command = self.tool(name);
        command.env("JAVA_TOOL_OPTIONS", TOOL_OPTIONS);
        command
    }

    /// Whether it can run a source file.
    pub(crate) fn has_compiler(&self) -> bool {
        self.home.join("bin/javac").exists()
    }

    /// Runs the `jfr` tool; a run-time image without the launcher has the class.
    pub(crate) fn jfr(&self, arguments: &[&str]) -> Output {
        let launcher = self.home.join("bin/jfr");
        let mut command = if launcher.exists() {
            self.short_lived("jfr")
        } else {
            let mut java = self.short_lived("java");
            java.args(["-m", "jdk.jfr/jdk.jfr.internal.tool.Main"]);
            java
        };
        command.args(arguments).output().expect("jfr starts")
    }

    /// Standard output of a `jfr` command that must succeed.
    pub(crate) fn jfr_ok(&self, arguments: &[&str]) -> String {
        let output = self.jfr(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "jfr {arguments:?} of {}: {errors}{text}",
            self.version
        );
        text
    }

    /// Number of events of a type according to `jfr summary`.
    pub(crate) fn count(summary: &str, event: &str) -> Option<usize> {
        summary.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            (words.next()? == event).then(|| words.next()?.parse().ok())?
        })
    }
}
