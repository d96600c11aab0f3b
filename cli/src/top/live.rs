//! A recording that is being written, read as it grows.
//!
//! The events of an open chunk that can be seen stay as they are; behind them the header is written
//! anew, and the padding up to the end of the file shrinks (docs/contributing/file-format.md,
//! "Readable at every instant"). So the bytes of the open chunk are kept, and only what is new is
//! read.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

use jfr_format::chunk::{FLAG_FINAL, HEADER_LEN, HEADER_TYPE, Header, PADDING_TYPE};
use jfr_format::read::{Chunk, ChunkParser, ParsedChunk};
use jfr_format::varint;

use crate::collect::Start;

/// Bytes read at a time.
const BLOCK: usize = 16 << 10;
/// A longer event of the type of paddings and metadata without content is the padding at the end;
/// shorter ones align what follows.
const MAX_FILLER: u64 = 15;
/// Chunks of the agent are shorter: `chunksize` is at most 1 GiB.
const MAX_CHUNK: u64 = 2 << 30;
/// Chunks of a file have one clock, in microseconds; none is shorter than 100 ms.
const CLOCK_SLACK_NANOS: i64 = 1_000_000;

/// See the module.
#[derive(Debug)]
pub(super) struct LiveFile {
    file: File,
    /// Where the chunk begins in the file.
    chunk_at: u64,
    /// The bytes of the chunk up to where its padding begins.
    bytes: Vec<u8>,
    /// What the caller has had of it.
    had: Start,
    parser: ChunkParser,
}

/// Whether more can come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileState {
    Open,
    /// The file is complete.
    Complete,
}

/// What lies at a place of a chunk.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// An event of so many bytes.
    Event(u64),
    /// Metadata, or the padding behind the events, of so many bytes.
    Padding(u64),
    /// The next chunk.
    Header,
    /// Too few bytes to tell.
    Unknown,
}

fn next(bytes: &[u8]) -> Next {
    let Some((size, size_len)) = varint::get(bytes) else {
        return Next::Unknown;
    };
    match varint::get(&bytes[size_len..]) {
        None => Next::Unknown,
        // No event is that short.
        Some(_) if size <= size_len as u64 => Next::Header,
        Some((HEADER_TYPE, _)) => Next::Header,
        Some((PADDING_TYPE, _)) if size > MAX_FILLER => Next::Padding(size),
        Some(_) => Next::Event(size),
    }
}

/// The moment up to which a chunk reaches.
fn end_of(header: &Header) -> i64 {
    header.start_nanos.saturating_add(header.duration_nanos)
}

impl LiveFile {
    /// All that the file has counts.
    pub(super) fn at_begin(file: File) -> Self {
        Self {
            file,
            chunk_at: 0,
            bytes: Vec::new(),
            had: Start {
                offset: 0,
                nanos: i64::MIN,
            },
            parser: ChunkParser::new(),
        }
    }

    /// Only what comes from now on counts.
    pub(super) fn at_end(file: File) -> io::Result<Self> {
        let mut live = Self::at_begin(file);
        let mut header = live.header()?;
        while live.has_next(&header)? {
            live.begin_next(&header);
            header = live.header()?;
        }
        live.read_events(header.size)?;
        live.had = Start {
            offset: live.bytes.len() as u64,
            nanos: end_of(&header),
        };
        Ok(live)
    }

    /// Whether this is the file that is read.
    pub(super) fn is_file(&self, other: &File) -> io::Result<bool> {
        let (own, other) = (self.file.metadata()?, other.metadata()?);
        Ok((own.dev(), own.ino()) == (other.dev(), other.ino()))
    }

    /// Reads what is new, and calls `work` with each chunk that has something new and with where
    /// that begins.
    pub(super) fn read_new(
        &mut self,
        mut work: impl FnMut(&ParsedChunk<'_>, Start),
    ) -> io::Result<FileState> {
        loop {
            let before = self.header()?;
            if self.has_next(&before)? {
                // Nothing is added to it any more.
                let size = usize::try_from(before.size).map_err(io::Error::other)?;
                if !self.fill(size)? {
                    return Err(io::Error::other("it was cut"));
                }
                self.bytes.truncate(size);
                self.give(before, &mut work)?;
                self.begin_next(&before);
                continue;
            }
            let Some(header) = self.read_visible(before.size)? else {
                return Ok(FileState::Open);
            };
            self.give(header, &mut work)?;
            // The mark is the last that is written, so what was read after it is all.
            if before.flags & FLAG_FINAL != 0 {
                return Ok(FileState::Complete);
            }
            if header.flags & FLAG_FINAL == 0 {
                return Ok(FileState::Open);
            }
        }
    }

    /// Calls `work` if there is anything that it has not had.
    fn give(
        &mut self,
        header: Header,
        work: &mut impl FnMut(&ParsedChunk<'_>, Start),
    ) -> io::Result<()> {
        let reached = Start {
            offset: self.bytes.len() as u64,
            nanos: end_of(&header).max(self.had.nanos),
        };
        if reached.offset <= self.had.offset && reached.nanos <= self.had.nanos {
            return Ok(());
        }
        let chunk = Chunk {
            offset: self.chunk_at,
            header,
            bytes: &self.bytes,
        };
        let chunk = self.parser.parse(&chunk).map_err(io::Error::other)?;
        let nanos = self.had.nanos.max(header.start_nanos);
        work(&chunk, Start { nanos, ..self.had });
        self.had = reached;
        Ok(())
    }

    /// Whether another chunk follows this one, which is closed then.
    fn has_next(&self, header: &Header) -> io::Result<bool> {
        let next = self.header_behind(header.size)?;
        // It begins when this one ends. One that begins right after the begin of this one is of
        // those by which a file grows, and becomes part of it.
        Ok(next.is_some_and(|next| {
            let begin = next.start_nanos.saturating_add(CLOCK_SLACK_NANOS);
            let first = header.start_nanos.saturating_add(2 * CLOCK_SLACK_NANOS);
            begin >= end_of(header).max(first)
        }))
    }

    fn begin_next(&mut self, header: &Header) {
        self.chunk_at += header.size;
        self.bytes.clear();
        self.had.offset = 0;
    }

    /// Reads the events that can be seen, and the header, which is not older than they are. `None`
    /// while it leads behind them: the agent is about to show more.
    fn read_visible(&mut self, chunk_len: u64) -> io::Result<Option<Header>> {
        self.read_events(chunk_len)?;
        let header = self.header()?;
        let is_behind = header.checkpoint.max(header.metadata) >= self.bytes.len() as u64;
        Ok((!is_behind).then_some(header))
    }

    /// The header of the chunk.
    fn header(&self) -> io::Result<Header> {
        let header = self.header_at(self.chunk_at)?;
        header.ok_or_else(|| io::Error::other("it is no recording"))
    }

    /// The header of another chunk, at this offset from the begin of this one.
    fn header_behind(&self, offset: u64) -> io::Result<Option<Header>> {
        let at = self.chunk_at.checked_add(offset);
        let at = at.filter(|&at| i64::try_from(at).is_ok());
        at.map_or(Ok(None), |at| self.header_at(at))
    }

    /// The header of a chunk; `None` if there is none.
    fn header_at(&self, at: u64) -> io::Result<Option<Header>> {
        let mut bytes = [0; HEADER_LEN];
        match self.file.read_exact_at(&mut bytes, at) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
        let header = Header::parse(&bytes).ok();
        Ok(header.filter(|header| header.check().is_ok()))
    }

    /// Appends the events behind those that are known. `chunk_len` is what the header says.
    fn read_events(&mut self, chunk_len: u64) -> io::Result<()> {
        let mut known = self.bytes.len().max(HEADER_LEN);
        if !self.fill(known)? {
            return Err(io::Error::other("it is no recording"));
        }
        loop {
            let size = match next(&self.bytes[known..]) {
                Next::Event(size) => size,
                Next::Padding(size) => {
                    if self.is_end((known as u64).saturating_add(size), chunk_len)? {
                        break;
                    }
                    size
                }
                Next::Header => break,
                Next::Unknown => {
                    if self.append(BLOCK)? == 0 {
                        break;
                    }
                    continue;
                }
            };
            let size = usize::try_from(size).map_err(io::Error::other)?;
            let end = known.saturating_add(size);
            if !self.fill(end)? {
                break;
            }
            known = end;
        }
        self.bytes.truncate(known);
        Ok(())
    }

    /// Whether a chunk ends at this offset: its header says so, or did before it grew, or another
    /// one begins there.
    fn is_end(&self, offset: u64, chunk_len: u64) -> io::Result<bool> {
        Ok(offset >= chunk_len || self.header_behind(offset)?.is_some())
    }

    /// Reads until there are `len` bytes; `false` if the file has fewer.
    fn fill(&mut self, len: usize) -> io::Result<bool> {
        if len as u64 > MAX_CHUNK {
            return Err(io::Error::other(
                "it has a longer event than the agent writes",
            ));
        }
        // In blocks: a length in the file is no reason to ask for so much memory.
        while self.bytes.len() < len {
            if self.append(BLOCK)? == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads up to `len` bytes behind those that are there; returns how many there are.
    fn append(&mut self, len: usize) -> io::Result<usize> {
        let begin = self.bytes.len();
        self.bytes.resize(begin + len, 0);
        let at = self.chunk_at + begin as u64;
        let got = loop {
            match self.file.read_at(&mut self.bytes[begin..], at) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                got => break got,
            }
        };
        self.bytes.truncate(begin + got.as_ref().unwrap_or(&0));
        got
    }
}

#[cfg(test)]
mod tests;
