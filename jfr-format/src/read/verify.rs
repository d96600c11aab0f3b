//! What is wrong in a chunk beside what its reader happened to ask for. Cost: one pass over the
//! events, most of it skipping fields.
//!
//! Readers leave out silently what they cannot read of events that they do not need; the person at
//! the terminal wants to know.

use std::collections::{BTreeMap, HashSet};

use super::parsed_chunk::ParsedChunk;
use super::raw::corruption::{Corruption, MAX_CORRUPTIONS};
use super::raw::cursor::Cursor;
use super::raw::event::RawEvent;
use super::typed::metadata::{Shape, Type, TypeIndex};
use crate::chunk::{
    CHECKPOINT_TYPE, DURATION_AT, FREQUENCY_AT, Header, METADATA_TYPE, START_NANOS_AT,
};
use crate::error::{Error, ErrorKind, short_name};

const DAY_NANOS: i64 = 86_400_000_000_000;
/// An event may have begun so long before its chunk: a wait of a year is still one.
const MAX_BEFORE_CHUNK_NANOS: i64 = 366 * DAY_NANOS;
/// An event may end so long after its chunk: the header of a chunk that is being written lags
/// behind.
const MAX_AFTER_CHUNK_NANOS: i64 = DAY_NANOS;
/// A chunk is at most so long: ten years.
const MAX_CHUNK_NANOS: i64 = 3660 * DAY_NANOS;
/// No recording begins after 2200-01-01, nor before 1970.
const MAX_START_NANOS: i64 = 7_258_118_400_000_000_000;
/// The fastest clock of an event counts CPU cycles, a few 10^9 per second.
const MAX_TICKS_PER_SECOND: i64 = 1_000_000_000_000;

/// What was found in the events of one type: reasons to complain, each with its first place and a
/// count.
#[derive(Default)]
struct TypeFindings {
    unreadable: Option<(Error, u64)>,
    clock: Option<(Error, u64)>,
}

/// Where the times of a type's events stand.
#[derive(Clone, Copy)]
struct TimeFields {
    has_start: bool,
    has_duration: bool,
}

impl TimeFields {
    fn of(ty: &Type) -> Self {
        let is = |place: usize, name: &str| {
            let field = ty.fields.get(place);
            field.is_some_and(|field| {
                &*field.name == name
                    && field.shape == Shape::Long
                    && !field.array
                    && !field.constant_pool
            })
        };
        let has_start = is(0, "startTime");
        Self {
            has_start,
            has_duration: has_start && is(1, "duration"),
        }
    }
}

/// When the events of a chunk may be.
struct ClockRange<'h> {
    header: &'h Header,
    first_nanos: i64,
    last_nanos: i64,
}

impl<'h> ClockRange<'h> {
    fn of(header: &'h Header) -> Self {
        let duration = header.duration_nanos.clamp(0, MAX_CHUNK_NANOS);
        let end = header.start_nanos.saturating_add(duration);
        Self {
            header,
            first_nanos: header.start_nanos.saturating_sub(MAX_BEFORE_CHUNK_NANOS),
            last_nanos: end.saturating_add(MAX_AFTER_CHUNK_NANOS),
        }
    }

    /// What is wrong with the times of an event; unreadable ones are found elsewhere.
    fn check(&self, event: &RawEvent<'_>, fields: TimeFields) -> Option<Error> {
        let mut cursor = Cursor::new(event.payload, event.payload_offset);
        let at = cursor.offset();
        let start_ticks = cursor.long().ok()?;
        let start = self.header.epoch_nanos(start_ticks);
        let error = |at, what, nanos| {
            let kind = ErrorKind::ClockOutOfRange { what, nanos };
            Some(Error::new(at, kind))
        };
        if start < self.first_nanos || start > self.last_nanos {
            return error(at, "start time", start);
        }
        if fields.has_duration {
            let at = cursor.offset();
            let span = self.header.span_nanos(cursor.long().ok()?);
            if span < 0 || start.saturating_add(span) > self.last_nanos {
                return error(at, "duration", span);
            }
        }
        None
    }
}

fn count_in(slot: &mut Option<(Error, u64)>, error: Error) {
    match slot {
        Some((_, count)) => *count += 1,
        None => *slot = Some((error, 1)),
    }
}

fn of_events(found: (Error, u64), type_name: String) -> Error {
    let (first, count) = found;
    let at = first.at();
    let kind = ErrorKind::Events {
        type_name,
        count,
        reason: Box::new(first.into_kind()),
    };
    Error::new(at, kind)
}

impl ParsedChunk<'_> {
    /// What is wrong in the header's clock, in the declarations of types, and in any event; beside
    /// [`ParsedChunk::corruptions`].
    ///
    /// Everything that can be read is read nevertheless. Of many events of one type with one fault
    /// the first is named and all are counted.
    pub fn verify(&self) -> Vec<Corruption> {
        let mut errors = Vec::new();
        check_header(self.header(), &mut errors);
        self.check_types(&mut errors);
        self.check_events(&mut errors);
        errors.truncate(MAX_CORRUPTIONS);
        let offset = self.offset();
        let corruption = |error| Corruption {
            chunk_offset: offset,
            error,
        };
        errors.into_iter().map(corruption).collect()
    }

    fn check_types(&self, errors: &mut Vec<Error>) {
        let at = self.header().metadata;
        let mut ids = HashSet::new();
        // The last declaration of an id counts, so they are met backwards.
        for ty in self.metadata().types().iter().rev() {
            if errors.len() >= MAX_CORRUPTIONS {
                return;
            }
            if !ids.insert(ty.id) {
                let (id, name) = (ty.id, short_name(&ty.name));
                errors.push(Error::new(at, ErrorKind::DuplicateType { id, name }));
            }
            let missing = ty.fields.iter().find(|field| field.type_index.is_none());
            if let Some(field) = missing {
                let kind = ErrorKind::UndeclaredFieldType {
                    owner: short_name(&ty.name),
                    field: short_name(&field.name),
                    id: field.type_id,
                };
                errors.push(Error::new(at, kind));
            }
        }
    }

    fn check_events(&self, errors: &mut Vec<Error>) {
        let clock = ClockRange::of(self.header());
        let types = self.metadata().types();
        let time_fields: Vec<TimeFields> = types.iter().map(TimeFields::of).collect();
        let mut findings: BTreeMap<TypeIndex, TypeFindings> = BTreeMap::new();
        let mut undeclared: BTreeMap<u64, (Error, u64)> = BTreeMap::new();
        for event in self.raw_events() {
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    errors.push(error);
                    break;
                }
            };
            if matches!(event.type_id, METADATA_TYPE | CHECKPOINT_TYPE) {
                continue;
            }
            let Some(index) = self.metadata().index_of(event.type_id) else {
                note_undeclared(&event, &mut undeclared);
                continue;
            };
            let fields = time_fields[index.usize()];
            let read = self.event_of(index, event).bytes_left_over();
            if let Err(error) = read {
                count_in(&mut findings.entry(index).or_default().unreadable, error);
            } else if fields.has_start
                && let Some(error) = clock.check(&event, fields)
            {
                count_in(&mut findings.entry(index).or_default().clock, error);
            }
        }
        for (id, found) in undeclared {
            errors.push(of_events(found, format!("type {id}")));
        }
        for (index, found) in findings {
            let name = &self.metadata().at(index).name;
            let found = [found.unreadable, found.clock].into_iter().flatten();
            errors.extend(found.map(|found| of_events(found, short_name(name))));
        }
    }
}

/// Padding is the one kind of event that nobody declares.
fn note_undeclared(event: &RawEvent<'_>, undeclared: &mut BTreeMap<u64, (Error, u64)>) {
    if event.is_padding() {
        return;
    }
    let id = event.type_id;
    if let Some((_, count)) = undeclared.get_mut(&id) {
        *count += 1;
    } else if undeclared.len() < MAX_CORRUPTIONS {
        let error = Error::new(event.offset, ErrorKind::UnknownType(id));
        undeclared.insert(id, (error, 1));
    }
}

fn check_header(header: &Header, errors: &mut Vec<Error>) {
    let mut check = |at: usize, what, nanos: i64, most: i64| {
        if !(0..=most).contains(&nanos) {
            let kind = ErrorKind::ClockOutOfRange { what, nanos };
            errors.push(Error::new(at as u64, kind));
        }
    };
    let (start, duration) = (header.start_nanos, header.duration_nanos);
    check(START_NANOS_AT, "chunk start", start, MAX_START_NANOS);
    check(DURATION_AT, "chunk duration", duration, MAX_CHUNK_NANOS);
    if header.ticks_per_second > MAX_TICKS_PER_SECOND {
        let kind = ErrorKind::BadFrequency(header.ticks_per_second);
        errors.push(Error::new(FREQUENCY_AT as u64, kind));
    }
}
