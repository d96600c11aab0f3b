//! The file is readable at every instant: after each write, and after each part of each write.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests"
)]

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::time::Duration;

use common::checker::{self, Recording as Decoded};
use common::jdk::{self, Jdk};
use common::scenario::{config, named, stack};
use ctxagent_events::*;
use jfr_format::write::*;
use proptest::prelude::*;

/// A short recording with flushes, a rotation in the middle and growth of the file.
fn operations(reserve: u64) -> Vec<Operation> {
    operations_of(reserve, named(&["a", "b"]))
}

/// The same with these columns; those that are named as their attributes come get names in each
/// chunk.
fn operations_of(reserve: u64, columns: Columns) -> Vec<Operation> {
    let mut config = config(columns);
    config.reserve_bytes = reserve;
    let mut r = Recording::create(MemoryStorage::recording(), config).unwrap();
    for i in 0..12u64 {
        add_samples(&mut r, i);
        if i % 4 == 3 {
            let name = format!("name {i}");
            let attribute = Attribute {
                name,
                ..Attribute::default()
            };
            let slot = usize::try_from(i / 2).unwrap();
            let _named = r.attribute(Ticks(i * 100), slot, &attribute);
        }
        match i % 4 {
            1 => r.rotate(Ticks(i * 100)).unwrap(),
            _ => r.flush(Ticks(i * 100)).unwrap(),
        }
    }
    r.finish(Ticks(5_000)).unwrap();
    r.storage().operations().to_vec()
}

fn add_samples<S: Storage>(r: &mut Recording<S>, i: u64) {
    for n in 0..=i % 3 {
        let at = Ticks(i * 100 + n);
        let n = usize::try_from(i + n).unwrap();
        let thread = r.thread(&Thread::native(&format!("thread {n}"), n as u64));
        let (stack, state) = (stack(r, 3 + n, n), r.state("STATE_RUNNABLE"));
        let value = r.attribute_value(&format!("value {n}"));
        let context = r.context(at, &[value; 8]);
        r.execution_sample(&Sample {
            at,
            thread,
            stack,
            state,
            context,
            weight: 1,
        });
    }
}

/// What a process that is killed in the middle of its writes leaves behind.
struct States {
    bytes: Vec<u8>,
    visible: bool,
    count: usize,
}

impl States {
    /// Plays the operations and shows every state to `judge`, with a name for it.
    fn play(operations: &[Operation], mut judge: impl FnMut(&[u8], &str, bool)) -> usize {
        let mut states = Self {
            bytes: Vec::new(),
            visible: false,
            count: 0,
        };
        for (n, operation) in operations.iter().enumerate() {
            states.step(n, operation, &mut judge);
        }
        states.count
    }

    fn step(&mut self, n: usize, operation: &Operation, judge: &mut impl FnMut(&[u8], &str, bool)) {
        match operation {
            Operation::Write(at, bytes) => {
                for part in tears(*at, bytes.len()) {
                    self.write(*at, &bytes[..part]);
                    self.show(
                        &format!("operation {n}, {part} of {} bytes at {at}", bytes.len()),
                        false,
                        judge,
                    );
                }
                self.write(*at, bytes);
            }
            Operation::SetLen(len) => {
                let len = usize::try_from(*len).unwrap();
                assert!(!self.visible || len <= self.bytes.len(), "only shorter");
                self.bytes.resize(len, 0);
            }
            // Within one page: done or not done.
            Operation::Append(page) => {
                let end = self.bytes.len();
                assert_eq!(end / PAGE, (end + page.len() - 1) / PAGE, "operation {n}");
                self.bytes.extend_from_slice(page);
            }
            Operation::Publish => self.visible = true,
        }
        let header = matches!(operation, Operation::Write(_, bytes) if bytes.len() == 68);
        let name = if header { "new header" } else { "operation" };
        self.show(&format!("{name} {n} done"), true, judge);
    }

    fn write(&mut self, at: u64, bytes: &[u8]) {
        let at = usize::try_from(at).unwrap();
        assert!(
            !self.visible || at + bytes.len() <= self.bytes.len(),
            "a write never makes the file longer"
        );
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn show(&mut self, name: &str, whole: bool, judge: &mut impl FnMut(&[u8], &str, bool)) {
        if self.visible {
            self.count += 1;
            judge(&self.bytes, name, whole);
        }
    }
}

/// Where a write may be cut: nothing cuts through an aligned word. Long writes, which go where no
/// reader looks, are cut at fewer places, but at all page borders.
fn tears(at: u64, len: usize) -> Vec<usize> {
    let step = if len <= 128 { 8 } else { 56 };
    let is_cut = |part: &usize| {
        let end = at + *part as u64;
        end.is_multiple_of(step) || end.is_multiple_of(4096)
    };
    (1..len).filter(is_cut).collect()
}

fn decoded(bytes: &[u8], name: &str) -> Decoded {
    catch_unwind(AssertUnwindSafe(|| checker::read_at_an_instant(bytes)))
        .unwrap_or_else(|_| panic!("not readable after {name}"))
}

#[test]
fn every_part_of_every_write_leaves_a_readable_file() {
    let (two, auto) = (named(&["a", "b"]), Columns::Auto);
    for (reserve, columns) in [
        (64, two.clone()),
        (4096, two.clone()),
        (64 << 10, two),
        (64 << 10, auto),
    ] {
        let mut samples = 0;
        let count = States::play(&operations_of(reserve, columns), |bytes, name, _| {
            let now = decoded(bytes, name).named("jdk.ExecutionSample").count();
            assert!(now >= samples, "{name}: samples that were there are gone");
            samples = now;
        });
        println!("reserve {reserve}: {count} states");
        assert_eq!(samples, 24);
    }
}

#[test]
fn the_jdk_tools_read_every_state_too() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.jfr");
    let path = path.to_str().unwrap();
    let mut states = Vec::new();
    States::play(&operations(4096), |bytes, name, whole| {
        // The tears of a rotation are the ones to prove: elsewhere the whole writes will do.
        let rotation = name.contains("of 68 bytes") || name.starts_with("new header");
        if rotation || whole {
            states.push((bytes.to_vec(), name.to_owned(), rotation));
        }
    });
    let rotations: Vec<_> = states.iter().filter(|s| s.2).take(9).collect();
    for (jdk, turn) in jdk::all().iter().zip([0, 2, 4]) {
        // Two cores are few: the first rotation, and a part of the others, another for each JDK.
        let part = states.iter().skip(turn).step_by(6);
        for (bytes, name, _) in rotations.iter().copied().chain(part) {
            std::fs::write(path, bytes).unwrap();
            let expected = checker::read(bytes).named("jdk.ExecutionSample").count();
            let summary = jdk.jfr_ok(&["summary", path]);
            let found = Jdk::count(&summary, "jdk.ExecutionSample");
            assert_eq!(found, Some(expected), "{name}, JDK {}", jdk.version);
            let printed = jdk.jfr_ok(&["print", "--events", "jdk.ExecutionSample", path]);
            assert_eq!(
                printed.matches("jdk.ExecutionSample {").count(),
                expected,
                "{name}"
            );
        }
    }
    println!("{} states", states.len());
}

const CHILD_FILE: &str = "JFR_FORMAT_CHILD_FILE";

/// Not a test: the process that the next test kills.
#[test]
fn child_that_writes_until_it_is_killed() {
    let Some(path) = std::env::var_os(CHILD_FILE) else {
        return;
    };
    let mut config = config(named(&["a", "b"]));
    config.reserve_bytes = 20_000;
    let storage = FileStorage::create(path.as_ref()).unwrap();
    let mut r = Recording::create(storage, config).unwrap();
    for i in 0.. {
        add_samples(&mut r, i);
        match i % 7 {
            6 => r.rotate(Ticks(i * 100)).unwrap(),
            _ => r.flush(Ticks(i * 100)).unwrap(),
        }
    }
}

#[test]
fn a_killed_process_leaves_a_readable_file() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..40u64 {
        let path = dir.path().join(format!("{n}.jfr"));
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "child_that_writes_until_it_is_killed",
                "--test-threads=1",
            ])
            .env(CHILD_FILE, &path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while !path.exists() {
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "it made no file: {ended:?}");
            std::thread::yield_now();
        }
        #[allow(
            clippy::disallowed_methods,
            reason = "the moment of death is to be arbitrary"
        )]
        std::thread::sleep(Duration::from_micros(n * 1_500));
        child.kill().unwrap();
        child.wait().unwrap();
        decoded(&std::fs::read(&path).unwrap(), &format!("kill {n}"));
    }
}

/// A step of a random life.
#[derive(Debug, Clone)]
enum Step {
    Samples(u64),
    Flush,
    Rotate,
    Abandon,
    FailFrom(u64),
    Heal,
    Name(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..50u64).prop_map(Step::Samples),
        3 => Just(Step::Flush),
        2 => Just(Step::Rotate),
        1 => Just(Step::Abandon),
        1 => (0..6u64).prop_map(Step::FailFrom),
        2 => Just(Step::Heal),
        1 => (0..8usize).prop_map(Step::Name),
    ];
    prop::collection::vec(step, 0..40)
}

fn columns() -> impl Strategy<Value = Columns> {
    prop_oneof![
        Just(Columns::Auto),
        (0..=8usize).prop_map(|n| Columns::Named((0..n).map(|i| format!("c{i}")).collect())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_life_with_any_faults_leaves_a_readable_file(steps in steps(), columns in columns(), reserve in 0..9000u64) {
        let mut config = config(columns);
        config.reserve_bytes = reserve;
        let mut r = Recording::create(MemoryStorage::new(), config).unwrap();
        let (mut written, mut buffered) = (0, 0);
        for (i, step) in (0..).zip(&steps) {
            let now = Ticks(i * 100);
            match step {
                Step::Samples(n) => { add_samples(&mut r, *n); buffered += n % 3 + 1; }
                Step::Flush => { let _ = r.flush(now); }
                Step::Rotate => { let _ = r.rotate(now); }
                Step::Abandon => { r.discard_unflushed(); }
                Step::FailFrom(n) => r.storage_mut().fail_from(Some(*n)),
                Step::Heal => r.storage_mut().fail_from(None),
                Step::Name(slot) => {
                    let name = format!("name {i}");
                    let _ = r.attribute(now, *slot, &Attribute { name, ..Attribute::default() });
                }
            }
            let visible = checker::read_at_an_instant(r.storage().bytes()).named("jdk.ExecutionSample").count() as u64;
            prop_assert!(visible >= written && visible <= buffered);
            written = visible;
        }
        r.storage_mut().fail_from(None);
        r.finish(Ticks(100_000)).unwrap();
        let file = checker::read(r.storage().bytes());
        let visible = file.named("jdk.ExecutionSample").count() as u64;
        prop_assert!(visible >= written);
        if !steps.iter().any(|s| matches!(s, Step::Abandon)) {
            prop_assert_eq!(visible, buffered, "nothing is lost by a fault that passes");
        }
    }
}
