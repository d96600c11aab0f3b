//! Model of the cache of call sites: loom runs it with every interleaving, and every value that a
//! load may see. `RUSTFLAGS="--cfg loom" cargo test -p stack-walker --test loom`; `scripts/test.sh`
//! does that.
#![cfg(loom)]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::panic,
    reason = "a model fails by panicking"
)]

use loom::thread;
use stack_walker::CallFrame;
use stack_walker::cache::call_sites::{CachedCallSite, CallSiteBucket, CallSiteCache, MAX_METHODS};

/// A call site all of whose words say `n`.
fn site(n: u32) -> CachedCallSite {
    let frame = CallFrame {
        bci: n.cast_signed(),
        kind: n,
        method: core::ptr::without_provenance_mut(n as usize),
    };
    CachedCallSite {
        pc: 0x1000,
        blob: n as usize,
        compile_id: n,
        method: n as usize,
        innermost: n as usize,
        frame_size: n,
        count: 1,
        frames: [frame; MAX_METHODS],
    }
}

#[test]
fn a_call_site_is_found_whole_or_not_at_all_while_two_handlers_write_it() {
    // Three threads: with three preemptions it takes minutes, and found nothing.
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(|| {
        let sites = CallSiteCache::new(Vec::leak(vec![CallSiteBucket::free()]));
        let writers = [1, 2].map(|n| thread::spawn(move || sites.put(&site(n))));
        if let Some(found) = sites.find(0x1000) {
            let n = found.compile_id;
            let words = [found.blob, found.method, found.frames[0].method.addr()];
            assert_eq!(words, [n as usize; 3], "half a site");
            assert_eq!((found.frame_size, found.count), (n, 1), "half a site");
            assert_eq!(found.frames[0].kind, n, "half a site");
        }
        for writer in writers {
            writer.join().expect("no panic");
        }
    });
}
