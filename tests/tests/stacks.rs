//! Stacks: who walks them, how far they reach, and what says that they were cut.

use e2e::recording::{Event, Recording, SAMPLES, distinct};
use e2e::{Jdk, Jvm, TestDir, record};
use std::collections::HashMap;

#[test]
fn stacks_reach_thread_entry() {
    for jdk in Jdk::every() {
        let (_, recording) = record(jdk, "interval=5ms", "Target burn 2 1500");
        let samples: Vec<_> = recording
            .samples()
            .into_iter()
            .filter(|sample| sample.is_of_thread("burner-"))
            .collect();
        let complete = samples
            .iter()
            .filter(|s| {
                s.frames()
                    .last()
                    .is_some_and(|f| f == "java.lang.Thread.run")
            })
            .count();
        let spin = samples.iter().filter(|s| s.is_in_class("Target")).count();
        println!(
            "{jdk}: {} samples, {complete} to the root, {spin} in Target",
            samples.len()
        );
        assert!(samples.len() > 300, "{jdk}: {} samples", samples.len());
        assert!(
            complete * 100 >= samples.len() * 98,
            "{jdk}: {complete} of {}",
            samples.len()
        );
        assert!(
            spin * 100 >= samples.len() * 95,
            "{jdk}: {spin} of {}",
            samples.len()
        );
    }
}

#[test]
fn deny_listed_asgct_is_not_used() {
    for jdk in Jdk::every() {
        let (run, recording) = record(jdk, "interval=2ms,loglevel=info", "Target burn 2 1000");
        println!("{jdk}: {}", run.stderr);
        let expected = if jdk.is_deny_listed() {
            "; walker: vm"
        } else {
            "; walker: vm, then asgct"
        };
        let started = run
            .start_lines()
            .into_iter()
            .find(|line| line.contains("recording to"));
        assert!(
            started.is_some_and(|line| line.ends_with(expected)),
            "{jdk}\n{}",
            run.stderr
        );
        let mut samples = recording.samples();
        samples.retain(|sample| sample.is_of_thread("burner-"));
        let walked = samples.iter().filter(|sample| sample.is_in_class("Target"));
        let (walked, all) = (walked.count(), samples.len());
        println!("{walked} of {all} samples of burners reach their method");
        assert!(all > 300 && walked * 100 >= all * 95, "{walked} of {all}");
    }
}

#[test]
fn samples_without_walker_have_no_stack() {
    for jdk in Jdk::every() {
        let (_, recording) = record(jdk, "interval=2ms,cstack=no", "Target burn 2 500");
        let samples = recording.samples();
        assert!(!samples.is_empty());
        for sample in samples {
            let frames = sample.frames();
            assert!(
                frames.iter().all(|f| f.starts_with("ctxagent.NoStack.")) && frames.len() == 1,
                "{frames:?}"
            );
        }
    }
}

/// The labelled samples at the end of a recursion: how many frames each has, whether it has its
/// root, and whether it says that it was cut.
fn stacks_of_a_recursion(options: &str, calls: &str) -> Vec<(usize, bool, bool)> {
    let (_, recording) = Jvm::recording(Jdk::main(), &format!("interval=2ms,{options}"))
        .program(&format!("Recursing {calls} 300"))
        .record_to_exit();
    // `ctxjfr` cuts events of such a size.
    let samples = recording.events_by_jdk(Jdk::main(), SAMPLES);
    let deep = samples.iter().filter(|s| s.text("label") == Some("deep"));
    let stacks: Vec<_> = deep
        .map(|sample| {
            let frames = sample.frames();
            let has_root = frames.iter().any(|f| f == "Recursing.root");
            (frames.len(), has_root, sample.is_truncated().unwrap())
        })
        .collect();
    assert!(stacks.len() > 30, "{} samples", stacks.len());
    stacks
}

#[test]
fn recursion_keeps_its_root() {
    let stacks = stacks_of_a_recursion("", "2000");
    let whole = stacks.iter().filter(|(_, has_root, cut)| *has_root && !cut);
    let (whole, all) = (whole.count(), stacks.len());
    println!("{whole} of {all} stacks are whole");
    assert!(whole * 100 >= all * 99, "{stacks:?}");
}

/// Virtual threads block in a recursion, so that the callers of what runs afterwards are in the
/// heap. The label tells how many calls there are.
#[test]
fn resumed_virtual_threads_keep_their_root() {
    for jdk in Jdk::with_virtual_threads() {
        for collector in collectors(jdk) {
            let (whole, all) = stacks_of_resumed(jdk, collector);
            println!("JDK {}, {collector:?}: {whole} of {all}", jdk.version);
            assert!(all > 20, "{all} samples");
            // One more may be about to block.
            assert!((whole + 1) * 100 >= all * 99, "{whole} of {all}");
        }
    }
}

/// Flags of each collector of this JDK.
fn collectors(jdk: Jdk) -> Vec<&'static [&'static str]> {
    let mut all: Vec<&[&str]> = vec![
        &["-XX:+UseG1GC"],
        &["-XX:+UseParallelGC"],
        &["-XX:+UseSerialGC"],
        &["-XX:+UseShenandoahGC"],
        &["-XX:+UseZGC"],
    ];
    if jdk.version < 23 {
        all.push(&["-XX:+UseZGC", "-XX:+ZGenerational"]);
    } else {
        all.push(&["-XX:+UseParallelGC", "-XX:+UseCompactObjectHeaders"]);
    }
    all
}

/// Labelled samples that are whole, and all of them. A frame that cannot be there fails the test.
fn stacks_of_resumed(jdk: Jdk, collector: &[&str]) -> (usize, usize) {
    let test_dir = TestDir::new();
    let jvm = Jvm::new(jdk, &test_dir)
        .agent("start,interval=1ms,file=app.jfr")
        // The topmost of several methods in one frame is not always the right one.
        .flag("-XX:CompileCommand=dontinline,Resumed.descend")
        .flag("-XX:CompileCommand=dontinline,Work.spin");
    let jvm = collector.iter().fold(jvm, |jvm, flag| jvm.flag(flag));
    jvm.program("Resumed 8 20 1500").run().success();
    let samples = test_dir.recording().samples();
    let mut counts = (0, 0);
    for sample in distinct(samples.iter().collect()) {
        let frames = sample.frames();
        let is_descend = |frame: &String| frame == "Resumed.descend";
        // Without a label the thread is on its way; without the method there is no stack at all.
        let label = sample.text("calls");
        let Some((calls, first)) = label.zip(frames.iter().position(is_descend)) else {
            continue;
        };
        let calls: usize = calls.parse().unwrap();
        let active = frames[first..].iter().take_while(|f| is_descend(f)).count();
        let callers = &frames[first + active..];
        let whole = !sample.is_truncated().unwrap();
        if whole {
            assert_eq!(active, calls, "{frames:?}");
            assert_eq!(callers[0], "Resumed.task", "{frames:?}");
            let is_run = |frame: &String| frame == "java.lang.VirtualThread.run";
            assert!(callers.iter().any(is_run), "{frames:?}");
        } else {
            let known = ["Resumed.task", "jdk.internal.vm.Continuation.enterSpecial"];
            assert!(active <= calls, "{frames:?}");
            let caller = callers.first().map(String::as_str);
            assert!(
                caller.is_none_or(|name| known.contains(&name)),
                "{frames:?}"
            );
        }
        counts.0 += usize::from(whole);
        counts.1 += 1;
    }
    counts
}

/// What the stacks of one event type show of a known number of calls.
#[derive(Debug, Default)]
struct KnownCalls {
    /// All of them, down to the root.
    right: usize,
    /// Fewer, and the stack says that frames are missing.
    marked: usize,
    wrong: usize,
}

impl KnownCalls {
    fn count(events: &[Event]) -> Self {
        let mut counts = Self::default();
        for event in distinct(events.iter().collect()) {
            let frames = event.frames();
            // A carrier that is about to run the thread, or a stack that was not walked.
            let is_thread = |frame: &String| frame == "Parking.task" || frame == "Parking.descend";
            let Some(calls) = event.text("calls") else {
                continue;
            };
            if !frames.iter().any(is_thread) {
                continue;
            }
            let calls: usize = calls.parse().unwrap();
            let active = frames.iter().filter(|f| *f == "Parking.descend").count();
            let is_marked = event.is_truncated().unwrap()
                || frames[0] == "ctxagent.VirtualThread.suspending_or_resuming";
            match active == calls {
                true => counts.right += 1,
                false if is_marked && active < calls => counts.marked += 1,
                false => {
                    println!("{active} instead of {calls}: {frames:?}");
                    counts.wrong += 1;
                }
            }
        }
        counts
    }
}

/// Threads that do little else than block are mostly found while the VM moves their frames.
#[test]
fn stacks_of_threads_that_switch_are_right_or_marked() {
    for jdk in Jdk::with_virtual_threads() {
        let (_, recording) = Jvm::recording(jdk, "event=cpu+wall,interval=1ms,wall=5ms")
            .flag("-XX:CompileCommand=dontinline,Parking.descend")
            .program("Parking 60 60 4000")
            .record();
        for event in ["jdk.ExecutionSample", "profiler.WallClockSample"] {
            let events = recording.events(event);
            let counts = KnownCalls::count(&events);
            println!("JDK {}, {event}: {counts:?}", jdk.version);
            let KnownCalls {
                right,
                marked,
                wrong,
            } = counts;
            assert!(right > 50, "{right} right");
            assert!(marked <= right, "{marked} marked");
            // One in about 16,000 is known, in the middle of such a move; before, 9 in 100 were.
            assert!(wrong * 200 <= right + 199, "{wrong} wrong of {right}");
        }
    }
}

/// The frame in which a virtual thread runs on its carrier.
const ENTRY: &str = "jdk.internal.vm.Continuation.enterSpecial:0";

/// Name and line of each frame from the caller of `Chains.compute` to the thread's root.
type Chain = Vec<String>;

/// The chain of a stack that is in `Chains.compute`.
fn chain_of(event: &Event) -> Option<Chain> {
    let frames = event.placed_frames();
    let computing = frames.iter().position(|f| f.name == "Chains.compute")?;
    let named = frames[computing + 1..].iter().map(|frame| {
        let line = frame.line.unwrap_or(0);
        format!("{}:{line}", without_hidden_name(&frame.name))
    });
    Some(up_to_root(named))
}

/// What stands below `run` is the VM's own.
fn up_to_root(frames: impl Iterator<Item = String>) -> Chain {
    let mut chain = Vec::new();
    for frame in frames {
        let is_root = frame.starts_with("java.lang.VirtualThread.run:");
        chain.push(frame);
        if is_root {
            break;
        }
    }
    chain
}

/// `Chains$$Lambda/0x00007f.apply` without the number, which each tool writes in its own way.
fn without_hidden_name(method: &str) -> String {
    let number = ["/0x", "+0x", ".0x"].iter().find_map(|it| method.find(it));
    match (number, method.rfind('.')) {
        (Some(end), Some(name)) => format!("{}{}", &method[..end], &method[name..]),
        _ => method.to_owned(),
    }
}

/// Chains by label, as the program has printed them.
fn printed_chains(stdout: &str) -> HashMap<String, Chain> {
    let chain = |line: &str| {
        let (label, frames) = line.split_once(' ')?;
        label.parse::<u32>().ok()?; // the JDK's recorder prints, too
        let frames = frames.split(' ').map(|frame| {
            let (method, line) = frame.rsplit_once(':').unwrap();
            format!("{}:{line}", without_hidden_name(method))
        });
        Some((label.to_owned(), up_to_root(frames)))
    };
    stdout.lines().filter_map(chain).collect()
}

fn chains(jdk: Jdk, test_dir: &TestDir) -> Jvm {
    Jvm::new(jdk, test_dir)
        .agent("start,interval=1ms,file=app.jfr")
        .flag("-XX:+UnlockDiagnosticVMOptions")
        .flag("-XX:+ShowHiddenFrames")
        .flag("--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED")
        .program("Chains 4 2500")
}

/// Our samples and those of the JDK's recorder on one load, against `Thread.getStackTrace`: an HTTP
/// server, streams, futures, recursion and continuations within others, on virtual threads that
/// block in between.
#[test]
fn stacks_equal_those_of_get_stack_trace_and_the_recorder() {
    let theirs = "-XX:StartFlightRecording:settings=none,+jdk.ExecutionSample#enabled=true,\
        +jdk.ExecutionSample#period=1ms,filename=theirs.jfr";
    for jdk in Jdk::with_virtual_threads() {
        let test_dir = TestDir::new();
        let run = chains(jdk, &test_dir)
            // Compiled code becomes invalid while frames of it are in the heap.
            .flag("-XX:+DeoptimizeNMethodBarriersALot")
            .flag("-XX:FlightRecorderOptions:stackdepth=200")
            .flag(theirs)
            .run_ok();
        let known = printed_chains(&run.stdout);
        let [ours, theirs] = ["app.jfr", "theirs.jfr"].map(|name| {
            let recording = Recording::new(test_dir.file(name));
            let events = recording.samples();
            assert_known_chains(&format!("{jdk}, {name}"), &events, &known)
        });
        println!("{jdk}: {} chains, {ours:?} and {theirs:?}", known.len());
    }
}

/// Much of the time is spent in a handler of another profiler, and belongs to what it interrupts.
#[test]
fn handler_of_another_signal_is_in_no_stack() {
    for jdk in Jdk::with_virtual_threads() {
        let test_dir = TestDir::new();
        let run = chains(jdk, &test_dir).preload("other_handler").run_ok();
        let mut lines = run.stderr.lines();
        let calls = lines.find_map(|line| line.strip_prefix("other handler: "));
        let calls: u32 = calls.unwrap().parse().unwrap();
        let known = printed_chains(&run.stdout);
        let events = Recording::new(test_dir.file("app.jfr")).samples();
        let (_, all) = assert_known_chains(&jdk.to_string(), &events, &known);
        let lost = |event: &&Event| event.frames()[0].contains("native_without_anchor");
        let lost = events.iter().filter(lost).count();
        println!("{jdk}: {lost} lost beside {all}, {calls} calls");
        assert!(calls > 100, "{calls} calls");
        assert!(lost * 20 < all, "{lost} lost beside {all}");
    }
}

/// How many events have a stack that equals a known chain, of how many.
fn assert_known_chains(
    recorder: &str,
    events: &[Event],
    known: &HashMap<String, Chain>,
) -> (usize, usize) {
    let (mut whole, mut cut) = (Vec::new(), Vec::new());
    for event in events {
        let Some(mut chain) = chain_of(event) else {
            continue;
        };
        let is_cut = event.is_truncated().unwrap();
        // Stands for what is missing in the heap.
        if is_cut && chain.last().is_some_and(|frame| frame == ENTRY) {
            chain.pop();
        }
        let label = event.text("chain");
        let possible: Vec<_> = known
            .iter()
            .filter_map(|(name, full)| label.is_none_or(|l| l == name).then_some(full))
            .collect();
        let is_known = possible.iter().any(|full| {
            if is_cut {
                full.starts_with(&chain)
            } else {
                **full == chain
            }
        });
        assert!(
            is_known,
            "{recorder}: label {label:?}, cut: {is_cut}: {}",
            difference(event, &chain, &possible)
        );
        if is_cut { &mut cut } else { &mut whole }.push(event);
    }
    let counts = (whole.len(), whole.len() + cut.len());
    assert!(counts.1 > 50, "{recorder}: {} samples", counts.1);
    let [whole, cut] = [whole, cut].map(|events| distinct(events).len());
    assert!(
        (whole + 1) * 100 >= (whole + cut) * 99,
        "{recorder}: {cut} are cut, {whole} are whole"
    );
    counts
}

/// A stack beside the known chain that it equals for longest.
fn difference(event: &Event, chain: &Chain, known: &[&Chain]) -> String {
    let same = |full: &Chain| full.iter().zip(chain).take_while(|(a, b)| a == b).count();
    let nearest = known.iter().max_by_key(|full| same(full));
    let (count, rest) = nearest.map_or((0, &[][..]), |full| (same(full), &full[same(full)..]));
    let inner: Vec<_> = event
        .placed_frames()
        .iter()
        .take_while(|frame| frame.name != "Chains.compute")
        .map(|frame| format!("{}:{:?}@{:?}", frame.name, frame.line, frame.bytecode_index))
        .collect();
    format!(
        "in {}, then {count} known frames, then\n{}\nwhere is known\n{}",
        inner.join(" "),
        chain[count..].join(" "),
        rest.join(" ")
    )
}

#[test]
fn truncated_stack_says_so() {
    for (options, calls, most) in [("", "3000", 2048), ("jstackdepth=50", "100", 50)] {
        let stacks = stacks_of_a_recursion(options, calls);
        let cut = stacks.iter().filter(|stack| **stack == (most, false, true));
        let (cut, all) = (cut.count(), stacks.len());
        println!("{cut} of {all} stacks are cut");
        assert!(cut * 100 >= all * 99, "{stacks:?}");
    }
}
