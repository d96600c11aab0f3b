//! Blocks of threads whose ids lie close together: nobody is without a context while there are blocks.

use e2e::{Jdk, Jvm};

/// Short threads beside 200 that have a block of 1,024.
fn all_have_theirs(jdk: Jdk, arguments: &[&str]) {
    let run = Jvm::alone(jdk)
        .agent("start,ctxblocks=1024,file=app.jfr")
        .main("ShortBeside", arguments)
        .run_ok();
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(
        lines.contains(&"without: 0"),
        "{jdk} {arguments:?}: {lines:?}"
    );
    assert!(!run.stdout.contains("no_free_block"), "{jdk}: {lines:?}");
}

#[test]
fn virtual_threads_beside_open_scopes_have_blocks() {
    let jdks = Jdk::all().into_iter().filter(Jdk::has_virtual_threads);
    for jdk in jdks {
        all_have_theirs(jdk, &["virtual", "virtual", "200", "20000", "open"]);
    }
}

#[test]
fn threads_beside_pools_without_scopes_have_blocks() {
    for jdk in Jdk::all() {
        all_have_theirs(jdk, &["platform", "platform", "200", "10000", "closed"]);
    }
}
