//! The shell commands of the pages, as a reader types them. Blocks that cannot run here say why in
//! the page.

use std::path::Path;
use std::process::Command;

use e2e::pages::{self, ShellBlock};
use e2e::process::{self, remove_jvm_options};
use e2e::{Jdk, Jvm, ProcessOutput, TestDir, build, workspace};

/// The process id in the pages.
const PID: &str = "4711";

/// Where the commands of the quick start write.
const QUICK_START: &str = "target/quickstart";

/// Seconds of customers for the tutorial's recording; the demo's own are 20.
const DEMO_SECONDS: &str = "4";

/// The application of the pages: an `app.jar` whose manifest names the class path of the tests.
fn write_app_jar(directory: &Path) {
    let entries = build::class_path().split(':').map(|entry| {
        let end = if Path::new(entry).is_dir() { "/" } else { "" };
        format!("file://{entry}{end}")
    });
    let class_path: Vec<String> = entries.collect();
    // A line of a manifest has 72 bytes at most; the next one goes on after a space.
    let script = "import sys, zipfile\n\
        line = 'Class-Path: ' + sys.argv[1]\n\
        parts = [line[i:i + 70] for i in range(0, len(line), 70)]\n\
        text = 'Manifest-Version: 1.0\\nMain-Class: Demonstrated\\n' + '\\n '.join(parts) + '\\n'\n\
        zipfile.ZipFile('app.jar', 'w').writestr('META-INF/MANIFEST.MF', text)\n";
    let mut python = Command::new("python3");
    python.args(["-c", script, &class_path.join(" ")]);
    process::run(command_in(python, directory)).success();
}

fn command_in(mut command: Command, directory: &Path) -> Command {
    command.current_dir(directory);
    remove_jvm_options(&mut command);
    command
}

/// `PATH` with `java` and `ctxjfr`.
fn path_with_tools(jdk: Jdk) -> String {
    let tools = [jdk.tool("java"), build::ctxjfr().to_owned()];
    let tools = tools.map(|tool| tool.parent().unwrap().display().to_string());
    format!("{}:{}", tools.join(":"), std::env::var("PATH").unwrap())
}

/// Runs a block: every command of it must succeed. Returns what it prints.
fn run(block: &ShellBlock, jdk: Jdk) -> String {
    println!("{}\n{}", block.place, block.script);
    let test_dir = TestDir::new();
    let serving = block.script.contains(PID).then(|| {
        let jvm = Jvm::new(jdk, &test_dir).program("Target serve").start();
        jvm.wait_for_line("ready");
        jvm
    });
    let pid = serving
        .as_ref()
        .map_or_else(String::new, |jvm| jvm.pid().to_string());
    let is_from_root = block.script.contains("scripts/");
    let mut script = block.script.replace(PID, &pid);
    // What stands in the tree is named from its root, all else from the reader's own directory.
    let directory = if is_from_root {
        script = script.replace(QUICK_START, &test_dir.path().display().to_string());
        workspace::root()
    } else {
        let agent = build::agent().display().to_string();
        script = script.replace("/path/libctxagent.so", &agent);
        write_app_jar(test_dir.path());
        test_dir.path()
    };
    let path = path_with_tools(jdk);
    let mut shell = Command::new("bash");
    shell
        .args(["-euo", "pipefail", "-c", &script])
        .env("PATH", path);
    let output = process::run(command_in(shell, directory)).success();
    println!("{}", output.stdout);
    if let Some(jvm) = serving {
        jvm.end();
    }
    let directory = test_dir.path().display().to_string();
    output.stdout.replace(&directory, QUICK_START)
}

/// A line with `#` for each number, in any unit. Losses depend on chance.
fn without_numbers(line: &str) -> String {
    if line.starts_with(" losses: ") {
        return "losses".to_owned();
    }
    let word = |word: &str| {
        let digits = word.trim_start_matches(['(', '-', '+']);
        let is_number = digits.starts_with(|c: char| c.is_ascii_digit());
        let is_unit = matches!(word.trim_end_matches(','), "ms" | "s");
        match (is_number, is_unit) {
            (true, _) => "#".to_owned(),
            (_, true) => "s".to_owned(),
            _ => word.to_owned(),
        }
    };
    let words: Vec<String> = line.split_whitespace().map(word).collect();
    words.join(" ")
}

/// Rows of threads of the VM, and of no context, depend on chance, and the reached interval on how
/// busy the machine is.
fn is_by_chance(line: &str) -> bool {
    line.starts_with(" (") || line.starts_with(" interval: ")
}

#[test]
fn quick_start_shows_what_its_commands_print() {
    let (_agent, _ctxjfr, _classes) = (build::agent(), build::ctxjfr(), build::class_path());
    let page = workspace::root().join("examples/java-quickstart/README.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, shown) = page
        .split_once("The last command prints:\n\n```\n")
        .unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    let pages = pages::all();
    let mut blocks = pages.iter().flat_map(pages::Page::shell_blocks);
    let block = blocks.find(|b| b.script.contains(QUICK_START)).unwrap();
    let printed = run(&block, Jdk::main());
    let lines = |text: &str| -> Vec<String> {
        let (table, _) = text.split_once("\n next:").unwrap_or((text, ""));
        let lines = table.lines().filter(|line| !is_by_chance(line));
        lines.map(without_numbers).collect()
    };
    assert_eq!(lines(&printed), lines(shown), "{printed}");
}

/// Each block of commands, with the block after it: what they print.
fn shown(page: &str) -> Vec<(&str, &str)> {
    let blocks = page.split("\n```sh\n").skip(1);
    let block = |rest: &str| -> Option<(usize, usize, usize)> {
        let end = rest.find("\n```")?;
        let output = end + rest[end..].find("\n\n```\n")? + "\n\n```\n".len();
        Some((end, output, output + rest[output..].find("```")?))
    };
    let pairs = blocks.map(|rest| {
        let (end, output, output_end) = block(rest).unwrap();
        (&rest[..end], &rest[output..output_end])
    });
    pairs.collect()
}

/// A line of a report without what depends on the run: numbers, which endpoint and which tenant.
fn without_labels(line: &str) -> String {
    let tenants = ["acme", "globex", "initech", "umbrella"];
    let is_label = |word: &&str| tenants.contains(word) || word.starts_with('/');
    let words = line.split(' ').map(|word| match word {
        _ if is_label(&word) => "LABEL",
        word => word,
    });
    without_numbers(&words.collect::<Vec<_>>().join(" "))
}

/// Runs commands of a page from the root of the source tree.
fn in_bash(script: &str) -> ProcessOutput {
    let mut shell = Command::new("bash");
    let script = script.replace(
        "target/release/ctxjfr",
        &build::ctxjfr().display().to_string(),
    );
    shell.args(["-euo", "pipefail", "-c", &script]);
    // Of the package under test; a build of another one would differ.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" {
            shell.env_remove(name);
        }
    }
    process::run(command_in(shell, workspace::root())).success()
}

#[test]
fn tutorial_shows_what_its_commands_print() {
    build::ctxjfr();
    let page = workspace::root().join("docs/user-guide/tutorial.md");
    let page = std::fs::read_to_string(page).unwrap();
    in_bash(&format!("DURATION={DEMO_SECONDS} scripts/demo.sh"));
    let form = |text: &str| -> Vec<String> {
        let (table, _) = text.split_once("\n next:").unwrap_or((text, ""));
        let lines = table.trim_end().lines().filter(|line| !is_by_chance(line));
        lines.map(without_labels).collect()
    };
    for (commands, output) in shown(&page) {
        let printed = in_bash(commands).stdout;
        println!("{commands}\n{printed}");
        assert_eq!(form(&printed), form(output), "{commands}");
    }
}

/// Each framework's service, except for those with Java agents, which are large.
#[test]
fn page_of_labels_shows_what_its_services_print() {
    build::services();
    let page = workspace::root().join("docs/user-guide/labels.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, frameworks) = page.split_once("\n## By framework\n").unwrap();
    let shown = shown(frameworks);
    let services = shown.iter().filter(|(c, _)| !c.contains("-javaagent"));
    assert!(services.clone().count() >= 7, "{shown:?}");
    let path = path_with_tools(Jdk::main());
    for (commands, output) in services {
        let test_dir = TestDir::new();
        let commands = commands
            .replace("target/release/libctxagent.so", "AGENT")
            .replace("target/", &format!("{}/", test_dir.path().display()))
            .replace("AGENT", &build::agent().display().to_string());
        let commands = format!("PATH={path}\n{commands}");
        let printed = in_bash(&commands).stdout;
        println!("{commands}\n{printed}");
        let printed: Vec<String> = printed.lines().map(without_numbers).collect();
        // Which row is first depends on the run.
        for line in output.lines().filter(|line| !is_by_chance(line)) {
            assert!(printed.contains(&without_numbers(line)), "{line}");
        }
    }
}

#[test]
fn shell_commands_of_the_pages_succeed() {
    // What they need, built before the first of them runs.
    let (_agent, _ctxjfr, _classes) = (build::agent(), build::ctxjfr(), build::class_path());
    let pages = pages::all();
    let blocks = pages.iter().flat_map(pages::Page::shell_blocks);
    let blocks: Vec<ShellBlock> = blocks.filter(|b| b.reason_not_to_run.is_none()).collect();
    assert!(
        blocks.len() > 4,
        "{} blocks: the pages are written otherwise",
        blocks.len()
    );
    for block in &blocks {
        run(block, Jdk::main());
    }
}
