//! Whether a thread sleeps so much that its timers serve it badly: judged by its own handler, from
//! its CPU time and the number of its voluntary switches.

use crate::clock::monotonic_nanos;
use crate::record::ThreadRecord;
use core::sync::atomic::Ordering::Relaxed;

/// CPU time, in ticks, over which a thread is judged: some bursts' worth, as within one it does not
/// sleep.
const JUDGED_TICKS: u64 = 16;
/// A thread whose bursts between two sleeps are longer, in ticks of CPU time, does not count as one
/// that sleeps: its timers meet it in them.
pub(super) const BURST_TICKS: u64 = 8;
/// A number of voluntary switches that was not asked for yet.
pub(super) const UNKNOWN: u64 = u64::MAX;

/// Whether the thread sleeps: a quarter of the time or more, and often. The latter because threads
/// that get no CPU among too many that run give theirs up now and then as well, at a lock or for a
/// collection.
///
/// Between two judgements the answer is `was_idle`, unless a burst becomes too long.
pub(super) fn is_idle(record: &ThreadRecord, cpu: u64, tick: u64, was_idle: bool) -> bool {
    let used = cpu.saturating_sub(record.judged_cpu_ns.load(Relaxed));
    let is_judged = used >= tick.saturating_mul(JUDGED_TICKS);
    if !is_judged && !was_idle {
        return false;
    }
    let switches = voluntary_switches();
    let before = record.judged_switches.load(Relaxed);
    if before == UNKNOWN {
        // Nothing to judge it by yet.
        judge_from(record, cpu, switches);
        return was_idle;
    }
    let slept = switches.saturating_sub(before);
    let is_often = used
        < slept
            .saturating_add(1)
            .saturating_mul(tick.saturating_mul(BURST_TICKS));
    if !is_judged {
        return is_often;
    }
    let passed = judge_from(record, cpu, switches);
    is_often && used.saturating_mul(4) < passed.saturating_mul(3)
}

/// Whether the fine timer has met the thread in a sleep: it used less than a quarter of the time
/// since the timer was armed, and has slept since the timer last came, on the way to the same
/// point.
pub(super) fn was_met_asleep(record: &ThreadRecord, cpu: u64) -> bool {
    let used = cpu.saturating_sub(record.armed_cpu_ns.load(Relaxed));
    let passed = monotonic_nanos().saturating_sub(record.armed_at_ns.load(Relaxed));
    used.saturating_mul(4) < passed && has_slept_again(record)
}

/// Whether the thread has given up its CPU by itself since the fine timer last came. One that waits
/// for a CPU has not.
pub(super) fn has_slept_again(record: &ThreadRecord) -> bool {
    let switches = voluntary_switches();
    let before = record.switches.swap(switches, Relaxed);
    before != UNKNOWN && before != switches
}

/// Begins the next judgement; returns the time since the last one.
fn judge_from(record: &ThreadRecord, cpu: u64, switches: u64) -> u64 {
    let now = monotonic_nanos();
    record.judged_cpu_ns.store(cpu, Relaxed);
    record.judged_switches.store(switches, Relaxed);
    now.saturating_sub(record.judged_at_ns.swap(now, Relaxed))
}

/// How often the calling thread has given up its CPU by itself: to sleep, or to wait for something.
pub(super) fn voluntary_switches() -> u64 {
    // SAFETY: numbers only; zero is valid.
    let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
    // SAFETY: writes one rusage; on the list of system calls.
    unsafe {
        libc::syscall(
            libc::SYS_getrusage,
            libc::c_long::from(libc::RUSAGE_THREAD),
            &raw mut usage,
        )
    };
    u64::try_from(usage.ru_nvcsw).unwrap_or(0)
}
