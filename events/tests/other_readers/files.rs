//! What is written for the readers.

use std::path::{Path, PathBuf};

use ctxagent_events::*;
use jfr_format::chunk::Header;
use jfr_format::write::*;

use crate::common::scenario::{config, named, odd_texts, write_full};

pub(crate) const EIGHT: [&str; 8] = ["http.route", "tenant", "c", "d", "e", "f", "g", "h"];

/// Files with no, one and eight columns, with attribute keys and weights of all sizes, odd texts,
/// several chunks; each finished, and as a killed process would leave it.
pub(crate) fn write_files(directory: &Path) -> Vec<PathBuf> {
    let columns = [
        named(&[]),
        named(&["http.route"]),
        named(&EIGHT),
        Columns::Auto,
    ];
    let write = |(n, columns): (usize, Columns)| {
        let path = directory.join(format!("{n}.jfr"));
        let mut r =
            Recording::create(FileStorage::create(&path).unwrap(), config(columns)).unwrap();
        many_keys_and_weights(&mut r);
        r.rotate(Ticks(500)).unwrap();
        if r.column_count() > 4 {
            // A column that is named when a chunk is closed already, where columns are named as
            // they come.
            let name = "late.name".to_owned();
            let attribute = Attribute {
                name,
                ..Attribute::default()
            };
            r.attribute(Ticks(501), 4, &attribute).unwrap();
        }
        write_full(&mut r);
        allocations_of_arrays(&mut r);
        r.flush(Ticks(390_000)).unwrap();
        let unfinished = directory.join(format!("{n}.unfinished.jfr"));
        std::fs::copy(&path, &unfinished).unwrap();
        r.finish(Ticks(400_000)).unwrap();
        [path, unfinished]
    };
    let mut files: Vec<PathBuf> = columns.into_iter().enumerate().flat_map(write).collect();
    files.extend(write_growing(directory));
    files
}

/// As a process leaves a file that is killed while it makes it longer: pages behind the last chunk,
/// each an empty chunk; then pages in that chunk, behind its padding; and one that is killed as it
/// removes the hole: an empty chunk in its place.
pub(crate) fn write_growing(directory: &Path) -> Vec<PathBuf> {
    let mut small = config(named(&EIGHT));
    small.reserve_bytes = 64;
    let mut r = Recording::create(MemoryStorage::recording(), small).unwrap();
    write_full(&mut r);
    r.finish(Ticks(400_000)).unwrap();
    let mut bytes = Vec::new();
    let (mut files, mut pages) = (Vec::new(), 0);
    for operation in r.storage().operations() {
        let is_page = matches!(operation, Operation::Append(_));
        if let Operation::SetLen(0..) = operation
            && !bytes.is_empty()
        {
            files.push(("cut", bytes.clone()));
        }
        if pages > 1 && !is_page {
            files.push(("pages", bytes.clone()));
        }
        match operation {
            Operation::Write(at, content) => {
                let at = usize::try_from(*at).unwrap();
                bytes[at..at + content.len()].copy_from_slice(content);
            }
            Operation::Append(page) => bytes.extend_from_slice(page),
            Operation::SetLen(len) => bytes.resize(usize::try_from(*len).unwrap(), 0),
            Operation::Publish => {}
        }
        if pages > 1 && !is_page {
            files.push(("taken in", bytes.clone()));
        }
        pages = if is_page { pages + 1 } else { 0 };
    }
    // The last of each kind has most before it.
    let last = |kind: &str| {
        let state = files.iter().rfind(|(k, _)| *k == kind).unwrap();
        let path = directory.join(format!("{kind}.jfr").replace(' ', "_"));
        std::fs::write(&path, &state.1).unwrap();
        path
    };
    ["pages", "taken in", "cut"].map(last).to_vec()
}

/// Two recordings whose keys mean other values, and both in one file.
pub(crate) fn write_merged(directory: &Path) -> Vec<PathBuf> {
    let written = |later_nanos: u64, write: fn(&mut Recording<MemoryStorage>)| {
        let mut config = config(named(&EIGHT));
        config.clock.start_epoch_nanos += later_nanos;
        let mut r = Recording::create(MemoryStorage::new(), config).unwrap();
        write(&mut r);
        r.finish(Ticks(400_000)).unwrap();
        r.storage().bytes().to_vec()
    };
    let first = written(0, |r| {
        write_full(r);
    });
    let second = written(10_000_000_000, |r| {
        many_keys_and_weights(r);
        r.rotate(Ticks(500)).unwrap();
    });
    let separator = separator(&Header::parse(&second).unwrap());
    let merged = [&first[..], &separator, &second].concat();
    let files = [("first", first), ("second", second), ("merged", merged)];
    let write = |(name, bytes): (&str, Vec<u8>)| {
        let path = directory.join(name).with_extension("jfr");
        std::fs::write(&path, bytes).unwrap();
        path
    };
    files.into_iter().map(write).collect()
}

/// What most allocations are.
pub(crate) fn allocations_of_arrays(r: &mut Recording<FileStorage>) {
    let thread = r.thread(&Thread::native("t", 1));
    let stack = r.synthetic_stack("none");
    let classes = [
        "[B",
        "[[J",
        "[Ljava/lang/String;",
        "[[Lapp/Order;",
        "[LOrder;",
    ];
    for (at, class) in (380_000..).zip(classes) {
        let class = r.class(class);
        r.allocation_sample(&Allocation {
            at: Ticks(at),
            thread,
            stack,
            class,
            bytes: 1 << 20,
            size_bytes: 4096,
            context: Context::NONE,
        });
    }
}

/// Small files whose last event ends at every place of an eight-byte word, once with a weight that
/// looks like a filler's type.
pub(crate) fn write_every_length(directory: &Path) -> Vec<PathBuf> {
    let write = |n: usize| {
        let path = directory.join(format!("length{n}.jfr"));
        let storage = FileStorage::create(&path).unwrap();
        let mut r = Recording::create(storage, config(named(&[]))).unwrap();
        let thread = r.thread(&Thread::native("t", 1));
        let (stack, state) = (r.synthetic_stack("none"), r.state("STATE_RUNNABLE"));
        let context = Context::NONE;
        // The constants come first, so that a sample is the last event.
        for (at, weight) in [(1, 1), (300, 76)] {
            let at = Ticks(at);
            r.stat(at, &"n".repeat(1 + n), 1, 1);
            r.execution_sample(&Sample {
                at,
                thread,
                stack,
                state,
                context,
                weight,
            });
            r.flush(at).unwrap();
        }
        r.finish(Ticks(400)).unwrap();
        path
    };
    (0..8).map(write).collect()
}

/// Every attribute key, and weight, that could be mistaken for the id of an event; every odd text
/// in every column.
pub(crate) fn many_keys_and_weights<S: Storage>(r: &mut Recording<S>) {
    let odd = odd_texts();
    for i in 0..300u32 {
        let at = Ticks(u64::from(i));
        let mut values = [r.attribute_value(&format!("value {i}")); 8];
        for (column, value) in values.iter_mut().enumerate().skip(3) {
            *value = r.attribute_value(&odd[(i as usize + column) % odd.len()]);
        }
        let context = r.context(at, &values);
        let thread = r.thread(&Thread::native("t", u64::from(i)));
        let (stack, state) = (r.synthetic_stack("none"), r.state("STATE_RUNNABLE"));
        r.execution_sample(&Sample {
            at,
            thread,
            stack,
            state,
            context,
            weight: i,
        });
        r.wall_sample(&WallSample {
            at,
            thread,
            stack,
            state,
            context,
            samples: i + 1,
        });
    }
}
