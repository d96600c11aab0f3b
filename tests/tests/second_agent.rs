//! The agent loaded twice, in every way and order: the first one goes on with its recording and its
//! labels, and one line says that the second is refused.

use std::fs;

use e2e::recording::weights_by;
use e2e::tool::FINDING;
use e2e::{Jdk, Jvm, RunningJvm, TestDir, Tool, build};

/// How the agent comes into a JVM.
#[derive(Clone, Copy, Debug, PartialEq)]
enum LoadMethod {
    /// `-agentpath`, each time of another copy.
    Library,
    /// `-javaagent`.
    Jar,
    /// `ctxjfr start`.
    Attach,
    /// `AgentControl`.
    Java,
    /// `AgentControl` of a copy of the API in another loader.
    OtherJava,
}

const AT_START: [LoadMethod; 2] = [LoadMethod::Library, LoadMethod::Jar];
const LATER: [LoadMethod; 3] = [LoadMethod::Attach, LoadMethod::Java, LoadMethod::OtherJava];

/// One of the two agents, the first or the second by its number.
#[derive(Clone, Copy, Debug)]
struct Loaded {
    way: LoadMethod,
    number: usize,
}

impl Loaded {
    fn file(self) -> String {
        format!("{}.jfr", self.number)
    }

    /// What the JVM has on its command line.
    fn flag(self, test_dir: &TestDir) -> Option<String> {
        let options = format!("start,file={}", self.file());
        match self.way {
            LoadMethod::Library => {
                let copy = test_dir.file(&format!("lib{}.so", self.number));
                fs::copy(build::agent(), &copy).unwrap();
                Some(format!("-agentpath:{}={options}", copy.display()))
            }
            LoadMethod::Jar => {
                let jar = build::agent_jar().display();
                Some(format!("-javaagent:{jar}={options}"))
            }
            LoadMethod::Attach | LoadMethod::Java | LoadMethod::OtherJava => None,
        }
    }

    /// The step that the program takes.
    fn step(self) -> Option<String> {
        let word = match self.way {
            LoadMethod::Library | LoadMethod::Jar => return None,
            LoadMethod::Attach => return Some("await".to_owned()),
            LoadMethod::Java => "self",
            LoadMethod::OtherJava => "other",
        };
        Some(format!("{word} start,file={}", self.file()))
    }

    /// Attaches; the answer is what was refused.
    fn attach(self, tool: &Tool, test_dir: &TestDir, jvm: &RunningJvm) -> String {
        jvm.wait_for_line("ready");
        let file = test_dir.file(&self.file()).display().to_string();
        let pid = jvm.pid().to_string();
        let arguments = ["start", &pid, &format!("file={file}")];
        let refused = if self.number == 0 {
            tool.run(&arguments).success();
            String::new()
        } else {
            tool.refused(FINDING, &arguments)
        };
        fs::write(test_dir.file("attached"), b"").unwrap();
        refused
    }
}

/// The agents of `-agentpath` are loaded first, wherever they stand.
fn winner(first: LoadMethod, second: LoadMethod) -> usize {
    usize::from(first == LoadMethod::Jar && second == LoadMethod::Library)
}

fn assert_first_goes_on(jdk: Jdk, first: LoadMethod, second: LoadMethod) {
    let what = format!("{jdk}: {first:?}, then {second:?}");
    let test_dir = TestDir::new();
    let tool = Tool::new(&test_dir);
    let both = [(first, 0), (second, 1)].map(|(way, number)| Loaded { way, number });
    let mut jvm = Jvm::new(jdk, &test_dir)
        .bundle(build::agent_jar())
        .may_warn("is running; stop it first")
        .may_warn("another copy of the agent, ")
        .may_warn("the options of -javaagent are ignored");
    for flag in both.iter().filter_map(|agent| agent.flag(&test_dir)) {
        jvm = jvm.flag(&flag);
    }
    let steps: Vec<String> = both.iter().filter_map(|agent| agent.step()).collect();
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let jvm = jvm.main("SecondAgent", &steps).start();
    let attached = both.iter().filter(|agent| agent.way == LoadMethod::Attach);
    let by_tool: String = attached
        .map(|agent| agent.attach(&tool, &test_dir, &jvm))
        .collect();
    let run = jvm.finish().success();
    let by_java = run.stdout.lines().filter(|l| l.starts_with("refused: "));
    let refusals = run.agent_lines().len() + by_java.count() + by_tool.lines().count();
    assert_eq!(refusals, 1, "{what}: {run:?} {by_tool}");
    assert!(!run.stderr.contains("has been bound"), "{what}: {run:?}");
    let recording = test_dir.recording();
    let file = format!("{}.jfr", winner(first, second));
    assert_eq!(recording.path().file_name().unwrap(), &*file, "{what}");
    assert_labelled(&what, &test_dir);
}

fn assert_labelled(what: &str, test_dir: &TestDir) {
    let by_label = weights_by(&test_dir.recording().samples(), "who");
    let own = by_label.get(&Some("self".to_owned()));
    assert!(own.is_some_and(|own| *own > 15), "{what}: {by_label:?}");
}

/// Each way at the start of the JVM, then each of these.
fn assert_refused_after_start(later: &[LoadMethod]) {
    for jdk in Jdk::all() {
        for first in AT_START {
            for second in later {
                assert_first_goes_on(jdk, first, *second);
            }
        }
    }
}

#[test]
fn of_two_agents_at_start_one_is_refused() {
    assert_refused_after_start(&AT_START);
}

#[test]
fn agent_that_comes_later_is_refused() {
    assert_refused_after_start(&LATER);
}

#[test]
fn of_two_agents_in_a_running_jvm_one_is_refused() {
    for jdk in Jdk::all() {
        for first in [LoadMethod::Attach, LoadMethod::Java] {
            for second in LATER {
                // The program can wait once.
                if first != second {
                    assert_first_goes_on(jdk, first, second);
                }
            }
        }
    }
}

/// A recording that `-agentpath` did not begin is begun by `-javaagent`, as by any command.
#[test]
fn jar_starts_an_idle_library() {
    for jdk in Jdk::every() {
        let test_dir = TestDir::new();
        let run = Jvm::new(jdk, &test_dir)
            .agent("")
            .java_agent(build::agent_jar(), "start,file=app.jfr")
            .main("SecondAgent", &[])
            .run_ok();
        assert!(run.agent_lines().is_empty(), "{jdk}: {}", run.stderr);
        assert_labelled(&format!("{jdk}"), &test_dir);
    }
}

/// The copy of the API in another loader does not find an idle agent, and loads the one of its jar.
#[test]
fn library_that_another_loader_loads_is_refused() {
    for jdk in Jdk::every() {
        let test_dir = TestDir::new();
        let run = Jvm::new(jdk, &test_dir)
            .java_agent(build::agent_jar(), "")
            .bundle(build::agent_jar())
            .flag("-Xcheck:jni")
            .main(
                "SecondAgent",
                &["other start,file=other.jfr", "self start,file=app.jfr"],
            )
            .run_ok();
        let refused = run.lines_after("refused: another copy of the agent, ");
        assert_eq!(refused.count(), 1, "{jdk}: {run:?}");
        assert_labelled(&format!("{jdk}"), &test_dir);
    }
}
