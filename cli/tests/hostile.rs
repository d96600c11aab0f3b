//! Small files that make one long text the name or value of very many things: every command gives
//! its result in little memory.
#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../../jfr-format/tests/read_common/mod.rs"]
#[allow(dead_code, reason = "shared, each test uses its part")]
mod read_common;

use std::io::Write;
use std::process::{Command, Stdio};

use read_common::*;

/// Address space of a command in KiB; the copies would take more than ten times as much.
const MAX_MEMORY_KIB: &str = "1500000";

/// Runs the commands on the recording, each in that memory; gives what the last one prints.
fn all_survive(bytes: &[u8], commands: &[&[&str]]) -> String {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("h.jfr"), bytes).unwrap();
    let mut printed = Vec::new();
    for command in commands {
        let output = Command::new("sh")
            .args(["-c", "ulimit -v $0 && exec \"$@\"", MAX_MEMORY_KIB])
            .args([env!("CARGO_BIN_EXE_ctxjfr"), command[0], "h.jfr"])
            .args(&command[1..])
            // Each thread's arena takes address space, and no memory.
            .env("MALLOC_ARENA_MAX", "1")
            .current_dir(dir.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(0) && !output.stdout.is_empty() && errors.is_empty(),
            "{command:?}: {:?}, {errors}",
            output.status
        );
        let most = 16 << 20;
        assert!(
            output.stdout.len() < most,
            "{command:?}: {} bytes",
            output.stdout.len()
        );
        printed = output.stdout;
    }
    String::from_utf8(printed).unwrap()
}

/// Few bytes on disk, half a gigabyte unpacked: zeros alone, behind a header that claims them,
/// behind a good recording, and as the tail of a chunk.
#[test]
fn zeros_of_a_packed_file_take_no_memory() {
    const UNPACKED: usize = 512 << 20;
    let good = small();
    let header_of = |size: u64| {
        let mut header = good[..68].to_vec();
        header[8..16].copy_from_slice(&size.to_be_bytes());
        header
    };
    let padded = {
        let size = (good.len() + UNPACKED) as u64;
        [&header_of(size), &good[68..]].concat()
    };
    let heads = [
        ("nothing", Vec::new(), "no readable chunk"),
        (
            "header",
            header_of(1 << 40),
            "at most 134217728 are held in memory",
        ),
        ("good", good.clone(), "belong to no chunk"),
        ("padded", padded, "at most 134217728 are held in memory"),
    ];
    for (name, head, told) in heads {
        let dir = tempfile::tempdir().unwrap();
        let gzip = |bytes: &[u8]| {
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packed.write_all(bytes).unwrap();
            packed.finish().unwrap()
        };
        // A gzip file may have many members.
        let zeros = gzip(&vec![0; 1 << 20]).repeat(UNPACKED >> 20);
        std::fs::write(dir.path().join("z.gz"), [gzip(&head), zeros].concat()).unwrap();
        for command in ["summary", "print"] {
            let output = Command::new("sh")
                .args(["-c", "ulimit -v $0 && exec \"$@\"", "450000"])
                .args([env!("CARGO_BIN_EXE_ctxjfr"), command, "z.gz"])
                .env("MALLOC_ARENA_MAX", "1")
                .current_dir(dir.path())
                .output()
                .unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{name} {command}: {errors}");
            assert!(errors.contains(told), "{name} {command}: {errors}");
            let shown = String::from_utf8_lossy(&output.stdout);
            let has_samples = shown.contains("jdk.ExecutionSample");
            assert_eq!(
                has_samples,
                ["good", "padded"].contains(&name),
                "{name} {command}: {shown}"
            );
        }
    }
}

fn entry_of(length: usize) -> Vec<u8> {
    let mut entry = Vec::new();
    text(&mut entry, &"x".repeat(length));
    entry
}

/// The metadata event with one of its texts, which stands there once, grown.
fn with_longer_text(metadata: &[u8], short: &str, length: usize) -> Vec<u8> {
    let mut known = Vec::new();
    text(&mut known, short);
    // Behind size and type.
    let payload = &metadata[5..];
    let at = payload.windows(known.len()).position(|w| w == known);
    let (before, after) = payload.split_at(at.unwrap());
    event(
        0,
        &[before, &entry_of(length), &after[known.len()..]].concat(),
    )
}

#[test]
fn one_text_in_every_counter_and_setting() {
    let mut types = types();
    let fields = |texts: [&str; 3], kinds: [u64; 3]| {
        let fields = texts.iter().zip(kinds);
        fields.map(|(name, ty)| field(name, ty, &[])).collect()
    };
    let (long, string) = (ids::LONG, ids::STRING);
    types.extend([
        class(
            101,
            "ctxagent.Stats",
            &[EVENT],
            fields(["name", "value", "total"], [string, long, long]),
        ),
        class(
            102,
            "jdk.ActiveSetting",
            &[EVENT],
            fields(["id", "name", "value"], [long, string, string]),
        ),
    ]);
    let mut pools = pools();
    pools.push((string, vec![(1, entry_of(4 << 20))]));
    let mut events = vec![metadata(types), checkpoint(0, &pools), sample()];
    for _ in 0..10_000 {
        events.push(event(101, &[2, 1, 0, 0]));
        events.push(event(102, &[0, 2, 1, 2, 1]));
    }
    all_survive(
        &chunk(&events),
        &[
            &["summary"],
            &["check"],
            &["report", "--by", "tenant"],
            &["convert", "-o", "collapsed=-"],
            &["labels"],
        ],
    );
}

/// A sample with very many columns, all of which have one value of 4 MiB.
#[test]
fn one_text_in_every_column() {
    let mut types = types();
    let columns = 20_000;
    types.retain(|ty| {
        !ty.attributes
            .contains(&("name".into(), "jdk.ExecutionSample".into()))
    });
    let mut fields = vec![field("startTime", ids::LONG, &[])];
    fields.extend((0..columns).map(|n| field(&format!("c{n}"), ids::VALUE, &[POOL])));
    types.push(class(ids::SAMPLE, "jdk.ExecutionSample", &[EVENT], fields));
    let pools = [(ids::VALUE, vec![(1, entry_of(4 << 20))])];
    let mut payload = vec![0];
    payload.extend(vec![1; columns]);
    let events = [
        metadata(types),
        checkpoint(0, &pools),
        event(ids::SAMPLE, &payload),
    ];
    let events = all_survive(
        &chunk(&events),
        &[
            &["summary"],
            &["check"],
            &["report", "--by", "c0,c1"],
            &["convert", "-o", "collapsed=-", "--by", "c0"],
            &["labels"],
            &["print"],
            &["print", "--json"],
        ],
    );
    assert!(events.contains("\"is_cut\":true"));
}

/// Very many event types with one name of 256 KiB, a sample of each.
#[test]
fn one_name_of_every_type() {
    let mut types = types();
    let ids = 10_000..30_000;
    for id in ids.clone() {
        let stack = field("stackTrace", ids::STACK, &[POOL]);
        types.push(class(id, "x.Short", &[EVENT], vec![stack]));
    }
    let metadata = with_longer_text(&metadata(types), "x.Short", 256 << 10);
    let mut events = vec![metadata, checkpoint(0, &pools()), sample()];
    events.extend(ids.map(|id| event(id, &[1])));
    all_survive(
        &chunk(&events),
        &[
            &["summary"],
            &["check"],
            &["report", "--by", "tenant"],
            &["report", "--by", "event", "--event", "x*"],
            &["labels"],
        ],
    );
}
