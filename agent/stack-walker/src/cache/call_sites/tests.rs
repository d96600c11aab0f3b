use super::*;
use std::boxed::Box;
use std::vec::Vec;

pub(crate) fn cache(buckets: usize) -> CallSiteCache {
    let buckets: Vec<CallSiteBucket> = (0..buckets).map(|_| CallSiteBucket::free()).collect();
    CallSiteCache::new(Box::leak(buckets.into_boxed_slice()))
}

fn site(pc: usize, count: u32) -> CachedCallSite {
    let frame = |n: usize| CallFrame {
        bci: -3,
        kind: 5,
        method: ptr::without_provenance_mut(n),
    };
    CachedCallSite {
        pc,
        blob: 16,
        compile_id: 7,
        method: 8,
        innermost: 24,
        frame_size: 32,
        count,
        frames: core::array::from_fn(|n| frame(pc + n)),
    }
}

#[test]
fn a_call_site_is_found_until_another_replaces_it() {
    let t = cache(1);
    assert!(t.find(0x1000).is_none());
    t.put(&site(0x1000, 2));
    let found = t.find(0x1000).expect("just put");
    assert_eq!(
        (found.blob, found.compile_id, found.method, found.frame_size),
        (16, 7, 8, 32)
    );
    assert_eq!((found.innermost, found.count), (24, 2));
    assert_eq!(found.frames[1].method.addr(), 0x1001);
    assert_eq!((found.frames[1].bci, found.frames[1].kind), (-3, 5));
    t.put(&site(0x2000, 1));
    assert!(t.find(0x1000).is_none() && t.find(0x2000).is_some());
}

#[test]
fn a_bucket_being_written_is_neither_read_nor_written() {
    let t = cache(1);
    t.put(&site(0x1000, 1));
    t.0.buckets[0].seq.store(5, Relaxed);
    assert!(t.find(0x1000).is_none());
    t.put(&site(0x2000, 1));
    t.0.buckets[0].seq.store(4, Relaxed);
    assert!(t.find(0x1000).is_some());
}

#[test]
fn a_cache_of_an_odd_size_remembers_nothing() {
    let t = cache(3);
    t.put(&site(0x1000, 1));
    assert!(t.find(0x1000).is_none());
}
