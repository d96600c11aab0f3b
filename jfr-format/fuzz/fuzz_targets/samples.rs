//! Level 3: samples with threads, stacks, states and contexts, of pools and events that are any
//! bytes.
#![no_main]

mod shared;

use jfr_format::read::{Chunks, ParsedChunk};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let file = shared::chunk(input);
    for chunk in Chunks::new(&file) {
        let Ok(open) = ParsedChunk::new(&chunk) else {
            continue;
        };
        let mut budget = 20_000usize;
        for sample in open.samples(|_| true).flatten() {
            let _ = (sample.state(), sample.ty(), sample.columns().names().len());
            if let Some(thread) = sample.thread() {
                let _ = (thread.name(), thread.os_name(), thread.java_name());
            }
            for column in 0..20 {
                let _ = sample.value(column);
            }
            let _ = sample.context().count();
            for frame in sample.stack().into_iter().flat_map(|stack| stack.frames()) {
                let _ = (
                    frame.class(),
                    frame.method(),
                    frame.descriptor(),
                    frame.kind(),
                );
                let _ = (frame.line(), frame.bytecode_index(), frame.is_hidden());
                budget = budget.saturating_sub(1);
                if budget == 0 {
                    return;
                }
            }
        }
        let counters = open.rows_of("ctxagent.Stats", usize::MAX, |event, texts| {
            let name = texts.copy(event.text("name").ok()?);
            Some((name, event.long("value").ok()?))
        });
        let _ = (open.settings(), counters);
    }
});
