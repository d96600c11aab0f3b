//! The readers beside ours: the JDK's, async-profiler's, Grafana's. What cannot be had here is left
//! out, and said so.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::jdk::{self, Jdk};

const PEERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/reader/peers");
const INTEROP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/interop");
/// Limit of a JVM's heap: what its default would be on a machine of 16 GB.
const HEAP: &str = "-Xmx4g";

/// A reader that is a program: FILE SECONDS.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) name: String,
    program: PathBuf,
    arguments: Vec<String>,
}

impl Peer {
    fn new(name: String, program: PathBuf, arguments: Vec<String>) -> Self {
        Self {
            name,
            program,
            arguments,
        }
    }

    pub(crate) fn command(&self, file: &Path, seconds: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(file).arg(seconds);
        command
    }
}

/// All that can be had.
pub(crate) fn all(directory: &Path) -> Vec<Peer> {
    let mut peers = java(directory);
    peers.extend(grafana(directory));
    peers
}

fn java(directory: &Path) -> Vec<Peer> {
    let jdks = jdk::all();
    let Some(compiler) = jdks.iter().find(|jdk| jdk.has_compiler()) else {
        println!("SKIP: no JDK with a compiler here");
        return Vec::new();
    };
    let converters = converters();
    let class_path: Vec<&str> = converters.iter().map(|(_, path)| path.as_str()).collect();
    let classes = directory.join("classes");
    let sources: Vec<PathBuf> = Path::new(PEERS)
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let sources = sources
        .iter()
        .filter(|path| !converters.is_empty() || !path.ends_with("ConverterReader.java"));
    let mut javac = compiler.tool("javac");
    javac
        .args(["--release", "17", "-cp", &class_path.join(":"), "-d"])
        .arg(&classes)
        .args(sources);
    assert!(javac.status().unwrap().success());
    let newest = jdks.last().unwrap();
    // The oldest and the newest: a minute for each big file.
    let mut peers = vec![recording_file(newest, &classes)];
    if jdks.len() > 1 {
        peers.push(recording_file(&jdks[0], &classes));
    }
    for (name, path) in &converters {
        let path = format!("{}:{path}", classes.display());
        let arguments = [HEAP, "-cp", &path, "ConverterReader"].map(str::to_owned);
        let java = PathBuf::from(newest.java().get_program());
        peers.push(Peer::new(
            format!("{name} on JDK {}", newest.version),
            java,
            arguments.into(),
        ));
    }
    peers
}

fn recording_file(jdk: &Jdk, classes: &Path) -> Peer {
    let classes = classes.display().to_string();
    let arguments = [HEAP, "-cp", &classes, "RecordingFileReader"].map(str::to_owned);
    Peer::new(
        format!("RecordingFile of JDK {}", jdk.version),
        jdk.java().get_program().into(),
        arguments.into(),
    )
}

/// Names and class paths of async-profiler's converters.
fn converters() -> Vec<(String, String)> {
    let output = Command::new(Path::new(INTEROP).join("fetch.sh"))
        .output()
        .unwrap();
    if !output.status.success() {
        println!(
            "SKIP: async-profiler's converter cannot be had here: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        return Vec::new();
    }
    let text = String::from_utf8(output.stdout).unwrap();
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    let converters = pairs.filter(|(name, _)| name.starts_with("converter"));
    let mut all: Vec<_> = converters
        .map(|(name, path)| (format!("jfr-{name}"), path.to_owned()))
        .collect();
    // The newest only.
    all.split_off(all.len().saturating_sub(1))
}

fn grafana(directory: &Path) -> Option<Peer> {
    let program = directory.join("grafana");
    let mut go = Command::new("go");
    go.current_dir(Path::new(INTEROP).join("grafana"))
        .arg("build")
        .arg("-o")
        .arg(&program)
        .arg("./bench");
    match go.output() {
        Ok(output) if output.status.success() => Some(Peer::new(
            "Grafana's jfr-parser 0.14.0".into(),
            program,
            Vec::new(),
        )),
        Ok(output) => {
            println!(
                "SKIP: Grafana's parser cannot be had here: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            None
        }
        Err(error) => {
            println!("SKIP: no go here: {error}");
            None
        }
    }
}
