//! OTLP profiles: a `ProfilesData` of opentelemetry-proto 1.11, `profiles/v1development`.
//!
//! There is a profile for each kind of samples. Each of its samples has a value and a time for each
//! event with the same stack and labels. Labels are attributes; a trace and a span are a link. The
//! dictionary has what is referred to, each thing once, behind a zero element. Of a limited size it
//! is several messages, each whole by itself.

mod dictionary;
mod identity;
mod part;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use super::profile::{Kind, Profile};
use crate::collect::Moment;
use dictionary::frame_type;
use identity::Identity;
use part::{Head, KindFacts, MessageBytes, Part};

/// Writes one message of any size.
pub(super) fn write(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    write_parts(profile, usize::MAX, &mut |message| {
        message
            .into_iter()
            .try_for_each(|bytes| out.write_all(bytes))
    })
}

/// Gives `write` messages of at most `limit` bytes, each whole by itself. One with a single sample
/// may be longer.
pub(super) fn write_parts<E>(
    profile: &Profile,
    limit: usize,
    write: &mut dyn FnMut(MessageBytes<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let head = Head::of(profile);
    let mut part = Part::new(&head);
    for (place, kind) in profile.kinds.iter().enumerate() {
        let facts = KindFacts::of(place, profile, kind);
        let unique = unique_frames(kind);
        for rows in kind.rows.chunk_by(|a, b| a.group == b.group) {
            let identity = Identity::of(kind, rows[0].group);
            // Stacks that differ in how a method is compiled are one here.
            let mut by_stack: BTreeMap<Vec<u32>, Vec<Moment>> = BTreeMap::new();
            for row in rows {
                let frames = kind.stack(row).iter().map(|&frame| unique[frame as usize]);
                let moments = by_stack.entry(frames.collect()).or_default();
                moments.extend(&row.moments);
            }
            for (stack, mut moments) in by_stack {
                moments.sort_unstable_by_key(|moment| moment.nanos);
                let values = moments.iter().map(|moment| moment.value);
                let max_value = values.max().unwrap_or(0);
                let mut left = &moments[..];
                while !left.is_empty() {
                    let room = part.room(limit, &facts, (&identity, &stack), max_value);
                    let now = match room {
                        0 if part.is_empty() => left.len(), // does not fit into any
                        room => room.min(left.len()),
                    };
                    if now > 0 {
                        part.add(&facts, &identity, &stack, &left[..now]);
                        left = &left[now..];
                    }
                    // The rest of a sample is in another message: in one it is there once.
                    if !left.is_empty() {
                        part.finish(write)?;
                        part = Part::new(&head);
                    }
                }
            }
        }
    }
    part.finish(write)
}

/// For each frame the first one that is the same here.
fn unique_frames(kind: &Kind) -> Vec<u32> {
    let mut places: HashMap<_, u32> = HashMap::new();
    let frames = (0..).zip(&kind.frames);
    let unique = frames.map(|(place, frame)| {
        let key = (&*frame.text, frame.line, frame_type(frame.kind));
        *places.entry(key).or_insert(place)
    });
    unique.collect()
}
