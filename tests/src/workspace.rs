//! Where things are: the source tree, cargo's results, the tools that `scripts/toolchain.sh` finds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Root of the source tree.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Directory of cargo's results, which the tests share with what they start.
pub fn target() -> &'static Path {
    // Cargo sets CARGO_TARGET_TMPDIR for integration tests only. A test binary is in
    // TARGET/PROFILE/deps.
    static TARGET: OnceLock<PathBuf> = OnceLock::new();
    TARGET.get_or_init(|| {
        let test_binary = std::env::current_exe().unwrap();
        let profile = test_binary.ancestors().nth(2).unwrap();
        profile.parent().unwrap().to_owned()
    })
}

/// Directories of results, and of what is fetched.
const NOT_SOURCES: [&str; 3] = ["target", "build", "node_modules"];

/// The source files below a directory with one of these endings, sorted; none if it is not there.
pub fn sources(directory: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        if path.is_dir() {
            if !name.starts_with('.') && !NOT_SOURCES.contains(&&*name) {
                found.extend(sources(&path, endings));
            }
        } else if path
            .extension()
            .is_some_and(|own| endings.iter().any(|end| own == *end))
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The directory that `scripts/toolchain.sh TOOL` prints; `None` if the script says that this
/// machine has none.
pub fn find_tool(tool: &str) -> Option<PathBuf> {
    // The runner of all tests has asked the script already.
    let variable = tool.strip_prefix("jdk").map(|n| format!("JAVA_HOME_{n}"));
    if is_prepared()
        && let Some(home) = variable.and_then(std::env::var_os)
    {
        return Some(home.into());
    }
    let output = Command::new("bash")
        .arg(root().join("scripts/toolchain.sh"))
        .arg(tool)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    match output.status.code() {
        Some(0) => Some(PathBuf::from(text.trim())),
        Some(3) => None,
        _ => panic!(
            "toolchain.sh {tool}: {}",
            String::from_utf8_lossy(&output.stderr)
        ),
    }
}

/// A directory that is removed with this, unless the test fails.
#[derive(Debug)]
pub struct ScratchDir {
    /// Where it is.
    pub path: PathBuf,
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("kept: {}", self.path.display());
        } else {
            let _left = fs::remove_dir_all(&self.path);
        }
    }
}

/// Whether `JDKS=all` asks for every test on every JDK, at full size; `make test` alone asks for an
/// answer within minutes.
pub fn full_run() -> bool {
    std::env::var_os("JDKS").is_some_and(|jdks| jdks == "all")
}

/// An amount of work of a test: so much in a [`full_run`], and in each other run so little.
pub fn sized<T>(full: T, brief: T) -> T {
    if full_run() { full } else { brief }
}

/// Whether all that the tests load was built, and the tools are in the environment, before the
/// tests began.
pub fn is_prepared() -> bool {
    std::env::var_os("CTXAGENT_PREPARED").is_some()
}

/// A number in the environment: long runs by hand and at night do more of the same.
pub fn env_number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable}={text}: a number is needed")),
    )
}
