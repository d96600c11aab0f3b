//! `merge OUT FILE...`: recordings of the agent, one after the other in one file that every reader
//! opens.
//!
//! Bytes are never copied: the JDK takes a key that it has seen in an earlier chunk for the same
//! value again, and each recording counts its keys from 1. So every event is read, and written anew
//! with keys and ticks of the new file; a chunk stays a chunk.
//!
//! Counters go on from part to part. Left out, and said so: what tells about one JVM and its
//! machine. The groups of threads are left out too.
//!
//! Refused, with the reason: recordings whose clocks count differently (those of the JDK count
//! nanoseconds), ones with other attribute columns (Mission Control would show the types apart),
//! ones of another kind or sampling interval (a file has one, and times are samples times that),
//! and events that the agent does not write.

mod copy;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use copy::{COPIED, Copier};
use ctxagent_events::ProfileConfig;
use jfr_format::read::{ChunkParser, Chunks, ParsedChunk};
use jfr_format::write::{Attribute, Clock, Columns, FileStorage, Recording, Ticks};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Events that tell about a recording or a chunk: the writer makes those of the new file, or they
/// speak of parts that are no more.
const MADE_ANEW: [&str; 4] = [
    "jdk.ActiveRecording",
    "jdk.ActiveSetting",
    "ctxagent.Context",
    "ctxagent.ContextAttribute",
];
const LEFT_OUT: [&str; 4] = [
    "jdk.JVMInformation",
    "jdk.OSInformation",
    "jdk.CPUInformation",
    "jdk.InitialSystemProperty",
];

/// What must be alike in all parts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shape {
    ticks_per_second: i64,
    columns: Vec<String>,
    /// Kind of the profile.
    event: String,
    interval: Duration,
    wall_interval: Option<Duration>,
}

struct Part {
    name: String,
    bytes: Vec<u8>,
    start_nanos: i64,
}

fn main() -> Result<()> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let Some((out, files)) = paths.split_first().filter(|(_, files)| !files.is_empty()) else {
        return Err("usage: merge OUT FILE...".into());
    };
    let mut parts = Vec::new();
    let mut shape: Option<Shape> = None;
    for name in files {
        let bytes = std::fs::read(name)?;
        let (start_nanos, found) = inspect(&bytes).map_err(|error| format!("{name}: {error}"))?;
        match &shape {
            Some(first) if *first != found => {
                return Err(format!(
                    "{name} cannot stand beside {}: {found:?}, there {first:?}",
                    files[0]
                )
                .into());
            }
            _ => shape = Some(found),
        }
        parts.push(Part {
            name: name.clone(),
            bytes,
            start_nanos,
        });
    }
    parts.sort_by_key(|part| part.start_nanos);
    let shape = shape.ok_or("no recording")?;
    let left_out = write(Path::new(out), &parts, shape)?;
    for (name, count) in left_out {
        writeln!(std::io::stderr(), "left out: {count} x {name}")?;
    }
    Ok(())
}

/// Start and shape of a recording; an error if this tool cannot take it over whole.
fn inspect(bytes: &[u8]) -> Result<(i64, Shape)> {
    let mut shape: Option<Shape> = None;
    let mut start = i64::MAX;
    let (mut chunks, mut parser) = (Chunks::new(bytes), ChunkParser::new());
    for chunk in chunks.by_ref() {
        let open = parser.parse(&chunk)?;
        if let Some(damage) = open.corruptions().first() {
            return Err(damage.to_string().into());
        }
        start = start.min(open.header().start_nanos);
        let found = shape_of(&open)?;
        if *shape.get_or_insert_with(|| found.clone()) != found {
            return Err("its chunks differ in clock, columns, kind or interval".into());
        }
        for event in open.events() {
            let name = event?.ty().name.to_string();
            let lists = [&COPIED[..], &MADE_ANEW, &LEFT_OUT];
            if !lists.iter().any(|list| list.contains(&&*name)) {
                return Err(format!("has {name}, which this tool cannot write").into());
            }
        }
    }
    if let Some(damage) = chunks.corruptions().first() {
        return Err(damage.to_string().into());
    }
    let shape = shape.ok_or("no chunk")?;
    if shape.ticks_per_second != Ticks::PER_SECOND.cast_signed() {
        return Err(format!(
            "its clock has {} ticks a second, not {}",
            shape.ticks_per_second,
            Ticks::PER_SECOND
        )
        .into());
    }
    Ok((start, shape))
}

/// What must be alike, as a chunk tells it.
fn shape_of(open: &ParsedChunk<'_>) -> Result<Shape> {
    let columns = columns(open).ok_or("not a recording of this crate's writer")?;
    let settings = open.settings();
    let setting = |event: &str, name: &str| {
        let mut of_event = settings
            .iter()
            .filter(|s| s.event.as_deref() == Some(event));
        let setting = of_event.find(|setting| setting.name == name);
        setting.map(|setting| setting.value.as_str())
    };
    let nanos = |text: &str| {
        let nanos = text.parse().map(Duration::from_nanos);
        nanos.map_err(|_| format!("its interval is '{text}', no number of nanoseconds"))
    };
    let of_samples = |name: &str| {
        let value = setting("jdk.ExecutionSample", name);
        value.ok_or_else(|| format!("it does not tell its setting '{name}'"))
    };
    let wall = setting("profiler.WallClockSample", "wall");
    Ok(Shape {
        ticks_per_second: open.header().ticks_per_second,
        columns,
        event: of_samples("event")?.to_owned(),
        interval: nanos(of_samples("interval")?)?,
        wall_interval: wall.map(nanos).transpose()?,
    })
}

/// Attribute columns by their true names; `None` if the samples are not ours.
fn columns(open: &ParsedChunk<'_>) -> Option<Vec<String>> {
    let index = open.metadata().index_of_name("jdk.ExecutionSample")?;
    open.metadata().at(index).field_position("contextLength")?;
    let columns = open.sample_columns(index)?;
    Some(columns.names().map(ToString::to_string).collect())
}

/// Writes the new file; gives back what was left out.
fn write(out: &Path, parts: &[Part], shape: Shape) -> Result<BTreeMap<String, u64>> {
    let start = parts.first().map_or(0, |part| part.start_nanos);
    let config = ProfileConfig {
        clock: Clock {
            start_epoch_nanos: start.cast_unsigned(),
            start_monotonic_nanos: 0,
        },
        columns: Columns::Named(shape.columns.clone()),
        event: shape.event,
        interval: shape.interval,
        wall_interval: shape.wall_interval,
        name: "merged".into(),
        ..ProfileConfig::default()
    };
    let mut recording = Recording::create(FileStorage::create(out)?, config)?;
    for (slot, name) in shape.columns.into_iter().enumerate() {
        recording.attribute(
            Ticks(0),
            slot,
            &Attribute {
                name,
                ..Attribute::default()
            },
        )?;
    }
    let mut copier = Copier::new(recording, start);
    let mut left_out = BTreeMap::new();
    let (mut first, mut last) = (true, Ticks(0));
    for part in parts {
        let mut parser = ChunkParser::new();
        for chunk in Chunks::new(&part.bytes) {
            let open = parser.parse(&chunk)?;
            if !std::mem::take(&mut first) {
                // Two chunks must not begin at the same time: readers drop one.
                last = Ticks(last.max(copier.ticks(open.header().start_nanos)).0 + 1);
                copier.out.rotate(last)?;
            }
            for event in open.events().flatten() {
                let name = &*event.ty().name;
                if LEFT_OUT.contains(&name) {
                    *left_out.entry(name.to_owned()).or_default() += 1;
                } else if COPIED.contains(&name) {
                    let at = copier
                        .event(&open, &event)
                        .map_err(|error| format!("{}: {name}: {error}", part.name))?;
                    last = last.max(at);
                }
            }
        }
    }
    copier.out.finish(Ticks(last.0 + 1))?;
    Ok(left_out)
}
