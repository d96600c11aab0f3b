//! Sentences about the option string.
#![expect(clippy::unwrap_used, reason = "a test reports by panicking")]

use super::near::distance;
use super::*;
use crate::output::{ExistingFile, Pattern};
use std::time::Duration;

fn error(text: &str) -> String {
    let message = parse(text).expect_err(text).to_string();
    assert!(!message.contains(char::is_control), "one line: {message:?}");
    assert!(message.len() < 1200, "{} bytes: {message}", message.len());
    message
}

fn ok(text: &str) -> Options {
    parse(text).unwrap_or_else(|error| unreachable!("{text}: {error}"))
}

#[test]
fn nothing_at_all_loads_without_recording() {
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
fn a_full_line_is_understood() {
    let options = ok(
        "start,event=cpu+lock,interval=2ms,wall=20ms,wallthreads=context,alloc=64k,\
        file=app-%p-%t.jfr,overwrite,loop=1m,timeout=30,chunktime=30,chunksize=2m,\
        jstackdepth=64,ctx=http.route+tenant+trace_id,filter=tenant=acme,\
        redact=tenant:hash+trace_id:drop,ratelimit=cpu:2000+wall:100,ctxcap=1000,\
        ctxvalue=36,ctxblocks=4096,cstack=no,engine=precise,vthreads=jvmci,signal=40,\
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
                alloc: None,
            },
            attributes: vec!["http.route".into(), "tenant".into(), "trace_id".into()],
            value_cap: 1000,
            value_limit_bytes: 36,
            blocks: 4096,
            cstack: CStack::No,
            engine: Engine::Precise,
            virtual_threads: VirtualThreads::Jvmci,
            signal: Signal::RealTime(40),
            log: Log::File(Pattern::parse("agent-%p.log").unwrap()),
            log_level: LogLevel::Debug,
            flush: Duration::from_millis(250),
            strict: true,
            system_info: true,
        }
    );
}

#[test]
fn the_defaults_of_the_table_are_the_defaults() {
    let written: Vec<String> = TABLE
        .iter()
        .filter(|row| !row.default.is_empty())
        .map(|row| format!("{}={}", row.name, row.default))
        .collect();
    assert_eq!(
        ok(&format!("start,{}", written.join(","))),
        Options {
            command: Command::Start,
            ..Options::default()
        }
    );
}

#[test]
fn the_word_of_each_choice_gives_its_own_value() {
    use {LogLevel as L, VirtualThreads as V};
    for (word, value) in [
        ("auto", CStack::Auto),
        ("vm", CStack::Vm),
        ("asgct", CStack::Asgct),
        ("shadow", CStack::Shadow),
        ("no", CStack::No),
    ] {
        assert_eq!(ok(&format!("cstack={word}")).cstack, value);
    }
    for (word, value) in [
        ("stratified", Engine::Stratified),
        ("precise", Engine::Precise),
        ("tick", Engine::Tick),
    ] {
        assert_eq!(ok(&format!("engine={word}")).engine, value);
        assert_eq!(value.word(), word);
    }
    for (word, value) in [
        ("auto", V::Auto),
        ("vmstructs", V::VmStructs),
        ("jvmci", V::Jvmci),
        ("events", V::Events),
        ("off", V::Off),
    ] {
        assert_eq!(ok(&format!("vthreads={word}")).virtual_threads, value);
    }
    for (word, value) in [
        ("off", L::Off),
        ("error", L::Error),
        ("warn", L::Warn),
        ("info", L::Info),
        ("debug", L::Debug),
    ] {
        assert_eq!(ok(&format!("loglevel={word}")).log_level, value);
    }
    assert!(L::Error < L::Debug);
}

#[test]
fn times_have_units_and_a_number_alone_is_what_async_profiler_takes_it_for() {
    for (text, nanos) in [
        ("1000000", 1_000_000),
        ("1000000ns", 1_000_000),
        ("1000us", 1_000_000),
        ("1ms", 1_000_000),
        ("1s", 1_000_000_000),
        ("007ms", 7_000_000),
    ] {
        assert_eq!(
            ok(&format!("interval={text}")).interval,
            Duration::from_nanos(nanos),
            "{text}"
        );
    }
    assert_eq!(
        ok("loop=5,file=a-%t").loop_time,
        Some(Duration::from_secs(5))
    );
    assert_eq!(
        ok("loop=1d,file=a-%n{3}").loop_time,
        Some(Duration::from_hours(24))
    );
    assert_eq!(ok("chunktime=1h").chunk_time, Duration::from_hours(1));
    assert_eq!(ok("flush=2").flush, Duration::from_secs(2));
    assert_eq!(ok("chunksize=1048576").chunk_size_bytes, 1 << 20);
    assert_eq!(ok("chunksize=2048k").chunk_size_bytes, 2 << 20);
    assert_eq!(ok("chunksize=1g").chunk_size_bytes, 1 << 30);
}

#[test]
fn limits_are_in_and_one_past_them_is_out() {
    for (name, inside, outside) in [
        ("interval", ["1ms", "1s"], ["999999", "1000000001"]),
        ("chunktime", ["1", "3600"], ["999ms", "3601"]),
        ("loop", ["1", "7d"], ["999ms", "604801"]),
        ("chunksize", ["1m", "1g"], ["1048575", "1073741825"]),
        ("jstackdepth", ["1", "2048"], ["0", "2049"]),
        ("ctxcap", ["16", "1048576"], ["15", "1048577"]),
        ("ctxvalue", ["8", "255"], ["7", "256"]),
        ("ctxblocks", ["1024", "8388608"], ["512", "16777216"]),
        ("flush", ["100ms", "60s"], ["99ms", "61s"]),
        ("signal", ["34", "64"], ["33", "65"]),
    ] {
        for value in inside {
            ok(&format!("{name}={value},file=x-%t"));
        }
        for value in outside {
            let message = error(&format!("start,{name}={value}"));
            assert!(
                message.starts_with(&format!(
                    "option '{name}' cannot be '{value}' (at position 6): allowed: "
                )),
                "{message}"
            );
        }
    }
}

#[test]
fn what_is_no_whole_number_is_refused_whatever_it_looks_like() {
    for value in [
        "-1",
        "-10ms",
        "+10ms",
        "10.5ms",
        "1e3",
        "0x10",
        "10 ms",
        " 10ms",
        "ms",
        "10mss",
        "10MS",
        "1_000",
        "٣ms",
        "10ms10ms",
        "18446744073709551616",
        "18446744073709551615s",
        "99999999999999999999999999999999999999",
        "NaN",
        "inf",
    ] {
        assert!(
            error(&format!("interval={value}")).contains("allowed: 1ms to 1s"),
            "{value}"
        );
        assert!(
            error(&format!("jstackdepth={value}")).contains("allowed: 1 to 2048"),
            "{value}"
        );
    }
    assert!(error("ctxblocks=65537").contains("powers of two"));
}

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
}

#[test]
fn what_is_not_to_come_says_what_to_do_instead() {
    assert_eq!(
        error("jfrsync=profile"),
        "option 'jfrsync' is not supported (at position 0); run -XX:StartFlightRecording beside \
         it (docs/contributing/rationale.md)"
    );
}

#[test]
fn what_is_planned_says_so() {
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
         wall, alloc, lock, several joined with +"
    );
}

#[test]
fn events_are_joined_and_their_own_options_win_wherever_they_stand() {
    let o = ok("event=wall+alloc,alloc=1m");
    assert_eq!((o.cpu, o.wall), (false, Some(Duration::from_millis(50))));
    assert_eq!((o.alloc_bytes, o.lock), (Some(1 << 20), None));
    assert_eq!(ok("alloc=1m,event=alloc").alloc_bytes, Some(1 << 20));
    assert_eq!(ok("event=alloc").alloc_bytes, Some(512 << 10));
    assert!(
        ok("lock=20us").cpu,
        "an event of its own adds to the default"
    );
    assert!(error("event=cpu+").contains("cannot be 'cpu+'"));
    assert!(error("event=cpu+lok").contains("did you mean 'lock'?"));
    assert!(error("alloc=100").contains("1k to 1g"));
}

#[test]
fn words_of_async_profiler_mean_what_they_mean_there() {
    let o = ok("start,jfr,event=itimer,alloc,lock,wall,timeout=90");
    assert_eq!((o.cpu, o.cpu_synonym), (true, Some("itimer")));
    assert_eq!(o.timeout, Some(Duration::from_secs(90)));
    let joined = ok("event=wall+alloc+lock");
    assert_eq!((o.wall, o.alloc_bytes), (joined.wall, joined.alloc_bytes));
    assert_eq!(o.lock, joined.lock);
    assert_eq!(
        ok("event=ctimer+cpu+wall").events_text(),
        "cpu every 10ms (ctimer means cpu here), wall every 50ms"
    );
    assert_eq!(ok("jfr").command, Command::Start);
    assert_eq!(ok("dump,jfr").command, Command::Dump);
    for (text, time) in [
        ("timeout=60s", 60),
        ("duration=60", 60),
        ("timeout=5m", 300),
        ("duration=2h", 7200),
        ("timeout=7d", 604_800),
    ] {
        assert_eq!(ok(text).timeout, Some(Duration::from_secs(time)), "{text}");
    }
    for (word, level) in [
        ("none", LogLevel::Off),
        ("quiet", LogLevel::Off),
        ("warning", LogLevel::Warn),
        ("trace", LogLevel::Debug),
    ] {
        assert_eq!(ok(&format!("loglevel={word}")).log_level, level);
    }
}

#[test]
fn what_cannot_mean_the_same_is_refused_with_what_to_write() {
    for (text, told) in [
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
        ("start,collapsed", "OUT.collapsed"),
        ("start,threads", "--by thread"),
        ("include=*Foo*", "filter=NAME=VALUE"),
    ] {
        assert!(error(text).contains(told), "{text}: {}", error(text));
    }
    // A default of the environment is no wish of who asks for wall-clock samples only.
    let both = parse_with_environment("event=wall", Some("interval=20ms"));
    assert!(both.is_ok_and(|o| !o.cpu));
    // Who gives the rate as well knows what is what.
    assert!(!ok("event=wall,wall=20ms,interval=5ms").cpu);
}

#[test]
fn what_is_not_understood_is_told_with_what_was_meant() {
    for (text, told) in [
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
        ("start,filename=a.jfr", "write file=FOLDER/NAME.jfr"),
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
        assert!(error(text).contains(told), "{text}: {}", error(text));
    }
    assert_eq!(ok("alloc=512K").alloc_bytes, Some(512 << 10));
    assert_eq!(ok("file=a'b.jfr").file.unwrap().text(), "a'b.jfr");
    // A default of the environment is no wish of who asks for other events.
    let both = parse_with_environment("event=alloc", Some("wallthreads=context"));
    assert!(both.is_ok());
}

#[test]
fn help_names_every_command_and_option() {
    assert_eq!(ok("help").command, Command::Help);
    let help = help();
    for word in Command::ALL.map(Command::word) {
        assert!(help.contains(&format!("\n  {word} ")), "{word}");
    }
    for row in TABLE {
        assert!(help.contains(row.help), "{}", row.name);
        assert!(help.contains(&format!("\n  {}", row.name)));
    }
    assert!(!help.contains('`') && !help.contains('|'), "for a terminal");
}

#[test]
fn an_option_without_a_value_is_told_what_it_needs() {
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
fn an_option_the_command_has_no_use_for_is_refused() {
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
fn messages_stay_one_harmless_line_for_any_text() {
    let message = error("file=\u{202e}%q,x");
    assert!(!message.contains('\u{202e}'), "{message}");
    let long = "x".repeat(60_000);
    assert!(error(&long).contains('…'));
    assert!(error(&format!("interval={long}")).contains('…'));
    assert!(error(&format!("file={long}")).contains("longer than 4095 bytes"));
    assert!(error(&format!("ctx={long}")).contains("longer than 63 bytes"));
}

#[test]
fn the_longest_string_is_taken_and_one_byte_more_is_not() {
    let longest = format!("start{}", ",".repeat(MAX_LEN_BYTES - 5));
    assert_eq!(ok(&longest).command, Command::Start);
    assert_eq!(
        error(&format!("{longest},")),
        "the option string has 65537 bytes, at most 65536 are allowed"
    );
}

#[test]
fn attribute_names_are_checked_one_by_one() {
    assert_eq!(ok("ctx=a+b+c+d+e+f+g+h").attributes.len(), 8);
    for (value, problem) in [
        (
            "a+b+c+d+e+f+g+h+i",
            "at most 8 names are allowed, 'i' is one too many",
        ),
        ("a+a", "name 'a' is there twice"),
        ("a++b", "name '' is empty"),
        ("a+", "name '' is empty"),
        ("1a", "must be letters"),
        ("_a", "must be letters"),
        ("a b", "must be letters"),
        ("naïve", "must be letters"),
        ("a/b", "must be letters"),
        ("stackTrace", "is a field of the sample event"),
        ("contextId", "is a field of the sample event"),
    ] {
        assert!(
            error(&format!("ctx={value}")).contains(problem),
            "{}",
            error(&format!("ctx={value}"))
        );
    }
    assert_eq!(check_attribute_name(&"n".repeat(63)), Ok(()));
    assert_eq!(
        check_attribute_name(&"n".repeat(64)),
        Err(NameProblem::TooLong)
    );
    for good in ["http.route", "trace_id", "x_", "X-Request-Id", "a1"] {
        assert_eq!(check_attribute_name(good), Ok(()), "{good}");
    }
}

#[test]
fn signals_have_names_or_numbers() {
    assert_eq!(ok("signal=prof").signal.number(), 27);
    assert_eq!(ok("signal=vtalrm").signal.number(), 26);
    assert_eq!(ok("signal=27").signal, Signal::Prof);
    assert_eq!(ok("signal=34").signal.number(), 34);
    assert!(error("signal=kill").contains("allowed: prof, vtalrm, 34 to 64"));
    assert!(error("signal=9").contains("allowed"));
}

#[test]
fn file_patterns_are_checked_at_once() {
    assert!(error("file=app-%q.jfr").contains("'%q' is no pattern"));
    assert!(
        error("file=%{NO_SUCH_VARIABLE_HERE}.jfr")
            .contains("'%{NO_SUCH_VARIABLE_HERE}' is not set")
    );
    assert!(error("file=out/").contains("folder"));
    assert!(error("log=agent-%n.log").contains("%n is for 'file' only"));
    assert_eq!(ok("file=a=b.jfr").file.unwrap().text(), "a=b.jfr");
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
fn strict_is_known_even_when_the_rest_is_wrong() {
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
fn a_later_start_keeps_what_the_load_set() {
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
fn an_option_is_given_by_its_own_name_only() {
    assert!(gives("status,log=x,loglevel=info", "log"));
    assert!(!gives("status,loglevel=info", "log"));
    assert!(!gives("start,file=log=x", "log"));
}

#[test]
fn any_bytes_give_an_answer() {
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

#[test]
fn the_page_about_options_shows_this_table() {
    let page = include_str!("../../../docs/user-guide/options.md");
    for line in table_text().lines() {
        assert!(
            page.contains(line),
            "docs/user-guide/options.md lacks:\n{line}\nthe whole table is\n{}",
            table_text()
        );
    }
}

#[test]
fn distance_counts_insertions_deletions_replacements_and_swaps() {
    for (a, b, steps) in [
        ("", "", 0),
        ("", "abc", 3),
        ("abc", "", 3),
        ("ab", "ba", 1),
        ("file", "fiel", 1),
        ("kitten", "sitting", 3),
    ] {
        assert_eq!(distance(a, b), steps, "{a} {b}");
    }
}
