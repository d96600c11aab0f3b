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
mod sample;
mod wall;

pub use forward::set_previous;

use crate::counters::Counter;
use crate::engine::probes::ProbePlace;
use crate::engine::{self, Source};
use crate::errno::ErrnoGuard;
use crate::handler_state::{HandlerState, published};
use crate::record::WALL_PENDING;
use crate::ucontext::InterruptedContext;
use core::ffi::c_void;
use core::ptr::{self, NonNull};
use core::sync::atomic::Ordering::{Relaxed, SeqCst};

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
            Sender::Thread(Source::Wall) => wall::on_wall(handler, context),
            _ => {
                let weight = u32::try_from(overrun).unwrap_or(0).saturating_add(1);
                let nanos = engine::monotonic_nanos();
                sample::sample_cpu(handler, weight, nanos, context);
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

#[cfg(test)]
pub(crate) mod tests;
