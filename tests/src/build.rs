//! What the JVMs load, each part built once per process and only if a source is newer. `make test`
//! builds all of it before the first test: see [`everything`].

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};
use std::time::SystemTime;

use crate::workspace::{find_tool, is_prepared, root, sources, target};

/// Builds all parts, so that no compiler runs during a test.
pub fn everything() {
    for built in [agent(), oracle_agent(), ctxjfr(), agent_jar()] {
        println!("{}", built.display());
    }
    println!("{}", class_path());
    println!("{}", services());
    println!("{}", starter());
    for entry in fs::read_dir(root().join("tests/shim")).unwrap() {
        let source = entry.unwrap().path();
        if source.extension().is_some_and(|ext| ext == "c") {
            println!("{}", shim_of(&source).display());
        }
    }
}

/// The agent library; `CTXAGENT_LIB` names another one to test.
pub fn agent() -> &'static Path {
    static AGENT: OnceLock<PathBuf> = OnceLock::new();
    AGENT.get_or_init(|| match std::env::var_os("CTXAGENT_LIB") {
        Some(path) => PathBuf::from(path),
        None => release_dir().join("libctxagent.so"),
    })
}

/// The agent's test build, which compares every sample with what the program declares (feature
/// `oracle`) and can give its stack walker bad loads (feature `faults`);
/// `CTXAGENT_ORACLE_LIB` names another one.
pub fn oracle_agent() -> &'static Path {
    static ORACLE: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = ORACLE.get_or_init(|| {
        if let Some(path) = std::env::var_os("CTXAGENT_ORACLE_LIB") {
            return Ok(PathBuf::from(path));
        }
        build_script("build.sh", "test-agent")?;
        Ok(root().join("target/oracle/release/libctxagent.so"))
    });
    built.as_ref().unwrap_or_else(|failure| panic!("{failure}"))
}

/// The command line `ctxjfr`; `CTXAGENT_CTXJFR` names another one to test.
pub fn ctxjfr() -> &'static Path {
    static CTXJFR: OnceLock<PathBuf> = OnceLock::new();
    CTXJFR.get_or_init(|| match std::env::var_os("CTXAGENT_CTXJFR") {
        Some(path) => PathBuf::from(path),
        None => release_dir().join("ctxjfr"),
    })
}

/// A library of `tests/shim` to be preloaded into a JVM.
pub fn shim(name: &str) -> PathBuf {
    shim_of(&root().join(format!("tests/shim/{name}.c")))
}

/// The library of a C source, which may include `tests/shim/common.h`. It is named after what both
/// hold: one of an older source is never used in its place.
pub fn shim_of(source: &Path) -> PathBuf {
    static COMPILING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = COMPILING.lock();
    let shared = root().join("tests/shim");
    let mut text = fs::read(source).unwrap();
    text.extend(fs::read(shared.join("common.h")).unwrap());
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let name = source.file_stem().unwrap().display();
    let directory = target().join("e2e/shim");
    fs::create_dir_all(&directory).unwrap();
    let library = directory.join(format!("{name}-{:016x}.so", hasher.finish()));
    if !library.exists() {
        // Another test binary may be at the same: the name is given to what is whole.
        let unfinished = directory.join(format!("{name}-{}.tmp", std::process::id()));
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra"]);
        compiler.arg("-I").arg(&shared).arg("-o").arg(&unfinished);
        let output = compiler.arg(source).arg("-ldl").output();
        let output = output
            .unwrap_or_else(|error| panic!("cc, the C compiler that Rust links with: {error}"));
        assert!(
            output.status.success(),
            "cc {}:\n{}",
            source.display(),
            String::from_utf8_lossy(&output.stderr)
        );
        fs::rename(&unfinished, &library).unwrap();
    }
    library
}

/// `ctxagent.jar` with this machine's build of the agent; `CTXAGENT_JAR` names another one.
pub fn agent_jar() -> &'static Path {
    static JAR: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = JAR.get_or_init(|| {
        if let Some(path) = std::env::var_os("CTXAGENT_JAR") {
            return Ok(PathBuf::from(path));
        }
        build_script("dist.sh", "jar")?;
        Ok(root().join("target/e2e/ctxagent.jar"))
    });
    built.as_ref().unwrap_or_else(|failure| panic!("{failure}"))
}

/// Directory of the binaries that users get.
fn release_dir() -> &'static Path {
    // By one command for both: asked for apart they would have their shared crates with other
    // features, and so be built again. A failure is remembered.
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        build_script("build.sh", "rust")?;
        Ok(root().join("target/release"))
    });
    built.as_ref().unwrap_or_else(|failure| panic!("{failure}"))
}

/// Builds with a script that users build with; the error is what it wrote to stderr. With
/// `CTXAGENT_PREPARED` all is there: `make test` has built it a moment ago, and to ask Gradle again
/// takes it as long as a test.
fn build_script(script: &str, what: &str) -> Result<(), String> {
    if is_prepared() {
        return Ok(());
    }
    let mut command = Command::new("bash");
    command.arg(root().join("scripts").join(script)).arg(what);
    // Set by `cargo test` for the package under test; they would make a build of another one
    // differ.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" {
            command.env_remove(name);
        }
    }
    let output = command.output().unwrap();
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}:\n{said}"))
}

/// Class path of the Java API and the programs of `tests/java`.
pub fn class_path() -> &'static str {
    // A failure is kept: each test reports it, none tries again.
    static CLASSES: OnceLock<Result<String, String>> = OnceLock::new();
    let made = CLASSES.get_or_init(|| {
        let out = target().join("e2e");
        fs::create_dir_all(&out).unwrap();
        let _lock = lock(&out);
        let api = api_jar(&out)?;
        let programs = out.join("programs");
        compile(&root().join("tests/java"), &programs, &api)?;
        Ok(format!("{}:{}", api.display(), programs.display()))
    });
    made.as_ref().unwrap_or_else(|failure| panic!("{failure}"))
}

/// Held while something is built there: several test binaries may be here at once.
fn lock(out: &Path) -> File {
    let lock = File::create(out.join("lock")).unwrap();
    lock.lock().unwrap();
    lock
}

/// Directory of the classes of an example.
pub fn example(name: &str) -> PathBuf {
    let out = target().join("e2e");
    let (api, _) = class_path().split_once(':').unwrap();
    let classes = out.join("examples").join(name);
    let _lock = lock(&out);
    let source = root().join("examples").join(name);
    compile(&source, &classes, Path::new(api)).unwrap();
    classes
}

/// Directory of the classes of the programs, without the API.
pub fn programs() -> &'static str {
    let (_, programs) = class_path().split_once(':').unwrap();
    programs
}

/// Classes of `tests/other-api`: natives of an API that is not the agent's.
pub fn other_api() -> PathBuf {
    static COMPILING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = COMPILING.lock();
    let classes = target().join("e2e/other-api");
    compile(&root().join("tests/other-api"), &classes, Path::new(""))
        .unwrap_or_else(|failure| panic!("{failure}"));
    classes
}

/// Class path of `tests/services`, whose libraries Gradle fetches.
pub fn services() -> &'static str {
    static SERVICES: OnceLock<Result<String, String>> = OnceLock::new();
    let built = SERVICES.get_or_init(|| {
        build_script("build.sh", "services")?;
        let jars = root().join("tests/services/build/app/*");
        Ok(jars.display().to_string())
    });
    built.as_ref().unwrap_or_else(|failure| panic!("{failure}"))
}

/// A Java agent of others, by its name without a version.
pub fn java_agent(name: &str) -> PathBuf {
    services();
    root().join(format!("tests/services/build/agents/{name}.jar"))
}

/// Class path of `tests/services/javax`: some of them with the servlets of `javax`.
pub fn javax_services() -> String {
    services();
    let jars = root().join("tests/services/javax/build/app/*");
    jars.display().to_string()
}

/// Class path of `tests/starter`, a service that has the starter for Spring Boot; without the agent.
pub fn starter() -> &'static str {
    static STARTER: OnceLock<Result<String, String>> = OnceLock::new();
    let built = STARTER.get_or_init(|| {
        build_script("build.sh", "starter")?;
        let jars = root().join("tests/starter/build/app/*");
        Ok(jars.display().to_string())
    });
    built.as_ref().unwrap_or_else(|failure| panic!("{failure}"))
}

/// The jar of the Java API, built by Gradle as users get it unless nothing changed;
/// `CTXAGENT_API_JAR` names another one.
fn api_jar(out: &Path) -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("CTXAGENT_API_JAR") {
        return Ok(PathBuf::from(path));
    }
    let jar = root().join("java-api/build/libs/ctxagent-api.jar");
    let mut inputs = sources(&root().join("java-api/src"), &["java"]);
    inputs.push(root().join("java-api/build.gradle"));
    inputs.push(root().join("gradle/java-common.gradle"));
    let stamp = out.join("api.stamp");
    // The stamp is the time before the build: a change during the build is newer.
    let built = jar.is_file().then(|| modified(&stamp));
    if built.is_some_and(|built| inputs.iter().all(|input| modified(input) < built)) {
        return Ok(jar);
    }
    let began = SystemTime::now();
    build_script("build.sh", "java")?;
    let file = File::create(&stamp).unwrap();
    file.set_modified(began).unwrap();
    Ok(jar)
}

fn modified(path: &Path) -> SystemTime {
    fs::metadata(path)
        .and_then(|facts| facts.modified())
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Release a program is compiled for: N if one of its first lines is `// release: N`, else the
/// first.
fn release_of(source: &Path) -> u32 {
    let text = fs::read_to_string(source).unwrap();
    let mut given = text
        .lines()
        .take(10)
        .filter_map(|line| line.strip_prefix("// release: "));
    given
        .next()
        .map_or(RELEASES[0], |number| number.parse().unwrap())
}

/// Releases that programs are compiled for.
const RELEASES: [u32; 3] = [17, 21, 25];

/// Compiles a source tree unless its classes are newer. The sources for each release are compiled
/// together.
fn compile(source: &Path, classes: &Path, api: &Path) -> Result<(), String> {
    let files = sources(source, &["java"]);
    let stamp = classes.join(".stamp");
    let list: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    let list = list.join("\n");
    let newest = files.iter().map(|file| modified(file)).max();
    if newest.is_some_and(|newest| newest < modified(&stamp))
        && fs::read_to_string(&stamp).is_ok_and(|old| old == list)
    {
        return Ok(());
    }
    let _absent = fs::remove_dir_all(classes);
    fs::create_dir_all(classes).unwrap();
    for wanted in RELEASES {
        let files: Vec<&PathBuf> = files
            .iter()
            .filter(|file| release_of(file) == wanted)
            .collect();
        if files.is_empty() {
            continue;
        }
        let home = if wanted == 17 {
            find_tool("javac")
        } else {
            find_tool("jdk25")
        };
        let Some(home) = home else {
            println!(
                "SKIP {} programs for JDK {wanted}: no javac for them on this machine",
                files.len()
            );
            continue;
        };
        let mut javac = Command::new(home.join("bin/javac"));
        javac.args([
            "-g",
            "-nowarn",
            "-Xlint:-options",
            "--release",
            &wanted.to_string(),
            "-encoding",
            "UTF-8",
            "-d",
        ]);
        javac
            .arg(classes)
            .arg("-cp")
            .arg(format!("{}:{}", api.display(), classes.display()));
        let output = javac.args(files).output().unwrap();
        if !output.status.success() {
            return Err(format!(
                "{}:\n{}",
                source.display(),
                String::from_utf8_lossy(&output.stderr)
            ));
        }
    }
    fs::write(&stamp, list).unwrap();
    Ok(())
}
