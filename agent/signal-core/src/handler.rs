//! The signal handler. It decides who sent the signal and whether a sample is due, reads the
//! context, walks the stack and hands the sample over. In that order, without a lock.
//!
//! | a signal meets | it becomes |
//! |---|---|
//! | no cookie of ours | passed on to the action that was there before us |
//! | no value at all: the queue of pending signals was full | ours if it is awaited, else counted |
//! | no arguments: our action was installed again without its flags | counted |
//! | recording off | counted |
//! | a probe that met nobody | counted; its timer is armed again |
//! | a thread without record | a sample without context and stack |
//! | our own handler on the same thread | counted as lost |
//! | a full slot table | counted as lost |
//! | a failing stack walk | a sample without stack, with the reason |
//!
//! Called by the kernel on the interrupted thread (rules 1 to 10). CPU time and wall clock have
//! signals of their own, each blocked while the other's handler runs: one never nests in the other.

mod forward;
mod probe;

pub use forward::set_previous;

use crate::block::{ReadOutcome, Values};
use crate::counters::Counter;
use crate::engine::probes::ProbePlace;
use crate::engine::{self, Source};
use crate::errno::ErrnoGuard;
use crate::handler_state::{HandlerState, published};
use crate::java_thread::CurrentThread;
use crate::record::{WALL_ASLEEP, WALL_AWAKE, WALL_LEFT_OUT, WALL_PENDING};
use crate::slots::{Claim, SampleKind};
use crate::ucontext::InterruptedContext;
use crate::{sleep, walk};
use core::ffi::c_void;
use core::ptr::{self, NonNull};
use core::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use fault_injection::Fault;
use schema::event_mask;

/// Cookies of the timers of threads and of the signals that we send. Their addresses travel in
/// `sival_ptr`, so no other sender's value can equal one.
static TICK_COOKIE: u8 = 1;
static STORM_COOKIE: u8 = 2;
static WALL_COOKIE: u8 = 3;

/// Set-up: the value that a signal of `source` must carry.
pub fn cookie(source: Source) -> usize {
    ptr::from_ref(match source {
        Source::Tick => &TICK_COOKIE,
        Source::Storm => &STORM_COOKIE,
        Source::Wall => &WALL_COOKIE,
    }) as usize
}

/// The head of `siginfo_t` for timers and queued signals, as the kernel lays it out on 64-bit
/// Linux.
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

/// How far above the handler's own frame `siginfo` and `ucontext` may lie. The kernel puts them
/// right there, on whatever stack; an action that passes a signal on to us has frames of its own
/// between.
const REACH: usize = 64 << 10;

/// What the kernel gave with `signal` to the handler that has `frame`; `None` if it gave nothing.
///
/// Somebody who knows only the address of our action may install it again without `SA_SIGINFO`
/// (`signal`, or the JVM's `Signal.handle`). The arguments then are what the registers happen to
/// hold (aarch64), or stack that nothing was written to (x86-64).
fn given(
    frame: &ErrnoGuard,
    signal: i32,
    info: *const SignalInfo,
    ucontext: *mut libc::ucontext_t,
) -> Option<(&SignalInfo, InterruptedContext<'_>)> {
    let own = ptr::from_ref(frame).addr();
    let is_near = |address: usize| address.wrapping_sub(own) < REACH;
    let are_aligned = info.is_aligned() && ucontext.is_aligned();
    if !are_aligned || !is_near(info.addr()) || !is_near(ucontext.addr()) {
        return None;
    }
    // SAFETY: rule 6: aligned, and on the stack above our frame for as long as that is there. By
    // chance it may be another part of that stack.
    let info = unsafe { &*info };
    if info.signo != signal {
        return None;
    }
    // SAFETY: as above.
    let context = unsafe { InterruptedContext::new(NonNull::new(ucontext)?) };
    Some((info, context))
}

/// The signal action of the agent (`SA_SIGINFO | SA_RESTART`).
///
/// # Safety
/// Called by the kernel, or by an action that passes a signal on. `info` and `ucontext` are
/// believed only where the kernel puts them.
pub unsafe extern "C" fn on_signal(signal: i32, info: *mut libc::siginfo_t, ucontext: *mut c_void) {
    let errno = ErrnoGuard::new();
    let handler = published();
    let Some((head, context)) = given(&errno, signal, info.cast(), ucontext.cast()) else {
        if let Some(handler) = handler {
            handler.counters.add(Counter::WithoutValue);
        }
        return;
    };
    let (sender, overrun) = (sender(handler, head), head.overrun_or_uid);
    let Some(handler) = handler else {
        return forward::pass_on(signal, info, ucontext);
    };
    let sender = match sender {
        Sender::Other => {
            handler.counters.add(Counter::Foreign);
            return forward::pass_on_once(handler, signal, info, ucontext);
        }
        Sender::Unknown if is_wall_awaited(handler, signal) => Sender::Thread(Source::Wall),
        Sender::Unknown => return handler.counters.add(Counter::WithoutValue),
        ours => ours,
    };
    // SeqCst with `enabled`: either the stopping thread sees us in flight, or we see that it
    // stopped.
    handler.in_flight.fetch_add(1, SeqCst);
    if handler.enabled.load(SeqCst) {
        match sender {
            Sender::Probe(place) => probe::on_probe(handler, place, context),
            Sender::Thread(Source::Wall) => on_wall(handler, context),
            _ => {
                let weight = u32::try_from(overrun).unwrap_or(0).saturating_add(1);
                let nanos = engine::monotonic_nanos();
                sample_cpu(handler, weight, nanos, context);
            }
        }
    } else {
        handler.counters.add(Counter::AfterStop);
    }
    handler.in_flight.fetch_sub(1, SeqCst);
}

/// Who sent a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sender {
    /// A timer of a thread, or one of our threads.
    Thread(Source),
    /// A timer of a CPU.
    Probe(ProbePlace),
    /// The signal has lost its value: at the limit of pending signals (`RLIMIT_SIGPENDING`, used up
    /// by timers too) the kernel delivers one below `SIGRTMIN` all the same, as if process 0 had
    /// sent it by `kill`.
    Unknown,
    /// Somebody else.
    Other,
}

fn sender(handler: Option<&HandlerState>, head: &SignalInfo) -> Sender {
    let ours: &[Source] = match head.code {
        libc::SI_TIMER => &[Source::Tick],
        libc::SI_QUEUE => &[Source::Wall, Source::Storm],
        libc::SI_USER if head.timer_id_or_pid == 0 && head.overrun_or_uid == 0 => {
            return Sender::Unknown;
        }
        _ => &[],
    };
    if head.code == libc::SI_TIMER
        && let Some(place) = handler.and_then(|handler| handler.engine.probes.place(head.value))
    {
        return Sender::Probe(place);
    }
    ours.iter()
        .find(|source| cookie(**source) == head.value)
        .map_or(Sender::Other, |source| Sender::Thread(*source))
}

/// Whether this thread awaits a wall-clock signal from a thread of the agent. It does no harm if it
/// is another sender's.
fn is_wall_awaited(handler: &HandlerState, signal: i32) -> bool {
    signal == handler.wall_signal.load(Relaxed)
        && handler
            .current_thread()
            .is_some_and(|thread| thread.record().wall_state.load(Relaxed) == WALL_PENDING)
}

/// Takes a CPU sample of the calling thread.
fn sample_cpu(handler: &HandlerState, weight: u32, nanos: u64, context: InterruptedContext<'_>) {
    #[cfg(feature = "seeded-faults")]
    misbehave(context.as_ptr());
    handler.counters.add(Counter::Signals);
    handler
        .counters
        .add_many(Counter::Overruns, u64::from(weight.saturating_sub(1)));
    // The sample points are passed, whatever becomes of the sample.
    let lose = |counter, weight_counter| {
        handler.counters.add(counter);
        handler.counters.add_many(weight_counter, u64::from(weight));
    };
    let count = |outcome| match outcome {
        CaptureOutcome::Sample => handler.counters.add(Counter::Captured),
        CaptureOutcome::NoSlot => lose(Counter::LostNoSlot, Counter::WeightLost),
        CaptureOutcome::Filtered if fault_injection::is(Fault::LossNotCounted) => {}
        CaptureOutcome::Filtered | CaptureOutcome::NoContext => {
            lose(Counter::LostFiltered, Counter::WeightFiltered);
        }
    };
    let Some(thread) = handler.current_thread() else {
        return count(sample_unregistered(handler, weight, nanos));
    };
    let record = thread.record();
    if record.in_handler.swap(1, Relaxed) != 0 {
        // The outer handler clears the flag.
        return lose(Counter::LostReentry, Counter::WeightLost);
    }
    walk::prefetch(handler, record);
    let request = SampleRequest {
        kind: SampleKind::Cpu,
        weight,
        nanos,
        vm_state: handler.vm_state(thread),
        context,
    };
    count(take_sample(handler, thread, &request));
    record.in_handler.store(0, Relaxed);
}

/// Takes a CPU sample of a thread without a record: a native one that no scan has found yet, or a
/// Java thread before its start event or after its end event. The sample carries its OS thread id,
/// no context and no stack.
fn sample_unregistered(handler: &HandlerState, weight: u32, nanos: u64) -> CaptureOutcome {
    let bit = event_mask::EXECUTION_SAMPLE_BIT;
    if !handler.filter.passes(None) || !handler.filter.passes_without_context(bit) {
        return CaptureOutcome::Filtered;
    }
    let Some(claim) = handler.slots.claim() else {
        return CaptureOutcome::NoSlot;
    };
    let header = claim.header;
    header
        .kind
        .store(SampleKind::CpuUnregistered as u32, Relaxed);
    header.weight.store(weight, Relaxed);
    header.nanos.store(nanos, Relaxed);
    header.thread_serial.store(0, Relaxed);
    // SAFETY: no arguments; on the list of system calls.
    let os_tid = unsafe { libc::syscall(libc::SYS_gettid) };
    header.logical_tid.store(os_tid, Relaxed);
    header.is_virtual.store(0, Relaxed);
    header.vm_state.store(-1, Relaxed);
    header
        .read_outcome
        .store(ReadOutcome::Nothing as u32, Relaxed);
    #[cfg(feature = "oracle")]
    header.truth.store(0, Relaxed);
    claim.set_values(&Values::default());
    header.walk.store(walk::STATE, Relaxed);
    handler.counters.add(walk::counter(walk::STATE));
    claim.publish();
    CaptureOutcome::Sample
}

/// Test builds: what the handler must never do.
#[cfg(feature = "seeded-faults")]
fn misbehave(ucontext: *mut c_void) {
    if fault_injection::is(Fault::HandlerAllocates) {
        crate::seeded_faults::allocate();
    }
    if fault_injection::is(Fault::RegisterChanged) {
        crate::seeded_faults::change_a_register(ucontext);
    }
}

fn on_wall(handler: &HandlerState, context: InterruptedContext<'_>) {
    let nanos = engine::monotonic_nanos();
    handler.counters.add(Counter::WallSignals);
    let Some(thread) = handler.current_thread() else {
        return handler.counters.add(Counter::WallLost);
    };
    let record = thread.record();
    if record.in_handler.swap(1, Relaxed) != 0 {
        record.wall_state.store(WALL_LEFT_OUT, Relaxed);
        return handler.counters.add(Counter::WallLost); // the outer handler clears the flag
    }
    let vm_state = handler.vm_state(thread);
    let asleep = sleep::is_asleep(handler, vm_state, context);
    let request = SampleRequest {
        kind: if asleep {
            SampleKind::WallAsleep
        } else {
            SampleKind::WallAwake
        },
        weight: 1,
        nanos,
        vm_state,
        context,
    };
    let outcome = take_sample(handler, thread, &request);
    match outcome {
        CaptureOutcome::Sample => {}
        CaptureOutcome::NoSlot => handler.counters.add(Counter::WallLost),
        CaptureOutcome::Filtered => handler.counters.add(Counter::WallFiltered),
        CaptureOutcome::NoContext => handler.counters.add(Counter::WallNoContext),
    }
    // Only a sample that was taken can stand for other probes.
    let state = match outcome {
        CaptureOutcome::Sample if asleep => WALL_ASLEEP,
        CaptureOutcome::Sample => WALL_AWAKE,
        CaptureOutcome::NoSlot | CaptureOutcome::Filtered | CaptureOutcome::NoContext => {
            WALL_LEFT_OUT
        }
    };
    record
        .wall_cpu_ns
        .store(engine::thread_cpu_nanos(), Relaxed);
    // Release: pairs with the Acquire of the wall-clock thread, which then reads `wall_cpu`.
    record.wall_state.store(state, Release);
    record.in_handler.store(0, Relaxed);
}

/// A sample to take.
struct SampleRequest<'a> {
    kind: SampleKind,
    weight: u32,
    nanos: u64,
    vm_state: i32,
    context: InterruptedContext<'a>,
}

/// What became of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CaptureOutcome {
    Sample,
    NoSlot,
    Filtered,
    NoContext,
}

fn take_sample(
    handler: &HandlerState,
    thread: CurrentThread,
    request: &SampleRequest<'_>,
) -> CaptureOutcome {
    let Some(claim) = handler.slots.claim() else {
        return CaptureOutcome::NoSlot;
    };
    let header = claim.header;
    header.kind.store(request.kind as u32, Relaxed);
    header.weight.store(request.weight, Relaxed);
    header.nanos.store(request.nanos, Relaxed);
    header
        .thread_serial
        .store(thread.serial.load(Relaxed), Relaxed);
    #[cfg(feature = "oracle")]
    header.truth.store(crate::tls::truth::get(), Relaxed);
    header.vm_state.store(request.vm_state, Relaxed);
    let outcome = read_context(handler, thread, request.kind, &claim);
    if outcome != CaptureOutcome::Sample {
        return outcome; // the claim frees its slot
    }
    let walked = walk::walk(handler, thread, &claim, request.vm_state, request.context);
    header.walk.store(walked, Relaxed);
    handler.counters.add(walk::counter(walked));
    claim.publish();
    CaptureOutcome::Sample
}

/// Copies the context of the running logical thread, and decides whether the filters let the sample
/// through.
fn read_context(
    handler: &HandlerState,
    thread: CurrentThread,
    kind: SampleKind,
    claim: &Claim<'_>,
) -> CaptureOutcome {
    let own = thread.java_tid.load(Relaxed);
    let logical = handler.logical_tid(thread);
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
    claim.header.read_outcome.store(found as u32, Relaxed);
    // Also without values: the slot still holds the context of its last sample.
    if found == ReadOutcome::Values || !fault_injection::is(Fault::SlotNotCleared) {
        claim.set_values(&values);
    }
    if logical != own {
        handler.counters.add(Counter::Virtual);
    }
    if !handler
        .filter
        .passes((found == ReadOutcome::Values).then_some(&values))
    {
        return CaptureOutcome::Filtered;
    }
    let bit = if cpu {
        event_mask::EXECUTION_SAMPLE_BIT
    } else {
        event_mask::WALL_CLOCK_SAMPLE_BIT
    };
    match found {
        ReadOutcome::Values if values.event_mask & bit == 0 => return CaptureOutcome::Filtered,
        ReadOutcome::Values => handler.counters.add(Counter::ContextPresent),
        _ if !cpu && handler.wall_needs_context.load(Relaxed) => return CaptureOutcome::NoContext,
        ReadOutcome::Torn => handler.counters.add(Counter::ContextTorn),
        ReadOutcome::Foreign => handler.counters.add(Counter::ContextForeign),
        ReadOutcome::Nothing if !handler.filter.passes_without_context(bit) => {
            return CaptureOutcome::Filtered;
        }
        ReadOutcome::Nothing => {}
    }
    CaptureOutcome::Sample
}

#[cfg(test)]
pub(crate) mod tests;
