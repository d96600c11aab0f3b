//! The chunk header: 68 bytes, the only fixed-width and big-endian part of a recording.
//!
//! Names follow `jdk.jfr.internal.consumer.ChunkHeader`; positions were checked against recordings
//! of JDK 17, 21 and 25. Offsets inside the header are relative to the chunk's first byte.

use byteorder::{BigEndian, ByteOrder};

use crate::error::{Error, ErrorKind, Result};

/// First four bytes of a chunk.
pub const MAGIC: [u8; 4] = *b"FLR\0";
/// Bytes of a header.
pub const HEADER_LEN: usize = 68;

/// Position of the major version (u16).
pub const MAJOR_AT: usize = 4;
/// Position of the minor version (u16).
pub const MINOR_AT: usize = 6;
/// Position of the chunk's size in bytes, header included (i64).
pub const SIZE_AT: usize = 8;
/// Position of the offset of the last checkpoint (i64).
pub const CHECKPOINT_AT: usize = 16;
/// Position of the offset of the metadata event to use (i64).
pub const METADATA_AT: usize = 24;
/// Position of the chunk's start, nanoseconds since 1970 UTC (i64).
pub const START_NANOS_AT: usize = 32;
/// Position of the chunk's duration in nanoseconds (i64).
pub const DURATION_AT: usize = 40;
/// Position of the event clock's value at the start (i64).
pub const START_TICKS_AT: usize = 48;
/// Position of the event clock's frequency (i64).
pub const FREQUENCY_AT: usize = 56;
/// Position of the state byte: 0 finished, 1..=254 being written, 255 header is being rewritten.
pub const STATE_AT: usize = 64;
/// Position of the flags (u16).
pub const FLAGS_AT: usize = 66;

/// Flag: integers are varints; every recording since JDK 9 has it.
pub const FLAG_COMPRESSED_INTS: u16 = 1;
/// Flag: last chunk of a recording that ended in an orderly way.
pub const FLAG_FINAL: u16 = 2;

/// Type id of a metadata event.
pub const METADATA_TYPE: u64 = 0;
/// Type id of a checkpoint event.
pub const CHECKPOINT_TYPE: u64 = 1;
/// Type id of our padding: that of metadata. Readers find the metadata of a chunk by its header and
/// skip other events of the type without a word; an undeclared type would show up in JMC and `jfr
/// summary`.
pub const PADDING_TYPE: u64 = METADATA_TYPE;
/// The type of a chunk header read as an event: 70 (`'F'`) bytes of type `'L'`, the second byte of
/// [`MAGIC`].
///
/// That is what makes a rotation atomic: until the size of the old chunk is changed, a reader of it
/// takes the header of the new chunk for an event of that type, and skips it.
pub const HEADER_TYPE: u64 = 76;

/// A chunk header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Major version; 2 is written.
    pub major: u16,
    /// Minor version; 1 is written.
    pub minor: u16,
    /// Bytes of the chunk, this header included.
    pub size: u64,
    /// Offset of the last checkpoint from the chunk's start; 0 if there is none.
    pub checkpoint: u64,
    /// Offset of the metadata event from the chunk's start.
    pub metadata: u64,
    /// Start of the chunk, nanoseconds since 1970 UTC.
    pub start_nanos: i64,
    /// Duration in nanoseconds.
    pub duration_nanos: i64,
    /// Event clock at `start_nanos`.
    pub start_ticks: i64,
    /// Event clock ticks per second.
    pub ticks_per_second: i64,
    /// State byte.
    pub state: u8,
    /// [`FLAG_COMPRESSED_INTS`], [`FLAG_FINAL`].
    pub flags: u16,
}

impl Header {
    /// The header's bytes.
    pub fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let mut b = [0u8; HEADER_LEN];
        b[..4].copy_from_slice(&MAGIC);
        BigEndian::write_u16(&mut b[MAJOR_AT..], self.major);
        BigEndian::write_u16(&mut b[MINOR_AT..], self.minor);
        BigEndian::write_u64(&mut b[SIZE_AT..], self.size);
        BigEndian::write_u64(&mut b[CHECKPOINT_AT..], self.checkpoint);
        BigEndian::write_u64(&mut b[METADATA_AT..], self.metadata);
        BigEndian::write_i64(&mut b[START_NANOS_AT..], self.start_nanos);
        BigEndian::write_i64(&mut b[DURATION_AT..], self.duration_nanos);
        BigEndian::write_i64(&mut b[START_TICKS_AT..], self.start_ticks);
        BigEndian::write_i64(&mut b[FREQUENCY_AT..], self.ticks_per_second);
        b[STATE_AT] = self.state;
        BigEndian::write_u16(&mut b[FLAGS_AT..], self.flags);
        b
    }

    /// Reads a header.
    ///
    /// Checks magic and version only. Sizes and offsets are as found, so callers compare them with
    /// what is there; values above 2^63 are left for that comparison to refuse.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`], [`ErrorKind::BadMagic`] or [`ErrorKind::UnsupportedVersion`], at
    /// positions relative to `bytes` (see [`Error::moved_by`]).
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let Some(b) = bytes.first_chunk::<HEADER_LEN>() else {
            let left = bytes.len() as u64;
            let needed = HEADER_LEN as u64;
            return Err(Error::new(0, ErrorKind::Truncated { needed, left }));
        };
        let magic = [b[0], b[1], b[2], b[3]];
        if magic != MAGIC {
            return Err(Error::new(0, ErrorKind::BadMagic(magic)));
        }
        let major = BigEndian::read_u16(&b[MAJOR_AT..]);
        let minor = BigEndian::read_u16(&b[MINOR_AT..]);
        if !(1..=2).contains(&major) {
            let kind = ErrorKind::UnsupportedVersion { major, minor };
            return Err(Error::new(MAJOR_AT as u64, kind));
        }
        Ok(Self {
            major,
            minor,
            size: BigEndian::read_u64(&b[SIZE_AT..]),
            checkpoint: BigEndian::read_u64(&b[CHECKPOINT_AT..]),
            metadata: BigEndian::read_u64(&b[METADATA_AT..]),
            start_nanos: BigEndian::read_i64(&b[START_NANOS_AT..]),
            duration_nanos: BigEndian::read_i64(&b[DURATION_AT..]),
            start_ticks: BigEndian::read_i64(&b[START_TICKS_AT..]),
            ticks_per_second: BigEndian::read_i64(&b[FREQUENCY_AT..]),
            state: b[STATE_AT],
            flags: BigEndian::read_u16(&b[FLAGS_AT..]),
        })
    }

    /// Judges the values that decide whether the chunk can be read at all.
    ///
    /// # Errors
    /// Names the first value that is out of bounds, by its offset.
    pub fn check(&self) -> Result<()> {
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
        let since = ticks.checked_sub(self.start_ticks);
        let nanos =
            since.and_then(|since| self.start_nanos.checked_add(self.scale_exactly(since)?));
        nanos.unwrap_or_else(|| {
            let since = i128::from(ticks) - i128::from(self.start_ticks);
            saturate(i128::from(self.start_nanos) + self.scale(since))
        })
    }

    /// Nanoseconds of a span of the event clock.
    pub fn span_nanos(&self, ticks: i64) -> i64 {
        let nanos = self.scale_exactly(ticks);
        nanos.unwrap_or_else(|| saturate(self.scale(i128::from(ticks))))
    }

    /// The same as [`Self::scale`], without a division of 128 bits; `None` where that would not do.
    fn scale_exactly(&self, ticks: i64) -> Option<i64> {
        let frequency = self.ticks_per_second.max(1);
        if frequency == NANOS_PER_SECOND {
            return Some(ticks);
        }
        let seconds = (ticks / frequency).checked_mul(NANOS_PER_SECOND)?;
        let rest = (ticks % frequency).checked_mul(NANOS_PER_SECOND)? / frequency;
        seconds.checked_add(rest)
    }

    fn scale(&self, ticks: i128) -> i128 {
        ticks * i128::from(NANOS_PER_SECOND) / i128::from(self.ticks_per_second.max(1))
    }
}

const NANOS_PER_SECOND: i64 = 1_000_000_000;

fn saturate(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// The worked header of the format description.
    const GOLDEN: &str = "464c5200 00020001 0000000000000cd4 0000000000000c22 0000000000000044 \
        17979cfe362a0000 000000003b9aca00 000000e8d4a51000 000000003b9aca00 00000001";

    fn golden() -> Vec<u8> {
        let hex: Vec<u8> = GOLDEN.bytes().filter(u8::is_ascii_hexdigit).collect();
        hex.chunks(2)
            .map(|p| u8::from_str_radix(std::str::from_utf8(p).unwrap(), 16).unwrap())
            .collect()
    }

    #[test]
    fn worked_header_reads_and_writes() {
        let header = Header::parse(&golden()).unwrap();
        assert_eq!(header.size, 3284);
        assert_eq!(header.checkpoint, 3106);
        assert_eq!(header.metadata, 68);
        assert_eq!(header.start_nanos, 1_700_000_000_000_000_000);
        assert_eq!(header.start_ticks, 1_000_000_000_000);
        assert_eq!(header.flags, FLAG_COMPRESSED_INTS);
        assert_eq!(header.to_bytes().as_slice(), golden());
    }

    #[test]
    fn times_are_exact_at_every_frequency() {
        let mut header = Header::parse(&golden()).unwrap();
        for frequency in [
            1,
            3,
            1_000_000,
            999_999_999,
            NANOS_PER_SECOND,
            24_000_000_007,
            i64::MAX,
        ] {
            header.ticks_per_second = frequency;
            for ticks in [0, 1, -1, 7_777_777_777, -98_765_432_101, i64::MAX, i64::MIN] {
                let scaled = |ticks: i128| ticks * 1_000_000_000 / i128::from(frequency);
                assert_eq!(header.span_nanos(ticks), saturate(scaled(ticks.into())));
                let since = i128::from(ticks) - i128::from(header.start_ticks);
                let nanos = saturate(i128::from(header.start_nanos) + scaled(since));
                assert_eq!(
                    header.epoch_nanos(ticks),
                    nanos,
                    "{ticks} at {frequency} Hz"
                );
            }
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let mut bytes = golden();
        assert!(matches!(
            Header::parse(&bytes[..67]).unwrap_err().kind(),
            ErrorKind::Truncated {
                needed: 68,
                left: 67
            }
        ));
        bytes[5] = 3;
        assert!(matches!(
            Header::parse(&bytes).unwrap_err().kind(),
            ErrorKind::UnsupportedVersion { major: 3, minor: 1 }
        ));
        bytes[0] = 0;
        assert!(matches!(
            Header::parse(&bytes).unwrap_err().kind(),
            ErrorKind::BadMagic(_)
        ));
    }
}
