//! Level 1: where the chunks of a file lie, and where the events of a chunk lie. Cost: one look at each event's first bytes.
//!
//! A file is chunks end to end. [`Chunks`] cuts a slice, [`ChunkStream`] cuts whatever implements [`Read`], one chunk in
//! memory at a time. Both come back to their feet after garbage: they look for the next magic with a sound header.

use std::io::{self, Read};

use super::Damage;
use super::cursor::Cursor;
use crate::chunk::{
    FLAG_COMPRESSED_INTS, FLAGS_AT, FREQUENCY_AT, HEADER_LEN, HEADER_TYPE, Header, MAGIC,
    PADDING_TYPE, SIZE_AT, STATE_AT,
};
use crate::error::{Error, ErrorKind};
use crate::planted;
use crate::varint;

/// Chunks above are refused: pool entries are remembered by 32-bit offsets (no known writer comes near).
const MAX_CHUNK: u64 = u32::MAX as u64;

impl Header {
    /// Judges the values that decide whether the chunk can be read at all.
    ///
    /// # Errors
    /// Names the first value that is out of bounds, by its offset.
    pub fn check(&self) -> Result<(), Error> {
        if self.ticks_per_second <= 0 {
            return Err(Error::new(
                FREQUENCY_AT as u64,
                ErrorKind::BadFrequency(self.ticks_per_second),
            ));
        }
        if self.flags & FLAG_COMPRESSED_INTS == 0 {
            return Err(Error::new(FLAGS_AT as u64, ErrorKind::FixedWidthIntegers));
        }
        Ok(())
    }

    /// Nanoseconds since 1970 of a time stamp of this chunk.
    pub fn epoch_nanos(&self, ticks: i64) -> i64 {
        let since = i128::from(ticks) - i128::from(self.start_ticks);
        saturate(i128::from(self.start_nanos) + self.scale(since))
    }

    /// Nanoseconds of a span of the event clock.
    pub fn span_nanos(&self, ticks: i64) -> i64 {
        saturate(self.scale(i128::from(ticks)))
    }

    fn scale(&self, ticks: i128) -> i128 {
        if self.ticks_per_second == 1_000_000_000 {
            return ticks;
        }
        ticks * 1_000_000_000 / i128::from(self.ticks_per_second.max(1))
    }
}

fn saturate(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

/// A chunk: where it lies, its header, its bytes (header included).
#[derive(Debug, Clone)]
pub struct Chunk<'a> {
    /// Offset of its first byte in the file.
    pub offset: u64,
    /// The header as it stands.
    pub header: Header,
    /// The bytes, up to the chunk's end or to where the file stops making sense.
    pub bytes: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// The events in file order, metadata and checkpoints included.
    pub fn raw_events(&self) -> RawEvents<'a> {
        events_of(self.bytes)
    }
}

/// The events of a chunk's bytes.
pub(crate) fn events_of(bytes: &[u8]) -> RawEvents<'_> {
    RawEvents {
        bytes,
        pos: HEADER_LEN.min(bytes.len()),
    }
}

/// An event before its meaning: place, type id, bytes after the type id.
#[derive(Debug, Clone, Copy)]
pub struct RawEvent<'a> {
    /// Offset of its first byte from the chunk's start.
    pub offset: u64,
    /// Bytes, size field included.
    pub size: u64,
    /// The type's id: 0 metadata, 1 checkpoint, else declared in the metadata or unknown.
    pub type_id: u64,
    /// Offset of the payload from the chunk's start.
    pub payload_offset: u64,
    /// What follows the type id.
    pub payload: &'a [u8],
}

impl RawEvent<'_> {
    /// Whether it fills a gap: an event of the type of metadata without any, or a header read as an event.
    pub fn is_padding(&self) -> bool {
        // Metadata begin with start, duration, id and the number of their strings, of which there are some.
        let is_empty = self.payload.iter().take(4).all(|&byte| byte == 0);
        self.type_id == HEADER_TYPE || self.type_id == PADDING_TYPE && is_empty
    }
}

/// Iterator over the events of a chunk. After an error it is at its end: without a size there is no next event.
#[derive(Debug, Clone)]
pub struct RawEvents<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> RawEvents<'a> {
    /// The one event that starts at `offset`.
    #[inline]
    pub(crate) fn at(bytes: &'a [u8], offset: u64) -> Result<RawEvent<'a>, Error> {
        let rest = usize::try_from(offset)
            .ok()
            .and_then(|pos| bytes.get(pos..))
            .unwrap_or_default();
        // Two varints, mostly of a byte or two: this is the way to every event.
        let (size, size_len) = match *rest {
            [size, ..] if size < 0x80 => (u64::from(size), 1),
            _ => {
                let mut cursor = Cursor::new(rest, offset);
                (cursor.varint()?, cursor.pos())
            }
        };
        if size <= size_len as u64 {
            return Err(Error::new(offset, ErrorKind::BadSize(size)));
        }
        let event = usize::try_from(size).ok().and_then(|size| rest.get(..size));
        let Some(body) = event.and_then(|event| event.get(size_len..)) else {
            let mut cursor = Cursor::new(rest, offset);
            cursor.take(size_len as u64)?;
            return Err(cursor.truncated(size - size_len as u64));
        };
        let (type_id, id_len) = match *body {
            [id, ..] if id < 0x80 => (u64::from(id), 1),
            [low, high, ..] if high < 0x80 => (u64::from(low & 0x7f) | u64::from(high) << 7, 2),
            _ => match varint::get(body) {
                Some(read) => read,
                None => return Err(Error::new(offset, ErrorKind::BadSize(size))),
            },
        };
        Ok(RawEvent {
            offset,
            size,
            type_id,
            payload_offset: offset + (size_len + id_len) as u64,
            payload: &body[id_len..],
        })
    }
}

impl<'a> Iterator for RawEvents<'a> {
    type Item = Result<RawEvent<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.pos >= self.bytes.len() {
            return None;
        }
        let event = RawEvents::at(self.bytes, self.pos as u64);
        match &event {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "an event lies within the slice"
            )]
            Ok(event) => self.pos += event.size as usize,
            Err(_) => self.pos = self.bytes.len(),
        }
        Some(event)
    }
}

/// What stands at the start of the bytes not yet given out.
enum Span {
    /// More bytes are needed to decide, at least so many in all.
    More(u64),
    /// A chunk of `len` bytes, perhaps cut short.
    Chunk {
        header: Header,
        len: usize,
        flaw: Option<Error>,
    },
    /// `len` bytes to throw away; the error is `None` where they continue earlier garbage.
    Skip {
        len: usize,
        flaw: Error,
    },
    End,
}

fn sound_header(bytes: &[u8]) -> bool {
    Header::parse(bytes).is_ok_and(|header| header.check().is_ok())
}

/// Where the next magic starts.
fn find_magic(bytes: &[u8]) -> Option<usize> {
    // A byte is looked for much faster than four: a packed file can be a gigabyte of nothing.
    const BLOCK: usize = 4096;
    let mut from = 0;
    while from < bytes.len() {
        let end = bytes.len().min(from + BLOCK);
        if bytes[from..end].contains(&MAGIC[0]) {
            let reach = bytes.len().min(end + MAGIC.len() - 1);
            let mut windows = bytes[from..reach].windows(MAGIC.len());
            if let Some(found) = windows.position(|window| window == MAGIC) {
                return Some(from + found);
            }
        }
        from = end;
    }
    None
}

/// Where the next sound header starts in `bytes`, from `from` on.
fn find_header(bytes: &[u8], from: usize) -> Option<usize> {
    let mut from = from;
    loop {
        let found = from + find_magic(bytes.get(from..)?)?;
        if sound_header(&bytes[found..]) {
            return Some(found);
        }
        from = found + 1;
    }
}

/// Where a chunk starts within the first `within` bytes, behind its own header, that ends where the file or another chunk says so.
///
/// A sound header is not enough: the JDK puts copies of headers into its pools.
fn find_chunk(file: &[u8], within: usize, known: &mut Known) -> Option<usize> {
    // The header itself may reach beyond.
    let searched = &file[..file.len().min(within + HEADER_LEN - 1)];
    let mut from = known.from().max(HEADER_LEN);
    loop {
        let Some(found) = find_header(searched, from) else {
            known.nothing_below(within);
            return None;
        };
        let size = Header::parse(&file[found..]).map_or(0, |header| header.size);
        let end = usize::try_from(size)
            .ok()
            .and_then(|size| found.checked_add(size));
        if let Some(end) = end
            && size >= HEADER_LEN as u64
            && (end == file.len() || file.get(end..).is_some_and(sound_header))
        {
            known.nothing_below(found);
            return Some(found);
        }
        from = found + 1;
    }
}

/// Where [`find_chunk`] has looked already, so that a file of many bad headers is not searched once per header.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// Offset of the first byte of the slice at hand.
    base: u64,
    /// Below this offset no chunk starts.
    nothing_below: u64,
}

impl Known {
    fn from(self) -> usize {
        usize::try_from(self.nothing_below.saturating_sub(self.base)).unwrap_or(usize::MAX)
    }

    fn nothing_below(&mut self, place: usize) {
        self.nothing_below = self.nothing_below.max(self.base + place as u64);
    }
}

/// Where the events of an unfinished or cut chunk end: at the next chunk, or at the first event that does not fit.
fn walk_to_end(bytes: &[u8]) -> usize {
    let mut pos = HEADER_LEN;
    while pos < bytes.len() {
        if bytes[pos..].starts_with(&MAGIC) && sound_header(&bytes[pos..]) {
            return pos;
        }
        match RawEvents::at(bytes, pos as u64) {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "an event lies within the slice"
            )]
            Ok(event) => pos += event.size as usize,
            Err(_) => return pos,
        }
    }
    bytes.len()
}

fn next_span(bytes: &[u8], eof: bool, known: &mut Known) -> Span {
    if bytes.is_empty() && eof {
        return Span::End;
    }
    if bytes.len() < HEADER_LEN && !eof {
        return Span::More(HEADER_LEN as u64);
    }
    let header = match Header::parse(bytes).and_then(|header| header.check().map(|()| header)) {
        Ok(header) => header,
        Err(flaw) => return span_without_header(bytes, eof, flaw),
    };
    // The JDK leaves the size of an empty chunk in the header until its first flush.
    let is_begun = header.state != 0 && header.size == HEADER_LEN as u64;
    let has_size = header.size >= HEADER_LEN as u64 && !is_begun;
    if has_size && header.size <= bytes.len() as u64 {
        if header.size > MAX_CHUNK {
            let len = usize::try_from(header.size).unwrap_or(bytes.len());
            return Span::Skip {
                len,
                flaw: too_big(),
            };
        }
        #[expect(clippy::cast_possible_truncation, reason = "not more than the slice")]
        let len = header.size as usize;
        let rest = &bytes[len..];
        if rest.len() < HEADER_LEN && !eof {
            return Span::More((len + HEADER_LEN) as u64);
        }
        if !rest.is_empty() && !sound_header(rest) {
            if !eof {
                // Rare, and only the whole rest tells.
                return Span::More(u64::MAX);
            }
            // The size leads nowhere: the chunk may have been cut, and the next one lies within.
            if let Some(next) = find_chunk(bytes, len, known) {
                return Span::Chunk {
                    header,
                    len: next,
                    flaw: Some(wrong_size(&header, next)),
                };
            }
        }
        let flaw = (header.state != 0).then(|| wrong_size(&header, len));
        return Span::Chunk { header, len, flaw };
    }
    if !eof {
        return Span::More(if has_size { header.size } else { u64::MAX });
    }
    let len = find_chunk(bytes, bytes.len(), known).unwrap_or_else(|| walk_to_end(bytes));
    if len as u64 > MAX_CHUNK {
        return Span::Skip {
            len,
            flaw: too_big(),
        };
    }
    let flaw = Some(wrong_size(&header, len));
    Span::Chunk { header, len, flaw }
}

fn too_big() -> Error {
    Error::new(
        SIZE_AT as u64,
        ErrorKind::LimitExceeded("chunk of 4 GiB or more"),
    )
}

/// A chunk that does not end where its header says, or that is not finished.
fn wrong_size(header: &Header, actual: usize) -> Error {
    let (found, state, actual) = (header.size, header.state, actual as u64);
    if state != 0 || found == 0 {
        let kind = ErrorKind::Unfinished {
            state,
            found,
            actual,
        };
        return Error::new(STATE_AT as u64, kind);
    }
    Error::new(SIZE_AT as u64, ErrorKind::WrongChunkSize { found, actual })
}

/// Garbage, or a chunk whose header rules it out: what to throw away.
fn span_without_header(bytes: &[u8], eof: bool, flaw: Error) -> Span {
    if bytes.starts_with(&MAGIC) {
        if bytes.len() < HEADER_LEN {
            return Span::Skip {
                len: bytes.len(),
                flaw,
            };
        }
        // The size is believed only if it leads to another chunk or to the end.
        let mut eight = [0; 8];
        eight.copy_from_slice(&bytes[SIZE_AT..SIZE_AT + 8]);
        let size = u64::from_be_bytes(eight);
        if !eof && size >= HEADER_LEN as u64 {
            return Span::More(u64::MAX);
        }
        let end = usize::try_from(size).unwrap_or(usize::MAX);
        let leads_on =
            end < bytes.len() && sound_header(&bytes[end..]) || eof && end == bytes.len();
        if end >= HEADER_LEN && leads_on {
            return Span::Skip { len: end, flaw };
        }
    }
    // The next magic, sound or not, so that a stream, which sees less at a time, comes by the same places.
    let next = bytes.get(1..).and_then(find_magic);
    let len = match next {
        Some(found) => found + 1,
        None if eof => bytes.len(),
        // The last bytes may be the start of one.
        None => bytes.len() - (MAGIC.len() - 1),
    };
    if bytes.starts_with(&MAGIC) {
        return Span::Skip { len, flaw };
    }
    Span::Skip {
        len,
        flaw: Error::new(0, ErrorKind::Garbage { len: len as u64 }),
    }
}

/// Most damages remembered: a hostile file has one every few bytes, the first thousand say enough.
pub(crate) const MAX_DAMAGES: usize = 1000;

/// Adds damage; joins what is one stretch of garbage.
fn push_damage(damages: &mut Vec<Damage>, damage: Damage) {
    if let Some(last) = damages.last_mut()
        && let (&ErrorKind::Garbage { len }, &ErrorKind::Garbage { len: more }) =
            (last.error.kind(), damage.error.kind())
        && last.chunk_offset + len == damage.chunk_offset
    {
        last.error = Error::new(0, ErrorKind::Garbage { len: len + more });
        return;
    }
    if damages.len() < MAX_DAMAGES {
        damages.push(damage);
    }
}

/// The chunks of a file that is in memory. Never ends early: what is not a chunk is skipped and noted in [`Chunks::damages`].
#[derive(Debug)]
pub struct Chunks<'a> {
    bytes: &'a [u8],
    pos: usize,
    known: Known,
    damages: Vec<Damage>,
}

impl<'a> Chunks<'a> {
    /// Starts at the first byte of a file.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            pos: 0,
            known: Known::default(),
            damages: Vec::new(),
        }
    }

    /// What was skipped or cut so far.
    pub fn damages(&self) -> &[Damage] {
        &self.damages
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Chunk<'a>;

    fn next(&mut self) -> Option<Chunk<'a>> {
        loop {
            let rest = &self.bytes[self.pos..];
            let offset = self.pos as u64;
            self.known.base = offset;
            match next_span(rest, true, &mut self.known) {
                Span::End | Span::More(_) => return None,
                Span::Skip { len, flaw } => {
                    push_damage(
                        &mut self.damages,
                        Damage {
                            chunk_offset: offset,
                            error: flaw,
                        },
                    );
                    self.pos += len;
                    if planted::is("damage-ends-file") {
                        return None;
                    }
                }
                Span::Chunk { header, len, flaw } => {
                    if let Some(error) = flaw {
                        push_damage(
                            &mut self.damages,
                            Damage {
                                chunk_offset: offset,
                                error,
                            },
                        );
                    }
                    self.pos += len;
                    return Some(Chunk {
                        offset,
                        header,
                        bytes: &rest[..len],
                    });
                }
            }
        }
    }
}

/// A chunk with its own memory, as [`ChunkStream`] gives it.
#[derive(Debug, Clone)]
pub struct OwnedChunk {
    /// Offset of its first byte in the stream.
    pub offset: u64,
    /// The header as it stands.
    pub header: Header,
    bytes: Vec<u8>,
}

impl OwnedChunk {
    /// The chunk, for everything that wants one.
    pub fn as_chunk(&self) -> Chunk<'_> {
        Chunk {
            offset: self.offset,
            header: self.header,
            bytes: &self.bytes,
        }
    }
}

/// The chunks of a stream, one after the other. Holds one chunk; allocates no more than the stream really gave.
#[derive(Debug)]
pub struct ChunkStream<R> {
    input: R,
    buffer: Vec<u8>,
    /// How much of `buffer` has been given out.
    used: usize,
    /// Offset of `buffer[used]` in the stream.
    offset: u64,
    eof: bool,
    /// What ended the stream early; told once everything before it has been given.
    failed: Option<io::Error>,
    /// Most bytes of the stream held at a time.
    max_held_bytes: u64,
    known: Known,
    damages: Vec<Damage>,
}

impl<R: Read> ChunkStream<R> {
    /// Starts at the stream's present position, which counts as offset 0.
    pub fn new(input: R) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            used: 0,
            offset: 0,
            eof: false,
            failed: None,
            max_held_bytes: u64::MAX,
            known: Known::default(),
            damages: Vec::new(),
        }
    }

    /// The same, but never with more than so many bytes of the stream in memory. Of a longer chunk the beginning is given, as far as its events go, and a damage tells.
    #[must_use]
    pub fn holding_at_most(mut self, bytes: u64) -> Self {
        self.max_held_bytes = bytes.max(HEADER_LEN as u64);
        self
    }

    /// What was skipped or cut so far.
    pub fn damages(&self) -> &[Damage] {
        &self.damages
    }

    /// The next chunk, or `None` at the end.
    ///
    /// # Errors
    /// Only what the stream itself reports, once, instead of the end: the chunks before it, the last one perhaps cut, have been given.
    /// Whatever the bytes say goes to [`ChunkStream::damages`].
    pub fn next_chunk(&mut self) -> io::Result<Option<OwnedChunk>> {
        loop {
            match self.span() {
                Span::End => return self.failed.take().map_or(Ok(None), Err),
                Span::More(total) => self.fill(total.min(self.max_held_bytes)),
                Span::Skip { len, flaw } => {
                    self.damage(flaw);
                    self.advance(len);
                    if !self.eof && self.buffer.len() - self.used < HEADER_LEN {
                        self.fill(64 << 10);
                    }
                }
                Span::Chunk { header, len, flaw } => {
                    if let Some(flaw) = flaw {
                        self.damage(flaw);
                    }
                    return Ok(Some(OwnedChunk {
                        offset: self.offset,
                        header,
                        bytes: self.take(len),
                    }));
                }
            }
        }
    }

    /// What stands at the start of what has not been given out; where more may not be held, the rest does not count.
    fn span(&mut self) -> Span {
        self.known.base = self.offset;
        let bytes = &self.buffer[self.used..];
        let span = next_span(bytes, self.eof, &mut self.known);
        if !matches!(span, Span::More(_)) || (bytes.len() as u64) < self.max_held_bytes {
            return span;
        }
        match next_span(bytes, true, &mut self.known) {
            Span::Chunk {
                header,
                len,
                flaw: Some(_),
            } => Span::Chunk {
                header,
                len,
                flaw: Some(Error::new(
                    SIZE_AT as u64,
                    ErrorKind::TooLong {
                        found: header.size,
                        most: self.max_held_bytes,
                    },
                )),
            },
            span => span,
        }
    }

    fn damage(&mut self, error: Error) {
        let chunk_offset = self.offset;
        push_damage(
            &mut self.damages,
            Damage {
                chunk_offset,
                error,
            },
        );
    }

    /// Takes the next bytes out of the buffer.
    fn take(&mut self, len: usize) -> Vec<u8> {
        let rest = self.buffer.len() - self.used - len;
        if rest > len {
            let bytes = self.buffer[self.used..self.used + len].to_vec();
            self.advance(len);
            return bytes;
        }
        // The usual case: the chunk, and the start of the next one. Nothing big is copied, and the chunk is not held twice.
        self.buffer.drain(..self.used);
        self.used = 0;
        self.offset += len as u64;
        let rest = self.buffer.split_off(len);
        std::mem::replace(&mut self.buffer, rest)
    }

    fn advance(&mut self, len: usize) {
        self.used = (self.used + len).min(self.buffer.len());
        self.offset += len as u64;
        // Move the rest down only when that is cheaper than what was used up.
        if self.used > self.buffer.len() / 2 {
            self.buffer.drain(..self.used);
            self.used = 0;
        }
    }

    /// Reads until the unused part of the buffer holds `total` bytes or the stream ends. A stream that fails ends there: what it gave counts.
    fn fill(&mut self, total: u64) {
        self.buffer.drain(..self.used);
        self.used = 0;
        let missing = total.saturating_sub(self.buffer.len() as u64);
        let mut wanted = self.input.by_ref().take(missing);
        match wanted.read_to_end(&mut self.buffer) {
            Ok(got) => self.eof = (got as u64) < missing,
            Err(error) => {
                self.eof = true;
                self.failed = Some(error);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed read is a failed test")]
    use super::*;

    /// The header printed in the format page: 3284 bytes, checkpoint at 0xc22, metadata at 0x44.
    fn header(size: u64) -> Vec<u8> {
        let mut bytes = b"FLR\0\0\x02\0\x01".to_vec();
        for long in [
            size,
            0xc22,
            0x44,
            1_700_000_000_000_000_000,
            1_000_000_000,
            1_000_000_000_000,
            1_000_000_000,
        ] {
            bytes.extend(long.to_be_bytes());
        }
        bytes.extend([0, 0, 0, 1]);
        bytes
    }

    fn chunk_with(events: &[u8]) -> Vec<u8> {
        let mut bytes = header(HEADER_LEN as u64 + events.len() as u64);
        bytes.extend(events);
        bytes
    }

    fn sizes(file: &[u8]) -> (Vec<usize>, usize) {
        let mut chunks = Chunks::new(file);
        let sizes: Vec<usize> = chunks.by_ref().map(|chunk| chunk.bytes.len()).collect();
        let mut stream = ChunkStream::new(file);
        let mut streamed = Vec::new();
        while let Some(chunk) = stream.next_chunk().unwrap() {
            streamed.push(chunk.as_chunk().bytes.len());
        }
        assert_eq!(sizes, streamed, "slice and stream agree");
        assert_eq!(chunks.damages().is_empty(), stream.damages().is_empty());
        (sizes, chunks.damages().len())
    }

    #[test]
    fn the_magic_is_found_wherever_it_lies() {
        for at in [0, 1, 4092, 4093, 4094, 4095, 4096, 4097, 9000] {
            let mut bytes = [&vec![b'F'; at][..], b"FLR\0", &[0; 10]].concat();
            assert_eq!(find_magic(&bytes), Some(at), "{at}");
            bytes.truncate(at + 3);
            assert_eq!(find_magic(&bytes), None, "{at}");
        }
        assert_eq!(find_magic(b""), None);
    }

    #[test]
    fn header_values_stand_where_the_format_page_says() {
        let header = Header::parse(&header(3284)).unwrap();
        assert_eq!(header.size, 3284);
        assert_eq!(header.checkpoint, 0xc22);
        assert_eq!(header.metadata, 68);
        assert_eq!(
            header.epoch_nanos(1_000_000_000_500),
            1_700_000_000_000_000_500
        );
        assert_eq!(header.flags, 1);
    }

    #[test]
    fn chunks_before_between_and_after_garbage_are_all_given() {
        let chunk = chunk_with(&[2, 76, 3, 77, 0]);
        let file = [
            &b"garbage"[..],
            &chunk,
            b"FLR\0 false magic",
            &[0; 200],
            &chunk,
            &chunk,
            b"tail",
        ]
        .concat();
        let (sizes, damages) = sizes(&file);
        assert_eq!(sizes, [73, 73, 73]);
        assert!(damages >= 3);
    }

    #[test]
    fn chunk_with_a_nonsense_size_is_walked_and_the_next_one_is_found() {
        let good = chunk_with(&[2, 76]);
        for size in [0, 67, u64::MAX, 1 << 62, 100_000] {
            let mut bad = header(size);
            bad.extend([2, 76, 3, 77, 0]);
            let file = [&good[..], &bad, &good].concat();
            assert_eq!(sizes(&file), (vec![70, 73, 70], 1), "size {size}");
        }
    }

    #[test]
    fn wrong_version_and_dead_clock_cost_that_chunk_only() {
        let good = chunk_with(&[2, 76]);
        for (at, value) in [(5, 0), (5, 3), (67, 0)] {
            let mut bad = good.clone();
            bad[at] = value;
            let file = [&good[..], &bad, &good].concat();
            assert_eq!(sizes(&file), (vec![70, 70], 1));
        }
        for frequency in [0i64, -1] {
            let mut bad = good.clone();
            bad[56..64].copy_from_slice(&frequency.to_be_bytes());
            let file = [&good[..], &bad, &good].concat();
            assert_eq!(sizes(&file), (vec![70, 70], 1));
        }
    }

    #[test]
    fn a_bad_header_behind_garbage_is_judged_alike_by_slice_and_stream() {
        // Its size leads on to another chunk, over one that lies within: both believe it. Found by fuzzing.
        let inner = chunk_with(&[2, 76]);
        let last = chunk_with(&[2, 76, 2, 76]);
        let mut bad = chunk_with(&[&[0; 20][..], &inner, &[0; 20]].concat());
        bad[56..64].fill(0);
        for garbage in [0, 1, 3, 60, 70, 200] {
            let file = [&vec![7; garbage][..], &bad, &last].concat();
            assert_eq!(sizes(&file).0, [last.len()], "{garbage} bytes in front");
        }
    }

    #[test]
    fn header_cut_at_any_byte_is_damage_and_no_chunk() {
        let chunk = chunk_with(&[]);
        for cut in 1..HEADER_LEN {
            assert_eq!(sizes(&chunk[..cut]), (vec![], 1), "cut {cut}");
        }
        assert_eq!(sizes(&chunk), (vec![HEADER_LEN], 0));
        assert_eq!(sizes(&[]), (vec![], 0));
    }

    #[test]
    fn a_stream_holds_no_more_than_it_may_and_goes_on_behind_a_chunk_that_is_longer() {
        let small = chunk_with(&[2, 76]);
        let long = chunk_with(&[&[2, 76].repeat(500)[..], &[0; 4000]].concat());
        let file = [&small[..], &long, &small, &[0; 9000], &small].concat();
        let mut stream = ChunkStream::new(&*file).holding_at_most(2000);
        let mut sizes = Vec::new();
        while let Some(chunk) = stream.next_chunk().unwrap() {
            assert!(
                stream.buffer.capacity() <= 70_000,
                "64 KiB of garbage at a time"
            );
            sizes.push(chunk.as_chunk().bytes.len());
        }
        // Of the long one what its events tell.
        assert_eq!(sizes, [70, 68 + 1000, 70, 70]);
        let told: Vec<String> = stream.damages().iter().map(ToString::to_string).collect();
        assert!(told[0].contains("5068 bytes, at most 2000"), "{told:?}");
        assert_eq!(told.len(), 3, "{told:?}");
        // Enough for each: nothing is cut.
        let mut stream = ChunkStream::new(&*file).holding_at_most(1 << 20);
        let mut count = 0;
        while stream.next_chunk().unwrap().is_some() {
            count += 1;
        }
        assert_eq!((count, stream.damages().len()), (4, 1));
    }

    #[test]
    fn twenty_thousand_empty_chunks_are_given_in_no_time() {
        let file = chunk_with(&[]).repeat(20_000);
        assert_eq!(sizes(&file).0.len(), 20_000);
    }

    #[test]
    fn event_of_size_zero_ends_the_walk_with_an_error() {
        for events in [
            &[2, 76, 0, 0][..],
            &[2, 76, 1, 0],
            &[2, 76, 9, 76],
            &[2, 76, 0x80],
            &[2, 76, 2, 0x80],
        ] {
            let bytes = chunk_with(events);
            let chunk = Chunks::new(&bytes).next().unwrap();
            let events: Vec<_> = chunk.raw_events().collect();
            assert_eq!(events.len(), 2);
            assert!(events[0].is_ok() && events[1].is_err());
            assert!(events[1].as_ref().unwrap_err().at() >= 70);
        }
    }
}
