//! Signals that are not ours, passed on to the action that was installed before ours.

use crate::counters::Counter;
use crate::handler_state::HandlerState;
use crate::tls;
use core::ffi::c_void;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicUsize};

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

/// Set-up: remembers the action to which foreign signals are passed on. Before our action is
/// installed.
///
/// # Safety
/// Rule 7: `sigaction` returned `handler` and `flags` for `signal`.
pub unsafe fn set_previous(signal: i32, handler: usize, flags: i32) {
    if let Some(previous) = previous(signal) {
        previous.flags.store(flags.cast_unsigned(), Relaxed);
        previous.handler.store(handler, Relaxed);
    }
}

/// As `pass_on`, unless this thread is passing the signal on already: an action that replaced ours
/// while nothing was recorded passes on to us, and we to it since the next start. An action that is
/// left by a jump leaves its bit set; this thread then passes on no such signal any more.
pub(super) fn pass_on_once(
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

/// Calls the previous action, if it is a handler.
pub(super) fn pass_on(signal: i32, info: *mut libc::siginfo_t, ucontext: *mut c_void) {
    let Some(previous) = previous(signal) else {
        return;
    };
    let handler = previous.handler.load(Relaxed);
    // The default action would end the process; a stray SIGPROF must not do that after we stopped.
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        return;
    }
    if previous.flags.load(Relaxed) & libc::SA_SIGINFO.cast_unsigned() != 0 {
        // SAFETY: rule 7, an SA_SIGINFO action.
        let action: unsafe extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void) =
            unsafe { core::mem::transmute(handler) };
        // SAFETY: the arguments that the kernel gave us.
        unsafe { action(signal, info, ucontext) };
    } else {
        // SAFETY: rule 7, an action without SA_SIGINFO.
        let action: unsafe extern "C" fn(i32) = unsafe { core::mem::transmute(handler) };
        // SAFETY: the signal that the kernel gave us.
        unsafe { action(signal) };
    }
}
