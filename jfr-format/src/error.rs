//! One error type for both directions: the place in the file, and what was found there.

use std::fmt;
use std::io;

/// Result of this crate's fallible functions.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, and where.
#[derive(Debug)]
pub struct Error {
    at: u64,
    kind: ErrorKind,
}

/// The reason of an [`Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused; the text says what was being done.
    Io(&'static str, io::Error),
    /// A value goes on beyond the bytes that are there.
    Truncated {
        /// Bytes the value needs.
        needed: u64,
        /// Bytes that are left.
        left: u64,
    },
    /// A chunk does not begin with `FLR\0`.
    BadMagic([u8; 4]),
    /// A major version other than 1 or 2.
    UnsupportedVersion {
        /// Major version found.
        major: u16,
        /// Minor version found.
        minor: u16,
    },
    /// A size that is too small for what it must contain, or larger than what is there.
    BadSize(u64),
    /// An offset that leads out of its chunk, or in a circle.
    BadOffset(i64),
    /// A string encoding that the format does not know.
    BadStringTag(u8),
    /// A text that is not UTF-8.
    BadUtf8,
    /// A reference to a type that the chunk does not declare.
    UnknownType(u64),
    /// The metadata event breaks a rule of the format.
    BadMetadata(&'static str),
    /// A checkpoint event breaks a rule of the format.
    BadCheckpoint(&'static str),
    /// The input asks for more than the reader is willing to give.
    LimitExceeded(&'static str),
    /// Bytes that belong to no chunk.
    Garbage {
        /// How many.
        len: u64,
    },
    /// A chunk whose size in the header is not that of its events.
    WrongChunkSize {
        /// What the header says.
        found: u64,
        /// Where the events end.
        actual: u64,
    },
    /// An event clock whose frequency is not positive, or higher than that of any clock.
    BadFrequency(i64),
    /// Integers of fixed width (flag bit 0 off), which no known writer uses.
    FixedWidthIntegers,
    /// A count that the bytes left cannot hold, or an index beyond a table.
    BadCount {
        /// The count or index found.
        found: u64,
        /// The most that could be right.
        most: u64,
    },
    /// A metadata element without a usable value for an attribute.
    BadAttribute {
        /// The attribute's key.
        key: &'static str,
        /// The value found, cut to 64 characters; empty if there is none.
        found: String,
    },
    /// A value of a type that has no fields, or that contains itself.
    OpaqueType(u64),
    /// The writer was asked for something that the recording cannot hold any more.
    Refused(&'static str),
    /// A chunk that its writer did not finish: it was killed, or still writes.
    Unfinished {
        /// State byte of the header; 0 in a finished chunk.
        state: u8,
        /// Size in the header.
        found: u64,
        /// Where the events end.
        actual: u64,
    },
    /// A chunk that is longer than what its reader was asked to hold in memory.
    TooLong {
        /// Its size in the header.
        found: u64,
        /// Most bytes to hold.
        most: u64,
    },
    /// A type id that the metadata declare more than once; the last declaration counts.
    DuplicateType {
        /// The id.
        id: u64,
        /// Name in the declaration that does not count, cut to 64 characters.
        name: String,
    },
    /// A field of a type that the metadata do not declare.
    UndeclaredFieldType {
        /// Name of the type that has the field, cut to 64 characters.
        owner: String,
        /// Name of the field, cut to 64 characters.
        field: String,
        /// Id of the missing type.
        id: u64,
    },
    /// A time that lies far outside of its chunk, or of any recording.
    ClockOutOfRange {
        /// Which one.
        what: &'static str,
        /// Nanoseconds: since 1970, or of a span.
        nanos: i64,
    },
    /// Events of one type that share a reason; the place is that of the first.
    Events {
        /// Name of the type, cut to 64 characters.
        type_name: String,
        /// How many.
        count: u64,
        /// What is wrong with the first.
        reason: Box<ErrorKind>,
    },
}

/// A name as an error carries it: a hostile file can have one of megabytes.
pub(crate) fn short_name(name: &str) -> String {
    name.chars().take(64).collect()
}

impl Error {
    /// An error found at byte `at` of the file.
    pub fn new(at: u64, kind: ErrorKind) -> Self {
        Self { at, kind }
    }

    /// Byte position in the file.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// The reason.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The reason alone.
    pub(crate) fn into_kind(self) -> ErrorKind {
        self.kind
    }

    /// The same reason at another place: for callers who know where their slice begins.
    #[must_use]
    pub fn moved_by(mut self, base: u64) -> Self {
        self.at = self.at.saturating_add(base);
        self
    }

    /// Whether the disk is full (`ENOSPC`, `EDQUOT`), a state that may pass.
    pub fn is_storage_full(&self) -> bool {
        use io::ErrorKind::{QuotaExceeded, StorageFull};
        matches!(&self.kind, ErrorKind::Io(_, e) if matches!(e.kind(), StorageFull | QuotaExceeded))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.at, self.kind)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(doing, e) => write!(f, "{doing}: {e}"),
            Self::Truncated { needed, left } => {
                write!(f, "cut off: {needed} bytes needed, {left} left")
            }
            Self::BadMagic(found) => write!(f, "no chunk here: found {found:02x?}, expected FLR"),
            Self::UnsupportedVersion { major, minor } => {
                write!(f, "unsupported version {major}.{minor}")
            }
            Self::BadSize(found) => write!(f, "impossible size {found}"),
            Self::BadOffset(found) => write!(f, "impossible offset {found}"),
            Self::BadStringTag(found) => write!(f, "unknown string encoding {found}"),
            Self::BadUtf8 => write!(f, "text is not UTF-8"),
            Self::UnknownType(found) => write!(f, "type {found} is not declared"),
            Self::BadMetadata(why) => write!(f, "bad metadata: {why}"),
            Self::BadCheckpoint(why) => write!(f, "bad checkpoint: {why}"),
            Self::LimitExceeded(what) => write!(f, "limit exceeded: {what}"),
            Self::Garbage { len } => write!(f, "{len} bytes that belong to no chunk"),
            Self::WrongChunkSize { found, actual } => {
                write!(
                    f,
                    "the header says {found} bytes, the events end after {actual}"
                )
            }
            Self::BadFrequency(found) => write!(f, "no clock has {found} ticks per second"),
            Self::FixedWidthIntegers => write!(f, "integers of fixed width, expected varints"),
            Self::BadCount { found, most } => {
                write!(f, "count or index {found}, expected at most {most}")
            }
            Self::BadAttribute { key, found } => {
                write!(f, "attribute '{key}' has no usable value, found '{found}'")
            }
            Self::OpaqueType(found) => {
                write!(f, "type {found} has no fields or contains itself")
            }
            Self::Refused(why) => write!(f, "refused: {why}"),
            Self::Unfinished {
                state,
                found,
                actual,
            } => write!(
                f,
                "unfinished chunk, its writer was killed or still writes \
                 (state {state}, size {found}); read up to byte {actual}"
            ),
            Self::TooLong { found, most } => write!(
                f,
                "a chunk of {found} bytes, at most {most} are held in memory; its beginning is read"
            ),
            Self::DuplicateType { id, name } => {
                write!(
                    f,
                    "type {id} ({name}) is declared again, the last one counts"
                )
            }
            Self::UndeclaredFieldType { owner, field, id } => {
                write!(
                    f,
                    "field {field} of {owner} has type {id}, which is not declared"
                )
            }
            Self::ClockOutOfRange { what, nanos } => {
                write!(f, "{what} of {nanos} ns, far outside of the chunk")
            }
            Self::Events {
                type_name,
                count: 1,
                reason,
            } => write!(f, "{reason} (an event of {type_name})"),
            Self::Events {
                type_name,
                count,
                reason,
            } => write!(f, "{reason} (the first of {count} events of {type_name})"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ErrorKind::Io(_, e) => Some(e),
            _ => None,
        }
    }
}
