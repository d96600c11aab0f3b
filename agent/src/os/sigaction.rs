//! Our signal action: installed once per process, never taken back (a signal that was on its way at stop would end the process).
//!
//! Rules: (1) the previous action is known to the handler before ours is in place; (2) flags: `SA_SIGINFO | SA_RESTART`, never
//! `SA_NODEFER` or `SA_ONSTACK`; the mask holds our signals only, so that SIGSEGV still reaches the VM.

#![expect(unsafe_code, reason = "boundary to the operating system")]

use signal_core::handler;
use std::io;
use std::ptr;

/// The action that ours has replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PreviousAction {
    /// Default or ignored.
    None,
    /// A handler, which now gets the signals that are not ours.
    Handler,
}

/// The signal for wall-clock samples, where `signal` is the one for CPU time.
pub(crate) const fn wall_signal(signal: i32) -> i32 {
    if signal == libc::SIGVTALRM {
        libc::SIGPROF
    } else {
        libc::SIGVTALRM
    }
}

/// Installs our action for `signal`; while it runs, all `ours` are blocked. Again for the same signal: nothing to do, unless somebody has
/// replaced it since; if that one passes on to us, the handler ends the circle. Starts and stops are serialised by the session's lock.
pub(crate) fn install(signal: i32, ours: &[i32]) -> io::Result<PreviousAction> {
    let current = query(signal)?;
    let again = current.sa_sigaction == our_action();
    if !again {
        // Rule 1.
        // SAFETY: as `sigaction` returned it.
        unsafe { handler::set_previous(signal, current.sa_sigaction, current.sa_flags) };
    }
    // SAFETY: zero is a valid sigaction to start from (empty mask).
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = our_action();
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
    for blocked in ours {
        // SAFETY: a valid set and signal number.
        unsafe { libc::sigaddset(&raw mut action.sa_mask, *blocked) };
    }
    // SAFETY: a valid action; the handler is async-signal-safe (rules of signal-core).
    if unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let nobody = again || [libc::SIG_DFL, libc::SIG_IGN].contains(&current.sa_sigaction);
    Ok(if nobody {
        PreviousAction::None
    } else {
        PreviousAction::Handler
    })
}

/// Whether our action is (still) in place for `signal`.
pub(crate) fn is_ours(signal: i32) -> bool {
    query(signal).is_ok_and(|action| action.sa_sigaction == our_action())
}

/// Whether our action is in place for `signal`. One that was taken away and put back by somebody who knows only its address (`signal`, or the JVM's
/// `Signal.handle`) has lost its flags and its mask: it gets them again.
pub(crate) fn restore(signal: i32, ours: &[i32]) -> bool {
    let Ok(current) = query(signal) else {
        return false;
    };
    if current.sa_sigaction != our_action() {
        return false;
    }
    current.sa_flags & libc::SA_SIGINFO != 0 || install(signal, ours).is_ok()
}

fn query(signal: i32) -> io::Result<libc::sigaction> {
    // SAFETY: zero is a valid sigaction to be overwritten.
    let mut current: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: asks only; a valid place for the answer.
    if unsafe { libc::sigaction(signal, ptr::null(), &raw mut current) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(current)
}

fn our_action() -> usize {
    handler::on_signal as *const () as usize
}
