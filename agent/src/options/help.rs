//! The table of options as text: for a terminal, and for `docs/user-guide/options.md`.

use super::kind::Kind;
use super::table::{Row, Scope, TABLE};
use super::types::Command;

/// Commands and options for a terminal: the reply to the command `help`.
pub fn help() -> String {
    let commands = Command::ALL.map(|command| {
        let purpose = command.purpose().replace('`', "");
        format!("  {:<9} {purpose}", command.word())
    });
    let options: Vec<String> = TABLE.iter().map(help_of).collect();
    format!(
        "options: COMMAND,NAME=VALUE,... (docs/user-guide/options.md says \
         more)\ncommands:\n{}\noptions (of start, if not said otherwise):\n{}\n",
        commands.join("\n"),
        options.join("\n")
    )
}

fn help_of(row: &Row) -> String {
    let scope = match row.scope {
        Scope::Start => "",
        Scope::StartDump => " (start, dump)",
        Scope::Status => " (status)",
        Scope::Any => " (any command)",
    };
    let values = match row.kind {
        Kind::Alone => String::new(),
        kind => format!("={kind}"),
    };
    let default = match row.default {
        "" => String::new(),
        value => format!("; default {value}"),
    };
    let (name, help) = (row.name, row.purpose());
    format!("  {name}{values}{default}{scope}\n      {help}")
}

/// The list for `docs/user-guide/options.md`, one line per option.
pub fn list_text() -> String {
    TABLE.iter().fold(String::new(), |text, row| {
        let default = match row.default {
            "" => String::new(),
            value => format!("; default {value}"),
        };
        let (name, allowed, help) = (row.name, allowed_in_list(row.kind), row.purpose());
        format!("{text}- `{name}` ({allowed}{default}): {help}\n")
    })
}

/// The allowed values, with the unit of a bare number in parentheses: the page lists the units
/// once.
fn allowed_in_list(kind: Kind) -> String {
    let text = kind.to_string();
    let Some((limits, units)) = text.split_once(", whole numbers") else {
        return text;
    };
    match units.split_once("(a number alone counts ") {
        Some((_, unit)) => format!("{limits} ({unit}"),
        None => limits.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::testing::ok;

    #[test]
    fn help_names_every_command_and_option() {
        assert_eq!(ok("help").command, Command::Help);
        let help = help();
        for word in Command::ALL.map(Command::word) {
            assert!(help.contains(&format!("\n  {word} ")), "{word}");
        }
        for row in TABLE {
            assert!(help.contains(&row.purpose()), "{}", row.name);
            assert!(help.contains(&format!("\n  {}", row.name)));
        }
        assert!(!help.contains('`') && !help.contains('|'), "for a terminal");
    }

    /// The page breaks lines.
    #[test]
    fn the_page_about_options_shows_this_list() {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let page = words(include_str!("../../../docs/user-guide/options.md"));
        for line in list_text().lines() {
            assert!(
                page.contains(&words(line)),
                "docs/user-guide/options.md lacks:\n{line}\nthe whole list is\n{}",
                list_text()
            );
        }
    }
}
