//! `coverage`: the CPU time without a label, where it was used, and what would label it.

use std::collections::HashMap;

use serde_json::json;

use crate::args::CoverageArgs;
use crate::collect::{self, Collected, Query, StackSum, Sum, TypeSums, key_of};
use crate::filter::Filter;
use crate::output::{Failure, Output};
use crate::text;

/// Widest cell of a thread's or a method's name.
const MAX_PLACES: usize = 44;

/// Frames by which a thread is recognised, where they first match: what it does then, and what
/// labels it.
const CAUSES: &[(&[&str], Cause)] = &[
    (
        &[
            "org.springframework.boot.SpringApplication.run",
            "jdk.internal.loader.",
        ],
        Cause::Start,
    ),
    (
        &[
            "org.apache.catalina.connector.CoyoteAdapter.service",
            "sun.net.httpserver.ServerImpl$Exchange.run",
            "org.eclipse.jetty.server.Server.handle",
            "io.undertow.server.Connectors.executeRootHandler",
        ],
        Cause::Request,
    ),
    (
        &[
            "org.apache.tomcat.util.net.",
            "org.apache.coyote.",
            "sun.net.httpserver.",
            "org.eclipse.jetty.",
            "io.undertow.",
            "io.netty.",
            "io.grpc.",
        ],
        Cause::Server,
    ),
    (
        &[
            "java.util.concurrent.",
            "java.util.TimerThread.",
            "java.lang.VirtualThread.run",
        ],
        Cause::Task,
    ),
];

/// Why time has no label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Cause {
    Start,
    Request,
    Server,
    Task,
    Main,
    Thread,
}

impl Cause {
    /// By the frames of a stack, the innermost first.
    fn of(thread: &str, frames: &[&str]) -> Self {
        let is_in = |prefix: &&str| frames.iter().any(|frame| frame.starts_with(*prefix));
        let mut causes = CAUSES.iter();
        let found = causes.find(|(prefixes, _)| prefixes.iter().any(is_in));
        match found {
            Some((_, cause)) => *cause,
            None if thread == "main" => Self::Main,
            None => Self::Thread,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Start => "start-up",
            Self::Request => "request",
            Self::Server => "server",
            Self::Task => "task",
            Self::Main => "main",
            Self::Thread => "thread",
        }
    }

    /// What to do.
    const fn advice(self) -> &'static str {
        match self {
            Self::Start => "before the first request: nothing to do",
            Self::Request => "a request without a label: labels=route, or a scope around it",
            Self::Server => "the server itself, before a request has a route: nothing to do",
            Self::Task => "propagate=all; a scope where the task begins, if no request made it",
            Self::Main => "outside of a scope, or start-up",
            Self::Thread => "a scope where its work begins",
        }
    }
}

/// Time of one kind without a label.
#[derive(Debug, PartialEq)]
struct Row {
    cause: Cause,
    /// Name of the thread, numbers as `N`.
    thread: String,
    /// The outermost method that is neither the JDK's nor a server's.
    method: Option<String>,
    sum: Sum,
}

/// Runs the command; gives whether everything is fine.
pub(crate) fn run(args: &CoverageArgs, output: &mut Output) -> Result<bool, Failure> {
    let filter = Filter::new(&args.filter)?;
    let mut query = Query::by(args.by.clone(), filter.clone());
    if args.by.is_empty() {
        let (total, ..) = collect::collect(&args.files.files, &query, output)?.into_total(&filter);
        query.keys = total
            .attributes
            .keys()
            .map(|name| key_of(name).into_owned())
            .collect();
    }
    query.keys.insert(0, "thread".to_owned());
    query.stacks = true;
    let collected = collect::collect(&args.files.files, &query, output)?;
    let (total, types, collected) = collected.into_total(&filter);
    collected.warn_left_out();
    let complete = collected.outcome.warn_damages();
    let rows = rows(&total, &collected);
    let unlabelled = rows
        .iter()
        .fold(0, |sum: u64, row| sum.saturating_add(row.sum.value));
    let coverage = 1.0 - total.coverage(unlabelled);
    if args.files.json {
        let row = |row: &Row| {
            json!({"cause": row.cause.name(), "thread": row.thread, "method": row.method,
                "samples": row.sum.samples, "value": row.sum.value,
                "share": total.coverage(row.sum.value), "advice": row.cause.advice()})
        };
        output.json(&json!({
            "schema": "ctxjfr.coverage.1", "events": types, "unit": filter.unit().name(),
            "by": args.by, "coverage": coverage, "rows": rows.iter().map(row).collect::<Vec<_>>(),
            "damages": collected.outcome.damages,
        }))?;
        return Ok(complete);
    }
    let of = match &args.by[..] {
        [] => "a label".to_owned(),
        names => names.join(" or "),
    };
    output.line(format!(
        " {} of the CPU time of Java threads has {}; the rest, by cause:",
        text::percent(coverage),
        output.clean(&of)
    ))?;
    output.line("")?;
    print_rows(args, &rows, &total, output)?;
    Ok(complete)
}

fn print_rows(
    args: &CoverageArgs,
    rows: &[Row],
    total: &TypeSums,
    output: &mut Output,
) -> Result<(), Failure> {
    let limit = if args.limit == 0 {
        rows.len()
    } else {
        args.limit
    };
    let heads = ["cause", "thread", "runs", "share"].map(str::to_owned);
    let mut table = vec![heads.to_vec()];
    for row in rows.iter().take(limit) {
        table.push(vec![
            row.cause.name().to_owned(),
            text::cut(&output.clean(&row.thread), MAX_PLACES),
            text::cut(
                &output.clean(row.method.as_deref().unwrap_or("")),
                MAX_PLACES,
            ),
            text::percent(total.coverage(row.sum.value)),
        ]);
    }
    output.print_table(&table, 3)?;
    let mut causes: Vec<Cause> = rows.iter().take(limit).map(|row| row.cause).collect();
    causes.sort_unstable();
    causes.dedup();
    output.line("")?;
    for cause in causes {
        let line = format!(" {}: {}", cause.name(), cause.advice());
        output.line(output.dim(&line))?;
    }
    Ok(())
}

/// What has no label, the most first.
fn rows(total: &TypeSums, collected: &Collected) -> Vec<Row> {
    let mut sums: HashMap<(Cause, String, Option<String>), Sum> = HashMap::new();
    for (key, (_, stacks)) in &total.groups {
        let (thread, labels) = key
            .values
            .split_first()
            .map_or((None, &[][..]), |(t, l)| (t.as_deref(), l));
        if key.vm_kind.is_some() || labels.iter().any(Option::is_some) {
            continue;
        }
        let thread = thread.unwrap_or_default();
        for (stack, StackSum { sum, .. }) in &stacks.by_stack {
            let frames = collected.stacks().get(*stack).iter();
            let frames = frames.map(|&frame| &*collected.frames[frame as usize].text);
            let frames: Vec<&str> = frames.collect();
            let cause = Cause::of(thread, &frames);
            let kind = (cause, without_numbers(thread), own_method(&frames));
            sums.entry(kind).or_default().add(sum);
        }
    }
    let row = |((cause, thread, method), sum)| Row {
        cause,
        thread,
        method,
        sum,
    };
    let mut rows: Vec<Row> = sums.into_iter().map(row).collect();
    rows.sort_by(|a, b| {
        let order = b.sum.value.cmp(&a.sum.value);
        order
            .then_with(|| a.thread.cmp(&b.thread))
            .then_with(|| a.method.cmp(&b.method))
            .then_with(|| a.cause.cmp(&b.cause))
    });
    rows
}

/// `pool-1-thread-12` is `pool-N-thread-N`.
fn without_numbers(name: &str) -> String {
    let mut text = String::new();
    let mut is_in_number = false;
    for c in name.chars() {
        if !c.is_ascii_digit() {
            text.push(c);
        } else if !is_in_number {
            text.push('N');
        }
        is_in_number = c.is_ascii_digit();
    }
    text
}

/// The outermost method that is the application's, as far as names tell.
fn own_method(frames: &[&str]) -> Option<String> {
    let foreign = [
        "java.", "jdk.", "sun.", "com.sun.", "javax.", "jakarta.", "(",
    ];
    let of_servers = [
        "org.apache.",
        "org.springframework.",
        "org.eclipse.jetty.",
        "io.netty.",
    ];
    let is_own = |frame: &&&str| {
        let mut prefixes = foreign.iter().chain(&of_servers);
        frame.contains('.') && !prefixes.any(|prefix| frame.starts_with(prefix))
    };
    frames
        .iter()
        .rev()
        .find(is_own)
        .map(|frame| (*frame).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_threads_are_one_letter() {
        assert_eq!(without_numbers("pool-1-thread-12"), "pool-N-thread-N");
        assert_eq!(without_numbers("main"), "main");
        assert_eq!(without_numbers("http-nio-8080-exec-3"), "http-nio-N-exec-N");
    }

    #[test]
    fn cause_is_that_of_the_frames() {
        let pool = [
            "app.Job.run",
            "java.util.concurrent.ThreadPoolExecutor.runWorker",
        ];
        assert_eq!(Cause::of("pool-1-thread-1", &pool), Cause::Task);
        assert_eq!(own_method(&pool).as_deref(), Some("app.Job.run"));
        let request = [
            "app.Shop.order",
            "org.apache.catalina.connector.CoyoteAdapter.service",
            "org.apache.tomcat.util.net.SocketProcessorBase.run",
        ];
        assert_eq!(Cause::of("exec-1", &request), Cause::Request);
        assert_eq!(Cause::of("exec-1", &request[2..]), Cause::Server);
        assert_eq!(own_method(&request[1..]), None);
        assert_eq!(Cause::of("main", &["app.Main.main"]), Cause::Main);
        assert_eq!(Cause::of("worker", &["app.Worker.run"]), Cause::Thread);
    }
}
