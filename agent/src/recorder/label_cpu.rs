//! The CPU time of each label while a recording runs, for dashboards: the samples, added up.

use super::contexts::is_raw;
use schema::limits::ATTRIBUTE_SLOTS;
use signal_core::layout::OVERFLOW_ID;

/// Values of an attribute that have a sum of their own; what comes later shares one.
const MAX_VALUES: usize = 100;

/// The sums of one recording, by slot.
#[derive(Debug, Default, Clone)]
pub(crate) struct LabelCpu([Vec<ValueTime>; ATTRIBUTE_SLOTS]);

/// The CPU time of one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ValueTime {
    id: u32,
    pub(crate) value: String,
    pub(crate) nanos: u64,
}

impl LabelCpu {
    /// Adds a sample with the values of these ids, but not those of raw values, of which there is no
    /// end. `text` is what the file has for a value, `None` if it must not be told.
    pub(super) fn add(
        &mut self,
        ids: &[u32],
        nanos: u64,
        text: impl Fn(usize, u32) -> Option<String>,
    ) {
        for (slot, (&id, times)) in ids.iter().zip(&mut self.0).enumerate() {
            if id == 0 || is_raw(id) {
                continue;
            }
            let place = |id| times.iter().position(|time| time.id == id);
            let (id, place) = match place(id) {
                None if times.len() >= MAX_VALUES => (OVERFLOW_ID, place(OVERFLOW_ID)),
                known => (id, known),
            };
            if let Some(time) = place.and_then(|place| times.get_mut(place)) {
                time.nanos += nanos;
            } else if let Some(value) = text(slot, id) {
                times.push(ValueTime { id, value, nanos });
            }
        }
    }

    /// The times of each slot, in the order of slots.
    pub(crate) fn by_slot(&self) -> impl Iterator<Item = &[ValueTime]> {
        self.0.iter().map(Vec::as_slice)
    }

    /// One value, for tests.
    #[cfg(test)]
    pub(crate) fn of(slot: usize, value: &str, nanos: u64) -> Self {
        let mut cpu = Self::default();
        let mut ids = [0; ATTRIBUTE_SLOTS];
        ids[slot] = 1;
        cpu.add(&ids, nanos, |_, _| Some(value.to_owned()));
        cpu
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signal_core::layout::RAW_BIT;

    fn shown(slot: usize, id: u32) -> Option<String> {
        (slot != 2).then(|| match id {
            OVERFLOW_ID => "(other)".to_owned(),
            id => format!("v{id}"),
        })
    }

    fn times(cpu: &LabelCpu, slot: usize) -> Vec<(&str, u64)> {
        let times = cpu.0[slot].iter();
        times.map(|time| (&*time.value, time.nanos)).collect()
    }

    #[test]
    fn samples_are_added_up_by_attribute_and_value() {
        let mut cpu = LabelCpu::default();
        cpu.add(&[1, 7], 10, shown);
        cpu.add(&[2, 7], 30, shown);
        cpu.add(&[0, 7, 9], 5, shown); // the third must not be told
        cpu.add(&[1, RAW_BIT | 4], 1, shown);
        assert_eq!(times(&cpu, 0), [("v1", 11), ("v2", 30)]);
        assert_eq!(times(&cpu, 1), [("v7", 45)]);
        assert_eq!(cpu.by_slot().map(<[_]>::len).sum::<usize>(), 3);
    }

    #[test]
    fn values_beyond_the_limit_share_one_sum_and_none_is_lost() {
        let mut cpu = LabelCpu::default();
        for id in 1..=1_000 {
            cpu.add(&[id, 1], 1, shown);
        }
        cpu.add(&[1], 1, shown);
        let first = times(&cpu, 0);
        assert_eq!(first.len(), MAX_VALUES + 1);
        assert_eq!((first[0], first[MAX_VALUES]), (("v1", 2), ("(other)", 900)));
        assert_eq!(times(&cpu, 1), [("v1", 1_000)]);
    }
}
