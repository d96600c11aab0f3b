//! The file of the Firefox profiler, judged by the rules of its format: columns of one length,
//! places within tables, callers before callees, times in order.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::labels::TEXTS;
use crate::{Totals, common::*, converted, reported};

/// A sample: thread, time, weight, frames from the outermost on.
struct Sample {
    thread: String,
    pid: String,
    time: f64,
    weight: f64,
    stack: Vec<String>,
    /// Names and values of the markers that it lies in.
    labels: BTreeSet<(String, String)>,
}

/// A column of a table whose columns all have its length.
fn column<'t>(table: &'t Value, name: &str) -> &'t [Value] {
    let length = table["length"].as_u64().unwrap();
    for (column, values) in table.as_object().unwrap() {
        if let Some(values) = values.as_array() {
            assert_eq!(values.len() as u64, length, "{column}");
        }
    }
    let column = table[name].as_array();
    column.unwrap_or_else(|| panic!("no column {name}"))
}

fn place(value: &Value, table: &Value) -> usize {
    let (place, length) = (value.as_u64().unwrap(), table["length"].as_u64().unwrap());
    assert!(place < length);
    usize::try_from(place).unwrap()
}

struct Decoded(Value);

impl Decoded {
    fn new(bytes: &[u8]) -> Self {
        let json: Value = serde_json::from_slice(bytes).unwrap();
        assert_eq!(json["meta"]["preprocessedProfileVersion"], 61);
        assert_eq!(json["meta"]["categories"][0]["color"], "grey");
        for (table, columns) in [
            ("stackTable", &["prefix", "frame"][..]),
            (
                "frameTable",
                &[
                    "func",
                    "category",
                    "subcategory",
                    "line",
                    "column",
                    "nativeSymbol",
                    "address",
                    "inlineDepth",
                    "innerWindowID",
                ],
            ),
            (
                "funcTable",
                &[
                    "name",
                    "isJS",
                    "relevantForJS",
                    "resource",
                    "source",
                    "lineNumber",
                    "columnNumber",
                ],
            ),
            ("resourceTable", &["lib", "name", "host", "type"]),
            (
                "nativeSymbols",
                &["libIndex", "address", "name", "functionSize"],
            ),
            (
                "sources",
                &["id", "filename", "startLine", "startColumn", "sourceMapURL"],
            ),
        ] {
            for name in columns {
                column(&json["shared"][table], name);
            }
        }
        Self(json)
    }

    fn string(&self, place: &Value) -> String {
        let place = usize::try_from(place.as_u64().unwrap()).unwrap();
        self.0["shared"]["stringArray"][place]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Frames of a stack, from the outermost on, with their lines.
    fn stack(&self, stack: &Value) -> Vec<String> {
        let shared = &self.0["shared"];
        let (stacks, frames, functions) = (
            &shared["stackTable"],
            &shared["frameTable"],
            &shared["funcTable"],
        );
        let mut names = Vec::new();
        let mut at = Some(place(stack, stacks));
        while let Some(stack) = at {
            let frame = place(&column(stacks, "frame")[stack], frames);
            let category = &column(frames, "category")[frame];
            let categories = self.0["meta"]["categories"].as_array().unwrap();
            let category = &categories[usize::try_from(category.as_u64().unwrap()).unwrap()];
            let part = column(frames, "subcategory")[frame].as_u64().unwrap();
            let part = &category["subcategories"][usize::try_from(part).unwrap()];
            let name = &column(functions, "name")[place(&column(frames, "func")[frame], functions)];
            names.push(format!(
                "{}:{} {} {}",
                self.string(name),
                column(frames, "line")[frame],
                category["name"].as_str().unwrap(),
                part.as_str().unwrap()
            ));
            let prefix = &column(stacks, "prefix")[stack];
            at = (!prefix.is_null()).then(|| place(prefix, stacks));
            assert!(at.is_none_or(|caller| caller < stack));
        }
        names.reverse();
        names
    }

    fn samples(&self) -> Vec<Sample> {
        let mut samples = Vec::new();
        for thread in self.0["threads"].as_array().unwrap() {
            let (table, markers) = (&thread["samples"], &thread["markers"]);
            let numbers = |table: &Value, name: &str| -> Vec<f64> {
                let column = column(table, name).iter();
                column.map(|value| value.as_f64().unwrap()).collect()
            };
            let (times, weights) = (numbers(table, "time"), numbers(table, "weight"));
            let (starts, ends) = (numbers(markers, "startTime"), numbers(markers, "endTime"));
            assert!(times.is_sorted() && starts.is_sorted());
            for (row, stack) in column(table, "stack").iter().enumerate() {
                let within = (0..starts.len())
                    .filter(|&marker| starts[marker] <= times[row] && times[row] <= ends[marker]);
                let labels = within.map(|marker| {
                    let data = &column(markers, "data")[marker];
                    assert_eq!(data["type"], self.0["meta"]["markerSchema"][0]["name"]);
                    assert_eq!(column(markers, "phase")[marker], 1);
                    let name = &column(markers, "name")[marker];
                    (self.string(name), self.string(&data["value"]))
                });
                samples.push(Sample {
                    thread: thread["name"].as_str().unwrap().to_owned(),
                    pid: thread["pid"].as_str().unwrap().to_owned(),
                    time: times[row],
                    weight: weights[row],
                    stack: self.stack(stack),
                    labels: labels.collect(),
                });
            }
        }
        samples
    }

    /// Sums of a label's values, in nanoseconds.
    fn totals(&self, key: &str) -> Totals {
        let mut totals = Totals::new();
        for sample in self.samples() {
            let mut values = sample.labels.into_iter().filter(|(name, _)| name == key);
            let value = values.next().map(|(_, value)| value);
            assert_eq!(values.next(), None, "one value of {key}");
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "whole"
            )]
            let nanos = (sample.weight * 1e6).round() as u64;
            *totals.entry(value).or_default() += nanos;
        }
        totals
    }
}

#[test]
fn samples_have_time_weight_stack_and_labels() {
    let dir = with_shop();
    let decoded = Decoded::new(&converted(&dir, "shop.jfr", "firefox", &[]));
    for key in ["http.route", "tenant"] {
        assert_eq!(decoded.totals(key), reported(&dir, "shop.jfr", "cpu", key));
    }
    let samples = decoded.samples();
    let first = &samples[0];
    assert_eq!((&*first.thread, &*first.pid), ("worker-1", "cpu_ns"));
    assert_eq!(
        first.stack,
        [
            "java.lang.Thread.run:12 Java Interpreted",
            "app.Shop.checkout:12 Java Compiled"
        ]
    );
    let times: Vec<f64> = samples.iter().map(|sample| sample.time).collect();
    assert!(
        times.iter().all(|&time| (0.0..1001.0).contains(&time)),
        "{times:?}"
    );
}

#[test]
fn labels_are_the_same_after_decoding_and_inert() {
    let mut shop = Shop::new();
    for text in TEXTS {
        shop.sample(Some(text), None, "m", 1);
    }
    let dir = TestDir::new().with("l.jfr", &shop.bytes());
    let bytes = converted(&dir, "l.jfr", "firefox", &[]);
    let totals = Decoded::new(&bytes).totals("http.route");
    assert_eq!(totals, reported(&dir, "l.jfr", "cpu", "http.route"));
    let text = String::from_utf8(bytes).unwrap();
    assert!(!text.contains(|c: char| c == '<' || c.is_control() && c != '\n'));
}

#[test]
fn each_kind_is_a_process() {
    let mut shop = Shop::new();
    shop.sample(Some("/a"), None, "m", 1);
    shop.wait("/a", 1500);
    let dir = TestDir::new().with("k.jfr", &shop.bytes());
    let decoded = Decoded::new(&converted(&dir, "k.jfr", "firefox", &[]));
    let kinds = decoded.0["threads"].as_array().unwrap().iter();
    let kinds: Vec<(&str, &str)> = kinds
        .map(|thread| {
            let weight = thread["samples"]["weightType"].as_str().unwrap();
            (thread["pid"].as_str().unwrap(), weight)
        })
        .collect();
    assert_eq!(kinds, [("cpu_ns", "tracing-ms"), ("lock_ns", "tracing-ms")]);
    assert_eq!(decoded.totals("http.route").len(), 1);
    assert_eq!(
        decoded.totals("http.route")[&Some("/a".to_owned())],
        11_500_000
    );
}
