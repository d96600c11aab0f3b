//! Copies a chunk with changed metadata and events. Where these have other lengths, the places in the
//! header and the distances between checkpoints change, too.

use std::collections::BTreeMap;

use jfr_format::chunk::{CHECKPOINT_TYPE, HEADER_LEN, Header, METADATA_TYPE};
use jfr_format::read::{Chunk, RawEvent};
use jfr_format::varint;

use super::fields::Fields;
use super::metadata::Metadata;

/// An event without content behind the last one: a reader looks there for a chunk's begin.
const FILLER: [u8; 4] = [4, 0, 0, 0];

/// What differs in the copy. Each `None` means that the chunk cannot be read.
pub(super) trait Change {
    fn metadata(&mut self, metadata: &mut Metadata<'_>) -> Option<()>;

    /// Puts the payload that an event gets into an empty buffer.
    fn event(&mut self, event: &RawEvent<'_>, payload: &mut Vec<u8>) -> Option<EventCopy>;

    /// A pool of constants to add, as in a checkpoint: type, count, keys and values.
    fn constants(&self) -> Option<Vec<u8>> {
        None
    }
}

pub(super) enum EventCopy {
    Same,
    /// With this id of its type, and the payload in the buffer.
    Changed(u64),
}

/// The chunk with this header and a change; `None` if it cannot be read.
pub(super) fn changed(
    chunk: &Chunk<'_>,
    header: &Header,
    change: &mut impl Change,
) -> Option<Vec<u8>> {
    let mut copy = Copy {
        header: *header,
        out: vec![0; HEADER_LEN],
        checkpoints: BTreeMap::new(),
    };
    let mut payload = Vec::new();
    for event in chunk.raw_events() {
        copy.event(&event.ok()?, chunk.bytes, change, &mut payload)?;
    }
    if let Some(pool) = change.constants() {
        copy.add_constants(&pool);
    }
    Some(copy.into_bytes())
}

struct Copy {
    header: Header,
    out: Vec<u8>,
    /// Where each checkpoint was, and is.
    checkpoints: BTreeMap<u64, u64>,
}

impl Copy {
    fn event(
        &mut self,
        event: &RawEvent<'_>,
        chunk: &[u8],
        change: &mut impl Change,
        payload: &mut Vec<u8>,
    ) -> Option<()> {
        let at = self.out.len() as u64;
        payload.clear();
        match event.type_id {
            _ if event.is_padding() => {}
            METADATA_TYPE => {
                let mut metadata = Metadata::parse(event.payload)?;
                change.metadata(&mut metadata)?;
                self.put(METADATA_TYPE, &[&metadata.into_payload()]);
                if self.header.metadata == event.offset {
                    self.header.metadata = at;
                }
            }
            CHECKPOINT_TYPE => {
                self.checkpoint(event)?;
                self.checkpoints.insert(event.offset, at);
                if self.header.checkpoint == event.offset {
                    self.header.checkpoint = at;
                }
            }
            _ => match change.event(event, payload)? {
                EventCopy::Changed(type_id) => self.put(type_id, &[payload]),
                EventCopy::Same => {
                    let begin = usize::try_from(event.offset).ok()?;
                    let end = begin + usize::try_from(event.size).ok()?;
                    self.out.extend_from_slice(chunk.get(begin..end)?);
                }
            },
        }
        Some(())
    }

    fn put(&mut self, type_id: u64, payload: &[&[u8]]) {
        let payload_len = payload.iter().map(|part| part.len()).sum::<usize>();
        let body = varint::len(type_id) + payload_len;
        // The size counts itself.
        let width = (1..=9).find(|&width| (body + width) >> (7 * width) == 0);
        varint::put(&mut self.out, (body + width.unwrap_or(1)) as u64);
        varint::put(&mut self.out, type_id);
        self.out.extend(payload.iter().copied().flatten());
    }

    /// A checkpoint says how far it is from the one before it.
    fn checkpoint(&mut self, event: &RawEvent<'_>) -> Option<()> {
        let mut fields = Fields(event.payload);
        let (start, duration) = (fields.varint()?, fields.varint()?);
        let distance = match fields.varint()? {
            0 => 0,
            distance => {
                let before = event.offset.wrapping_add(distance);
                let before = self.checkpoints.get(&before)?;
                before.wrapping_sub(self.out.len() as u64)
            }
        };
        self.put_checkpoint([start, duration, distance], fields.0);
        Some(())
    }

    fn put_checkpoint(&mut self, numbers: [u64; 3], rest: &[u8]) {
        let mut head = Vec::new();
        for number in numbers {
            varint::put(&mut head, number);
        }
        self.put(CHECKPOINT_TYPE, &[&head, rest]);
    }

    /// Adds a checkpoint behind the last one.
    fn add_constants(&mut self, pool: &[u8]) {
        let at = self.out.len() as u64;
        let distance = match self.header.checkpoint {
            0 => 0,
            before => before.wrapping_sub(at),
        };
        // Of no special kind, with one pool.
        let mut rest = vec![0, 1];
        rest.extend_from_slice(pool);
        let start = self.header.start_ticks.cast_unsigned();
        self.put_checkpoint([start, 0, distance], &rest);
        self.header.checkpoint = at;
    }

    fn into_bytes(self) -> Vec<u8> {
        let Self {
            mut header,
            mut out,
            ..
        } = self;
        out.extend_from_slice(&FILLER);
        header.size = out.len() as u64;
        out[..HEADER_LEN].copy_from_slice(&header.to_bytes());
        out
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::fs;
    use std::path::Path;

    use jfr_format::read::{ChunkParser, Chunks, ParsedChunk};

    use super::*;

    /// The same events, each with a byte behind its fields, and metadata with more strings.
    struct LongerEvents;

    impl Change for LongerEvents {
        fn metadata(&mut self, metadata: &mut Metadata<'_>) -> Option<()> {
            let (_, strings) = metadata.classes()?;
            (0..200).for_each(|number| _ = strings.number(&number.to_string()));
            Some(())
        }

        fn event(&mut self, event: &RawEvent<'_>, payload: &mut Vec<u8>) -> Option<EventCopy> {
            payload.extend_from_slice(event.payload);
            payload.push(0);
            Some(EventCopy::Changed(event.type_id))
        }
    }

    fn fixture(name: &str) -> Vec<u8> {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../jfr-format/tests/fixtures");
        fs::read(directory.join(name)).unwrap()
    }

    /// Types, lengths of pools, and what the samples are.
    fn content(chunk: &ParsedChunk<'_>) -> Vec<String> {
        let mut content = Vec::new();
        for ty in chunk.metadata().types() {
            let index = chunk.metadata().index_of(ty.id).unwrap();
            let fields: Vec<_> = ty.fields.iter().map(|field| &*field.name).collect();
            let pool = chunk.pool_len(index);
            let events = chunk.event_offsets(index).len();
            content.push(format!("{} {fields:?} {pool} {events}", ty.name));
        }
        for sample in chunk.samples(|_| true) {
            let sample = sample.unwrap();
            let stack = sample.stack().map(|stack| stack.frames().count());
            let (thread, start) = (sample.thread().map(|it| it.java_id), sample.start_nanos);
            content.push(format!("{} {thread:?} {start} {stack:?}", sample.ty().name));
        }
        content
    }

    #[test]
    fn a_copy_with_longer_events_has_the_same_content() {
        for name in ["jdk17.jfr", "jdk21.jfr", "jdk25.jfr", "ours8.jfr"] {
            let file = fixture(name);
            for chunk in Chunks::new(&file) {
                let copy = changed(&chunk, &chunk.header, &mut LongerEvents).unwrap();
                assert!(copy.len() > chunk.bytes.len(), "{name}");
                let copied = Chunks::new(&copy).next().unwrap();
                let (mut first, mut second) = (ChunkParser::new(), ChunkParser::new());
                let (before, after) = (first.parse(&chunk), second.parse(&copied));
                let (before, after) = (before.unwrap(), after.unwrap());
                assert!(after.corruptions().is_empty(), "{:?}", after.corruptions());
                assert_eq!(content(&after), content(&before), "{name}");
            }
        }
    }

    #[test]
    fn cut_metadata_are_refused() {
        for name in ["jdk25.jfr", "ours8.jfr"] {
            let file = fixture(name);
            let chunk = Chunks::new(&file).next().unwrap();
            let events = chunk.raw_events().map(Result::unwrap);
            let mut metadata = events.filter(|event| event.type_id == METADATA_TYPE);
            let payload = metadata.find(|event| !event.is_padding()).unwrap().payload;
            assert!(Metadata::parse(payload).is_some(), "{name}");
            for len in (0..payload.len() / 2).step_by(101) {
                assert!(Metadata::parse(&payload[..len]).is_none(), "{name}: {len}");
            }
        }
    }
}
