//! The pprof format, decoded.

use std::io::Read;

use jfr_format::write::Thread;

use crate::wire::{Field, all, number, packed};
use crate::{Totals, common::*, converted};

/// A sample: its stack with lines, outermost first, its numbers, its labels.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) stack: Vec<(String, u64)>,
    pub(crate) values: Vec<u64>,
    pub(crate) labels: Vec<(String, String)>,
    /// Number and unit of each label.
    pub(crate) numbers: Vec<(u64, String)>,
}

/// A profile: name and unit of the numbers, and the samples.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) types: Vec<(String, String)>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) period: u64,
}

impl Decoded {
    pub(crate) fn new(packed_bytes: &[u8]) -> Self {
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(packed_bytes)
            .read_to_end(&mut bytes)
            .unwrap();
        let texts: Vec<String> = all(&bytes, 6).iter().map(|text| text.text()).collect();
        assert_eq!(texts[0], "");
        let text = |place: u64| texts[usize::try_from(place).unwrap()].clone();
        let pair = |bytes: &[u8]| (text(number(bytes, 1)), text(number(bytes, 2)));
        let functions = all(&bytes, 5).into_iter().map(Field::bytes);
        let functions: Vec<(u64, u64)> = functions
            .map(|function| (number(function, 1), number(function, 2)))
            .collect();
        let locations = all(&bytes, 4).into_iter().map(Field::bytes);
        let locations: Vec<(u64, (String, u64))> = locations
            .map(|location| {
                let line = all(location, 4)[0].bytes();
                let function = functions.iter().find(|f| f.0 == number(line, 1)).unwrap();
                let frame = (text(function.1), number(line, 2));
                (number(location, 1), frame)
            })
            .collect();
        let samples = all(&bytes, 2).into_iter().map(|field| {
            let sample = field.bytes();
            let frame = |id: &u64| {
                let location = locations.iter().find(|location| location.0 == *id);
                location.unwrap().1.clone()
            };
            let labels = all(sample, 3);
            Sample {
                stack: packed(sample, 1).iter().rev().map(frame).collect(),
                values: packed(sample, 2),
                labels: labels.iter().map(|label| pair(label.bytes())).collect(),
                numbers: labels
                    .iter()
                    .map(|label| (number(label.bytes(), 3), text(number(label.bytes(), 4))))
                    .collect(),
            }
        });
        Self {
            types: all(&bytes, 1).iter().map(|ty| pair(ty.bytes())).collect(),
            samples: samples.collect(),
            period: number(&bytes, 12),
        }
    }

    /// The sums of the number of this name by a label.
    pub(crate) fn totals(&self, name: &str, key: &str) -> Totals {
        let place = self.types.iter().position(|ty| ty.0 == name).unwrap();
        let mut totals = Totals::new();
        for sample in self.samples.iter().filter(|s| s.values[place] > 0) {
            let label = sample.labels.iter().find(|label| label.0 == key);
            let value = label.map(|label| label.1.clone());
            *totals.entry(value).or_default() += sample.values[place];
        }
        totals
    }
}

#[test]
fn samples_have_stack_lines_labels_and_thread() {
    let profile = Decoded::new(&converted(&with_shop(), "shop.jfr", "pprof", &[]));
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    let types = [pair("samples", "count"), pair("cpu", "nanoseconds")];
    assert_eq!((&*profile.types, profile.period), (&types[..], 10_000_000));
    let acme = pair("tenant", "acme");
    let sample = profile.samples.iter().find(|s| s.labels.contains(&acme));
    let sample = sample.unwrap();
    let frames = [("java.lang.Thread.run", 12), ("app.Shop.checkout", 12)];
    assert_eq!(
        sample.stack,
        frames.map(|(name, line)| (name.to_owned(), line))
    );
    assert_eq!(sample.values, [40, 400_000_000]);
    let labels = [
        pair("thread", "worker-1"),
        pair("http.route", "POST /checkout"),
        acme,
    ];
    assert_eq!(sample.labels, labels);
    // Samples with the same labels and stack are one.
    assert_eq!(profile.samples.len(), 4);
}

#[test]
fn kinds_of_samples_are_side_by_side() {
    let mut shop = Shop::new();
    shop.sample(Some("r"), None, "m", 3);
    shop.wait("r", 700);
    shop.wait("other", 300);
    let dir = TestDir::new().with("k.jfr", &shop.bytes());
    let profile = Decoded::new(&converted(&dir, "k.jfr", "pprof", &[]));
    let names: Vec<&str> = profile.types.iter().map(|ty| ty.0.as_str()).collect();
    assert_eq!(names, ["samples", "cpu", "contentions", "delay"]);
    for (name, event) in [("cpu", "cpu"), ("delay", "lock")] {
        let expected = crate::reported(&dir, "k.jfr", event, "http.route");
        assert_eq!(profile.totals(name, "http.route"), expected, "{name}");
    }
    let only = Decoded::new(&converted(&dir, "k.jfr", "pprof", &["--event", "lock"]));
    assert_eq!(only.types.len(), 2);
}

/// A value that is no number, or whose number is written otherwise, stays a text.
#[test]
fn numbers_of_a_label_have_a_unit() {
    let mut shop = Shop::new();
    let cases = [
        ("4096", "", 4096),
        ("-1", "", u64::MAX),
        ("0", "", 0),
        ("007", "007", 0),
        ("+1", "+1", 0),
        ("9223372036854775808", "9223372036854775808", 0),
        ("many", "many", 0),
    ];
    for (value, _, _) in cases {
        shop.sample(Some("r"), Some(value), "m", 1);
    }
    let dir = TestDir::new().with("n.jfr", &shop.bytes());
    let numeric = ["--numeric", "tenant=bytes"];
    let profile = Decoded::new(&converted(&dir, "n.jfr", "pprof", &numeric));
    let tenants = profile.samples.iter().map(|sample| {
        let place = sample.labels.iter().position(|l| l.0 == "tenant").unwrap();
        let (number, unit) = &sample.numbers[place];
        (sample.labels[place].1.as_str(), *number, unit.as_str())
    });
    let mut tenants: Vec<_> = tenants.collect();
    let mut expected = cases.map(|(_, text, number)| {
        let unit = if text.is_empty() { "bytes" } else { "" };
        (text, number, unit)
    });
    tenants.sort_unstable();
    expected.sort_unstable();
    assert_eq!(tenants, expected);
    let other = dir.fails(
        2,
        &["convert", "n.jfr", "-o", "csv=-", numeric[0], "tenant"],
    );
    assert!(other.contains("--numeric is for pprof"), "{other}");
    let absent = dir.run(&["convert", "n.jfr", "-o", "pprof=-", numeric[0], "size"]);
    let warning = String::from_utf8(absent.stderr).unwrap();
    assert!(
        warning.contains("no sample has a label 'size'"),
        "{warning}"
    );
}

/// An attribute called like a key of every sample has the name that `--by` takes.
#[test]
fn an_attribute_does_not_take_the_place_of_the_thread() {
    let mut shop = Shop::new();
    let attribute = jfr_format::write::Attribute {
        name: "thread".into(),
        ..Default::default()
    };
    let at = jfr_format::write::Ticks(2);
    shop.r.attribute(at, 0, &attribute).unwrap();
    let thread = Thread {
        java_id: 7,
        ..Thread::native("w", 70)
    };
    shop.sample_of(&thread, "STATE_RUNNABLE", [Some("x"), None], "m", 1);
    let dir = TestDir::new().with("t.jfr", &shop.bytes());
    let output = dir.run(&["convert", "t.jfr", "-o", "pprof=-"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("the attribute of that name is 'label:thread'"));
    let profile = Decoded::new(&output.stdout);
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    let labels = [pair("thread", "w"), pair("label:thread", "x")];
    assert_eq!(profile.samples[0].labels, labels);
}
