//! Chunks of a slice and of a stream: both must cut a file alike.
#![expect(clippy::unwrap_used, reason = "a failed read is a failed test")]
use super::super::chunks::Chunks;
use super::*;

/// The header printed in the format page: 3284 bytes, checkpoint at 0xc22, metadata at 0x44.
fn header(size: u64) -> Vec<u8> {
    let mut bytes = b"FLR\0\0\x02\0\x01".to_vec();
    for long in [
        size,
        0xc22,
        0x44,
        1_700_000_000_000_000_000,
        1_000_000_000,
        1_000_000_000_000,
        1_000_000_000,
    ] {
        bytes.extend(long.to_be_bytes());
    }
    bytes.extend([0, 0, 0, 1]);
    bytes
}

fn chunk_with(events: &[u8]) -> Vec<u8> {
    let mut bytes = header(HEADER_LEN as u64 + events.len() as u64);
    bytes.extend(events);
    bytes
}

fn sizes(file: &[u8]) -> (Vec<usize>, usize) {
    let mut chunks = Chunks::new(file);
    let sizes: Vec<usize> = chunks.by_ref().map(|chunk| chunk.bytes.len()).collect();
    let mut stream = ChunkStream::new(file);
    let mut streamed = Vec::new();
    while let Some(chunk) = stream.next_chunk().unwrap() {
        streamed.push(chunk.as_chunk().bytes.len());
    }
    assert_eq!(sizes, streamed, "slice and stream agree");
    assert_eq!(
        chunks.corruptions().is_empty(),
        stream.corruptions().is_empty()
    );
    (sizes, chunks.corruptions().len())
}

#[test]
fn header_values_stand_where_the_format_page_says() {
    let header = Header::parse(&header(3284)).unwrap();
    assert_eq!(header.size, 3284);
    assert_eq!(header.checkpoint, 0xc22);
    assert_eq!(header.metadata, 68);
    assert_eq!(
        header.epoch_nanos(1_000_000_000_500),
        1_700_000_000_000_000_500
    );
    assert_eq!(header.flags, 1);
}

#[test]
fn chunks_around_garbage_are_given() {
    let chunk = chunk_with(&[2, 76, 3, 77, 0]);
    let file = [
        &b"garbage"[..],
        &chunk,
        b"FLR\0 false magic",
        &[0; 200],
        &chunk,
        &chunk,
        b"tail",
    ]
    .concat();
    let (sizes, corruptions) = sizes(&file);
    assert_eq!(sizes, [73, 73, 73]);
    assert!(corruptions >= 3);
}

#[test]
fn chunk_after_a_wrong_size_is_found() {
    let good = chunk_with(&[2, 76]);
    for size in [0, 67, u64::MAX, 1 << 62, 100_000] {
        let mut bad = header(size);
        bad.extend([2, 76, 3, 77, 0]);
        let file = [&good[..], &bad, &good].concat();
        assert_eq!(sizes(&file), (vec![70, 73, 70], 1), "size {size}");
    }
}

#[test]
fn bad_version_and_clock_cost_one_chunk() {
    let good = chunk_with(&[2, 76]);
    for (at, value) in [(5, 0), (5, 3), (67, 0)] {
        let mut bad = good.clone();
        bad[at] = value;
        let file = [&good[..], &bad, &good].concat();
        assert_eq!(sizes(&file), (vec![70, 70], 1));
    }
    for frequency in [0i64, -1] {
        let mut bad = good.clone();
        bad[56..64].copy_from_slice(&frequency.to_be_bytes());
        let file = [&good[..], &bad, &good].concat();
        assert_eq!(sizes(&file), (vec![70, 70], 1));
    }
}

#[test]
fn slice_and_stream_agree_on_bad_headers_behind_garbage() {
    // Its size leads on to another chunk, over one that lies within: both believe it. Found by
    // fuzzing.
    let inner = chunk_with(&[2, 76]);
    let last = chunk_with(&[2, 76, 2, 76]);
    let mut bad = chunk_with(&[&[0; 20][..], &inner, &[0; 20]].concat());
    bad[56..64].fill(0);
    for garbage in [0, 1, 3, 60, 70, 200] {
        let file = [&vec![7; garbage][..], &bad, &last].concat();
        assert_eq!(sizes(&file).0, [last.len()], "{garbage} bytes in front");
    }
}

#[test]
fn header_cut_at_any_byte_is_damage_and_no_chunk() {
    let chunk = chunk_with(&[]);
    for cut in 1..HEADER_LEN {
        assert_eq!(sizes(&chunk[..cut]), (vec![], 1), "cut {cut}");
    }
    assert_eq!(sizes(&chunk), (vec![HEADER_LEN], 0));
    assert_eq!(sizes(&[]), (vec![], 0));
}

#[test]
fn stream_respects_its_memory_limit() {
    let small = chunk_with(&[2, 76]);
    let long = chunk_with(&[&[2, 76].repeat(500)[..], &[0; 4000]].concat());
    let file = [&small[..], &long, &small, &[0; 9000], &small].concat();
    let mut stream = ChunkStream::new(&*file).holding_at_most(2000);
    let mut sizes = Vec::new();
    while let Some(chunk) = stream.next_chunk().unwrap() {
        assert!(
            stream.buffer.capacity() <= 70_000,
            "64 KiB of garbage at a time"
        );
        sizes.push(chunk.as_chunk().bytes.len());
    }
    // Of the long one what its events hold.
    assert_eq!(sizes, [70, 68 + 1000, 70, 70]);
    let messages: Vec<String> = stream
        .corruptions()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(
        messages[0].contains("5068 bytes, at most 2000"),
        "{messages:?}"
    );
    assert_eq!(messages.len(), 3, "{messages:?}");
    // Enough for each: nothing is cut.
    let mut stream = ChunkStream::new(&*file).holding_at_most(1 << 20);
    let mut count = 0;
    while stream.next_chunk().unwrap().is_some() {
        count += 1;
    }
    assert_eq!((count, stream.corruptions().len()), (4, 1));
}

#[test]
fn many_empty_chunks_take_linear_time() {
    let file = chunk_with(&[]).repeat(20_000);
    assert_eq!(sizes(&file).0.len(), 20_000);
}

#[test]
fn event_of_size_zero_ends_the_walk_with_an_error() {
    for events in [
        &[2, 76, 0, 0][..],
        &[2, 76, 1, 0],
        &[2, 76, 9, 76],
        &[2, 76, 0x80],
        &[2, 76, 2, 0x80],
    ] {
        let bytes = chunk_with(events);
        let chunk = Chunks::new(&bytes).next().unwrap();
        let events: Vec<_> = chunk.raw_events().collect();
        assert_eq!(events.len(), 2);
        assert!(events[0].is_ok() && events[1].is_err());
        assert!(events[1].as_ref().unwrap_err().at() >= 70);
    }
}
