//! Flame graphs: page, tree, collapsed stacks, output files.

use std::io::Write;
use std::process::{Command, Stdio};

use ctxagent_events::{ProfileEvents as _, Sample};
use jfr_format::write::{Context, Frame, FrameKind, Method, StackTrace, Ticks};
use serde_json::{Value, json};

use crate::common::*;
use crate::record_every_thread_kind;

#[test]
fn page_needs_nothing_and_allows_nothing() {
    let dir = with_shop();
    dir.ok(&["flame", "shop.jfr", "--by", "http.route", "-o", "f.html"]);
    let page = std::fs::read_to_string(dir.path("f.html")).unwrap();
    assert!(page.contains("default-src 'none'"));
    for address in ["http://", "https://", "//cdn", "src=", "href=", "url("] {
        assert!(!page.contains(address), "{address}");
    }
    assert_eq!(page.matches("<script>").count(), 1);
    // The policy names exactly our script and our style.
    let between = |from: &str, to: &str| {
        page.split_once(from)
            .unwrap()
            .1
            .split_once(to)
            .unwrap()
            .0
            .to_owned()
    };
    let script = between("script-src 'sha256-", "'");
    assert_eq!(script, sha256_base64(&between("<script>", "</script>")));
    let style = between("style-src 'sha256-", "'");
    assert_eq!(style, sha256_base64(&between("<style>", "</style>")));
}

/// Pipes through a tool of the system, so that the page's own code is not its judge.
fn pipe(command: &[&str], input: &[u8]) -> String {
    let mut child = Command::new(command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

fn sha256_base64(text: &str) -> String {
    let hex = pipe(&["sha256sum"], text.as_bytes());
    let byte = |i: usize| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap();
    let bytes: Vec<u8> = (0..32).map(byte).collect();
    pipe(&["base64", "-w0"], &bytes)
}

#[test]
fn collapsed_stacks_are_written_by_convert() {
    let dir = with_shop();
    for name in ["collapsed", "shop.collapsed", "shop.folded"] {
        let refused = dir.fails(2, &["flame", "shop.jfr", "-o", name]);
        let command = format!("ctxjfr convert shop.jfr -o collapsed={name}");
        assert!(refused.contains(&command), "{refused}");
    }
}

#[test]
fn collapsed_stacks_begin_with_labels() {
    let text = with_shop().ok(&[
        "convert",
        "shop.jfr",
        "--by",
        "http.route",
        "-o",
        "collapsed=-",
    ]);
    let expected = "\
http.route=(unlabelled);java.lang.Thread.run;app.Shop.idle 10
http.route=GET /search;java.lang.Thread.run;app.Shop.search 30
http.route=POST /checkout;java.lang.Thread.run;app.Shop.checkout 60
";
    assert_eq!(text, expected);
}

#[test]
fn flame_tree_adds_up() {
    let json = with_shop().json(&["flame", "shop.jfr", "--by", "http.route", "--json"]);
    let nodes: Vec<u64> = json["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n.as_u64().unwrap())
        .collect();
    let frames = json["frames"].as_array().unwrap();
    let name = |node: usize| {
        frames[usize::try_from(nodes[4 * node]).unwrap()][0]
            .as_str()
            .unwrap()
    };
    assert_eq!(
        (name(0), nodes[1], nodes[2], nodes[3]),
        ("all", 100, 1_000_000_000, 3)
    );
    assert_eq!((name(1), nodes[5]), ("http.route=POST /checkout", 60));
    assert_eq!(
        (name(2), name(3)),
        ("java.lang.Thread.run", "app.Shop.checkout")
    );
    assert_eq!(nodes.len(), 4 * (1 + 3 * 3));
}

#[test]
fn output_files_are_private_and_never_overwritten() {
    use std::os::unix::fs::PermissionsExt;
    let dir = with_shop()
        .with("victim", b"precious")
        .with("taken.html", b"precious");
    dir.ok(&["flame", "shop.jfr", "-o", "new.html"]);
    let mode = std::fs::metadata(dir.path("new.html"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    // Nothing is overwritten, and no link is followed, not even with --force.
    assert!(
        dir.fails(1, &["flame", "shop.jfr", "-o", "taken.html"])
            .contains("--force")
    );
    std::os::unix::fs::symlink(dir.path("victim"), dir.path("link.html")).unwrap();
    dir.fails(1, &["flame", "shop.jfr", "-o", "link.html"]);
    dir.ok(&["flame", "shop.jfr", "-o", "link.html", "--force"]);
    assert_eq!(std::fs::read(dir.path("victim")).unwrap(), b"precious");
    dir.ok(&["flame", "shop.jfr", "-o", "taken.html", "--force"]);
    // Never onto an input.
    std::fs::copy(dir.path("shop.jfr"), dir.path("in.html")).unwrap();
    dir.fails(2, &["flame", "in.html", "-o", "in.html", "--force"]);
    dir.fails(1, &["flame", "shop.jfr", "-o", "no/such/directory/x.html"]);
    // Nothing is left behind.
    let left: Vec<_> = std::fs::read_dir(dir.0.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert!(
        left.iter()
            .all(|name| !name.to_string_lossy().contains(".tmp")),
        "{left:?}"
    );
}

#[test]
fn flame_and_report_agree() {
    let dir = TestDir::new().with("f.jfr", &record_every_thread_kind());
    let report = dir.json(&["report", "f.jfr", "--by", "http.route,tenant", "--json"]);
    let rows = report["rows"].as_array().unwrap();
    let name = |row: &Value| match (&row["values"][0], &row["vm_kind"]) {
        (Value::String(route), _) => format!("http.route={route};tenant=t"),
        (_, Value::String(vm_kind)) => format!("http.route={vm_kind};tenant={vm_kind}"),
        _ => "http.route=(unlabelled);tenant=(unlabelled)".to_owned(),
    };
    let mut table: Vec<(String, u64)> = rows
        .iter()
        .map(|row| (name(row), row["weight"].as_u64().unwrap()))
        .collect();
    table.sort();
    let text = dir.ok(&[
        "convert",
        "f.jfr",
        "--by",
        "http.route,tenant",
        "-o",
        "collapsed=-",
    ]);
    let picture: Vec<(String, u64)> = text
        .lines()
        .map(|line| {
            let (stack, weight) = line.rsplit_once(' ').unwrap();
            let roots: Vec<&str> = stack.split(';').take(2).collect();
            (roots.join(";"), weight.parse().unwrap())
        })
        .collect();
    assert_eq!(picture, table);
    // The VM's own thread works for the collector in a pause.
    let weight = |vm_kind: &str| {
        let row = rows.iter().find(|row| row["vm_kind"] == vm_kind);
        row.map(|row| row["weight"].as_u64().unwrap())
    };
    assert_eq!(weight("(GC)"), Some(2), "{report}");
    assert_eq!(weight("(VM)"), Some(1), "{report}");
    assert_eq!(weight("(JIT)"), Some(1), "{report}");
    assert_eq!(weight("(native)"), Some(1), "{report}");
    let json = dir.json(&["flame", "f.jfr", "--by", "http.route", "--json"]);
    let frames = json["frames"].as_array().unwrap();
    assert!(frames.contains(&json!(["http.route=(JIT)", 0])), "{json}");
}

#[test]
fn a_method_has_one_line_and_one_node() {
    let mut shop = Shop::new();
    let r = &mut shop.r;
    let thread = r.thread(&worker());
    let state = r.state("STATE_RUNNABLE");
    let method = r.method(&Method::new("app/Shop", "price", "()V", 1));
    let kinds = [FrameKind::Jit, FrameKind::Inlined, FrameKind::Interpreted];
    for (n, kind) in (1..).zip(kinds) {
        let frame = Frame {
            method,
            line: 12,
            bci: 3,
            kind,
        };
        let stack = r.stack(&StackTrace {
            truncated: false,
            frames: &[frame, frame],
        });
        let context = Context::NONE;
        let (at, weight) = (Ticks(u64::from(n) * 1000), n);
        r.execution_sample(&Sample {
            at,
            thread,
            stack,
            state,
            context,
            weight,
        });
    }
    let dir = TestDir::new().with("k.jfr", &shop.bytes());
    let lines = dir.ok(&["convert", "k.jfr", "-o", "collapsed=-"]);
    assert_eq!(lines, "app.Shop.price;app.Shop.price 6\n");
    let json = dir.json(&["flame", "k.jfr", "--json"]);
    let nodes = json["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 3 * 4, "{json}");
    let ms = |n: u64| n * 10_000_000;
    let kinds = |node: u64| json!([node, 1, ms(1), 2, ms(2), 3, ms(3)]);
    assert_eq!(json["kinds"], json!([kinds(1), kinds(2)]));
}
