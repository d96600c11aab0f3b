//! Recordings made with our writer, and a directory to run `ctxjfr` in.

pub(crate) mod foreign_events;

use std::path::PathBuf;
use std::process::{Command, Output};

use ctxagent_events::{MonitorEnter, ProfileConfig, ProfileEvents as _, Sample, Setting};
use jfr_format::write::{
    Attribute, AttributeKey, Clock, Columns, Context, Frame, FrameKind, MemoryStorage, Method,
    Recording, StackTrace, Thread, ThreadKey, Ticks,
};
use tempfile::TempDir;

/// A recording in the making: CPU samples at 10 ms, two attributes.
pub(crate) struct Shop {
    pub(crate) r: Recording<MemoryStorage>,
    pub(crate) at: u64,
}

impl Shop {
    pub(crate) fn new() -> Self {
        Self::with(|_| ())
    }

    /// One whose configuration is changed first.
    pub(crate) fn with(change: impl FnOnce(&mut ProfileConfig)) -> Self {
        let mut config = ProfileConfig {
            clock: Clock {
                start_epoch_nanos: 1_700_000_000_000_000_000,
                start_monotonic_nanos: 0,
            },
            columns: Columns::Auto,
            // Wall-clock samples have their own period, not the 10 ms of CPU samples.
            settings: vec![Setting {
                event: "profiler.WallClockSample".into(),
                name: "interval".into(),
                value: "50 ms".into(),
            }],
            // The preallocated tail is cleared in memory each time.
            reserve_bytes: 64 << 10,
            ..ProfileConfig::default()
        };
        change(&mut config);
        let mut r = Recording::create(MemoryStorage::new(), config).unwrap();
        for (slot, name) in ["http.route", "tenant"].iter().enumerate() {
            let attribute = Attribute {
                name: (*name).into(),
                ..Attribute::default()
            };
            r.attribute(Ticks(1), slot, &attribute).unwrap();
        }
        Self { r, at: 10 }
    }

    pub(crate) fn sample(
        &mut self,
        route: Option<&str>,
        tenant: Option<&str>,
        method: &str,
        weight: u32,
    ) {
        let values = [route, tenant];
        self.sample_of(&worker(), "STATE_RUNNABLE", values, method, weight);
    }

    /// A sample that is written as so many equal events.
    pub(crate) fn repeated_sample(&mut self, route: &str, events: u32) {
        let after = self.at + 10_000;
        for _ in 0..events {
            self.at = after - 10_000;
            self.sample(Some(route), None, "m", 1);
        }
    }

    /// A sample of a thread, in its state.
    pub(crate) fn sample_of(
        &mut self,
        thread: &Thread<'_>,
        state: &str,
        [route, tenant]: [Option<&str>; 2],
        method: &str,
        weight: u32,
    ) {
        let r = &mut self.r;
        self.at += 10_000;
        let at = Ticks(self.at);
        let mut values = [AttributeKey::NONE; 8];
        if let Some(route) = route {
            values[0] = r.attribute_value(route);
        }
        if let Some(tenant) = tenant {
            values[1] = r.attribute_value(tenant);
        }
        let context = if route.is_none() && tenant.is_none() {
            Context::NONE
        } else {
            r.context(at, &values)
        };
        let thread = r.thread(thread);
        let (inner, outer) = (
            r.method(&Method::new("app/Shop", method, "()V", 1)),
            r.method(&Method::new("java/lang/Thread", "run", "()V", 1)),
        );
        let frame = |method, kind| Frame {
            method,
            line: 12,
            bci: 3,
            kind,
        };
        let stack = r.stack(&StackTrace {
            truncated: false,
            frames: &[
                frame(inner, FrameKind::Jit),
                frame(outer, FrameKind::Interpreted),
            ],
        });
        let state = r.state(state);
        r.execution_sample(&Sample {
            at,
            thread,
            stack,
            state,
            context,
            weight,
        });
    }

    /// A wait for a monitor.
    pub(crate) fn wait(&mut self, route: &str, micros: u64) {
        let r = &mut self.r;
        let mut values = [AttributeKey::NONE; 8];
        values[0] = r.attribute_value(route);
        let context = r.context(Ticks(self.at), &values);
        let enter = MonitorEnter {
            at: Ticks(self.at),
            duration: Ticks(micros),
            thread: r.thread(&worker()),
            stack: r.synthetic_stack("x"),
            class: r.class("java/lang/String"),
            previous_owner: ThreadKey::NONE,
            owner_context: 0,
            address: 1,
            context,
        };
        r.monitor_enter(&enter);
    }

    pub(crate) fn stats(&mut self, stats: &[(&str, i64)]) {
        for (name, total) in stats {
            self.r.stat(Ticks(self.at), name, *total, *total);
        }
    }

    /// The file as a kill leaves it: up to the last flush, at this moment.
    pub(crate) fn bytes_of_killed(mut self, at: u64) -> Vec<u8> {
        self.r.flush(Ticks(at)).unwrap();
        let mut copy = MemoryStorage::new();
        self.r.snapshot_to(&mut copy, Ticks(at)).unwrap();
        copy.bytes().to_vec()
    }

    pub(crate) fn bytes(self) -> Vec<u8> {
        self.bytes_until(1_000_000)
    }

    /// The finished file of a recording that ends at this moment.
    pub(crate) fn bytes_until(mut self, at: u64) -> Vec<u8> {
        self.r.finish(Ticks(at)).unwrap();
        self.r.storage().bytes().to_vec()
    }
}

/// The platform thread of most samples.
pub(crate) fn worker() -> Thread<'static> {
    Thread {
        java_name: Some("worker-1"),
        java_id: 7,
        ..Thread::native("worker", 70)
    }
}

/// 60 checkout, 30 search, 10 without; 1 s of CPU; 3 signals lost.
pub(crate) fn shop() -> Vec<u8> {
    let mut shop = Shop::new();
    for i in 0..60 {
        shop.sample(
            Some("POST /checkout"),
            Some(if i % 3 == 0 { "globex" } else { "acme" }),
            "checkout",
            1,
        );
    }
    shop.r.rotate(Ticks(shop.at)).unwrap();
    for _ in 0..30 {
        shop.sample(Some("GET /search"), None, "search", 1);
    }
    for _ in 0..10 {
        shop.sample(None, None, "idle", 1);
    }
    shop.stats(&[
        ("signals", 103),
        ("written", 100),
        ("lost.no_slot", 2),
        ("lost.write", 1),
        ("walk.failed", 4),
    ]);
    shop.bytes()
}

/// Where files are and commands run.
pub(crate) struct TestDir(pub(crate) TempDir);

impl TestDir {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn with(self, name: &str, bytes: &[u8]) -> Self {
        std::fs::write(self.path(name), bytes).unwrap();
        self
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ctxjfr"));
        command
            .args(arguments)
            .current_dir(self.0.path())
            .env_remove("NO_COLOR");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Output of a call that must end with 0 and say nothing on stderr.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            (output.status.code(), &*errors),
            (Some(0), ""),
            "{arguments:?}"
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// Message of a call that must end with `code`.
    pub(crate) fn fails(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
        assert!(
            !errors.is_empty() && !errors.contains("panicked"),
            "{arguments:?}: {errors}"
        );
        errors
    }

    /// Result of a call that must end with `code`.
    pub(crate) fn fails_with_result(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.ok(arguments)).unwrap()
    }
}

pub(crate) fn with_shop() -> TestDir {
    TestDir::new().with("shop.jfr", &shop())
}
