//! Tests of the grammar and of whole option strings.
#![expect(clippy::unwrap_used, reason = "a test reports by panicking")]

use crate::options::testing::{error, ok};
use crate::options::*;
use crate::output::{ExistingFile, Pattern};
use std::time::Duration;

#[test]
fn an_empty_string_loads_without_recording() {
    assert_eq!(ok(""), Options::default());
    assert_eq!(ok(",,"), Options::default());
    assert_eq!(ok("").command, Command::Load);
}

#[test]
fn each_command_is_a_word_at_the_front() {
    for command in Command::ALL {
        assert_eq!(ok(command.word()).command, command);
    }
    assert_eq!(ok(",stop").command, Command::Stop);
}

#[test]
fn options_without_a_command_start() {
    assert_eq!(ok("interval=5ms").command, Command::Start);
    assert_eq!(ok("strict").command, Command::Start);
}

#[test]
fn every_option_is_parsed() {
    let options = ok(
        "start,event=cpu+lock+exception,park=5ms,scopes=20ms,jfrsync=profile,interval=2ms,wall=20ms,wallthreads=context,alloc=64k,\
        file=app-%p-%t.jfr,overwrite,loop=1m,timeout=30,chunktime=30,chunksize=2m,\
        jstackdepth=64,ctx=http.route+tenant+trace_id,filter=tenant=acme,\
        redact=tenant:hash+trace_id:drop,ratelimit=cpu:2000+wall:100+exception:50,ctxcap=1000,\
        ctxvalue=36,ctxblocks=4096,propagate=completions,labels=otel,detach=1m,cstack=no,engine=percpu,vthreads=jvmci,signal=40,\
        log=agent-%p.log,loglevel=debug,flush=250ms,strict=true,sysinfo",
    );
    assert_eq!(
        options,
        Options {
            command: Command::Start,
            cpu: true,
            cpu_synonym: None,
            interval: Duration::from_millis(2),
            wall: Some(Duration::from_millis(20)),
            wall_threads: WallThreads::Context,
            alloc_bytes: Some(64 << 10),
            lock: Some(Duration::from_millis(1)),
            park: Some(Duration::from_millis(5)),
            exceptions: true,
            scopes: Some(Duration::from_millis(20)),
            jdk_settings: Some("profile".into()),
            file: Some(Pattern::parse("app-%p-%t.jfr").unwrap()),
            existing: ExistingFile::Replace,
            loop_time: Some(Duration::from_mins(1)),
            timeout: Some(Duration::from_secs(30)),
            chunk_time: Duration::from_secs(30),
            chunk_size_bytes: 2 << 20,
            stack_depth: 64,
            filter: vec![Condition::Entry("tenant".into(), "acme".into())],
            redact: vec![
                Redact {
                    name: "tenant".into(),
                    how: Redaction::Hash,
                },
                Redact {
                    name: "trace_id".into(),
                    how: Redaction::Drop,
                },
            ],
            rate_limits: RateLimits {
                cpu: Some(2000),
                wall: Some(100),
                exception: Some(50),
                ..RateLimits::default()
            },
            attributes: vec!["http.route".into(), "tenant".into(), "trace_id".into()],
            value_cap: 1000,
            value_limit_bytes: 36,
            blocks: 4096,
            propagate: MechanismSet::of([Mechanism::Completions]),
            labels: Labels {
                otel: true,
                ..Labels::default()
            },
            detach: Duration::from_mins(1),
            cstack: CStack::No,
            engine: Engine::PerCpu,
            virtual_threads: VirtualThreads::Jvmci,
            signal: Signal::RealTime(40),
            log: Log::File(Pattern::parse("agent-%p.log").unwrap()),
            log_level: LogLevel::Debug,
            flush: Duration::from_millis(250),
            status_format: StatusFormat::Text,
            strict: true,
            system_info: true,
        }
    );
}

#[test]
fn options_of_an_event_win_over_event_in_any_order() {
    let o = ok("event=wall+alloc,alloc=1m");
    assert_eq!((o.cpu, o.wall), (false, Some(Duration::from_millis(50))));
    assert_eq!((o.alloc_bytes, o.lock), (Some(1 << 20), None));
    assert_eq!(ok("alloc=1m,event=alloc").alloc_bytes, Some(1 << 20));
    assert_eq!(ok("event=alloc").alloc_bytes, Some(512 << 10));
    assert!(
        ok("lock=20us").cpu,
        "an event of its own adds to the default"
    );
    let added = ok("event=+park+exception");
    assert!(
        added.cpu && added.exceptions,
        "a + in front adds to the default"
    );
    assert_eq!(added.park, Some(Duration::from_millis(10)));
    assert!(error("event=+").contains("cannot be '+'"));
    assert!(error("event=cpu+").contains("cannot be 'cpu+'"));
    assert!(error("event=cpu+lok").contains("did you mean 'lock'?"));
    assert!(error("alloc=100").contains("1k to 1g"));
}

#[test]
fn an_option_without_its_value_is_refused() {
    for text in [
        "interval",
        "interval=",
        "start,interval",
        "file",
        "file=",
        "ctx=",
        "signal=",
    ] {
        assert!(
            error(text).contains("needs a value"),
            "{text}: {}",
            error(text)
        );
    }
}

#[test]
fn an_equals_sign_alone_is_no_option() {
    assert_eq!(error("="), "'=' without an option's name (at position 0)");
    assert_eq!(
        error("start,=5"),
        "'=' without an option's name (at position 6)"
    );
    assert!(error("file=a,==").contains("without an option's name"));
}

#[test]
fn an_option_given_twice_is_refused() {
    assert_eq!(
        error("interval=5ms,interval=5ms"),
        "option 'interval' is given twice (the second at position 13)"
    );
}

#[test]
fn a_command_elsewhere_or_with_a_value_is_refused() {
    assert_eq!(
        error("interval=5ms,start"),
        "command 'start' (at position 13) must be the first word"
    );
    assert_eq!(
        error("start,stop"),
        "command 'stop' (at position 6) must be the first word"
    );
    assert_eq!(
        error("stop=now"),
        "command 'stop' (at position 0) takes no value: 'now'"
    );
}

#[test]
fn an_option_that_the_command_does_not_use_is_refused() {
    assert_eq!(
        error("stop,interval=5ms"),
        "command 'stop' has no use for option 'interval' (at position 5)"
    );
    assert_eq!(
        error("status,file=x.jfr"),
        "command 'status' has no use for option 'file' (at position 7)"
    );
    assert_eq!(ok("dump,file=x.jfr").file.unwrap().text(), "x.jfr");
    assert_eq!(ok("stop,loglevel=debug,strict").log_level, LogLevel::Debug);
}

#[test]
fn control_characters_are_refused_anywhere() {
    for (text, code, position) in [
        ("file=a\nb", "000A", 6),
        ("\0", "0000", 0),
        ("start,ctx=a\0b", "0000", 11),
        ("file=\u{1b}[2J", "001B", 5),
    ] {
        assert_eq!(
            error(text),
            format!(
                "the option string has a control character U+{code} (at position {position}), \
                 none is allowed"
            )
        );
    }
}

#[test]
fn messages_stay_one_printable_line_for_any_text() {
    let message = error("file=\u{202e}%q,x");
    assert!(!message.contains('\u{202e}'), "{message}");
    let long = "x".repeat(60_000);
    assert!(error(&long).contains('…'));
    assert!(error(&format!("interval={long}")).contains('…'));
    assert!(error(&format!("file={long}")).contains("longer than 4095 bytes"));
    assert!(error(&format!("ctx={long}")).contains("longer than 63 bytes"));
}

#[test]
fn the_option_string_has_a_length_limit() {
    let longest = format!("start{}", ",".repeat(MAX_LEN_BYTES - 5));
    assert_eq!(ok(&longest).command, Command::Start);
    assert_eq!(
        error(&format!("{longest},")),
        "the option string has 65537 bytes, at most 65536 are allowed"
    );
}

#[test]
fn a_loop_needs_names_that_differ() {
    for file in ["app-%p.jfr", "app-%n{1}.jfr", "%%n.jfr"] {
        let line = error(&format!("loop=1m,file={file}"));
        assert!(line.contains("needs %t or %n"), "{line}");
    }
    assert_eq!(ok("loop=1m").recording_file().text(), "ctxagent-%p-%t.jfr");
    assert_eq!(ok("start").recording_file().text(), "ctxagent-%p.jfr");
    assert_eq!(
        Pattern::parse(ok("loop=1m").recording_file().text()),
        Ok(ok("loop=1m").recording_file())
    );
    assert_eq!(
        Pattern::parse(ok("start").recording_file().text()),
        Ok(ok("start").recording_file())
    );
}

#[test]
fn strict_counts_even_if_the_rest_is_wrong() {
    assert!(parse("intervall=1,strict=true").unwrap_err().strict());
    assert!(parse("strict,intervall=1").unwrap_err().strict());
    assert!(!parse("intervall=1,strict=false").unwrap_err().strict());
    assert!(!parse("intervall=1,file=strict=true").unwrap_err().strict());
    assert!(
        parse_with_environment("intervall=1", Some("strict=true"))
            .unwrap_err()
            .strict()
    );
}

#[test]
fn the_environment_gives_defaults_for_start() {
    let both = |text, environment| parse_with_environment(text, Some(environment));
    let options = both("start,interval=5ms", "interval=20ms,jstackdepth=64").unwrap();
    assert_eq!(
        (options.interval, options.stack_depth),
        (Duration::from_millis(5), 64)
    );
    assert_eq!(both("", "interval=20ms").unwrap().command, Command::Start);
    assert_eq!(both("", "start").unwrap().command, Command::Start);
    assert_eq!(both("", "").unwrap().command, Command::Load);
    assert_eq!(
        both("stop", "start,interval=20ms").unwrap(),
        parse("stop").unwrap()
    );
    assert_eq!(both("stop", "nonsense").unwrap().command, Command::Stop);
    assert_eq!(
        both("start", "intervall=20ms").unwrap_err().to_string(),
        "in CTXAGENT_OPTS: option 'intervall' is unknown (at position 0); did you mean 'interval'?"
    );
    assert_eq!(parse_with_environment("start", None), parse("start"));
}

#[test]
fn a_later_start_keeps_the_settings_of_the_load() {
    let load = ok("ctxcap=1000,ctxvalue=36,ctxblocks=4096,vthreads=jvmci,interval=5ms");
    let later = |text: &str| {
        let mut options = ok(text);
        options.keep_what_a_load_sets(&load, text).map(|()| options)
    };
    let kept = later("start,interval=20ms,ctxvalue=36").unwrap();
    let expected = Options {
        interval: Duration::from_millis(20),
        ..load.clone()
    };
    assert_eq!(kept, expected);
    for text in [
        "ctxcap=65536",
        "ctxvalue=37",
        "ctxblocks=1024",
        "vthreads=off",
    ] {
        let refused = later(&format!("start,{text}")).unwrap_err().to_string();
        let name = text.split('=').next().unwrap();
        assert!(
            refused.starts_with(&format!("option '{name}'")),
            "{refused}"
        );
    }
}

#[test]
fn only_its_own_name_gives_an_option() {
    assert!(gives("status,log=x,loglevel=info", "log"));
    assert!(!gives("status,loglevel=info", "log"));
    assert!(!gives("start,file=log=x", "log"));
}

#[test]
fn any_text_gives_a_result_or_a_printable_error() {
    // A small deterministic generator: pieces of real options, cut and glued.
    let pieces = [
        "start", "stop", ",", "=", "interval", "10ms", "file", "%", "n{", "}", "ctx", "+", "a",
        "\u{fe0f}", "9", "ü", "-", ".",
    ];
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..(state >> 60) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            text.push_str(pieces[usize::try_from(state >> 33).unwrap() % pieces.len()]);
        }
        state = state.wrapping_mul(0x2545_F491_4F6C_DD1D).wrapping_add(1);
        if let Err(error) = parse(&text) {
            assert!(!error.to_string().contains(char::is_control), "{text}");
        }
    }
}

/// What the user gives, and texts that the answer has.
const REFUSALS: &[(&str, &[&str])] = &[
    ("strat", &["'strat' is unknown", "did you mean 'start'?"]),
    (
        "start,interval=10ms,interval=10ms",
        &["'interval' is given twice"],
    ),
    ("=", &["'=' without an option's name"]),
    (
        "start,interval=0",
        &["'interval' cannot be '0'", "allowed: 1ms to 1s"],
    ),
    (
        "start,interval=1ns",
        &["'interval' cannot be '1ns'", "allowed: 1ms to 1s"],
    ),
    ("start,interval=-10ms", &["'-10ms'", "allowed: 1ms to 1s"]),
    (
        "start,interval=99999999999999999999s",
        &["'interval'", "allowed: 1ms to 1s"],
    ),
    ("start,interval=1.5ms", &["'1.5ms'", "whole numbers"]),
    ("start,interval=10ks", &["'10ks'", "ns, us, ms, s"]),
    (
        "start,event=cache-misses",
        &[
            "'event' cannot be 'cache-misses'",
            "allowed: cpu, wall, alloc, lock",
        ],
    ),
    (
        "start,event=wall,interval=20ms",
        &["'interval'", "wall=50ms"],
    ),
    (
        "start,flamegraph,file=cpu.jfr",
        &["'flamegraph'", "ctxjfr flame"],
    ),
    (
        "start,filter=tenant==acme",
        &[
            "'filter' cannot be 'tenant==acme'",
            "did you mean 'tenant=acme'?",
        ],
    ),
    ("start,filter=tenant:acme", &["did you mean 'tenant=acme'?"]),
    ("start,filter=tenant=*", &["did you mean 'tenant'?"]),
    (
        "start,filter=jdk.GCPhasePause",
        &[
            "conditions are on attributes",
            "RecordingContextFilter.forType",
        ],
    ),
    (
        "start,wall,wallthreads=context,filter=@none",
        &["'@none' leaves out every"],
    ),
    ("start,filter=!tenant", &["'not' is not supported"]),
    ("start,ctx=a+b+c+d+e+f+g+h+i", &["'ctx'", "at most 8 names"]),
    ("start,file=app-%q.jfr", &["'%q' is no pattern", "%p"]),
    ("start,\nfile=x.jfr", &["control character U+000A"]),
    ("start;file=a.jfr", &["items are separated by commas"]),
    ("start,file=\"a.jfr\"", &["quotes are not taken off"]),
    ("start,file=~/a.jfr", &["write the path in full"]),
    ("start,log=stdout", &["stdout is the application's"]),
    ("start,interval=10", &["did you mean '10ms'?"]),
    ("start,ctx=a,b", &["if it belongs to 'ctx', join it with +"]),
    ("start,ratelimit=wall:100", &["add 'wall' to 'event'"]),
    (
        "start,file=cpu.html",
        &[
            "the agent writes JFR, not .html",
            "ctxjfr flame RECORDING.jfr -o OUT.html",
        ],
    ),
    ("start,file=cpu-%p.SVG", &["JFR, not .svg", "ctxjfr flame"]),
    (
        "start,file=cpu.collapsed",
        &[
            "JFR, not .collapsed",
            "ctxjfr convert RECORDING.jfr -o collapsed",
        ],
    ),
    ("start,file=cpu.txt", &["JFR, not .txt", "ctxjfr report"]),
    ("start,pprof", &["ctxjfr convert RECORDING.jfr -o pprof"]),
    (
        "start,file=cpu.pb.gz",
        &["JFR, not .pb.gz", "convert RECORDING.jfr -o pprof"],
    ),
    ("start,loop=1m,file=app.jfr", &["needs %t or %n"]),
    (
        "status,interval=10ms",
        &["'status' has no use for option 'interval'"],
    ),
];

#[test]
fn refusals_name_fault_and_remedy() {
    for (options, texts) in REFUSALS {
        let message = error(options);
        for text in *texts {
            assert!(
                message.contains(text),
                "{options:?}: no '{text}' in: {message}"
            );
        }
    }
}
