//! What the writer puts on disk, judged by the independent checker.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::wildcard_imports,
    clippy::cast_precision_loss,
    reason = "tests"
)]

mod common;

use common::checker::{self, Value};
use common::scenario::{EPOCH_NANOS, config, named, odd_texts, one_of_each, stack, write_full};
use ctxagent_events::*;
use jfr_format::read::{Chunks, ParsedChunk};
use jfr_format::write::*;

const EIGHT: [&str; 8] = ["http.route", "tenant", "c", "d", "e", "f", "g", "h"];

fn create(columns: Columns) -> Recording<MemoryStorage> {
    Recording::create(MemoryStorage::new(), config(columns)).unwrap()
}

fn finished(mut r: Recording<MemoryStorage>, now: Ticks) -> Vec<u8> {
    assert!(r.finish(now).unwrap().compacted);
    r.storage().bytes().to_vec()
}

#[test]
fn empty_recording_is_readable_from_the_first_instant() {
    let r = create(named(&[]));
    let before = checker::read(r.storage().bytes());
    assert_eq!(before.chunks.len(), 1);
    assert_eq!(before.chunks[0].start_nanos, EPOCH_NANOS.cast_signed());
    let after = checker::read(&finished(r, Ticks(5)));
    assert_eq!(after.chunks[0].flags, 3);
    assert_eq!(after.chunks[0].duration, 5_000);
}

#[test]
fn every_event_is_declared_and_found_again() {
    for columns in [named(&[]), named(&["a"]), named(&EIGHT), Columns::Auto] {
        let mut r = create(columns);
        let value = r.attribute_value("v");
        let context = r.context(Ticks(1), &[value; 8]);
        one_of_each(&mut r, Ticks(2), context);
        let stack = stack(&mut r, 2, 0);
        let thread = r.thread(&Thread::native("native", 3));
        let state = r.state("STATE_RUNNABLE");
        let sample = Sample {
            at: Ticks(3),
            thread,
            stack,
            state,
            context,
            weight: 1,
        };
        r.execution_sample(&sample);
        let file = checker::read(&finished(r, Ticks(9)));
        for event in SCHEMA.events {
            let count = file.named(event.name).count();
            let optional = ["ctxagent.Context", "ctxagent.ContextAttribute"].contains(&event.name);
            assert!(count > 0 || optional, "{} is missing", event.name);
        }
    }
}

#[test]
fn full_scenario_reads_back() {
    let mut r = create(named(&EIGHT));
    let written = write_full(&mut r);
    let file = checker::read(&finished(r, Ticks(300_000)));
    assert_eq!(file.chunks.len(), written.chunks);
    assert_eq!(
        file.named("jdk.ExecutionSample").count(),
        written.execution_samples
    );
    let texts: Vec<_> = file
        .named("jdk.ExecutionSample")
        .step_by(2)
        .map(|e| file.simple_text(e.get("http_route")).unwrap())
        .collect();
    assert_eq!(texts, [odd_texts(), odd_texts(), odd_texts()].concat());
    for sample in file.named("jdk.ExecutionSample") {
        assert_eq!(
            file.simple_text(sample.get("tenant")).as_deref(),
            Some("acme")
        );
        assert_eq!(sample.get("sampledThread"), sample.get("eventThread"));
        assert!(sample.number("contextId") > 0);
    }
    let failed = file.named("jdk.ExecutionSample").nth(1).unwrap();
    assert_eq!(
        file.frames(failed.get("stackTrace")),
        ["ctxagent/NoStack.walk_failed"]
    );
}

#[test]
fn renamed_thread_gets_a_key_of_its_own_in_each_chunk() {
    let mut r = create(named(&[]));
    let mut keys = Vec::new();
    for name in ["before", "after"] {
        let thread = r.thread(&Thread::native(name, 9));
        let (stack, state) = (stack(&mut r, 1, 0), r.state("STATE_RUNNABLE"));
        let context = Context::NONE;
        r.execution_sample(&Sample {
            at: Ticks(1),
            thread,
            stack,
            state,
            context,
            weight: 1,
        });
        keys.push(thread);
        r.rotate(Ticks(10)).unwrap();
    }
    assert_ne!(keys[0], keys[1]);
    let file = checker::read(&finished(r, Ticks(20)));
    let names: Vec<_> = file
        .named("jdk.ExecutionSample")
        .map(|e| file.field(e.get("sampledThread"), "osName"))
        .collect();
    assert_eq!(
        names,
        ["before", "after"].map(|n| Value::Text(Some(n.to_owned())))
    );
}

#[test]
fn same_values_keep_their_keys_over_chunks() {
    let mut r = create(named(&EIGHT));
    let mut seen = Vec::new();
    for i in 0..20 {
        seen.push((
            stack(&mut r, 5, 1),
            r.attribute_value("v"),
            r.state("STATE_RUNNABLE"),
        ));
        r.rotate(Ticks(i + 1)).unwrap();
    }
    assert!(seen.iter().all(|s| *s == seen[0]));
}

#[test]
fn large_weights_become_several_events_with_the_same_sum() {
    for columns in [named(&[]), named(&["a"])] {
        let mut r = create(columns);
        let thread = r.thread(&Thread::native("t", 1));
        let (stack, state) = (stack(&mut r, 1, 0), r.state("STATE_RUNNABLE"));
        for weight in [0, 1, 76, 99, 100, 127, 1000] {
            let context = Context::NONE;
            r.execution_sample(&Sample {
                at: Ticks(1),
                thread,
                stack,
                state,
                context,
                weight,
            });
        }
        let file = checker::read(&finished(r, Ticks(2)));
        let weights: Vec<_> = file
            .named("jdk.ExecutionSample")
            .map(|e| e.number("weight"))
            .collect();
        assert_eq!(weights.iter().sum::<i64>(), 1403);
        assert!(weights.iter().all(|w| *w <= 99));
    }
}

#[test]
fn automatic_columns_are_named_in_all_chunks() {
    let mut r = create(Columns::Auto);
    let attribute = |name: &str| Attribute {
        name: name.into(),
        ..Attribute::default()
    };
    r.flush(Ticks(1)).unwrap();
    r.attribute(Ticks(1), 0, &attribute("http.route")).unwrap();
    r.rotate(Ticks(2)).unwrap();
    r.attribute(Ticks(3), 1, &attribute("late")).unwrap();
    assert!(r.attribute(Ticks(3), 8, &attribute("ninth")).is_err());
    r.rotate(Ticks(4)).unwrap();
    r.attribute(Ticks(5), 2, &attribute("later")).unwrap();
    r.rotate(Ticks(6)).unwrap();
    r.attribute(Ticks(7), 3, &attribute("last")).unwrap();
    let bytes = finished(r, Ticks(8));
    let mut names = Vec::new();
    for chunk in Chunks::new(&bytes) {
        let chunk = ParsedChunk::new(&chunk).unwrap();
        let is_sample = |t: &&jfr_format::read::Type| *t.name == *"jdk.ExecutionSample";
        let sample = chunk.metadata().types().iter().find(is_sample).unwrap();
        let fields = sample.fields.iter().map(|f| f.name.to_string());
        names.push(fields.skip(5).take(5).collect::<Vec<_>>());
    }
    assert_eq!(
        names,
        vec![["http_route", "late", "later", "last", "context4"]; 4]
    );
    let file = checker::read(&bytes);
    let sample = file
        .types
        .values()
        .find(|t| t.name == "jdk.ExecutionSample")
        .unwrap();
    let names: Vec<_> = sample.fields.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names[5..7], ["http_route", "late"]);
    let described: Vec<_> = file
        .named("ctxagent.ContextAttribute")
        .map(|e| (e.chunk, e.number("slot"), e.text("name").to_owned()))
        .collect();
    let expected = [
        (0, 0, "http.route"),
        (1, 0, "http.route"),
        (1, 1, "late"),
        (2, 0, "http.route"),
        (2, 1, "late"),
        (2, 2, "later"),
        (3, 0, "http.route"),
        (3, 1, "late"),
        (3, 2, "later"),
        (3, 3, "last"),
    ];
    assert_eq!(described, expected.map(|(c, s, n)| (c, s, n.to_owned())));
}

#[test]
fn what_a_column_means_survives_what_is_given_up() {
    let mut r = create(Columns::Auto);
    r.storage_mut().fail_from(Some(0));
    let attribute = Attribute {
        name: "http.route".into(),
        ..Attribute::default()
    };
    r.attribute(Ticks(2), 3, &attribute).unwrap();
    assert!(r.flush(Ticks(3)).is_err());
    r.discard_unflushed();
    r.storage_mut().fail_from(None);
    let value = r.attribute_value("/cart");
    let mut values = [AttributeKey::NONE; 8];
    values[3] = value;
    r.context(Ticks(4), &values);
    let file = checker::read(&finished(r, Ticks(5)));
    let described: Vec<_> = file.named("ctxagent.ContextAttribute").collect();
    assert_eq!(described.len(), 1);
    assert_eq!(described[0].number("slot"), 3);
    assert_eq!(described[0].text("name"), "http.route");
    let context = file.named("ctxagent.Context").next().unwrap();
    let shown = file.simple_text(context.get("http_route"));
    assert_eq!(shown.as_deref(), Some("/cart"));
}

#[test]
fn contexts_are_described_once_per_chunk() {
    let mut r = create(named(&["a", "b"]));
    for chunk in 0..2 {
        let value = r.attribute_value("v");
        let mut values = [AttributeKey::NONE; 8];
        values[1] = value;
        let first = r.context(Ticks(1), &values);
        // Slots without a column do not make another context.
        values[7] = value;
        assert_eq!(r.context(Ticks(1), &values), first);
        assert_eq!(r.context(Ticks(1), &[AttributeKey::NONE; 8]), Context::NONE);
        if chunk == 0 {
            r.rotate(Ticks(5)).unwrap();
        }
    }
    let file = checker::read(&finished(r, Ticks(9)));
    let contexts: Vec<_> = file.named("ctxagent.Context").collect();
    assert_eq!(contexts.len(), 2);
    assert_eq!(file.simple_text(contexts[1].get("b")).as_deref(), Some("v"));
}

#[test]
fn settings_name_declared_events_only() {
    let file = checker::read(&finished(create(named(&[])), Ticks(1)));
    let settings: Vec<_> = file
        .named("jdk.ActiveSetting")
        .map(|e| {
            let id = e.number("id").cast_unsigned();
            (
                file.types[&id].name.as_str(),
                e.text("name"),
                e.text("value"),
            )
        })
        .collect();
    assert_eq!(
        settings,
        [
            ("jdk.ExecutionSample", "event", "cpu"),
            ("jdk.ExecutionSample", "interval", "20000000"),
            ("profiler.WallClockSample", "wall", "40000000"),
            ("jdk.JavaMonitorEnter", "threshold", "1 ms")
        ]
    );
}

#[test]
fn file_outgrows_its_tail_and_is_compacted() {
    let mut config = config(named(&["a"]));
    config.reserve_bytes = 64;
    let mut r = Recording::create(MemoryStorage::new(), config).unwrap();
    for i in 0..200u64 {
        let value = r.attribute_value(&format!("value {i} {}", "y".repeat(200)));
        let mut values = [AttributeKey::NONE; 8];
        values[0] = value;
        r.context(Ticks(i), &values);
        r.flush(Ticks(i)).unwrap();
        if i % 50 == 7 {
            r.rotate(Ticks(i)).unwrap();
        }
        checker::read(r.storage().bytes());
    }
    let content = r.file_bytes();
    let bytes = finished(r, Ticks(500));
    assert_eq!(bytes.len() as u64, content);
    assert_eq!(checker::read(&bytes).named("ctxagent.Context").count(), 200);
}

/// It is neither read nor written again, whatever its length; in the end one call cuts it.
#[test]
fn growth_and_finish_write_only_what_is_new() {
    let mut config = config(named(&["a"]));
    config.reserve_bytes = 64 << 10;
    let mut r = Recording::create(MemoryStorage::recording(), config).unwrap();
    for i in 0..1000u64 {
        let mut values = [AttributeKey::NONE; 8];
        values[0] = r.attribute_value(&format!("value {i} {}", "y".repeat(2000)));
        r.context(Ticks(i), &values);
        r.flush(Ticks(i)).unwrap();
    }
    let content = r.file_bytes();
    let before_end = r.storage().operations().len();
    r.finish(Ticks(2000)).unwrap();
    let operations = r.storage().operations();
    let (mut written, mut appended) = (0, 0);
    for operation in operations {
        match operation {
            Operation::Write(_, bytes) => written += bytes.len() as u64,
            Operation::Append(bytes) => appended += bytes.len() as u64,
            Operation::SetLen(_) | Operation::Publish => {}
        }
    }
    println!("{content} bytes of content: {written} written, {appended} in pages");
    assert!(appended < content + (128 << 10) && written < content + content / 8);
    assert!(operations.len() - before_end < 10);
    assert_eq!(r.storage().bytes().len() as u64, content);
}

#[test]
fn huge_file_keeps_its_hole_and_is_readable() {
    let mut config = config(named(&[]));
    config.compact_below_bytes = 10;
    let mut r = Recording::create(MemoryStorage::new(), config).unwrap();
    let finished = r.finish(Ticks(1)).unwrap();
    assert!(!finished.compacted);
    assert_eq!(checker::read(r.storage().bytes()).chunks[0].flags, 3);
    assert!(r.flush(Ticks(2)).is_err());
    assert_eq!(r.finish(Ticks(2)).unwrap(), finished);
}

#[test]
fn snapshot_is_a_compact_copy_and_the_recording_goes_on() {
    let mut r = create(named(&EIGHT));
    write_full(&mut r);
    let mut copy = MemoryStorage::new();
    let len = r.snapshot_to(&mut copy, Ticks(290_000)).unwrap();
    assert_eq!(copy.bytes().len() as u64, len);
    let copied = checker::read(copy.bytes());
    let whole = checker::read(&finished(r, Ticks(300_000)));
    assert_eq!(copied.events.len(), whole.events.len());
    assert_eq!(copied.chunks.last().unwrap().flags, 1);
}

#[test]
fn discarded_data_leave_what_follows_whole() {
    let mut r = create(named(&EIGHT));
    let context = |r: &mut Recording<_>, text: &str| {
        let value = r.attribute_value(text);
        r.context(Ticks(1), &[value; 8])
    };
    context(&mut r, "kept");
    r.flush(Ticks(2)).unwrap();
    context(&mut r, "lost");
    let generation = r.generation();
    assert_eq!(r.discard_unflushed(), 1);
    assert!(r.generation() > generation);
    context(&mut r, "kept");
    let file = checker::read(&finished(r, Ticks(3)));
    let texts: Vec<_> = file
        .named("ctxagent.Context")
        .map(|e| file.simple_text(e.get("c")).unwrap())
        .collect();
    assert_eq!(texts, ["kept", "kept"]);
}

#[test]
fn memory_is_bounded_by_the_chunk() {
    let mut r = create(named(&EIGHT));
    let mut peak = 0;
    for chunk in 0..30u64 {
        for i in 0..2000u64 {
            r.attribute_value(&format!("request {chunk} {i}"));
        }
        peak = peak.max(r.size_hint_bytes());
        r.rotate(Ticks(chunk + 1)).unwrap();
    }
    assert!(peak < 1 << 20, "{peak}");
}
