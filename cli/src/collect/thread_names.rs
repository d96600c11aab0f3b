//! Names of a chunk's threads as numbers: threads of one name, like most virtual ones, are one
//! group, however many there are.

use hashbrown::HashMap;
use jfr_format::read::Sample;

use super::sources::thread_name;

/// Not asked for yet, and a thread that cannot be read.
const UNNUMBERED: u32 = u32::MAX;
const NO_NAME: u32 = u32::MAX - 1;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct ThreadNames<'c> {
    numbers: HashMap<&'c str, u32>,
    /// By place in the pool of threads.
    by_entry: Vec<u32>,
}

impl<'c> ThreadNames<'c> {
    /// The number of the name that a sample's thread has.
    pub(super) fn number(&mut self, sample: &Sample<'c>) -> Option<u32> {
        let entry = u32::from(sample.thread_entry()?) as usize;
        if entry >= self.by_entry.len() {
            self.by_entry.resize(entry + 1, UNNUMBERED);
        }
        if self.by_entry[entry] == UNNUMBERED {
            self.by_entry[entry] = thread_name(sample).map_or(NO_NAME, |name| {
                let next = u32::try_from(self.numbers.len()).unwrap_or(NO_NAME);
                *self.numbers.entry(name).or_insert(next)
            });
        }
        Some(self.by_entry[entry]).filter(|&number| number != NO_NAME)
    }
}
