//! Recordings from strangers: no text acts in any output, no damage stops a command.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::*;

/// Attribute values that try to act: terminal, HTML, JSON, CSV, bidirectional text, shell.
const HOSTILE: [&str; 8] = [
    "\u{1b}[31mred\u{1b}[0m\u{9b}0m",
    "</div></script><script>window.__hit=1</script><img src=x onerror=window.__hit=1>",
    "\",\"x\":[{}],'\\",
    "=cmd|' /C calc'!A0",
    "\u{202e}desrever\u{2066}\u{200b}\u{feff}",
    "line\nbreak\ttab\r\u{2028}",
    "$(touch /tmp/hit)`x`;x",
    "@@SCRIPT@@",
];

fn hostile() -> Vec<u8> {
    let mut shop = Shop::new();
    for text in HOSTILE {
        shop.sample(Some(text), Some("t"), text, 1);
    }
    shop.stats(&[("lost.\u{1b}[31m", 1)]);
    shop.bytes()
}

fn is_active(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[test]
fn recorded_text_is_inert_in_any_output() {
    let dir = TestDir::new().with("h.jfr", &hostile());
    for arguments in [
        &["report", "h.jfr", "--by", "http.route,tenant"][..],
        &["report", "h.jfr", "--by", "http.route", "--json"],
        &["report", "h.jfr", "--by", "http.route", "--csv"],
        &["labels", "h.jfr", "--limit", "50"],
        &["labels", "h.jfr", "--json"],
        &["summary", "h.jfr"],
        &["summary", "h.jfr", "--json"],
        &["print", "h.jfr"],
        &["print", "h.jfr", "--json"],
        &["check", "h.jfr"],
        &["flame", "h.jfr", "--by", "http.route", "-o", "-"],
        &[
            "convert",
            "h.jfr",
            "--by",
            "http.route",
            "-o",
            "collapsed=-",
        ],
        &["flame", "h.jfr", "--json"],
    ] {
        let output = dir.run(arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(
            !text.contains(is_active) && !errors.contains(is_active),
            "{arguments:?}: {text:?}"
        );
    }
    // Values come through JSON unharmed.
    let json: Value = serde_json::from_slice(
        &dir.run(&["report", "h.jfr", "--by", "http.route", "--json"])
            .stdout,
    )
    .unwrap();
    let values: Vec<&str> = json["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["values"][0].as_str())
        .collect();
    for text in HOSTILE {
        assert!(values.contains(&text), "{text:?}");
    }
    let csv = String::from_utf8(
        dir.run(&["report", "h.jfr", "--by", "http.route", "--csv"])
            .stdout,
    )
    .unwrap();
    assert!(csv.contains("\"'=cmd|' /C calc'!A0\",1,1,"), "{csv}");
    assert!(
        csv.lines()
            .all(|line| !line.starts_with(['=', '+', '-', '@'])),
        "{csv}"
    );
    // --raw is a decision of the user.
    let raw = dir.run(&["report", "h.jfr", "--by", "http.route", "--raw"]);
    assert!(String::from_utf8_lossy(&raw.stdout).contains('\u{1b}'));
    // A suggested command is safe to paste.
    let text = dir.run(&[
        "report",
        "h.jfr",
        "--by",
        "http.route",
        "--where",
        "http.route=$(touch /tmp/hit)`x`;x",
    ]);
    assert!(
        String::from_utf8_lossy(&text.stdout)
            .contains("--where 'http.route=$(touch /tmp/hit)`x`;x'")
    );
}

#[test]
fn file_names_are_inert() {
    let name = "x\u{1b}[31m\u{202e}.jfr";
    let dir = TestDir::new().with(name, &shop());
    let text = dir.ok(&["report", name, "--by", "tenant"]);
    assert!(!text.contains(is_active), "{text:?}");
    let page = dir.ok(&["flame", name, "-o", "-"]);
    assert!(!page.contains(is_active));
    let message = dir.fails(1, &["summary", "\u{1b}[31m"]);
    assert!(!message.contains(is_active), "{message:?}");
}

#[test]
fn mutated_recordings_break_no_command() {
    let base = shop();
    let dir = TestDir::new();
    for seed in 1..=60u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = |bound: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % bound as u64).unwrap()
        };
        let mut bytes = base.clone();
        for _ in 0..=random(8) {
            let at = random(bytes.len());
            bytes[at] = u8::try_from(random(256)).unwrap();
        }
        std::fs::write(dir.path("m.jfr"), &bytes).unwrap();
        for arguments in [
            &["report", "m.jfr", "--by", "thread"][..],
            &["check", "m.jfr"],
            &["convert", "m.jfr", "-o", "collapsed=-"],
            &["convert", "m.jfr", "-o", "pprof=-"],
            &["convert", "m.jfr", "-o", "otlp=-"],
            &["print", "m.jfr", "--json"],
        ] {
            let output = dir.run(arguments);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(
                matches!(output.status.code(), Some(0 | 1)) && !errors.contains("panicked"),
                "seed {seed} {arguments:?}: {errors}"
            );
        }
    }
}

/// A browser, where there is one: the page runs its own script and nothing else.
#[test]
fn page_runs_only_its_script_in_a_browser() {
    let Some(browser) = ["chromium", "chromium-browser", "google-chrome"]
        .iter()
        .find(|name| on_path(name))
    else {
        println!("SKIP: no chromium");
        return;
    };
    let dir = TestDir::new().with("h.jfr", &hostile());
    dir.run(&[
        "flame",
        "h.jfr",
        "--by",
        "http.route",
        "--title",
        HOSTILE[1],
        "-o",
        "h.html",
    ]);
    let page = format!("file://{}", dir.path("h.html").display());
    let profile = format!("--user-data-dir={}", dir.path("profile").display());
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            "--virtual-time-budget=3000",
            "--dump-dom",
            &profile,
            &page,
        ])
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(dom.contains("8 samples"), "the script ran: {dom}\n{log}");
    assert!(!log.contains("CONSOLE"), "{log}");
    assert!(!dom.contains("<img"), "{dom}");
}

fn on_path(name: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|dir: PathBuf| Path::new(&dir).join(name).exists())
    })
}
