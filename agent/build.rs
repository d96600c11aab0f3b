//! Packs the Java classes that the agent carries: those of the boot loader (`src/jvm/*.class`), and
//! those of `labels=`, which it compiles: what its hooks call, and a copy of the Java API. Without a
//! Java compiler the agent has none of the latter, and says so where they are wanted.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a build that fails ends with its reason"
)]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Level of compression.
const BEST: u8 = 9;
/// Classes of the Java API that only an application uses: nobody can reach those of the agent's
/// copy.
const FOR_APPLICATIONS: [&str; 10] = [
    "AgentControl",
    "ContextAware",
    "ContextEvents",
    "RecordingContextFilter",
    "Labels",
    "StrictContexts",
    "ScopeFinding",
    "WatchedScope",
    "observe/",
    "internal/observe/",
];

fn main() {
    let sources = Path::new("../java-api/src");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    for directory in ["main", "direct", "labels"] {
        println!("cargo::rerun-if-changed=../java-api/src/{directory}");
    }
    println!("cargo::rerun-if-changed=src/jvm");
    println!("cargo::rerun-if-env-changed=CTXAGENT_JAVAC_HOME");
    println!("cargo::rerun-if-env-changed=JAVA_HOME");
    let classes = out.join("classes");
    let _ = fs::remove_dir_all(&classes);
    fs::create_dir_all(&classes).unwrap();
    match compile(sources, &classes) {
        Ok(()) => {}
        Err(why) => println!("cargo::warning=the agent gets no classes for labels=: {why}"),
    }
    let is_wanted = |(name, _): &(String, Vec<u8>)| {
        let class = name.strip_prefix("io/ctxagent/").unwrap_or_default();
        !FOR_APPLICATIONS.iter().any(|one| class.starts_with(one))
    };
    let of_labels = class_files(&classes).into_iter().filter(is_wanted);
    fs::write(out.join("labels.bin"), packed(of_labels)).unwrap();
    let of_boot_loader = class_files(Path::new("src/jvm")).into_iter();
    fs::write(out.join("boot.bin"), packed(of_boot_loader)).unwrap();
}

/// Names and class files as `src/jvm/class_bundle.rs` reads them; empty without any.
fn packed(classes: impl Iterator<Item = (String, Vec<u8>)>) -> Vec<u8> {
    let mut bundle = Vec::new();
    for (name, bytes) in classes {
        bundle.extend(length(name.len()));
        bundle.extend(name.as_bytes());
        bundle.extend(length(bytes.len()));
        bundle.extend(bytes);
    }
    if bundle.is_empty() {
        return bundle;
    }
    miniz_oxide::deflate::compress_to_vec(&bundle, BEST)
}

fn length(bytes: usize) -> [u8; 4] {
    u32::try_from(bytes).unwrap().to_le_bytes()
}

/// `Err`: there is no compiler. Sources that it refuses end the build.
fn compile(sources: &Path, classes: &Path) -> Result<(), String> {
    let mut files = java_files(&sources.join("main"));
    files.retain(|file| !file.ends_with("module-info.java"));
    files.extend(java_files(&sources.join("labels/java")));
    let mut javac = Command::new(compiler());
    javac.args(["-nowarn", "-g:none", "-source", "17", "-target", "17"]);
    javac.args(["-implicit:none", "-proc:none", "-encoding", "UTF-8"]);
    javac.arg("--patch-module");
    javac.arg(format!(
        "java.base={}",
        sources.join("direct/java").display()
    ));
    javac.args(["--add-exports", "java.base/jdk.internal.javac=ALL-UNNAMED"]);
    javac.arg("-sourcepath").arg(sources.join("labels/stubs"));
    javac.arg("-d").arg(classes).args(&files);
    let output = javac
        .output()
        .map_err(|error| format!("{}: {error}", compiler().display()))?;
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "javac:\n{text}");
    Ok(())
}

fn compiler() -> PathBuf {
    let homes = ["CTXAGENT_JAVAC_HOME", "JAVA_HOME"].into_iter();
    let compilers = homes
        .filter_map(env::var_os)
        .map(|home| Path::new(&home).join("bin/javac"));
    let mut compilers = compilers.filter(|compiler| compiler.exists());
    compilers.next().unwrap_or_else(|| PathBuf::from("javac"))
}

fn java_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(java_files(&path));
        } else if path
            .extension()
            .is_some_and(|extension| extension == "java")
        {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Names with slashes and bytes, in order of the names.
fn class_files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut classes = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(next) = directories.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "class")
            {
                let name = path.strip_prefix(directory).unwrap().with_extension("");
                let Some(name) = name.to_str() else {
                    panic!("class name {}", path.display());
                };
                classes.push((name.to_owned(), fs::read(&path).unwrap()));
            }
        }
    }
    classes.sort();
    classes
}
