//! Samples of the wall clock.

use super::super::*;
use super::fixture::*;
use crate::record::{WALL_ASLEEP, WALL_AWAKE, WALL_LEFT_OUT};
use crate::slots::SampleKind;
use std::vec::Vec;

#[test]
fn wall_clock_signal_gives_samples_of_its_own_kinds() {
    let (_turn, handler) = handler_in_turn();
    let (blocked, in_java) = (10, 8);
    let thread = Registered::new(handler, 0, 5);
    thread.set(0, 0, blocked);
    let block = install(handler, 5, 50, false);
    let (samples, signals) = (
        block.samples.load(Relaxed),
        handler.counters.get(Counter::Signals),
    );
    let record = thread.record();
    let wall = || {
        record.wall_state.store(WALL_PENDING, Relaxed);
        send(libc::SI_QUEUE, cookie(Source::Wall));
        record.wall_state.load(Relaxed)
    };
    assert_eq!(wall(), WALL_ASLEEP);
    thread.set(0, 0, in_java);
    assert_eq!(wall(), WALL_AWAKE);
    let mut seen = Vec::new();
    handler
        .slots
        .drain(|h, _| seen.push((h.kind.load(Relaxed), h.values().ids[0])));
    let (asleep, awake) = (SampleKind::WallAsleep as u32, SampleKind::WallAwake as u32);
    assert_eq!(seen, [(asleep, 50), (awake, 50)]);

    // Not wanted: by the context's filter, and without a context where one is asked for.
    let causes = [Counter::WallFiltered, Counter::WallNoContext];
    let before = causes.map(|c| handler.counters.get(c));
    block
        .event_mask
        .store(!schema::event_mask::WALL_CLOCK_SAMPLE_BIT, Relaxed);
    assert_eq!(wall(), WALL_LEFT_OUT);
    block.ids[0].store(0, Relaxed);
    handler.wall_needs_context.store(true, Relaxed);
    assert_eq!(wall(), WALL_LEFT_OUT);
    handler.wall_needs_context.store(false, Relaxed);
    let now = causes.map(|c| handler.counters.get(c));
    assert_eq!([now[0] - before[0], now[1] - before[1]], [1, 1]);
    assert_eq!(handler.slots.drain(|_, _| {}), 0);
    // CPU time has counters of its own, and the block counts CPU samples only.
    assert_eq!(handler.counters.get(Counter::Signals), signals);
    assert_eq!(block.samples.load(Relaxed), samples);

    // Lost: no slot is free, or our own handler is at work.
    for _ in 0..handler.slots.len() {
        storm();
    }
    assert_eq!(wall(), WALL_LEFT_OUT);
    handler.slots.drain(|_, _| {});
    record.in_handler.store(1, Relaxed);
    assert_eq!(wall(), WALL_LEFT_OUT);
    record.in_handler.store(0, Relaxed);
    assert_eq!(wall(), WALL_AWAKE);
    handler.slots.drain(|_, _| {});
}
