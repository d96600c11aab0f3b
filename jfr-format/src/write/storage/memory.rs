//! A file in memory that remembers what was done to it, and fails on request.

use std::io;

use super::contract::Storage;

/// One change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// These bytes were written there.
    Write(u64, Vec<u8>),
    /// The length was set: before anyone could see the file, or to a smaller one.
    SetLen(u64),
    /// The file became longer by these bytes, in one step.
    Append(Vec<u8>),
    /// The file got its name.
    Publish,
}

/// A file in memory, for tests and for recordings that go elsewhere.
#[derive(Debug, Clone, Default)]
pub struct MemoryStorage {
    bytes: Vec<u8>,
    operations: Option<Vec<Operation>>,
    fail_at: Option<u64>,
    done: u64,
}

impl MemoryStorage {
    /// An empty file.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty file that remembers its operations.
    pub fn recording() -> Self {
        Self {
            operations: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// The content.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What was done, in order.
    pub fn operations(&self) -> &[Operation] {
        self.operations.as_deref().unwrap_or_default()
    }

    /// Changes so far, failed ones included.
    pub fn changes(&self) -> u64 {
        self.done
    }

    /// Lets the change number `n` (from now, 0 = the next) and all after it fail with `ENOSPC`;
    /// a failing write leaves half of its bytes, up to a multiple of eight. `None` heals the file.
    pub fn fail_from(&mut self, n: Option<u64>) {
        self.fail_at = n.map(|n| self.done + n);
    }

    fn begin(&mut self) -> io::Result<()> {
        let now = self.done;
        self.done += 1;
        match self.fail_at {
            Some(at) if now >= at => Err(io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }

    fn log(&mut self, operation: impl FnOnce() -> Operation) {
        if let Some(operations) = &mut self.operations {
            operations.push(operation());
        }
    }
}

fn index(offset: u64) -> io::Result<usize> {
    usize::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// Writes into `content`, extending it as a file would be.
fn put(content: &mut Vec<u8>, offset: u64, bytes: &[u8]) -> io::Result<()> {
    let start = index(offset)?;
    let end = start + bytes.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[start..end].copy_from_slice(bytes);
    Ok(())
}

impl Storage for MemoryStorage {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if let Err(e) = self.begin() {
            // A disk that fills up takes a part; nothing cuts through an aligned word.
            let middle = offset + bytes.len() as u64 / 2;
            let part = (middle / 8 * 8).saturating_sub(offset);
            let part = &bytes[..index(part)?];
            self.log(|| Operation::Write(offset, part.to_vec()));
            put(&mut self.bytes, offset, part)?;
            return Err(e);
        }
        self.log(|| Operation::Write(offset, bytes.to_vec()));
        put(&mut self.bytes, offset, bytes)
    }

    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let start = index(offset)?;
        let there = self.bytes.get(start..start + bytes.len());
        bytes.copy_from_slice(there.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.begin()?;
        self.log(|| Operation::SetLen(len));
        self.bytes.resize(index(len)?, 0);
        Ok(())
    }

    fn append(&mut self, end: u64, bytes: &[u8]) -> io::Result<()> {
        self.begin()?;
        self.log(|| Operation::Append(bytes.to_vec()));
        put(&mut self.bytes, end, bytes)
    }

    fn publish(&mut self) -> io::Result<()> {
        self.begin()?;
        self.log(|| Operation::Publish);
        Ok(())
    }
}
