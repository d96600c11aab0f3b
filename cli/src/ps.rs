//! `ps`: the JVMs of this machine and its containers.

use std::collections::HashMap;

use hotspot_attach::JvmProcess;
use serde_json::json;

use crate::args::PsArgs;
use crate::output::{self, Failure, Output};
use crate::target::{self, Agent};

/// Widest cell of a main class.
const MAX_MAIN: usize = 50;

/// The attributes in the answer to `status`.
fn attributes(status: &str) -> Vec<String> {
    let mut lines = status.lines();
    let names = lines.find_map(|line| line.strip_prefix("attributes: "));
    let names = names.filter(|names| *names != "none").into_iter();
    names
        .flat_map(|names| names.split(", "))
        .map(str::to_owned)
        .collect()
}

/// Asks an agent for its attributes; a failure is a warning.
fn ask(jvm: &JvmProcess) -> Option<Vec<String>> {
    let answer = Agent::new(jvm, None).and_then(|agent| agent.command("status"));
    match answer.and_then(|answer| answer.into_result(jvm.pid())) {
        Ok(status) => Some(attributes(&status)),
        Err(Failure::Finding(why) | Failure::Usage(why)) => {
            output::warn(&why);
            None
        }
        Err(Failure::Closed) => None,
    }
}

/// A row of the table.
struct Row {
    jvm: JvmProcess,
    user: String,
    container: Option<String>,
    /// `recording`, `loaded`; `None` without an agent.
    agent: Option<&'static str>,
    /// `None` if the agent was not asked, or did not answer.
    attributes: Option<Vec<String>>,
}

impl Row {
    fn new(jvm: JvmProcess, users: &HashMap<u32, String>, wants_attributes: bool) -> Self {
        let agent = target::loaded(&jvm).map(|_| {
            if target::is_recording(&jvm) {
                "recording"
            } else {
                "loaded"
            }
        });
        let is_asked = agent.is_some() && wants_attributes;
        Self {
            user: name_of(users, jvm.owner().user),
            container: jvm.container_id(),
            agent,
            attributes: is_asked.then(|| ask(&jvm)).flatten(),
            jvm,
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &PsArgs, output: &mut Output) -> Result<bool, Failure> {
    let (jvms, hidden) =
        JvmProcess::all().map_err(|error| Failure::Finding(format!("/proc: {error}")))?;
    let users = user_names();
    let rows = jvms
        .into_iter()
        .map(|jvm| Row::new(jvm, &users, args.attributes));
    let rows: Vec<Row> = rows.collect();
    if hidden > 0 {
        output::warn(&format!(
            "{hidden} JVMs of other users are not shown; root sees them"
        ));
    }
    if args.json {
        output.json(&as_json(&rows, hidden))?;
        return Ok(true);
    }
    if rows.is_empty() {
        output.line(" no JVM")?;
        return Ok(true);
    }
    let mut table = table(&rows, args.attributes, output);
    let columns = table[0].len();
    // What is long stands at the end.
    let long = columns - 1 - usize::from(args.attributes);
    output.fit(&mut table, long..columns, MAX_MAIN);
    output.print_table(&table, columns)?;
    Ok(true)
}

/// The table with its head.
fn table(rows: &[Row], with_attributes: bool, output: &Output) -> Vec<Vec<String>> {
    let with_container = rows.iter().any(|row| row.container.is_some());
    let mut head = vec!["pid", "inside", "user", "jdk", "agent"];
    head.extend(with_container.then_some("container"));
    head.push("main");
    head.extend(with_attributes.then_some("attributes"));
    let mut table: Vec<Vec<String>> = vec![head.into_iter().map(str::to_owned).collect()];
    let unknown = || "?".to_owned();
    for row in rows {
        let mut cells = vec![
            row.jvm.pid().to_string(),
            row.jvm.inner_pid().to_string(),
            output.clean(&row.user),
            output.clean(&row.jvm.java_version().unwrap_or_else(unknown)),
            row.agent.unwrap_or("-").to_owned(),
        ];
        if with_container {
            let id = row.container.as_deref().map(target::short_id);
            cells.push(id.unwrap_or("-").to_owned());
        }
        cells.push(output.clean(&row.jvm.main_class().unwrap_or_else(unknown)));
        if with_attributes {
            let names = row.attributes.as_deref().unwrap_or_default();
            cells.push(output.clean(&names.join(", ")));
        }
        table.push(cells);
    }
    table
}

fn as_json(rows: &[Row], hidden: usize) -> serde_json::Value {
    let jvm = |row: &Row| {
        json!({
            "pid": row.jvm.pid(), "inner_pid": row.jvm.inner_pid(),
            "uid": row.jvm.owner().user, "user": row.user,
            "java_version": row.jvm.java_version(), "main": row.jvm.main_class(),
            "container": row.container, "agent": row.agent, "attributes": row.attributes,
        })
    };
    let jvms: Vec<serde_json::Value> = rows.iter().map(jvm).collect();
    json!({"schema": "ctxjfr.ps.1", "jvms": jvms, "hidden": hidden})
}

/// Names by user id, as this machine has them.
fn user_names() -> HashMap<u32, String> {
    let text = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let user = |line: &str| {
        let mut fields = line.split(':');
        let name = fields.next()?.to_owned();
        Some((fields.nth(1)?.parse().ok()?, name))
    };
    text.lines().filter_map(user).collect()
}

fn name_of(users: &HashMap<u32, String>, id: u32) -> String {
    users.get(&id).cloned().unwrap_or_else(|| id.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_taken_from_the_status() {
        let status = "ctxagent 0.1.0 on x\nstate: recording\nattributes: tenant, kind\nx: 1\n";
        assert_eq!(attributes(status), ["tenant", "kind"]);
        assert!(attributes("state: idle\nattributes: none\n").is_empty());
    }
}
