//! Tests of the hints in messages.
#![expect(clippy::unwrap_used, reason = "a test reports by panicking")]

use crate::options::testing::{error, ok};
use crate::options::*;

#[test]
fn the_message_for_an_unknown_option_names_the_nearest_one() {
    assert_eq!(
        error("start,intervall=10ms"),
        "option 'intervall' is unknown (at position 6); did you mean 'interval'?"
    );
    for (wrong, right) in [
        ("Interval=1ms", "interval"),
        ("intreval=1ms", "interval"),
        (" file=x", "file"),
        ("fiel=x", "file"),
        ("chunk_time=1", "chunktime"),
        ("jstackdept=1", "jstackdepth"),
        ("loglevle=off", "loglevel"),
        ("vthread=off", "vthreads"),
        ("strat", "start"),
        ("stpo", "stop"),
        ("STATUS", "status"),
    ] {
        assert!(
            error(wrong).ends_with(&format!("did you mean '{right}'?")),
            "{}",
            error(wrong)
        );
    }
    assert!(error("zzzzzzzz=1").contains("known: event interval wall"));
    assert!(
        error("cstack=asgtc")
            .contains("did you mean 'asgct'? allowed: auto, vm, asgct, shadow, no")
    );
    assert!(error("strict=yes").contains("allowed: true, false"));
    assert!(error("jfrsync=profil").contains("did you mean 'profile'? allowed: default, profile"));
}

#[test]
fn an_unsupported_option_names_an_alternative() {
    assert_eq!(
        error("tree"),
        "option 'tree' is not supported (at position 0); the agent writes JFR; then run: ctxjfr \
         flame RECORDING.jfr -o OUT.html"
    );
}

#[test]
fn a_planned_option_is_not_supported_yet() {
    assert_eq!(
        error("otelctx=true"),
        "option 'otelctx' is not supported yet (at position 0)"
    );
    assert_eq!(
        error("metrics"),
        "command 'metrics' is not supported yet (at position 0)"
    );
    assert_eq!(
        error("event=cpus"),
        "option 'event' cannot be 'cpus' (at position 0): did you mean 'cpu'? allowed: cpu, \
         wall, alloc, lock, park, exception, several joined with +, +lock means cpu+lock"
    );
}

#[test]
fn options_with_another_meaning_are_refused_with_a_hint() {
    for (text, hint) in [
        (
            "event=wall,interval=20ms",
            "'event' has no cpu; the rate of wall is an option of its own: wall=50ms",
        ),
        ("event=lock,interval=5ms", "an option of its own: lock=1ms"),
        ("timeout=0", "allowed: 1s to 7d"),
        ("timeout=12:30:00", "allowed: 1s to 7d"),
        (
            "timeout=1m,duration=1m",
            "option 'duration' (it is 'timeout') is given twice",
        ),
        (
            "jfr=1",
            "option 'jfr' cannot be '1' (at position 0): allowed: no value",
        ),
        (
            "wall,wallthreads=context,filter=@none",
            "'@none' leaves out every wall-clock sample",
        ),
        ("stop,jfr", "'stop' has no use for option 'jfr'"),
        ("start,flamegraph,file=x.jfr", "ctxjfr flame RECORDING.jfr"),
        ("start,collapsed", "convert RECORDING.jfr -o collapsed"),
        ("start,threads", "--by thread"),
        ("include=*Foo*", "filter=NAME=VALUE"),
    ] {
        assert!(error(text).contains(hint), "{text}: {}", error(text));
    }
    // A default of the environment is not an explicit request.
    let both = parse_with_environment("event=wall", Some("interval=20ms"));
    assert!(both.is_ok_and(|o| !o.cpu));
    // With an explicit rate of wall, the interval is no mistake.
    assert!(!ok("event=wall,wall=20ms,interval=5ms").cpu);
}

#[test]
fn mistakes_get_a_hint() {
    for (text, hint) in [
        ("start;file=a.jfr", "items are separated by commas"),
        ("start file=a.jfr", "items are separated by commas"),
        ("file=\"a.jfr\"", "quotes are not taken off"),
        ("file=~/a.jfr", "write the path in full, or with %{HOME}"),
        (
            "file=$HOME/a.jfr",
            "write the path in full, or with %{HOME}",
        ),
        ("log=stdout", "stdout is the application's; write ./stdout"),
        ("interval=10", "did you mean '10ms'? allowed: 1ms"),
        ("interval=5 MS", "did you mean '5ms'?"),
        ("interval=0.5s", "did you mean '500ms'?"),
        ("interval=1.5ms", "did you mean '1500us'?"),
        ("wall=50", "did you mean '50ms'?"),
        ("alloc=512kb", "did you mean '512k'?"),
        ("alloc=0.5m", "did you mean '512k'?"),
        ("alloc=true", "'alloc' alone means 512k"),
        ("wall=off", "leave the option out"),
        ("lock=0", "leave the option out"),
        ("event=all", "did you mean 'cpu+wall+alloc+lock'?"),
        ("event=cpu;wall", "did you mean 'cpu+wall'?"),
        ("event=malloc", "native memory is not sampled"),
        ("-h", "write help"),
        ("file=a.zip", "not .zip"),
        ("start,cpu", "write event=cpu,interval=10ms"),
        ("start,filename=a.jfr", "write file=DIRECTORY/NAME.jfr"),
        ("start,verbose", "write loglevel=debug"),
        ("start,maxage=1h", "loop=1h,file=app-%n{24}.jfr"),
        ("start,settings=profile", "of the JDK's own recorder"),
        ("ctx=a,b", "if it belongs to 'ctx', join it with +"),
        (
            "filter=a=1,b=2",
            "if it belongs to 'filter', join it with +",
        ),
        ("strict=1", "did you mean 'true'?"),
        ("sysinfo=no", "did you mean 'false'?"),
        ("signal=SIGPROF", "did you mean 'prof'?"),
        ("cstack=dwarf", "native frames are not recorded"),
        ("stop,file=a.jfr", "dump,file=NAME makes a copy"),
        (
            "wallthreads=context",
            "none are taken; add 'wall' to 'event'",
        ),
        ("event=wall,ratelimit=cpu:9", "add 'cpu' to 'event'"),
        ("ratelimit=cpu:9+alloc:9", "add 'alloc' to 'event'"),
    ] {
        assert!(error(text).contains(hint), "{text}: {}", error(text));
    }
    assert_eq!(ok("alloc=512K").alloc_bytes, Some(512 << 10));
    assert_eq!(ok("file=a'b.jfr").file.unwrap().text(), "a'b.jfr");
    // A default of the environment is not an explicit request.
    let both = parse_with_environment("event=alloc", Some("wallthreads=context"));
    assert!(both.is_ok());
}
