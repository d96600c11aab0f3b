//! Harness for end-to-end tests: finds JDKs, builds what they load, runs one JVM per test with a
//! time limit and keeps its output when the test fails.
//!
//! | module | holds |
//! |---|---|
//! | [`workspace`] | the source tree, cargo's results, the tools that `scripts/toolchain.sh` finds |
//! | [`jdk`] | the JDKs 17, 21 and 25 |
//! | [`build`] | the agent library, `ctxjfr`, the Java API and the programs of `tests/java`, each built once |
//! | [`process`] | a child process: lines as they come, conditions with a deadline, time limit |
//! | [`jvm`] | a JVM with agent, class path and directory of its own |
//! | [`tool`] | `ctxjfr` on a running JVM, and what it must leave behind |
//! | [`pages`] | the pages of the source tree, and the shell commands in them |
//! | [`recording`] | a recording as the stock `jfr` tool and `ctxjfr` see it |
//!
//! Rules: nothing sleeps; a test waits on a condition with a deadline. A JDK that is not there is
//! skipped with a printed
//! `SKIP`, except 21, which the toolchain fetches.

#![allow(
    clippy::missing_panics_doc,
    reason = "a test harness reports by panicking"
)]

pub mod build;
pub mod jdk;
pub mod jvm;
pub mod pages;
pub mod process;
pub mod recording;
pub mod tool;
pub mod workspace;

pub use jdk::Jdk;
pub use jvm::{Jvm, RunningJvm, TestDir, record, retry_late_write};
pub use process::ProcessOutput;
pub use recording::Recording;
pub use tool::Tool;
pub use workspace::{env_number, full_run, sized};

/// Fails unless a text holds another one, and shows both then, after what a format says.
#[macro_export]
macro_rules! assert_contains {
    ($text:expr, $part:expr) => {
        $crate::assert_contains!($text, $part, "in a text")
    };
    ($text:expr, $part:expr, $($context:tt)+) => {{
        let text = &$text;
        let part: &str = &$part;
        let context = format_args!($($context)+);
        assert!(text.contains(part), "{context}: no {part:?} in:\n{text}");
    }};
}
