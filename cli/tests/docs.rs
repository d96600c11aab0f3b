//! What `docs/user-guide/ctxjfr.md` and the README show is what the program prints.
//! `CTXJFR_BLESS=1 cargo test -p ctxjfr --test docs` writes the outputs anew.
#![expect(clippy::unwrap_used, reason = "tests")]

#[allow(dead_code, reason = "shared, each test uses its part")]
mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use common::*;
use jfr_format::write::{Attribute, Thread, Ticks};
use serde_json::Value;

fn page(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(name)
}

/// Compares a page with what it should be, or writes it.
fn compare(name: &str, expected: &str) {
    let path = page(name);
    if std::env::var_os("CTXJFR_BLESS").is_some() {
        std::fs::write(&path, expected).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expected, "{name}");
}

/// The words of a shell command without variables.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in command.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn page_shows_the_real_outputs() {
    let dir = with_shop();
    let text = std::fs::read_to_string(page("docs/user-guide/ctxjfr.md")).unwrap();
    let mut expected = String::new();
    let mut shown = 0;
    // Every second part is a fenced block.
    for (number, part) in text.split("```").enumerate() {
        if number > 0 {
            expected.push_str("```");
        }
        let command = part.strip_prefix("\n$ ctxjfr ").filter(|_| number % 2 == 1);
        let Some((command, _)) = command.and_then(|part| part.split_once('\n')) else {
            expected.push_str(part);
            continue;
        };
        shown += 1;
        let words = words(command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        expected.extend(["\n$ ctxjfr ", command, "\n", &dir.ok(&words)]);
    }
    assert!(shown >= 3, "{shown} commands with output");
    compare("docs/user-guide/ctxjfr.md", &expected);
}

/// `9.09 s`, `290 ms` as intervals of 10 ms.
fn intervals(time: &str, unit: &str) -> u32 {
    let number: f64 = time.parse().unwrap();
    let intervals = if unit == "s" {
        number * 100.0
    } else {
        number / 10.0
    };
    assert!((0.0..1e6).contains(&intervals), "{time} {unit}");
    format!("{intervals:.0}").parse().unwrap()
}

/// A thread whose time is in the row.
fn thread_of(row: &str) -> Thread<'static> {
    match row {
        "(JIT)" => Thread::native("C2 CompilerThre", 81),
        "(GC)" => Thread::native("GC Thread#0", 82),
        "(VM)" => Thread::native("VM Thread", 83),
        _ => worker(),
    }
}

/// The README's output is measured, so another run has other numbers: it must be what the program
/// prints of these.
#[test]
fn readme_shows_the_real_output() {
    let text = std::fs::read_to_string(page("README.md")).unwrap();
    let start = text.find("\n target/demo/demo.jfr: ").unwrap() + 1;
    let len = text[start..].find("```").unwrap();
    let block = &text[start..start + len];
    let covered = block.split(" of CPU time in ").nth(1).unwrap();
    let (seconds, _) = covered.split_once(" s = ").unwrap();
    let micros = u64::from(intervals(seconds, "s")) * 10_000;

    let mut shop = Shop::new();
    let name = "endpoint".into();
    let attribute = Attribute {
        name,
        ..Attribute::default()
    };
    shop.r.attribute(Ticks(2), 0, &attribute).unwrap();
    let mut weights = 0;
    let rows = block
        .lines()
        .skip_while(|line| !line.starts_with(" endpoint "));
    for row in rows.skip(1).take_while(|line| !line.is_empty()) {
        let cells: Vec<&str> = row.split_whitespace().collect();
        let (name, samples) = (cells[0], cells[cells.len() - 1]);
        let samples: u32 = samples.replace(',', "").parse().unwrap();
        let weight = intervals(cells[1], cells[2]);
        let label = name.starts_with('/').then_some(name);
        let share = weight / samples;
        for n in 0..samples {
            // As even as whole numbers are.
            let weight = share + u32::from(n < weight % samples);
            shop.sample_of(
                &thread_of(name),
                "STATE_RUNNABLE",
                [label, None],
                "m",
                weight,
            );
        }
        weights += i64::from(weight);
    }
    let accounting = block.split(" accounting: ").nth(1).unwrap();
    let (signals, _) = accounting.split_once(' ').unwrap();
    let signals: i64 = signals.replace(',', "").parse().unwrap();
    shop.stats(&[("signals", signals), ("written", signals)]);
    if let Some(clock) = block.split(" CPU time: by the clock ").nth(1) {
        let (seconds, _) = clock.split_once(" s,").unwrap();
        let nanos = i64::from(intervals(seconds, "s")) * 10_000_000;
        shop.stats(&[("overruns", weights - signals), ("cpu.process", nanos)]);
    }
    let dir = TestDir::new();
    std::fs::create_dir_all(dir.path("target/demo")).unwrap();
    let dir = dir.with("target/demo/demo.jfr", &shop.bytes_until(micros));
    let report = dir.ok(&["report", "target/demo/demo.jfr", "--by", "endpoint"]);
    let (shown, _next) = report.split_once("\n next:").unwrap();
    compare(
        "README.md",
        &[&text[..start], shown, &text[start + len..]].concat(),
    );
}

/// Long options in a text.
fn options(text: &str) -> BTreeSet<String> {
    let parts = text.split("--").skip(1);
    let names = parts.map(|part| {
        let end = part.find(|c: char| !(c.is_ascii_lowercase() || c == '-'));
        part[..end.unwrap_or(part.len())].to_owned()
    });
    names.filter(|name| name.len() > 1).collect()
}

#[test]
fn page_names_every_option() {
    let dir = TestDir::new();
    let mut known = BTreeSet::new();
    for command in [
        "record",
        "top",
        "report",
        "flame",
        "convert",
        "labels",
        "coverage",
        "summary",
        "print",
        "check",
        "counters",
        "completions",
        "ps",
        "doctor",
        "start",
        "stop",
        "dump",
        "status",
        "pause",
        "resume",
    ] {
        known.append(&mut options(&dir.ok(&[command, "--help"])));
    }
    for general in ["help", "version"] {
        known.remove(general);
    }
    let named = options(&std::fs::read_to_string(page("docs/user-guide/ctxjfr.md")).unwrap());
    assert_eq!(named, known);
}

/// Each object of a result with its fields, as the page writes both: an array's name ends in `[]`
/// if it holds objects. `total` and `accounting` are the same in all results.
fn objects(name: &str, value: &Value, into: &mut BTreeMap<String, BTreeSet<String>>) {
    let Value::Object(fields) = value else { return };
    let mut names = BTreeSet::new();
    for (field, value) in fields {
        let elements = value
            .as_array()
            .filter(|all| all.iter().any(Value::is_object));
        let shown = format!("{field}{}", if elements.is_some() { "[]" } else { "" });
        let path = match field.as_str() {
            "total" | "accounting" => field.clone(),
            _ => format!("{name} {shown}"),
        };
        // These are keyed by counter or cause.
        if !["counters", "lost_by_cause", "others"].contains(&field.as_str()) {
            for element in elements.map_or(std::slice::from_ref(value), Vec::as_slice) {
                objects(&path, element, into);
            }
        }
        names.insert(shown);
    }
    let known = into.entry(name.to_owned()).or_insert_with(|| names.clone());
    assert_eq!(
        *known, names,
        "{name}: other fields than in an object before"
    );
}

/// The objects of the page's JSON section: `- `object`: `field` (note), ...`.
fn listed_objects(page: &str) -> BTreeMap<String, BTreeSet<String>> {
    let (_, section) = page.split_once("\n## JSON\n").unwrap();
    let section = section.split("\n\nKinds of frames").next().unwrap();
    let items = section.split("\n- `").skip(1);
    // `tests/tests` has running JVMs.
    let of_jvms = [".top.1", ".ps.1", ".doctor.1"];
    let items = items.filter(|item| {
        let name = item.split('`').next().unwrap();
        !item.starts_with("print --json") && !of_jvms.iter().any(|jvms| name.contains(jvms))
    });
    let object = |item: &str| {
        let (name, fields) = item.split_once('`').unwrap();
        let mut depth = 0;
        let fields = fields.chars().filter(|c| {
            depth += i32::from(*c == '(');
            let is_note = depth > 0;
            depth -= i32::from(*c == ')');
            !is_note
        });
        let fields: String = fields.collect();
        let fields = fields.split('`').skip(1).step_by(2).map(str::to_owned);
        (name.to_owned(), fields.collect())
    };
    items.map(object).collect()
}

/// Scripts rely on these names: neither the program nor the page changes one alone.
#[test]
fn page_lists_exactly_the_json_fields() {
    let dir = with_shop();
    let mut printed = BTreeMap::new();
    for command in [
        &["report", "shop.jfr", "--by", "tenant", "--json"][..],
        &["labels", "shop.jfr", "--json"],
        &["summary", "shop.jfr", "--json"],
        &["check", "shop.jfr", "--json"],
        &["coverage", "shop.jfr", "--json"],
        &["flame", "shop.jfr", "--json"],
    ] {
        let json = dir.json(command);
        objects(json["schema"].as_str().unwrap(), &json, &mut printed);
    }
    let text = std::fs::read_to_string(page("docs/user-guide/ctxjfr.md")).unwrap();
    assert_eq!(listed_objects(&text), printed);
    for idiom in ["holds", "family", "signal_taken"] {
        assert!(!printed.values().any(|fields| fields.contains(idiom)));
    }
}

/// What `print --json` writes for each event.
#[test]
fn printed_events_have_type_and_values_and_are_whole() {
    let events = with_shop().ok(&["print", "shop.jfr", "--json"]);
    for line in events.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        let fields: Vec<&String> = event.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["type", "values", "is_cut"]);
        assert_eq!(event["is_cut"], false);
    }
}

#[test]
fn page_names_every_command() {
    let help = TestDir::new().ok(&["--help"]);
    let commands = help.split_once("Commands:\n").unwrap().1;
    let commands = commands.split("\n\n").next().unwrap();
    let known: BTreeSet<&str> = commands
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    let text = std::fs::read_to_string(page("docs/user-guide/ctxjfr.md")).unwrap();
    let (_, table) = text.split_once("| command | does |\n").unwrap();
    let table = table.split("\n\n").next().unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let named: BTreeSet<&str> = rows.filter_map(|row| row.split(' ').next()).collect();
    assert_eq!(named, known);
}
