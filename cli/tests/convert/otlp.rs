//! OTLP profiles, decoded and judged by the rules of opentelemetry-proto 1.11.

use std::collections::BTreeSet;

use ctxagent_events::JvmInformation;
use jfr_format::write::{Attribute, Ticks};

use crate::wire::{Field, all, number, packed, packed_fixed};
use crate::{Totals, common::*, converted, reported};

/// A place in a table of the dictionary.
type Place = usize;

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Location {
    mapping: Place,
    lines: Vec<(Place, u64)>,
    attributes: Vec<Place>,
}

/// Tables of the dictionary; there are no mappings but the zero element.
#[derive(Debug, Clone, Default)]
struct Dictionary {
    mappings: usize,
    locations: Vec<Location>,
    /// Places of their names.
    functions: Vec<Place>,
    links: Vec<(Vec<u8>, Vec<u8>)>,
    strings: Vec<String>,
    /// Places of the keys, and the values.
    attributes: Vec<(Place, Option<String>)>,
    stacks: Vec<Vec<Place>>,
}

#[derive(Debug, Clone)]
struct Sample {
    stack: Place,
    attributes: Vec<Place>,
    link: Place,
    values: Vec<u64>,
    times: Vec<u64>,
}

#[derive(Debug, Clone)]
struct Profile {
    /// Places of name and unit.
    sample_type: (Place, Place),
    period_type: (Place, Place),
    start: u64,
    duration: u64,
    samples: Vec<Sample>,
}

#[derive(Debug, Clone)]
pub(crate) struct Decoded {
    resource: Vec<(String, String)>,
    profiles: Vec<Profile>,
    dictionary: Dictionary,
}

fn place(number: u64) -> Place {
    usize::try_from(number).unwrap()
}

fn places(numbers: &[u64]) -> Vec<Place> {
    numbers.iter().map(|&number| place(number)).collect()
}

fn messages(bytes: &[u8], field: u64) -> impl Iterator<Item = &[u8]> {
    all(bytes, field).into_iter().map(Field::bytes)
}

fn value_type(bytes: &[u8], field: u64) -> (Place, Place) {
    let ty = messages(bytes, field).next().unwrap_or_default();
    (place(number(ty, 1)), place(number(ty, 2)))
}

fn bytes_of(bytes: &[u8], field: u64) -> Vec<u8> {
    messages(bytes, field).next().unwrap_or_default().to_vec()
}

impl Dictionary {
    fn new(bytes: &[u8]) -> Self {
        let location = |bytes: &[u8]| Location {
            mapping: place(number(bytes, 1)),
            lines: messages(bytes, 3)
                .map(|line| (place(number(line, 1)), number(line, 2)))
                .collect(),
            attributes: places(&packed(bytes, 4)),
        };
        let attribute = |bytes: &[u8]| {
            let value = messages(bytes, 2).next();
            let text = value.map(|value| all(value, 1)[0].text());
            (place(number(bytes, 1)), text)
        };
        Self {
            mappings: messages(bytes, 1).count(),
            locations: messages(bytes, 2).map(location).collect(),
            functions: messages(bytes, 3).map(|f| place(number(f, 1))).collect(),
            links: messages(bytes, 4)
                .map(|link| (bytes_of(link, 1), bytes_of(link, 2)))
                .collect(),
            strings: all(bytes, 5).iter().map(|text| text.text()).collect(),
            attributes: messages(bytes, 6).map(attribute).collect(),
            stacks: messages(bytes, 7)
                .map(|stack| places(&packed(stack, 1)))
                .collect(),
        }
    }
}

impl Decoded {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let resources: Vec<&[u8]> = messages(bytes, 1).collect();
        assert_eq!(resources.len(), 1);
        let attributes = messages(messages(resources[0], 1).next().unwrap(), 1);
        let resource = attributes.map(|pair| {
            let value = messages(pair, 2).next().unwrap();
            let text = match all(value, 1).first() {
                Some(text) => text.text(),
                None => number(value, 3).to_string(),
            };
            (all(pair, 1)[0].text(), text)
        });
        let scope = messages(resources[0], 2).next().unwrap();
        let sample = |bytes: &[u8]| Sample {
            stack: place(number(bytes, 1)),
            attributes: places(&packed(bytes, 2)),
            link: place(number(bytes, 3)),
            values: packed(bytes, 4),
            times: packed_fixed(bytes, 5),
        };
        let profile = |bytes: &[u8]| Profile {
            sample_type: value_type(bytes, 1),
            period_type: value_type(bytes, 5),
            start: number(bytes, 3),
            duration: number(bytes, 4),
            samples: messages(bytes, 2).map(sample).collect(),
        };
        Self {
            resource: resource.collect(),
            profiles: messages(scope, 2).map(profile).collect(),
            dictionary: Dictionary::new(messages(bytes, 2).next().unwrap()),
        }
    }

    fn attribute(&self, place: Place) -> (&str, &str) {
        let (key, value) = &self.dictionary.attributes[place];
        (&self.dictionary.strings[*key], value.as_deref().unwrap())
    }

    pub(crate) fn has_profile(&self, name: &str) -> bool {
        let names = &self.dictionary.strings;
        self.profiles.iter().any(|p| names[p.sample_type.0] == name)
    }

    /// The sums of a profile by an attribute.
    pub(crate) fn totals(&self, profile: &str, key: &str) -> Totals {
        let names = &self.dictionary.strings;
        let mut profiles = self.profiles.iter();
        let profile = profiles
            .find(|p| names[p.sample_type.0] == profile)
            .unwrap();
        let mut totals = Totals::new();
        for sample in &profile.samples {
            let attributes = sample.attributes.iter().map(|&place| self.attribute(place));
            let value = attributes
                .filter(|a| a.0 == key)
                .map(|a| a.1.to_owned())
                .next();
            *totals.entry(value).or_default() += sample.values.iter().sum::<u64>();
        }
        totals
    }

    /// The rules that the message breaks.
    pub(crate) fn broken_rules(&self) -> BTreeSet<&'static str> {
        let mut broken = BTreeSet::new();
        let mut check = |is_kept: bool, rule| {
            if !is_kept {
                broken.insert(rule);
            }
        };
        let d = &self.dictionary;
        check(
            d.mappings == 1
                && d.locations.first() == Some(&Location::default())
                && d.functions.first() == Some(&0)
                && d.links.first() == Some(&(vec![], vec![]))
                && d.strings.first().is_some_and(String::is_empty)
                && d.attributes.first() == Some(&(0, None))
                && d.stacks.first().is_some_and(Vec::is_empty),
            "zero element",
        );
        check(
            is_unique(&d.locations)
                && is_unique(&d.functions)
                && is_unique(&d.links)
                && is_unique(&d.strings)
                && is_unique(&d.attributes)
                && is_unique(&d.stacks),
            "no duplicate",
        );
        let samples = || self.profiles.iter().flat_map(|profile| &profile.samples);
        let types = self.profiles.iter();
        let types = types
            .flat_map(|p| [p.sample_type, p.period_type])
            .flat_map(|t| [t.0, t.1]);
        let lines = || d.locations.iter().flat_map(|location| &location.lines);
        let attributes = d.locations.iter().flat_map(|location| &location.attributes);
        let of_samples = samples().flat_map(|sample| &sample.attributes);
        let strings = types
            .chain(d.functions.iter().copied())
            .chain(d.attributes.iter().map(|attribute| attribute.0));
        let tables = [
            refers_to_all(d.strings.len(), strings),
            refers_to_all(d.attributes.len(), attributes.chain(of_samples).copied()),
            refers_to_all(d.functions.len(), lines().map(|line| line.0)),
            refers_to_all(d.locations.len(), d.stacks.iter().flatten().copied()),
            refers_to_all(d.stacks.len(), samples().map(|sample| sample.stack)),
            refers_to_all(d.links.len(), samples().map(|sample| sample.link)),
            refers_to_all(
                d.mappings,
                d.locations.iter().map(|location| location.mapping),
            ),
        ];
        check(
            tables.iter().all(|table| table.0),
            "references lead to elements",
        );
        check(
            tables.iter().all(|table| table.1),
            "no unreferenced element",
        );
        let ids = d.links.iter().skip(1);
        check(
            ids.clone()
                .all(|(trace, span)| (trace.len(), span.len()) == (16, 8)),
            "binary ids",
        );
        let keys = |sample: &Sample| {
            let keys = sample
                .attributes
                .iter()
                .map(|&at| d.attributes.get(at).map(|a| a.0));
            is_unique(&keys.collect::<Vec<_>>())
        };
        check(samples().all(keys), "a key once");
        for profile in &self.profiles {
            let end = profile.start + profile.duration;
            let mut times = profile.samples.iter().flat_map(|sample| &sample.times);
            check(
                times.all(|time| (profile.start..end).contains(time)),
                "times in the profile",
            );
            let shape = |s: &Sample| (s.values.is_empty(), s.times.is_empty());
            let shapes: BTreeSet<_> = profile.samples.iter().map(shape).collect();
            check(
                shapes.len() == 1 && !shapes.contains(&(true, true)),
                "one shape",
            );
            let is_parallel = |s: &Sample| s.times.is_empty() || s.times.len() == s.values.len();
            check(
                profile.samples.iter().all(is_parallel),
                "a value for each time",
            );
            let identity = |s: &Sample| (s.stack, s.attributes.clone(), s.link);
            let identities: Vec<_> = profile.samples.iter().map(identity).collect();
            check(is_unique(&identities), "an identity once");
        }
        broken
    }
}

fn is_unique<T: Ord>(elements: &[T]) -> bool {
    elements.iter().collect::<BTreeSet<_>>().len() == elements.len()
}

/// Whether references stay in a table, and whether they reach all behind the zero element.
fn refers_to_all(len: usize, places: impl Iterator<Item = Place>) -> (bool, bool) {
    let places: BTreeSet<Place> = places.collect();
    let reached = (1..len).all(|place| places.contains(&place));
    (places.iter().all(|&place| place < len), reached)
}

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SPAN: &str = "b7ad6b7169203331";

/// CPU time and waits, with and without a span; one with an id that is none.
fn recording() -> TestDir {
    let mut shop = Shop::new();
    for (slot, name) in ["trace_id", "span_id"].iter().enumerate() {
        let name = (*name).into();
        let attribute = Attribute {
            name,
            ..Attribute::default()
        };
        shop.r.attribute(Ticks(2), slot, &attribute).unwrap();
    }
    for _ in 0..2 {
        shop.sample(Some(TRACE), Some(SPAN), "traced", 1);
    }
    shop.sample(None, None, "plain", 2);
    shop.sample(Some("no id"), Some(SPAN), "plain", 1);
    shop.sample(Some(&"0".repeat(32)), Some(&"0".repeat(16)), "plain", 1);
    shop.wait("no id", 700);
    TestDir::new().with("o.jfr", &shop.bytes())
}

#[test]
fn messages_keep_every_rule() {
    for dir in [recording(), with_shop().with("o.jfr", &shop())] {
        let decoded = Decoded::new(&converted(&dir, "o.jfr", "otlp", &[]));
        assert_eq!(decoded.broken_rules(), BTreeSet::new());
    }
}

#[test]
fn each_rule_is_checked() {
    type Damage = fn(&mut Decoded);
    let sound = Decoded::new(&converted(&recording(), "o.jfr", "otlp", &[]));
    let breaks: [(&str, Damage); 10] = [
        ("zero element", |d| d.dictionary.links[0].0 = vec![0; 16]),
        ("no duplicate", |d| {
            d.dictionary.strings[2] = d.dictionary.strings[1].clone();
        }),
        ("no unreferenced element", |d| {
            d.dictionary.stacks.push(vec![1, 1, 1]);
        }),
        ("references lead to elements", |d| {
            d.profiles[0].samples[0].stack = 99;
        }),
        ("binary ids", |d| {
            d.dictionary.links[1].1 = SPAN.as_bytes().to_vec();
        }),
        ("a key once", |d| {
            let sample = &mut d.profiles[0].samples[0];
            sample.attributes.push(sample.attributes[0]);
        }),
        ("times in the profile", |d| d.profiles[0].duration = 1),
        ("one shape", |d| d.profiles[0].samples[0].times.clear()),
        ("a value for each time", |d| {
            d.profiles[0].samples[0].values.push(1);
        }),
        ("an identity once", |d| {
            let sample = d.profiles[0].samples[0].clone();
            d.profiles[0].samples.push(sample);
        }),
    ];
    for (rule, damage) in breaks {
        let mut broken = sound.clone();
        damage(&mut broken);
        assert!(broken.broken_rules().contains(rule), "{rule}");
    }
}

#[test]
fn a_span_is_a_link_and_what_is_none_stays_a_label() {
    let dir = recording();
    let decoded = Decoded::new(&converted(&dir, "o.jfr", "otlp", &[]));
    let samples = &decoded.profiles[0].samples;
    let linked: Vec<_> = samples.iter().filter(|sample| sample.link > 0).collect();
    assert_eq!(linked.len(), 1);
    // Two events: two values, two times.
    assert_eq!(linked[0].values, [10_000_000; 2]);
    assert_eq!(linked[0].times.len(), 2);
    let (trace, span) = &decoded.dictionary.links[linked[0].link];
    let trace_id = u128::from_str_radix(TRACE, 16).unwrap().to_be_bytes();
    let span_id = u64::from_str_radix(SPAN, 16).unwrap().to_be_bytes();
    assert_eq!((&**trace, &**span), (&trace_id[..], &span_id[..]));
    let labels = decoded.totals("cpu", "trace_id");
    let expected = [(None, 40_000_000), (Some("no id".to_owned()), 10_000_000)];
    assert!(
        expected
            .iter()
            .all(|(value, sum)| labels.get(value) == Some(sum)),
        "{labels:?}"
    );
    assert!(labels.contains_key(&Some("0".repeat(32))));
}

#[test]
fn attributes_have_the_totals_of_report() {
    let dir = with_shop();
    let decoded = Decoded::new(&converted(&dir, "shop.jfr", "otlp", &[]));
    for (key, name) in [
        ("http.route", "http.route"),
        ("tenant", "tenant"),
        ("thread", "thread.name"),
    ] {
        let expected = reported(&dir, "shop.jfr", "cpu", key);
        assert_eq!(decoded.totals("cpu", name), expected, "{key}");
    }
    let types = decoded.dictionary.locations.iter().skip(1);
    for location in types {
        let types: Vec<_> = location
            .attributes
            .iter()
            .map(|&at| decoded.attribute(at))
            .collect();
        assert_eq!(types, [("profile.frame.type", "jvm")]);
        assert_eq!(location.lines[0].1, 12);
    }
}

#[test]
fn the_resource_is_what_the_environment_says() {
    let dir = with_shop();
    let mut command = dir.command(&["convert", "shop.jfr", "-o", "otlp=-"]);
    command.env("OTEL_SERVICE_NAME", "shop");
    command.env("OTEL_RESOURCE_ATTRIBUTES", "host.name=h%2C1,service.name=x");
    let decoded = Decoded::new(&command.output().unwrap().stdout);
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(
        decoded.resource,
        [pair("host.name", "h,1"), pair("service.name", "shop")]
    );
}

#[test]
fn the_resource_has_what_the_recording_says_about_its_process() {
    let shop = |pid| {
        let mut shop = Shop::with(|config| {
            config.environment.jvm = Some(JvmInformation {
                name: Some("Our VM".to_owned()),
                version: Some("21.0.1".to_owned()),
                arguments: Some("-Dsecret=x".to_owned()),
                pid,
                ..JvmInformation::default()
            });
            config.environment.os = Some("Linux".to_owned());
        });
        shop.sample(Some("/a"), None, "m", 1);
        shop.bytes()
    };
    let dir = TestDir::new()
        .with("a.jfr", &shop(42))
        .with("b.jfr", &shop(43));
    let resource = |files: &[&str], attributes: &str| {
        let call = [&["convert", "-o", "otlp=-"], files].concat();
        let mut command = dir.command(&call);
        command.env("OTEL_SERVICE_NAME", "shop");
        command.env("OTEL_RESOURCE_ATTRIBUTES", attributes);
        let decoded = Decoded::new(&command.output().unwrap().stdout);
        let pairs = decoded.resource.iter();
        let pairs: Vec<String> = pairs.map(|(key, value)| format!("{key}={value}")).collect();
        pairs.join(" ")
    };
    let of_both = "os.description=Linux process.runtime.description=21.0.1 \
                   process.runtime.name=Our VM service.name=shop";
    let of_one = of_both.replace("Linux", "Linux process.pid=42");
    assert_eq!(resource(&["a.jfr"], ""), of_one);
    assert_eq!(resource(&["a.jfr", "b.jfr"], ""), of_both);
    // Who runs `ctxjfr` knows better.
    let named = resource(&["a.jfr"], "os.description=mine");
    assert_eq!(named, of_one.replace("Linux", "mine"));
}

#[test]
fn a_label_called_like_the_thread_is_another() {
    let mut shop = Shop::new();
    let attribute = Attribute {
        name: "thread.name".into(),
        ..Attribute::default()
    };
    shop.r.attribute(Ticks(2), 0, &attribute).unwrap();
    shop.sample(Some("/a"), None, "m", 1);
    let dir = TestDir::new().with("t.jfr", &shop.bytes());
    let decoded = Decoded::new(&converted(&dir, "t.jfr", "otlp", &[]));
    for (key, value) in [("thread.name", "worker-1"), ("label:thread.name", "/a")] {
        let totals = decoded.totals("cpu", key);
        assert_eq!(totals, Totals::from([(Some(value.to_owned()), 10_000_000)]));
    }
}
