//! Our signal action: installed once per process, never taken back (a signal that was on its way at stop would end the process).
//!
//! Rules: (1) the previous action is known to the handler before ours is in place; (2) flags: `SA_SIGINFO | SA_RESTART`, never
//! `SA_NODEFER` or `SA_ONSTACK`; the mask holds our signal only, so that SIGSEGV still reaches the VM.

use signal_core::handler;
use std::io;
use std::ptr;
use std::sync::Mutex;

/// Signal that our action was installed for, 0 = none yet.
static INSTALLED: Mutex<i32> = Mutex::new(0);

/// Who owned the signal before us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Earlier {
    /// Nobody: default or ignored.
    Nobody,
    /// Somebody: their action now gets what is not ours.
    Somebody,
}

/// Installs our action for `signal`. Again for the same signal: nothing to do, unless somebody has replaced it since.
pub(crate) fn install(signal: i32) -> io::Result<Earlier> {
    let mut installed = INSTALLED
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let current = query(signal)?;
    if current.sa_sigaction == our_action() {
        *installed = signal;
        return Ok(Earlier::Nobody);
    }
    handler::set_previous(current.sa_sigaction, current.sa_flags); // rule 1
    // SAFETY: zero is a valid sigaction to start from (empty mask).
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = our_action();
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
    // SAFETY: a valid set and signal number.
    unsafe { libc::sigaddset(&raw mut action.sa_mask, signal) };
    // SAFETY: a valid action; the handler is async-signal-safe (rules of signal-core).
    if unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    *installed = signal;
    let nobody = [libc::SIG_DFL, libc::SIG_IGN].contains(&current.sa_sigaction);
    Ok(if nobody {
        Earlier::Nobody
    } else {
        Earlier::Somebody
    })
}

/// Whether our action is (still) in place for `signal`.
pub(crate) fn is_ours(signal: i32) -> bool {
    query(signal).is_ok_and(|action| action.sa_sigaction == our_action())
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
