//! What earlier walks found, and what this one leaves for later ones.

use super::ActiveWalk;
use crate::arch::frame_state::Arch;
use crate::cache::call_sites::{CachedCallSite, MAX_METHODS};
use crate::code_cache::Blob;
use crate::memory::Memory;
use crate::method::ValidMethod;
use crate::outcome::End;

impl<M: Memory, A: Arch> ActiveWalk<'_, M, A> {
    /// The method at this address, if it is one.
    pub(super) fn method(&self, method: usize) -> Option<ValidMethod> {
        // A number leads to no method, so it cannot show that a cached one is still the same.
        let is_cached = !self.tables.method.numbered_ids;
        if is_cached
            && let Some(id) = self.caches.method_ids.find(method)
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
        if is_cached && found.id != 0 && !found.obsolete {
            self.caches.method_ids.put(method, found.id);
        }
        Some(found)
    }

    /// What is cached for `pc`, if the same code still lies there.
    pub(super) fn cached_site(&self, pc: usize) -> Option<CachedCallSite> {
        let site = self.caches.call_sites.find(pc)?;
        let at = |offset: usize| site.blob.wrapping_add(offset);
        let same = self.memory.word(at(self.tables.nmethod.method))? == site.method
            && self.memory.u32(at(self.tables.nmethod.compile_id))? == site.compile_id;
        same.then_some(site)
    }

    /// Notes the methods of a cached call site.
    pub(super) fn note_cached(&mut self, site: &CachedCallSite) -> Result<(), End> {
        self.note_hint(site.pc, site.blob);
        self.cached = self.cached.wrapping_add(1);
        for frame in site.frames.iter().take(site.count as usize) {
            let Some(next) = self.frames.get_mut(self.count) else {
                return Err(End::Full);
            };
            *next = *frame;
            self.pass(site.innermost);
        }
        self.oldest = site.method;
        Ok(())
    }

    /// Notes a call site for the thread's next walk.
    pub(super) fn note_hint(&self, pc: usize, blob: usize) {
        self.hints
            .note(self.compiled_frames(), self.caches.call_sites, pc, blob);
    }

    /// Caches what was noted from `first` on.
    pub(super) fn remember(
        &self,
        pc: usize,
        first: usize,
        innermost: usize,
        blob: &Blob,
    ) -> Option<()> {
        let noted = self.frames.get(first..self.count)?;
        // A method gets its id later: then the call site is worth a bucket.
        if noted.is_empty() || noted.iter().any(|frame| frame.method.is_null()) {
            return None;
        }
        let mut site = CachedCallSite {
            pc,
            blob: blob.start,
            compile_id: self
                .memory
                .u32(blob.start.wrapping_add(self.tables.nmethod.compile_id))?,
            method: self
                .memory
                .word(blob.start.wrapping_add(self.tables.nmethod.method))?,
            innermost,
            frame_size: u32::try_from(blob.frame_size).ok()?,
            count: u32::try_from(noted.len()).ok()?,
            frames: [*noted.first()?; MAX_METHODS],
        };
        site.frames.get_mut(..noted.len())?.copy_from_slice(noted);
        self.caches.call_sites.put(&site);
        Some(())
    }
}
