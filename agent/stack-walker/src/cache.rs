//! What walks remember. Compiled code says the same of an address every time, and a method keeps
//! its id, so a walk that meets a frame again saves some twenty loads from cold cache lines.

pub mod call_sites;
pub mod method_ids;
pub mod prefetch_hints;
mod table;

use call_sites::CallSiteCache;
use method_ids::MethodIdCache;

/// The caches that all walks of a process share.
#[derive(Debug, Clone, Copy)]
pub struct WalkCaches {
    /// Described addresses of compiled code.
    pub call_sites: CallSiteCache,
    /// Methods with their ids.
    pub method_ids: MethodIdCache,
}
