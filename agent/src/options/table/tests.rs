//! Tests of the rows: defaults, choices and limits.

use crate::options::read::value_of;
use crate::options::table::alone;
use crate::options::testing::{error, ok};
use crate::options::*;
use std::time::Duration;

#[test]
fn the_defaults_of_the_table_match_the_default_options() {
    let written: Vec<String> = TABLE
        .iter()
        .filter(|row| !row.default.is_empty() && row.scope.has(Command::Start))
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
fn each_value_of_the_table_is_allowed() {
    for row in TABLE {
        for value in [Some(row.default.to_owned()), alone(row)]
            .into_iter()
            .flatten()
        {
            assert!(
                value.is_empty() || value_of(row, Some(&value)).is_ok(),
                "{}={value}",
                row.name
            );
        }
    }
    let defaults = Options::default();
    assert!(defaults.cpu && defaults.wall.is_none());
    assert_eq!(defaults.interval, Duration::from_millis(10));
    assert_eq!(defaults.blocks, 65_536);
    assert_eq!(ok("start,event=wall").wall, Some(Duration::from_millis(50)));
    assert_eq!(ok("start,wall").wall, Some(Duration::from_millis(50)));
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
        ("auto", Engine::Auto),
        ("percpu", Engine::PerCpu),
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
fn limits_are_inclusive() {
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
fn mechanisms_are_chosen_one_by_one_or_all_but_some() {
    use Mechanism as M;
    let chosen = |text: &str| ok(&format!("start,propagate={text}")).propagate;
    for mechanism in M::ALL {
        let word = mechanism.word();
        assert_eq!(chosen(word), MechanismSet::of([mechanism]), "{word}");
        let others = M::ALL.into_iter().filter(|other| *other != mechanism);
        let others = MechanismSet::of(others);
        assert_eq!(chosen(&format!("all+-{word}")), others, "{word}");
    }
    assert_eq!(chosen("all"), MechanismSet::of(M::ALL));
    let two = MechanismSet::of([M::Futures, M::Timer]);
    assert_eq!(chosen("timer+futures"), two);
    assert_eq!(chosen("timer+-timer"), MechanismSet::NONE);
}
