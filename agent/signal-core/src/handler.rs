//! The handler: who sent the signal, is a sample due, which context, which stack, hand it over. In that order, without a lock.
//!
//! | a signal meets | it becomes |
//! |---|---|
//! | no cookie of ours | passed on to the action that was there before us |
//! | no value at all, the kernel had no room for it | ours if it is waited for; else counted, nothing else |
//! | nothing of the kernel's, our action was put back without its flags | counted, nothing else |
//! | recording off | counted, nothing else |
//! | a thread without record | counted as lost |
//! | our own handler on the same thread | counted as lost |
//! | a full slot table | counted as lost |
//! | a failing stack walk | a sample without stack, with the reason |
//!
//! CPU time and wall clock have signals of their own, each blocked while the other's handler runs: one never nests in the other.

use crate::block::{Found, Values};
use crate::counters::Counter;
use crate::engine::{self, Source};
use crate::errno::ErrnoGuard;
use crate::handler_state::{self, HandlerState, published};
use crate::record::{ThreadRecord, WALL_ASLEEP, WALL_AWAKE, WALL_LEFT_OUT, WALL_PENDING};
#[cfg(feature = "seeded-faults")]
use crate::seeded_faults;
use crate::slots::{Claim, SampleKind};
use crate::{sleep, tls, walk};
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicU32, AtomicUsize};
use fault_injection::Fault;
use schema::event_mask;

/// Cookies of our timers and of the signals that we send: their addresses travel in `sival_ptr`, so nobody else's can look like ours.
static COARSE_COOKIE: u8 = 1;
static FINE_COOKIE: u8 = 2;
static STORM_COOKIE: u8 = 3;
static WALL_COOKIE: u8 = 4;
static POLL_COOKIE: u8 = 5;

/// Set-up: the value that a signal of `source` must carry.
pub fn cookie(source: Source) -> usize {
    ptr::from_ref(match source {
        Source::Coarse => &COARSE_COOKIE,
        Source::Fine => &FINE_COOKIE,
        Source::Storm => &STORM_COOKIE,
        Source::Wall => &WALL_COOKIE,
        Source::Poll => &POLL_COOKIE,
    }) as usize
}

/// The action that was installed for a signal of ours before us.
#[derive(Debug)]
struct Previous {
    handler: AtomicUsize,
    flags: AtomicU32,
}

/// By signal number.
static PREVIOUS: [Previous; 65] = [const {
    Previous {
        handler: AtomicUsize::new(0),
        flags: AtomicU32::new(0),
    }
}; 65];

fn previous(signal: i32) -> Option<&'static Previous> {
    PREVIOUS.get(usize::try_from(signal).ok()?)
}

/// Set-up: remembers the action to which foreign signals are passed on. Before our action is installed.
pub fn set_previous(signal: i32, handler: usize, flags: i32) {
    if let Some(previous) = previous(signal) {
        previous.flags.store(flags.cast_unsigned(), Relaxed);
        previous.handler.store(handler, Relaxed);
    }
}

/// The head of `siginfo_t` for timers and queued signals, as the kernel lays it out on 64-bit Linux.
#[repr(C)]
struct SignalInfo {
    signo: i32,
    errno: i32,
    code: i32,
    pad: i32,
    timer_id_or_pid: i32,
    overrun_or_uid: i32,
    value: usize,
}

/// How far above the handler's own frame `siginfo` and `ucontext` may lie. The kernel puts them right there, on whatever stack; an action that passes a signal on
/// to us has frames of its own between.
const REACH: usize = 64 << 10;

/// The siginfo that the kernel gave, and `ucontext`, with `signal`, to the handler with this `frame`. Where our action was put back by somebody who knows only its
/// address (`signal`, or the JVM's `Signal.handle`), without `SA_SIGINFO`, they are on aarch64 what the registers happen to hold, and on x86-64 places
/// that nothing was written to.
fn given(
    frame: &ErrnoGuard,
    signal: i32,
    info: *const SignalInfo,
    ucontext: *const libc::ucontext_t,
) -> Option<&SignalInfo> {
    let here = ptr::from_ref(frame).addr();
    let is_near = |address: usize| address.wrapping_sub(here) < REACH;
    let are_places = info.is_aligned() && ucontext.is_aligned();
    if !are_places || !is_near(info.addr()) || !is_near(ucontext.addr()) {
        return None;
    }
    // SAFETY: aligned, and on the stack above our frame, for as long as that is there: the kernel's, or by chance another place of the stack.
    let info = unsafe { &*info };
    (info.signo == signal).then_some(info)
}

/// The signal action of the agent (`SA_SIGINFO | SA_RESTART`).
///
/// # Safety
/// Called by the kernel, or by an action that passes a signal on. `info` and `ucontext` are believed only where the kernel puts them.
pub unsafe extern "C" fn on_signal(signal: i32, info: *mut libc::siginfo_t, ucontext: *mut c_void) {
    let errno = ErrnoGuard::new();
    let handler = published();
    let Some(head) = given(&errno, signal, info.cast(), ucontext.cast()) else {
        if let Some(handler) = handler {
            handler.counters.add(Counter::WithoutValue);
        }
        return;
    };
    let (sender, overrun) = (sender(head), head.overrun_or_uid);
    let Some(handler) = handler else {
        return pass_on(signal, info, ucontext);
    };
    let source = match sender {
        Sender::Ours(source) => source,
        Sender::Unknown => match awaited(handler, signal) {
            Some(source) => source,
            None => return handler.counters.add(Counter::WithoutValue),
        },
        Sender::Other => {
            handler.counters.add(Counter::Foreign);
            return pass_on_once(handler, signal, info, ucontext);
        }
    };
    // SeqCst with `enabled`: either the stopping thread sees us in flight, or we see that it stopped.
    handler.in_flight.fetch_add(1, SeqCst);
    if handler.enabled.load(SeqCst) {
        if source == Source::Wall {
            on_wall(handler, ucontext);
        } else {
            on_timer(
                handler,
                source,
                u32::try_from(overrun).unwrap_or(0),
                ucontext,
            );
        }
    } else {
        handler.counters.add(Counter::AfterStop);
    }
    handler.in_flight.fetch_sub(1, SeqCst);
}

/// Who sent a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sender {
    /// One of our timers or threads.
    Ours(Source),
    /// The signal has lost its value: at the limit of pending signals (`RLIMIT_SIGPENDING`, used up by timers too) the kernel delivers one below
    /// `SIGRTMIN` all the same, as if process 0 had sent it by `kill`.
    Unknown,
    /// Somebody else.
    Other,
}

fn sender(head: &SignalInfo) -> Sender {
    let ours: &[Source] = match head.code {
        libc::SI_TIMER => &[Source::Coarse, Source::Fine],
        libc::SI_QUEUE => &[Source::Poll, Source::Wall, Source::Storm],
        libc::SI_USER if head.timer_id_or_pid == 0 && head.overrun_or_uid == 0 => {
            return Sender::Unknown;
        }
        _ => &[],
    };
    ours.iter()
        .find(|source| cookie(**source) == head.value)
        .map_or(Sender::Other, |source| Sender::Ours(*source))
}

/// What a signal without a value is, if one of our threads has sent one to this thread or may have: it does no harm that it may be another's.
fn awaited(handler: &HandlerState, signal: i32) -> Option<Source> {
    let record = current_record(handler)?;
    if signal == handler.wall_signal.load(Relaxed) {
        let is_sent = record.wall_state.load(Relaxed) == WALL_PENDING;
        return is_sent.then_some(Source::Wall);
    }
    let is_polled = handler.engine.sleepers.has(record.index.load(Relaxed));
    is_polled.then_some(Source::Poll)
}

/// As `pass_on`, unless the signal is being passed on by this thread already: whoever replaced our action while nothing was recorded passes on
/// to us, and we to it since the next start. An action that is left by a jump leaves its bit: this thread passes on no such signal any more.
fn pass_on_once(
    handler: &HandlerState,
    signal: i32,
    info: *mut libc::siginfo_t,
    ucontext: *mut c_void,
) {
    let bit = 1_u64.wrapping_shl(signal.cast_unsigned().wrapping_sub(1));
    let before = tls::passing_on();
    if before & bit != 0 {
        return handler.counters.add(Counter::ForeignCycle);
    }
    tls::set_passing_on(before | bit);
    pass_on(signal, info, ucontext);
    tls::set_passing_on(before);
}

fn pass_on(signal: i32, info: *mut libc::siginfo_t, ucontext: *mut c_void) {
    let Some(previous) = previous(signal) else {
        return;
    };
    let handler = previous.handler.load(Relaxed);
    // The default action would end the process; a stray SIGPROF must not do that because we came and went.
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        return;
    }
    if previous.flags.load(Relaxed) & libc::SA_SIGINFO.cast_unsigned() != 0 {
        // SAFETY: the address of an SA_SIGINFO action, as sigaction returned it.
        let action: unsafe extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void) =
            unsafe { core::mem::transmute(handler) };
        // SAFETY: the arguments that the kernel gave us.
        unsafe { action(signal, info, ucontext) };
    } else {
        // SAFETY: the address of a plain action, as sigaction returned it.
        let action: unsafe extern "C" fn(i32) = unsafe { core::mem::transmute(handler) };
        // SAFETY: the signal that the kernel gave us.
        unsafe { action(signal) };
    }
}

fn on_timer(handler: &HandlerState, source: Source, overrun: u32, ucontext: *mut c_void) {
    #[cfg(feature = "seeded-faults")]
    misbehave(ucontext);
    let nanos = engine::monotonic_nanos();
    let Some(record) = current_record(handler) else {
        return lose(handler, Counter::LostUnknownThread);
    };
    if record.in_handler.swap(1, Relaxed) != 0 {
        return lose(handler, Counter::LostReentry); // the outer handler clears the flag
    }
    // The fine timer: mostly a sample is due. What the walk needs comes while the engine asks the kernel for the time.
    if source == Source::Fine {
        walk::prefetch(handler, record);
    }
    // Before the engine judges it again.
    let was_missed =
        source == Source::Coarse && handler.engine.sleepers.has(record.index.load(Relaxed));
    if let Some(weight) = handler.engine.on_signal(record, source, overrun) {
        handler.counters.add(Counter::Signals);
        if was_missed {
            handler.counters.add(Counter::PollMissed);
        }
        handler
            .counters
            .add_many(Counter::Overruns, u64::from(weight.saturating_sub(1)));
        let shot = Shot {
            kind: SampleKind::Cpu,
            weight,
            nanos,
            vm_state: read_vm_state(handler, record),
            ucontext,
        };
        // The sample points are passed, whatever becomes of the sample.
        let count = |counter, weight_counter| {
            handler.counters.add(counter);
            handler.counters.add_many(weight_counter, u64::from(weight));
        };
        match take_sample(handler, record, &shot) {
            Taken::Sample => handler.counters.add(Counter::Captured),
            Taken::NoSlot => count(Counter::LostNoSlot, Counter::WeightLost),
            Taken::Filtered if fault_injection::is(Fault::LossNotCounted) => {}
            Taken::Filtered | Taken::NoContext => {
                count(Counter::LostFiltered, Counter::WeightFiltered);
            }
        }
    } else {
        handler.counters.add(Counter::EngineWakeups);
    }
    record.in_handler.store(0, Relaxed);
}

/// A signal that is lost before the engine has seen it: it stands for one interval.
fn lose(handler: &HandlerState, why: Counter) {
    handler.counters.add(Counter::Signals);
    handler.counters.add(why);
    handler.counters.add(Counter::WeightLost);
}

/// Test builds: what the handler must never do.
#[cfg(feature = "seeded-faults")]
fn misbehave(ucontext: *mut c_void) {
    if fault_injection::is(Fault::HandlerAllocates) {
        seeded_faults::allocate();
    }
    if fault_injection::is(Fault::RegisterChanged) {
        seeded_faults::change_a_register(ucontext);
    }
}

fn on_wall(handler: &HandlerState, ucontext: *mut c_void) {
    let nanos = engine::monotonic_nanos();
    handler.counters.add(Counter::WallSignals);
    let Some(record) = current_record(handler) else {
        return handler.counters.add(Counter::WallLost);
    };
    if record.in_handler.swap(1, Relaxed) != 0 {
        record.wall_state.store(WALL_LEFT_OUT, Relaxed);
        return handler.counters.add(Counter::WallLost); // the outer handler clears the flag
    }
    let vm_state = read_vm_state(handler, record);
    let asleep = sleep::is_asleep(handler, vm_state, ucontext);
    let shot = Shot {
        kind: if asleep {
            SampleKind::WallAsleep
        } else {
            SampleKind::WallAwake
        },
        weight: 1,
        nanos,
        vm_state,
        ucontext,
    };
    let taken = take_sample(handler, record, &shot);
    match taken {
        Taken::Sample => {}
        Taken::NoSlot => handler.counters.add(Counter::WallLost),
        Taken::Filtered => handler.counters.add(Counter::WallFiltered),
        Taken::NoContext => handler.counters.add(Counter::WallNoContext),
    }
    // Only a sample that was taken can stand for other visits.
    let state = match taken {
        Taken::Sample if asleep => WALL_ASLEEP,
        Taken::Sample => WALL_AWAKE,
        Taken::NoSlot | Taken::Filtered | Taken::NoContext => WALL_LEFT_OUT,
    };
    record.wall_cpu.store(engine::thread_cpu_nanos(), Relaxed);
    // Release: pairs with the Acquire of the wall-clock thread, which then reads `wall_cpu`.
    record.wall_state.store(state, Release);
    record.in_handler.store(0, Relaxed);
}

/// What a sample is taken of.
struct Shot {
    kind: SampleKind,
    weight: u32,
    nanos: u64,
    vm_state: i32,
    ucontext: *mut c_void,
}

/// What became of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    Sample,
    NoSlot,
    Filtered,
    NoContext,
}

/// The record of this thread: by TLS word, else by OS thread id (threads that lived before the agent).
fn current_record(handler: &HandlerState) -> Option<&'static ThreadRecord> {
    let known = tls::record().or_else(|| {
        // SAFETY: gettid has no arguments and cannot fail; on the list of system calls.
        let tid = unsafe { libc::syscall(libc::SYS_gettid) };
        let record = handler.records.by_os_tid(i32::try_from(tid).ok()?)?;
        // Only for Java threads, whose end clears the word again. The record of another thread may be given to a third one without
        // its knowing: it is looked up each time.
        if record.java_thread.load(Relaxed) != 0 {
            tls::set_record(Some(record));
        }
        Some(record)
    })?;
    known.running().then_some(known)
}

fn take_sample(handler: &HandlerState, record: &ThreadRecord, shot: &Shot) -> Taken {
    let Some(claim) = handler.slots.claim() else {
        return Taken::NoSlot;
    };
    let header = claim.header;
    header.kind.store(shot.kind as u32, Relaxed);
    header.weight.store(shot.weight, Relaxed);
    header.nanos.store(shot.nanos, Relaxed);
    header
        .thread_serial
        .store(record.serial.load(Relaxed), Relaxed);
    #[cfg(feature = "oracle")]
    header.truth.store(tls::truth::get(), Relaxed);
    header.vm_state.store(shot.vm_state, Relaxed);
    let wanted = read_context(handler, record, shot.kind, &claim);
    if wanted != Taken::Sample {
        return wanted; // the claim gives its slot back
    }
    let outcome = walk::walk(handler, record, &claim, shot.vm_state, shot.ucontext);
    header.walk.store(outcome, Relaxed);
    handler.counters.add(walk::counter(outcome));
    claim.publish();
    Taken::Sample
}

/// Copies the context of the running logical thread; whether its filter lets the sample through.
fn read_context(
    handler: &HandlerState,
    record: &ThreadRecord,
    kind: SampleKind,
    claim: &Claim<'_>,
) -> Taken {
    let own = record.java_tid.load(Relaxed);
    let logical = handler.logical_tid(record);
    let cpu = kind == SampleKind::Cpu;
    let mut values = Values::default();
    let found = if cpu {
        handler.blocks.read(logical, &mut values)
    } else {
        handler.blocks.copy(logical, &mut values)
    };
    claim.header.logical_tid.store(logical, Relaxed);
    claim
        .header
        .is_virtual
        .store(u32::from(logical != own), Relaxed);
    claim.header.found.store(found as u32, Relaxed);
    // Also when nothing was found: the slot still holds the context of the sample before.
    if found == Found::Values || !fault_injection::is(Fault::SlotNotCleared) {
        claim.set_values(&values);
    }
    if logical != own {
        handler.counters.add(Counter::Virtual);
    }
    if !handler
        .filter
        .passes((found == Found::Values).then_some(&values))
    {
        return Taken::Filtered;
    }
    let bit = if cpu {
        event_mask::EXECUTION_SAMPLE_BIT
    } else {
        event_mask::WALL_CLOCK_SAMPLE_BIT
    };
    match found {
        Found::Values if values.event_mask & bit == 0 => return Taken::Filtered,
        Found::Values => handler.counters.add(Counter::ContextPresent),
        _ if !cpu && handler.wall_needs_context.load(Relaxed) => return Taken::NoContext,
        Found::Torn => handler.counters.add(Counter::ContextTorn),
        Found::Foreign => handler.counters.add(Counter::ContextForeign),
        Found::Nothing if !handler.filter.passes_without_context(bit) => return Taken::Filtered,
        Found::Nothing => {}
    }
    Taken::Sample
}

fn read_vm_state(handler: &HandlerState, record: &ThreadRecord) -> i32 {
    match (handler.vm.thread_state, record.java_thread.load(Relaxed)) {
        (Some(offset), base) if base != 0 => handler_state::load::<i32>(base, offset),
        _ => -1,
    }
}

#[cfg(test)]
mod tests;
