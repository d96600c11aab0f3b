//! Whose signal it is, and what of its arguments is believed.

use super::super::*;
use super::fixture::*;
use crate::slots::SampleKind;
use core::sync::atomic::AtomicU32;
use std::boxed::Box;
use std::vec::Vec;

#[test]
fn foreign_signal_reaches_the_previous_action() {
    static REACHED: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn earlier(_: i32, _: *mut libc::siginfo_t, _: *mut c_void) {
        REACHED.fetch_add(1, Relaxed);
    }
    let (_turn, handler) = handler_in_turn();
    let signals = handler.counters.get(Counter::Signals);
    send(libc::SI_QUEUE, 0x1234); // nobody before us: dropped, the process lives
    pass_on_to(earlier as *const () as usize, libc::SA_SIGINFO);
    send(libc::SI_QUEUE, cookie(Source::Tick)); // our address, but not from a timer
    // SAFETY: sends ourselves a plain SIGPROF.
    unsafe { libc::raise(libc::SIGPROF) };
    pass_on_to(libc::SIG_DFL, 0);
    assert_eq!(REACHED.load(Relaxed), 2);
    assert_eq!(handler.counters.get(Counter::Signals), signals);
}

#[test]
fn arguments_not_from_the_kernel_are_refused() {
    let (_turn, handler) = handler_in_turn();
    let counted = || handler.counters.get(Counter::WithoutValue);
    let before = counted();
    let on_stack = |signo| SignalInfo {
        signo,
        errno: 0,
        code: libc::SI_QUEUE,
        pad: 0,
        timer_id_or_pid: 0,
        overrun_or_uid: 0,
        value: cookie(Source::Storm),
    };
    // Nowhere; something of this signal, but no context; something of another signal.
    let nowhere = ptr::without_provenance_mut::<libc::siginfo_t>(64);
    let (mut same, mut other) = (on_stack(libc::SIGPROF), on_stack(libc::SIGALRM));
    // SAFETY: zero is a valid context.
    let mut context: libc::ucontext_t = unsafe { core::mem::zeroed() };
    let context = (&raw mut context).cast();
    for (info, context) in [
        (nowhere, nowhere.cast()),
        ((&raw mut same).cast(), nowhere.cast()),
        ((&raw mut other).cast(), context),
    ] {
        // SAFETY: as an action without SA_SIGINFO is called where the registers hold this.
        unsafe { on_signal(libc::SIGPROF, info, context) };
    }
    assert_eq!(counted(), before + 3);
    if cfg!(target_arch = "aarch64") {
        install_action(libc::SA_RESTART);
        storm();
        install_action(libc::SA_SIGINFO | libc::SA_RESTART);
        assert_eq!(counted(), before + 4);
    }
}

#[test]
fn signal_on_an_alternate_stack_is_a_sample() {
    let (_turn, handler) = handler_in_turn();
    let _thread = Registered::new(handler, 13, 23);
    let captured = handler.counters.get(Counter::Captured);
    let mut stack = std::vec![0_u8; 128 << 10];
    let alternate = libc::stack_t {
        ss_sp: stack.as_mut_ptr().cast(),
        ss_flags: 0,
        ss_size: stack.len(),
    };
    // SAFETY: zero is a valid answer to be overwritten.
    let mut before: libc::stack_t = unsafe { core::mem::zeroed() };
    // SAFETY: memory that lives until the stack before it is back.
    let set = unsafe { libc::sigaltstack(&raw const alternate, &raw mut before) };
    assert_eq!(set, 0);
    install_action(libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK);
    storm();
    install_action(libc::SA_SIGINFO | libc::SA_RESTART);
    // SAFETY: what was there before.
    let set = unsafe { libc::sigaltstack(&raw const before, ptr::null_mut()) };
    assert_eq!(set, 0);
    assert!(stack.iter().any(|byte| *byte != 0), "it was used");
    assert_eq!(handler.counters.get(Counter::Captured), captured + 1);
}

#[test]
fn foreign_signal_passed_back_to_us_ends_there() {
    static REACHED: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn earlier(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
        REACHED.fetch_add(1, Relaxed);
        // SAFETY: what the kernel gave.
        unsafe { on_signal(signal, info, context) };
    }
    let (_turn, handler) = handler_in_turn();
    let cycles = handler.counters.get(Counter::ForeignCycle);
    let action = earlier as *const () as usize;
    pass_on_to(action, libc::SA_SIGINFO);
    for _ in 0..3 {
        // SAFETY: sends ourselves a plain SIGPROF.
        unsafe { libc::raise(libc::SIGPROF) };
    }
    pass_on_to(libc::SIG_DFL, 0);
    assert_eq!(REACHED.load(Relaxed), 3);
    assert_eq!(handler.counters.get(Counter::ForeignCycle), cycles + 3);
}

/// Runs `body` while the kernel has no room for another queued signal of this process.
fn with_full_signal_queue(body: impl FnOnce()) {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a place for the answer.
    let asked = unsafe { libc::getrlimit(libc::RLIMIT_SIGPENDING, &raw mut limit) };
    assert_eq!(asked, 0);
    let set = |most| {
        let limit = libc::rlimit {
            rlim_cur: most,
            ..limit
        };
        // SAFETY: a limit between none and the highest.
        let set = unsafe { libc::setrlimit(libc::RLIMIT_SIGPENDING, &raw const limit) };
        assert_eq!(set, 0);
    };
    set(0);
    body();
    set(limit.rlim_cur);
}

#[test]
fn signal_without_value_is_ours_if_it_is_awaited() {
    static REACHED: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn earlier(_: i32, _: *mut libc::siginfo_t, _: *mut c_void) {
        REACHED.fetch_add(1, Relaxed);
    }
    let (_turn, handler) = handler_in_turn();
    let thread = Registered::new(handler, 9, 19);
    let record = thread.record();
    let counted = [Counter::Foreign, Counter::WithoutValue];
    let before = counted.map(|c| handler.counters.get(c));
    pass_on_to(earlier as *const () as usize, libc::SA_SIGINFO);
    with_full_signal_queue(|| {
        handler.wall_signal.store(libc::SIGPROF, Relaxed);
        record.wall_state.store(WALL_PENDING, Relaxed);
        send(libc::SI_QUEUE, cookie(Source::Wall));
        send(libc::SI_QUEUE, cookie(Source::Wall)); // nobody waits for a second one
        handler.wall_signal.store(libc::SIGVTALRM, Relaxed);
        send(libc::SI_QUEUE, cookie(Source::Wall)); // of another signal
    });
    handler.wall_signal.store(0, Relaxed);
    pass_on_to(libc::SIG_DFL, 0);
    let mut kinds = Vec::new();
    handler.slots.drain(|h, _| kinds.push(h.kind.load(Relaxed)));
    assert_eq!(kinds, [SampleKind::WallAwake as u32]);
    assert_ne!(record.wall_state.load(Relaxed), WALL_PENDING);
    let now = counted.map(|c| handler.counters.get(c));
    assert_eq!([now[0] - before[0], now[1] - before[1]], [0, 2]);
    assert_eq!(REACHED.load(Relaxed), 0);
}

/// By `kill` as process 0: what the kernel makes of a queued signal that it had no room for. Any
/// other sender is not ours.
#[test]
fn sender_is_known_by_code_and_value() {
    let head = |code, pid, uid, value| SignalInfo {
        signo: libc::SIGPROF,
        errno: 0,
        code,
        pad: 0,
        timer_id_or_pid: pid,
        overrun_or_uid: uid,
        value,
    };
    let handler = new_handler_state(1);
    let sender = |head: &SignalInfo| sender(Some(&handler), head);
    let tick = cookie(Source::Tick);
    let of_thread = Sender::Thread(Source::Tick);
    assert_eq!(sender(&head(libc::SI_TIMER, 7, 0, tick)), of_thread);
    assert_eq!(sender(&head(libc::SI_QUEUE, 7, 0, tick)), Sender::Other);
    let place = ProbePlace { cpu: 3, index: 2 };
    let probe = handler.engine.probes.value(place);
    assert_eq!(
        sender(&head(libc::SI_TIMER, 7, 0, probe)),
        Sender::Probe(place)
    );
    assert_eq!(sender(&head(libc::SI_QUEUE, 7, 0, probe)), Sender::Other);
    assert_eq!(
        sender(&head(libc::SI_TIMER, 7, 0, probe + 1)),
        Sender::Other
    );
    assert_eq!(sender(&head(libc::SI_USER, 0, 0, 0)), Sender::Unknown);
    for (pid, uid) in [(7, 0), (0, 1000), (7, 1000)] {
        assert_eq!(sender(&head(libc::SI_USER, pid, uid, 0)), Sender::Other);
    }
}

/// What the handler is given lies above its frame, on the stack that it runs on; anything else is
/// what a register happened to hold.
#[test]
fn siginfo_and_ucontext_must_lie_on_the_own_stack() {
    #[inline(never)]
    fn is_believed(info: *const SignalInfo, ucontext: *mut libc::ucontext_t) -> bool {
        let frame = ErrnoGuard::new();
        given(&frame, libc::SIGPROF, info, ucontext).is_some()
    }
    // SAFETY: numbers and pointers only; zero is valid.
    let mut info: [SignalInfo; 2] = unsafe { core::mem::zeroed() };
    // SAFETY: the same.
    let mut ucontext: libc::ucontext_t = unsafe { core::mem::zeroed() };
    info[0].signo = libc::SIGPROF;
    let (near, near_context) = (&raw const info[0], &raw mut ucontext);
    let elsewhere = Box::new(0_u64);
    let far = ptr::from_ref(&*elsewhere);
    assert!(is_believed(near, near_context));
    assert!(!is_believed(far.cast(), near_context));
    assert!(!is_believed(near, far.cast_mut().cast()));
    assert!(!is_believed(
        near.cast::<u8>().wrapping_add(1).cast(),
        near_context
    ));
    assert!(!is_believed(
        near,
        near_context.cast::<u8>().wrapping_add(1).cast()
    ));
    assert!(
        !is_believed(&raw const info[1], near_context),
        "of another signal"
    );
}
