//! Level 1: a file of any bytes is cut into chunks and records, the same ones from a slice and from
//! a stream.
#![no_main]

use jfr_format::read::{ChunkStream, Chunks};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    let mut chunks = Chunks::new(file);
    let mut places = Vec::new();
    for chunk in chunks.by_ref() {
        let mut end = 0;
        for event in chunk.raw_events() {
            let Ok(event) = event else { break };
            assert!(event.offset >= end && event.size > 0);
            end = event.offset + event.size;
        }
        assert!(end <= chunk.bytes.len() as u64);
        places.push((chunk.offset, chunk.bytes.len()));
    }
    for damage in chunks.corruptions() {
        assert!(!damage.to_string().is_empty());
    }
    let mut stream = ChunkStream::new(file);
    let mut streamed = Vec::new();
    while let Some(chunk) = stream.next_chunk().expect("a slice gives no I/O error") {
        let chunk = chunk.as_chunk();
        streamed.push((chunk.offset, chunk.bytes.len()));
    }
    assert_eq!(places, streamed);
});
