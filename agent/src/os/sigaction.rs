//! The agent's signal action. It is installed once per process and stays: a signal that is pending
//! when sampling stops would otherwise end the process.
//!
//! Rules:
//! 1. The handler knows the previous action before the agent's action is in place.
//! 2. The flags are `SA_SIGINFO | SA_RESTART`, never `SA_NODEFER` or `SA_ONSTACK`. The mask
//!    contains the agent's signals only, so that SIGSEGV still reaches the VM.
//! 3. The structures are the caller's own; all-zero bytes are a value of them.
//! 4. The handler is async-signal-safe, by the rules of `signal-core`.

#![expect(unsafe_code, reason = "boundary to the operating system")]

use signal_core::handler;
use std::io;
use std::ptr;

/// The action that the agent's action has replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PreviousAction {
    /// Default or ignored.
    None,
    /// A handler, to which the agent forwards foreign signals.
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

/// Installs the agent's action for `signal`; while it runs, all of `blocked` are blocked.
///
/// A second call for the same signal installs it again, in case other code has replaced it. If that
/// code forwards to the agent, the handler breaks the cycle. The lock of the session serialises
/// starts and stops.
pub(crate) fn install(signal: i32, blocked: &[i32]) -> io::Result<PreviousAction> {
    let current = query(signal)?;
    let is_installed = current.sa_sigaction == agent_action();
    if !is_installed {
        // SAFETY: rule 1; the values are those that `sigaction` returned.
        unsafe { handler::set_previous(signal, current.sa_sigaction, current.sa_flags) };
    }
    // SAFETY: rule 3; the mask is empty.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = agent_action();
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
    for signal in blocked {
        // SAFETY: rule 3.
        unsafe { libc::sigaddset(&raw mut action.sa_mask, *signal) };
    }
    // SAFETY: rules 2 to 4.
    if unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let had_none = is_installed || [libc::SIG_DFL, libc::SIG_IGN].contains(&current.sa_sigaction);
    Ok(if had_none {
        PreviousAction::None
    } else {
        PreviousAction::Handler
    })
}

/// Whether the agent's action is in place for `signal`.
pub(crate) fn is_ours(signal: i32) -> bool {
    query(signal).is_ok_and(|action| action.sa_sigaction == agent_action())
}

/// Whether the agent's action is in place for `signal`. Code that replaced it for a while may have
/// put back only its address (`signal`, or the JVM's `Signal.handle`): this restores flags and
/// mask.
pub(crate) fn restore(signal: i32, blocked: &[i32]) -> bool {
    let Ok(current) = query(signal) else {
        return false;
    };
    if current.sa_sigaction != agent_action() {
        return false;
    }
    current.sa_flags & libc::SA_SIGINFO != 0 || install(signal, blocked).is_ok()
}

fn query(signal: i32) -> io::Result<libc::sigaction> {
    // SAFETY: rule 3.
    let mut current: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: rule 3; the call changes no action.
    if unsafe { libc::sigaction(signal, ptr::null(), &raw mut current) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(current)
}

fn agent_action() -> usize {
    handler::on_signal as *const () as usize
}
