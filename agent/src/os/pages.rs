//! The memory of a table that is indexed by thread id. Thread ids rise all the time: without this
//! module each page would be used once and stay resident.
//!
//! Rules:
//! 1. Code that fills, empties or sweeps cells holds the lock of the thread directory.
//! 2. A page goes back to the system only if all its cells are 0, so that a reader without the lock
//!    sees no difference.
//! 3. The cells are a slab: private anonymous memory that begins at a page and is never unmapped.

#![expect(unsafe_code, reason = "boundary to the operating system")]

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Empty pages that stay resident: most of the next ids lie in them.
const MAX_EMPTY: usize = 64;

/// How many cells of each page are in use, of the pages that were touched and not given back.
#[derive(Debug)]
pub(crate) struct Pages {
    used: HashMap<usize, u32>,
    empty: usize,
    cells_per_page: usize,
}

impl Default for Pages {
    fn default() -> Self {
        // SAFETY: no rule is concerned: the call touches no memory.
        let answer = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page = usize::try_from(answer).unwrap_or(0).max(4096);
        Self {
            used: HashMap::new(),
            empty: 0,
            cells_per_page: page / size_of::<AtomicU32>(),
        }
    }
}

impl Pages {
    /// The cell of `id` is in use.
    pub(crate) fn mark_used(&mut self, id: i32) {
        let Some(page) = self.page(id) else { return };
        match self.used.get_mut(&page) {
            Some(0) => {
                self.used.insert(page, 1);
                self.empty = self.empty.saturating_sub(1);
            }
            Some(count) => *count += 1,
            None => {
                self.used.insert(page, 1);
            }
        }
    }

    /// The cell of `id` is 0 again. If many pages are empty now, they go back to the system.
    pub(crate) fn mark_free(&mut self, id: i32, cells: &'static [AtomicU32]) {
        let page = self.page(id);
        let Some(count) = page.and_then(|page| self.used.get_mut(&page)) else {
            return;
        };
        *count = count.saturating_sub(1);
        if *count == 0 {
            self.empty += 1;
            if self.empty > MAX_EMPTY {
                self.sweep(cells);
            }
        }
    }

    fn page(&self, id: i32) -> Option<usize> {
        Some(usize::try_from(id).ok()? / self.cells_per_page)
    }

    fn sweep(&mut self, cells: &'static [AtomicU32]) {
        let per_page = self.cells_per_page;
        self.used.retain(|page, count| {
            if *count == 0 {
                let begin = page * per_page;
                give_back(cells.get(begin..begin + per_page).unwrap_or_default());
            }
            *count > 0
        });
        self.empty = 0;
    }
}

/// Keeps `cells` out of huge pages, whose first id would make the whole page resident.
pub(crate) fn small(cells: &'static [AtomicU32]) -> &'static [AtomicU32] {
    let (first, bytes) = (cells.as_ptr().cast_mut(), size_of_val(cells));
    // SAFETY: rule 3. If the system refuses, the pages have their default size.
    let _refused = unsafe { libc::madvise(first.cast(), bytes, libc::MADV_NOHUGEPAGE) };
    cells
}

/// Gives one whole page back to the system.
fn give_back(page: &'static [AtomicU32]) {
    if page.is_empty() || page.iter().any(|cell| cell.load(Relaxed) != 0) {
        return;
    }
    let first = page.as_ptr().cast_mut();
    // SAFETY: rule 3: the page reads as zero afterwards, as it does already (rule 2), and nobody
    // writes to it meanwhile (rule 1). If the system refuses, the memory stays as it is.
    let _refused = unsafe { libc::madvise(first.cast(), size_of_val(page), libc::MADV_DONTNEED) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::slab;

    /// Pages of `cells` that have memory.
    fn resident(cells: &'static [AtomicU32]) -> usize {
        let mut found = vec![0_u8; size_of_val(cells).div_ceil(4096)];
        let base = cells.as_ptr().cast_mut().cast();
        // SAFETY: rule 3; `found` has a byte for each page.
        let answer = unsafe { libc::mincore(base, size_of_val(cells), found.as_mut_ptr()) };
        assert_eq!(answer, 0);
        found.iter().filter(|page| **page & 1 == 1).count()
    }

    #[test]
    fn empty_pages_are_given_back_and_others_stay() {
        const IDS: i32 = 1 << 20;
        let cells: &'static [AtomicU32] = small(slab::array(1 << 20).expect("memory"));
        let mut pages = Pages::default();
        let mut live = |id: i32, stays: bool| {
            let cell = &cells[usize::try_from(id).expect("an id")];
            pages.mark_used(id);
            cell.store(7, Relaxed);
            if !stays {
                cell.store(0, Relaxed);
                pages.mark_free(id, cells);
            }
        };
        // Rising ids in steps of a quarter of a page; every hundredth thread stays alive.
        let ids: Vec<i32> = (0..IDS).step_by(256).collect();
        for id in &ids {
            live(*id, id % 25_600 == 0);
        }
        let kept = ids.iter().filter(|id| *id % 25_600 == 0).count();
        let resident = resident(cells);
        assert!(resident <= kept + MAX_EMPTY + 1, "{resident}");
        for id in ids {
            let expected = if id % 25_600 == 0 { 7 } else { 0 };
            assert_eq!(
                cells[usize::try_from(id).expect("an id")].load(Relaxed),
                expected
            );
        }
    }

    #[test]
    fn a_page_given_back_is_reused() {
        let cells: &'static [AtomicU32] = small(slab::array(1 << 20).expect("memory"));
        let mut pages = Pages::default();
        for round in 1..=3 {
            for id in (0..1 << 20).step_by(1024) {
                pages.mark_used(id);
                let cell = &cells[usize::try_from(id).expect("an id")];
                assert_eq!(cell.swap(round, Relaxed), 0);
                cell.store(0, Relaxed);
                pages.mark_free(id, cells);
            }
        }
        assert!(resident(cells) <= MAX_EMPTY + 1);
    }
}
