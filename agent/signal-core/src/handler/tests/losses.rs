//! Signals that give no sample: each has its reason.

use super::super::*;
use super::fixture::*;
use crate::record::ThreadFacts;
use crate::slots::SampleKind;
use crate::tls;
use crate::walk;
use std::vec::Vec;

#[test]
fn each_lost_signal_has_a_reason_and_the_sum_is_exact() {
    let (_turn, handler) = handler_in_turn();
    let get = |c| handler.counters.get(c);
    let causes = [Counter::Captured, Counter::LostNoSlot, Counter::LostReentry];
    let weights = [
        Counter::Overruns,
        Counter::WeightLost,
        Counter::WeightFiltered,
    ];
    let before = (get(Counter::Signals), causes.map(get), weights.map(get));
    let thread = Registered::new(handler, 2, 12);
    for _ in 0..200 {
        storm(); // 128 slots: the last 72 find none
    }
    let record = thread.record();
    record.in_handler.store(1, Relaxed);
    storm();
    record.in_handler.store(0, Relaxed);
    let now = causes.map(get);
    let gained: Vec<u64> = now.iter().zip(before.1).map(|(n, b)| n - b).collect();
    assert_eq!(gained, [128, 72, 1]);
    assert_eq!(get(Counter::Signals) - before.0, gained.iter().sum::<u64>());

    // Of samples that stand for several intervals: one without a slot, then one filtered, then one
    // taken.
    let late = |overrun| send_late(libc::SI_TIMER, cookie(Source::Tick), overrun);
    late(4);
    let taken = |handler: &HandlerState| {
        let mut taken = 0;
        handler
            .slots
            .drain(|h, _| taken += u64::from(h.weight.load(Relaxed)));
        taken
    };
    let mut written = taken(handler);
    handler
        .filter
        .set_without_context(!schema::event_mask::EXECUTION_SAMPLE_BIT);
    late(2);
    handler.filter.set_without_context(u32::MAX);
    late(1);
    written += taken(handler);
    let now = weights.map(get);
    let gained: Vec<u64> = now.iter().zip(before.2).map(|(n, b)| n - b).collect();
    assert_eq!(gained, [4 + 2 + 1, 72 + 1 + 5, 3]);
    assert_eq!(
        written + gained[1] + gained[2],
        get(Counter::Signals) - before.0 + gained[0]
    );
}

#[test]
fn no_sample_after_stop() {
    let (_turn, handler) = handler_in_turn();
    let _thread = Registered::new(handler, 3, 13);
    handler.enabled.store(false, SeqCst);
    let before = (
        handler.counters.get(Counter::Signals),
        handler.counters.get(Counter::AfterStop),
    );
    storm();
    assert_eq!(handler.counters.get(Counter::Signals), before.0);
    assert_eq!(handler.counters.get(Counter::AfterStop), before.1 + 1);
    assert!(handler.quiet());
}

#[test]
fn sample_filtered_by_its_event_mask_is_counted() {
    let (_turn, handler) = handler_in_turn();
    let _thread = Registered::new(handler, 7, 17);
    let block = install(handler, 17, 3, false);
    block
        .event_mask
        .store(!schema::event_mask::EXECUTION_SAMPLE_BIT, Relaxed);
    let before = handler.counters.get(Counter::LostFiltered);
    storm();
    handler.slots.drain(|_, _| unreachable!("nothing is ready"));
    assert_eq!(handler.counters.get(Counter::LostFiltered), before + 1);
    block.event_mask.store(u32::MAX, Relaxed);
    storm();
    assert_eq!(handler.slots.drain(|_, _| {}), 1);
    block.owner.store(0, Relaxed);
}

#[test]
fn thread_without_context_is_filtered_by_the_application() {
    let (_turn, handler) = handler_in_turn();
    let _thread = Registered::new(handler, 7, 18);
    let before = handler.counters.get(Counter::LostFiltered);
    handler
        .filter
        .set_without_context(!schema::event_mask::EXECUTION_SAMPLE_BIT);
    storm();
    handler.slots.drain(|_, _| unreachable!("nothing is ready"));
    assert_eq!(handler.counters.get(Counter::LostFiltered), before + 1);
    handler.filter.set_without_context(u32::MAX);
    storm();
    assert_eq!(handler.slots.drain(|_, _| {}), 1);
}

#[test]
fn native_thread_is_looked_up_each_time() {
    let (_turn, handler) = handler_in_turn();
    let facts = ThreadFacts {
        os_tid: gettid(),
        serial: 78,
        ..ThreadFacts::default()
    };
    // SAFETY: no JavaThread.
    assert!(unsafe { handler.records.publish(8, &facts) });
    forget_record();
    storm();
    assert!(tls::record().is_none(), "no word that outlives the record");
    // SAFETY: no handler runs.
    unsafe {
        handler
            .records
            .retire(handler.records.at(8).expect("record 8"));
    };
    handler.slots.drain(|_, _| {});
}

#[test]
fn thread_without_record_gives_a_sample_with_its_os_id() {
    let (_turn, handler) = handler_in_turn();
    forget_record();
    storm();
    let mut found = Vec::new();
    handler.slots.drain(|h, frames| {
        let kind = h.kind.load(Relaxed);
        found.push((kind, h.logical_tid.load(Relaxed), h.walk.load(Relaxed)));
        assert!(frames.is_empty() && h.values().ids == [0; 8]);
    });
    let expected = (
        SampleKind::CpuUnregistered as u32,
        i64::from(gettid()),
        walk::STATE,
    );
    assert_eq!(found, [expected]);
}

#[test]
fn state_is_quiet_when_no_handler_is_at_work() {
    let (_turn, handler) = handler_in_turn();
    assert!(handler.quiet());
    handler.in_flight.fetch_add(1, SeqCst);
    assert!(!handler.quiet());
    handler.in_flight.fetch_sub(1, SeqCst);
}
