//! `merge`: several recordings as one file that every reader opens. Chunks are copied in the order of
//! their time. Those of the JDK get the times that the agent's recording has, by their header: where it
//! starts, and how fast its clock is; their events get the labels of our scopes ([`labels`]). In those
//! of our writer the event types get ids that the JDK does not use ([`renumber`]). The JDK's
//! `@Contextual` gets another name.
//!
//! Rule: whole recordings or none. A reader of the merged file could not tell where a part is missing.

mod copy;
mod fields;
mod labels;
mod metadata;
mod renumber;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use jfr_format::chunk::{HEADER_LEN, Header};
use jfr_format::read::{Chunk, ChunkParser, ParsedChunk};
use jfr_format::varint;
use jfr_format::write::separator;

use self::labels::Labelling;
use self::renumber::Renumbering;
use crate::args::MergeArgs;
use crate::collect::{
    CONTEXTUAL, ClockPair, MERGED_CONTEXTUAL, Process, ScopeIndex, ScopeSearch, aligned,
};
use crate::input;
use crate::output::{self, Failure, Output};
use crate::text;

/// A chunk of one of the files.
#[derive(Debug)]
struct Part {
    file: usize,
    offset: u64,
    header: Header,
    /// What it is put in order by.
    begin: i64,
    process: Option<Process>,
    is_ours: bool,
    /// Names of the data types by id, in a chunk of another writer.
    types: BTreeMap<u64, String>,
    clock: Vec<ClockPair>,
}

impl Part {
    fn of(file: usize, chunk: &ParsedChunk<'_>) -> Self {
        let is_ours = renumber::is_ours(chunk);
        let mut types = BTreeMap::new();
        if !is_ours {
            let all = chunk.metadata().types().iter();
            let data = all.filter(|ty| ty.super_type.is_empty());
            types.extend(data.map(|ty| (ty.id, ty.name.to_string())));
        }
        Self {
            file,
            offset: chunk.offset(),
            header: *chunk.header(),
            begin: 0,
            process: Process::of(chunk),
            is_ours,
            types,
            clock: ClockPair::all(chunk),
        }
    }
}

/// What the agent noted of the JDK's clock in a JVM, in the order of time.
struct JvmClock {
    process: Process,
    pairs: Vec<ClockPair>,
}

fn clocks(parts: &[Part]) -> Vec<JvmClock> {
    let mut clocks: Vec<JvmClock> = Vec::new();
    for part in parts.iter().filter(|part| !part.clock.is_empty()) {
        let Some(process) = part.process else {
            continue;
        };
        match clocks.iter_mut().find(|clock| clock.process == process) {
            Some(clock) => clock.pairs.extend(&part.clock),
            None => clocks.push(JvmClock {
                process,
                pairs: part.clock.clone(),
            }),
        }
    }
    for clock in &mut clocks {
        clock.pairs.sort_unstable_by_key(|pair| pair.nanos);
    }
    clocks
}

/// The header with the agent's times; `None` if they are not known.
fn in_agents_time(clocks: &[JvmClock], part: &Part) -> Option<Header> {
    let process = part.process?;
    let of_process = |clock: &&JvmClock| clock.process.has_pid_of(process);
    let mut headers = clocks.iter().filter(of_process);
    let mut next = || headers.find_map(|clock| aligned(&clock.pairs, &part.header));
    // With several JVMs of one process id nobody knows whose it is.
    next().filter(|_| next().is_none())
}

/// Gives the chunks of the JDK the agent's times. Returns the files where it could not, though the agent
/// notes clocks.
fn align(parts: &mut [Part]) -> Vec<usize> {
    let clocks = clocks(parts);
    let mut others = Vec::new();
    if clocks.is_empty() {
        return others;
    }
    for part in parts.iter_mut().filter(|part| !part.is_ours) {
        match in_agents_time(&clocks, part) {
            Some(header) => part.header = header,
            None if others.last() == Some(&part.file) => {}
            None => others.push(part.file),
        }
    }
    others
}

/// The JDK takes a type by its id for that of the first chunk which has it; each release has other ids.
fn check_types(args: &MergeArgs, parts: &[Part]) -> Result<(), Failure> {
    let mut known: BTreeMap<u64, (&str, usize)> = BTreeMap::new();
    for part in parts {
        for (id, name) in &part.types {
            let (other, file) = *known.entry(*id).or_insert((name, part.file));
            if other != name {
                return Err(Failure::Finding(format!(
                    "{} and {} are of different JDK releases: type {id} is {other} there and {name} here, \
                     which readers would mix up in one file; nothing is merged",
                    args.files[file].display(),
                    args.files[part.file].display()
                )));
            }
        }
    }
    Ok(())
}

/// By time; no chunk comes before one that is in front of it in its file.
fn sort(parts: &mut [Part]) {
    parts.sort_unstable_by_key(|part| (part.file, part.offset));
    let mut before = (usize::MAX, i64::MIN);
    for part in parts.iter_mut() {
        part.begin = part.header.start_nanos;
        if before.0 == part.file {
            part.begin = part.begin.max(before.1);
        }
        before = (part.file, part.begin);
    }
    parts.sort_by_key(|part| part.begin);
}

/// The chunk with another name for `@Contextual`. The JDK's `print` knows threads by their numbers,
/// which are of one recorder each: it would show what one thread does on events of another one.
fn without_contextual<'a>(chunk: &Chunk<'a>) -> Cow<'a, [u8]> {
    const { assert!(CONTEXTUAL.len() == MERGED_CONTEXTUAL.len()) };
    let begin = usize::try_from(chunk.header.metadata).unwrap_or(usize::MAX);
    let metadata = chunk.bytes.get(begin..).unwrap_or_default();
    let size = varint::get(metadata).and_then(|(size, _)| usize::try_from(size).ok());
    let metadata = &metadata[..size.unwrap_or(0).min(metadata.len())];
    let mut places = metadata.windows(CONTEXTUAL.len());
    let place = places.position(|window| window == CONTEXTUAL.as_bytes());
    let mut bytes = Cow::Borrowed(chunk.bytes);
    if let Some(place) = place {
        let name = begin + place..begin + place + CONTEXTUAL.len();
        bytes.to_mut()[name].copy_from_slice(MERGED_CONTEXTUAL.as_bytes());
    }
    bytes
}

/// A chunk of another writer as it stands in the merged file; `None` if it cannot be read.
fn of_another_writer(
    chunk: &Chunk<'_>,
    header: &Header,
    scopes: Option<&ScopeIndex>,
    parser: &mut ChunkParser,
) -> Option<Vec<u8>> {
    let bytes = without_contextual(chunk);
    if let Some(scopes) = scopes {
        let parsed = parser.parse(chunk).ok()?;
        if let Some(mut labels) = Labelling::new(&parsed, scopes) {
            let chunk = Chunk {
                bytes: &bytes,
                ..*chunk
            };
            return copy::changed(&chunk, header, &mut labels);
        }
    }
    let mut bytes = bytes.into_owned();
    bytes[..HEADER_LEN].copy_from_slice(&header.to_bytes());
    Some(bytes)
}

fn write(
    args: &MergeArgs,
    parts: &[Part],
    scopes: Option<&ScopeIndex>,
    to: &mut dyn Write,
) -> io::Result<()> {
    let failed = |failure: Failure| match failure {
        Failure::Usage(text) | Failure::Finding(text) => io::Error::other(text),
        Failure::Closed => io::ErrorKind::BrokenPipe.into(),
    };
    let mut streams = Vec::with_capacity(args.files.len());
    for file in &args.files {
        streams.push(input::chunks(file).map_err(failed)?);
    }
    let mut before = None;
    let mut parser = ChunkParser::new();
    for part in parts {
        let chunk = streams[part.file].next_chunk()?;
        let chunk = chunk.filter(|chunk| chunk.offset == part.offset);
        let changed = || {
            let name = args.files[part.file].display();
            io::Error::other(format!("{name} is damaged, or has changed meanwhile"))
        };
        let chunk = chunk.ok_or_else(changed)?;
        if before.is_some_and(|file| file != part.file) {
            to.write_all(&separator(&part.header))?;
        }
        before = Some(part.file);
        let chunk = chunk.as_chunk();
        let bytes = if part.is_ours {
            copy::changed(&chunk, &part.header, &mut Renumbering::default())
        } else {
            of_another_writer(&chunk, &part.header, scopes, &mut parser)
        };
        to.write_all(&bytes.ok_or_else(changed)?)?;
    }
    to.flush()
}

/// Runs the command.
pub(crate) fn run(args: &MergeArgs, output: &mut Output) -> Result<bool, Failure> {
    if args.files.iter().any(|file| input::is_stdin(file)) || input::is_stdin(&args.output) {
        return Err(Failure::Usage(
            "merge reads files twice, and writes a file: `-` is none".to_owned(),
        ));
    }
    let is_output = |file: &&std::path::PathBuf| input::same_file(file, &args.output);
    if let Some(file) = args.files.iter().find(is_output) {
        return Err(Failure::Usage(format!("{} is an input", file.display())));
    }
    output::check_target(&args.output, args.force)?;
    let mut parts = Vec::new();
    let search = ScopeSearch::of_all();
    let part_of = |file, chunk: &ParsedChunk<'_>| {
        search.add(file, chunk);
        Part::of(file, chunk)
    };
    let outcome = input::for_each_chunk(&args.files, output, part_of, |part| parts.push(part))?;
    if !outcome.damages.is_empty() {
        outcome.warn_damages_in_one_line();
        return Err(Failure::Finding(
            "nothing is merged: a part would be missing".to_owned(),
        ));
    }
    check_types(args, &parts)?;
    for file in align(&mut parts) {
        output::warn(&format!(
            "{}: keeps its own times, as no other recording tells of its clock",
            args.files[file].display()
        ));
    }
    sort(&mut parts);
    let scopes = search.into_index(&outcome);
    output::write_file_with(&args.output, args.force, |file| {
        let mut file = BufWriter::with_capacity(256 << 10, file);
        write(args, &parts, scopes.as_ref(), &mut file)
    })?;
    let name = output.clean(&args.output.display().to_string());
    let chunks = text::count(parts.len() as u64, "chunk");
    let files = text::count(args.files.len() as u64, "recording");
    output.line(format!(" {name} ({chunks} of {files})"))?;
    Ok(true)
}
