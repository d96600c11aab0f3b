//! Attribute names and the dictionary of their values. The strings live here and in the writer,
//! never in a handler.
//!
//! Bounded: eight names; the values by count and by bytes, which follow from the count. An id never
//! gets a second value, and no value is removed: a sample may refer to it for the life of the
//! process.

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use schema::counter::Counter;
use schema::limits::{ATTRIBUTE_SLOTS, MAX_ATTRIBUTE_NAME_BYTES};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// Bytes of text per value that the dictionary may hold: 4 MiB with the default of `ctxcap`.
const BYTES_PER_VALUE: usize = 64;
/// Limits of the resulting size.
const MIN_BYTES: usize = 64 << 10;
const MAX_BYTES: usize = 16 << 20;
const _: () = assert!(
    ATTRIBUTE_SLOTS <= jfr_format::declare::MAX_COLUMNS,
    "each attribute has a column"
);

/// Length in bytes of each text of a [`Description`]; longer ones are cut.
const MAX_DESCRIPTION_BYTES: usize = 1024;

/// What an application says about an attribute, for readers of the recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Description {
    pub(crate) label: String,
    pub(crate) text: String,
    /// Name of the Java type that has the attribute as a field.
    pub(crate) context_type: String,
}

/// Names and values of one process.
#[derive(Debug)]
pub(crate) struct Registry {
    names: Mutex<Vec<Arc<str>>>,
    descriptions: Mutex<[Description; ATTRIBUTE_SLOTS]>,
    /// Number of changes of descriptions.
    described: AtomicU64,
    /// Names that `bind` refused: the ninth and later.
    refused: AtomicU64,
    ids: DashMap<Arc<str>, u32>,
    values: RwLock<Vec<Arc<str>>>,
    bytes: AtomicUsize,
    max_values: AtomicUsize,
    max_bytes: usize,
    /// Values that the full dictionary refused.
    full: AtomicU64,
}

impl Registry {
    /// An empty registry for at most `max_values` distinct values.
    pub(crate) fn new(max_values: usize) -> Self {
        Self {
            names: Mutex::new(Vec::new()),
            descriptions: Mutex::default(),
            described: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            ids: DashMap::new(),
            values: RwLock::new(Vec::new()),
            bytes: AtomicUsize::new(0),
            max_values: AtomicUsize::new(max_values),
            max_bytes: max_values
                .saturating_mul(BYTES_PER_VALUE)
                .clamp(MIN_BYTES, MAX_BYTES),
            full: AtomicU64::new(0),
        }
    }

    /// Slot of `name`, bound now if it is new; `None` if all slots are in use or the name is not
    /// valid.
    pub(crate) fn bind(&self, name: &str) -> Option<usize> {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = bind_in(&mut names, name);
        if slot.is_none() {
            self.refused.fetch_add(1, Relaxed);
        }
        slot
    }

    /// Slots of all `names`; `None`, and no new slot, if they do not all fit.
    pub(crate) fn bind_all(&self, names: &[&str]) -> Option<Vec<usize>> {
        let mut bound = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let before = bound.len();
        let slots: Option<Vec<usize>> =
            names.iter().map(|name| bind_in(&mut bound, name)).collect();
        if slots.is_none() {
            bound.truncate(before);
            self.refused.fetch_add(1, Relaxed);
        }
        slots
    }

    /// Names by slot, from slot `first` on; allocates only if there are any.
    pub(crate) fn names_from(&self, first: usize) -> Vec<Arc<str>> {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.get(first..).unwrap_or_default().to_vec()
    }

    /// Describes the attribute in a slot. The last description counts.
    pub(crate) fn describe(&self, slot: usize, mut description: Description) {
        let Description {
            label,
            text,
            context_type,
        } = &mut description;
        for text in [label, text, context_type] {
            text.truncate(text.floor_char_boundary(MAX_DESCRIPTION_BYTES));
        }
        let mut all = self.descriptions();
        if let Some(old) = all.get_mut(slot).filter(|old| **old != description) {
            *old = description;
            // Relaxed: a reader of the new number takes the lock that we hold.
            self.described.fetch_add(1, Relaxed);
        }
    }

    /// Description of the attribute in a slot; empty if it has none.
    pub(crate) fn description(&self, slot: usize) -> Description {
        self.descriptions().get(slot).cloned().unwrap_or_default()
    }

    /// Number of changes of descriptions so far.
    pub(crate) fn description_changes(&self) -> u64 {
        self.described.load(Relaxed)
    }

    fn descriptions(&self) -> MutexGuard<'_, [Description; ATTRIBUTE_SLOTS]> {
        self.descriptions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Id of `value`, 1 and up; `None` if the dictionary is full.
    pub(crate) fn intern(&self, value: &str) -> Option<u32> {
        if let Some(id) = self.ids.get(value) {
            return Some(*id);
        }
        let text: Arc<str> = value.into();
        match self.ids.entry(text.clone()) {
            Entry::Occupied(known) => Some(*known.get()),
            Entry::Vacant(entry) => {
                let mut values = self.values.write().unwrap_or_else(PoisonError::into_inner);
                let full = values.len() >= self.max_values.load(Relaxed)
                    || self.bytes.load(Relaxed) + value.len() > self.max_bytes;
                if full {
                    self.full.fetch_add(1, Relaxed);
                    return None;
                }
                self.bytes.fetch_add(value.len(), Relaxed);
                values.push(text);
                let id = u32::try_from(values.len()).ok()?;
                entry.insert(id);
                Some(id)
            }
        }
    }

    /// Text of an id.
    pub(crate) fn value(&self, id: u32) -> Option<Arc<str>> {
        let index = usize::try_from(id).ok()?.checked_sub(1)?;
        self.values
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(index)
            .cloned()
    }

    /// Its counters.
    pub(crate) fn counts(&self) -> [(Counter, u64); 4] {
        let values = self
            .values
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .len();
        [
            (Counter::DictionaryValues, values as u64),
            (Counter::DictionaryBytes, self.bytes.load(Relaxed) as u64),
            (Counter::DictionaryFull, self.full.load(Relaxed)),
            (Counter::KeysRefused, self.refused.load(Relaxed)),
        ]
    }
}

/// Slot of `name` in `names`, appended if it is new and a slot is free.
fn bind_in(names: &mut Vec<Arc<str>>, name: &str) -> Option<usize> {
    if let Some(slot) = names.iter().position(|n| &**n == name) {
        return Some(slot);
    }
    if names.len() == ATTRIBUTE_SLOTS || name.is_empty() || name.len() > MAX_ATTRIBUTE_NAME_BYTES {
        return None;
    }
    names.push(name.into());
    Some(names.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ninth_name_is_refused_and_the_first_eight_never_move() {
        let r = Registry::new(10);
        for i in 0..ATTRIBUTE_SLOTS {
            assert_eq!(r.bind(&format!("key{i}")), Some(i));
        }
        assert_eq!(r.bind("ninth"), None);
        assert_eq!(r.bind("key3"), Some(3));
        assert_eq!(r.names_from(0).len(), ATTRIBUTE_SLOTS);
        assert_eq!(r.counts()[3], (Counter::KeysRefused, 1));
    }

    #[test]
    fn names_that_do_not_all_fit_take_no_slot() {
        let r = Registry::new(10);
        assert_eq!(r.bind_all(&["a", "b", "a"]), Some(vec![0, 1, 0]));
        let seven = ["c", "d", "e", "f", "g", "h", "i"];
        assert_eq!(r.bind_all(&seven), None);
        assert_eq!(r.names_from(0).len(), 2);
        assert_eq!(r.bind_all(&seven[..6]), Some(vec![2, 3, 4, 5, 6, 7]));
    }

    #[test]
    fn a_description_is_kept_cut_and_counted_when_it_changes() {
        let r = Registry::new(10);
        let described = Description {
            label: "é".repeat(MAX_DESCRIPTION_BYTES),
            text: "who pays".into(),
            context_type: "com.acme.Tenant".into(),
        };
        r.describe(2, described.clone());
        r.describe(2, described);
        r.describe(ATTRIBUTE_SLOTS, Description::default());
        assert_eq!(r.description_changes(), 1);
        let found = r.description(2);
        assert_eq!(found.label, "é".repeat(MAX_DESCRIPTION_BYTES / 2));
        assert_eq!(found.text, "who pays");
        assert_eq!(r.description(1), Description::default());
    }

    #[test]
    fn empty_and_overlong_names_take_no_slot() {
        let r = Registry::new(10);
        assert_eq!(r.bind(""), None);
        assert_eq!(r.bind(&"x".repeat(MAX_ATTRIBUTE_NAME_BYTES + 1)), None);
        assert!(r.names_from(0).is_empty());
    }

    #[test]
    fn a_full_dictionary_keeps_what_it_knows_and_counts_what_it_refuses() {
        let r = Registry::new(2);
        assert_eq!(r.intern("a"), Some(1));
        assert_eq!(r.intern("b"), Some(2));
        assert_eq!(r.intern("c"), None);
        assert_eq!(r.intern("a"), Some(1));
        assert_eq!(r.value(2).as_deref(), Some("b"));
        assert_eq!(r.value(3), None);
        assert_eq!(r.value(0), None);
        assert_eq!(r.counts().map(|(_, count)| count), [2, 2, 1, 0]);
    }

    #[test]
    fn long_values_fill_the_dictionary_by_their_bytes() {
        let r = Registry::new(2048);
        let long = |i: usize| format!("{i:0255}");
        let accepted = (0..2048).filter(|i| r.intern(&long(*i)).is_some()).count();
        assert_eq!(accepted, 2048 * BYTES_PER_VALUE / 255);
        assert_eq!(r.intern(&long(0)), Some(1), "known ones stay");
        // A small one can hold all its values.
        let small = Registry::new(16);
        assert!((0..16).all(|i| small.intern(&long(i)).is_some()));
    }

    #[test]
    fn threads_that_intern_the_same_values_agree_on_every_id() {
        let r = Registry::new(5000);
        let all: Vec<Vec<Option<u32>>> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| (0..2000).map(|i| r.intern(&format!("v{i}"))).collect()))
                .collect();
            workers
                .into_iter()
                .map(|w| w.join().expect("no panic"))
                .collect()
        });
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
        for (i, id) in all[0].iter().enumerate() {
            assert_eq!(
                r.value(id.expect("space for all")).as_deref(),
                Some(format!("v{i}").as_str())
            );
        }
    }
}
