//! What earlier walks found out, and what later ones will want to know.

use super::Walker;
use crate::checked::Memory;
use crate::unwind::End;
use crate::unwind::arch::Arch;
use crate::unwind::code::Blob;
use crate::unwind::method::ValidMethod;
use crate::unwind::sites::{MOST, Site};

impl<M: Memory, A: Arch> Walker<'_, M, A> {
    /// The method at this address, if it is one.
    pub(super) fn method(&self, method: usize) -> Option<ValidMethod> {
        if let Some(id) = self.past.known.ids.find(method)
            && self.memory.word(id) == Some(method)
        {
            return Some(ValidMethod {
                method,
                id,
                obsolete: false,
            });
        }
        let found = self.tables.method(self.memory, method)?;
        // The id of an obsolete one leads to another method.
        if found.id != 0 && !found.obsolete {
            self.past.known.ids.put(method, found.id);
        }
        Some(found)
    }

    /// What is remembered of `pc`, if the code that it was found in is still the one that lies there.
    pub(super) fn known_site(&self, pc: usize) -> Option<Site> {
        let site = self.past.known.sites.find(pc)?;
        let at = |offset: usize| site.blob.wrapping_add(offset);
        let same = self.memory.word(at(self.tables.nmethod.method))? == site.method
            && self.memory.u32(at(self.tables.nmethod.compile_id))? == site.compile_id;
        same.then_some(site)
    }

    /// Notes the methods that were found there before.
    pub(super) fn note_known(&mut self, site: &Site) -> Result<(), End> {
        self.leave_trail(site.pc, site.blob);
        self.known = self.known.wrapping_add(1);
        for known in site.frames.iter().take(site.count as usize) {
            let Some(place) = self.frames.get_mut(self.count) else {
                return Err(End::Full);
            };
            *place = *known;
            self.count = self.count.wrapping_add(1);
        }
        Ok(())
    }

    /// Notes a site for the thread's next walk.
    pub(super) fn leave_trail(&self, pc: usize, blob: usize) {
        let step = self.known.saturating_add(self.decoded) as usize;
        self.past.trail.note(step, self.past.known.sites, pc, blob);
    }

    /// Keeps what was noted from `first` on, for walks that come here again.
    pub(super) fn remember(&self, pc: usize, first: usize, blob: &Blob) -> Option<()> {
        let noted = self.frames.get(first..self.count)?;
        // A method gets its id later: then the site is worth remembering.
        if noted.is_empty() || noted.iter().any(|frame| frame.method.is_null()) {
            return None;
        }
        let mut site = Site {
            pc,
            blob: blob.start,
            compile_id: self
                .memory
                .u32(blob.start.wrapping_add(self.tables.nmethod.compile_id))?,
            method: self
                .memory
                .word(blob.start.wrapping_add(self.tables.nmethod.method))?,
            frame_size: u32::try_from(blob.frame_size).ok()?,
            count: u32::try_from(noted.len()).ok()?,
            frames: [*noted.first()?; MOST],
        };
        site.frames.get_mut(..noted.len())?.copy_from_slice(noted);
        self.past.known.sites.put(&site);
        Some(())
    }
}
