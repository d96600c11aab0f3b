//! A signal with a value, to one thread of this process.
//!
//! Rule for `unsafe`: (1) the calls read memory of the caller only; the kernel checks the thread
//! id.

#![expect(unsafe_code, reason = "boundary to the operating system")]

use signal_core::engine::Source;
use signal_core::handler;
use std::io;

/// The kernel's `siginfo_t` (128 bytes), as far as a queued signal uses it.
#[repr(C)]
struct Info {
    signo: i32,
    errno: i32,
    code: i32,
    pad: i32,
    pid: i32,
    uid: i32,
    value: usize,
    rest: [u64; 12],
}

const _: () = assert!(size_of::<Info>() == 128, "the kernel copies this much");

/// Sends `signal` with the cookie of `source` to the thread `tid`. It is lost if the same signal is
/// already pending there.
pub(crate) fn to_thread(tid: i32, signal: i32, source: Source) -> io::Result<()> {
    let info = Info {
        signo: signal,
        errno: 0,
        code: libc::SI_QUEUE,
        pad: 0,
        pid: 0,
        uid: 0,
        value: handler::cookie(source),
        rest: [0; 12],
    };
    // SAFETY: rule 1: no arguments.
    let pid = unsafe { libc::getpid() };
    // SAFETY: rule 1: a valid siginfo, for a thread of this process. An exited thread is an error.
    let result = unsafe {
        libc::syscall(
            libc::SYS_rt_tgsigqueueinfo,
            pid,
            tid,
            signal,
            &raw const info,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exited_thread_is_an_error() {
        let error =
            to_thread(i32::MAX - 7, libc::SIGVTALRM, Source::Wall).expect_err("no such thread");
        assert_eq!(error.raw_os_error(), Some(libc::ESRCH));
    }
}
