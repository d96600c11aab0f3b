//! What `record`, `top`, `ps` and `doctor` look like on a terminal of 80 and of 200 columns: each
//! screen is kept in `tests/screens`, with `#` for each word that has a digit.
//! `CTXJFR_BLESS=1` writes the screens anew.

use std::fs;
use std::process::Command;

use e2e::process::{Process, limit, run};
use e2e::tool::working;
use e2e::{Jdk, Tool, workspace};
use vt100::{Color, Parser};

/// Rows of the terminal, and its columns.
const ROWS: u16 = 50;
const WIDTHS: [u16; 2] = [80, 200];
/// Colours that can be read on a dark and on a light ground: the ground's own, and red.
const COLOURS: [Color; 2] = [Color::Default, Color::Idx(1)];

/// What is left on a terminal after a command.
fn screen(tool: &Tool, columns: u16, arguments: &[&str]) -> Parser {
    let mut command = format!(
        "stty cols {columns} rows {ROWS} && exec {}",
        tool.program.display()
    );
    for argument in arguments {
        command = format!("{command} '{argument}'");
    }
    let mut script = Command::new("script");
    script
        .args(["-qec", &command, "/dev/null"])
        .env("TERM", "xterm-256color")
        .env_remove("NO_COLOR")
        .current_dir(&tool.directory);
    let output = Process::start(script, limit()).finish().success();
    let [rows, columns] = [ROWS, columns].map(|places| places.try_into().unwrap());
    let mut terminal = Parser::new(rows, columns, 0);
    terminal.process(output.stdout.as_bytes());
    terminal
}

/// Its lines; fails if one does not fit, or has a colour that cannot be read everywhere.
fn lines(terminal: &Parser, columns: u16) -> Vec<String> {
    let screen = terminal.screen();
    for row in 0..ROWS {
        assert!(!screen.row_wrapped(row), "{}", screen.contents());
        for column in 0..columns {
            let cell = screen.cell(row, column).unwrap();
            assert!(COLOURS.contains(&cell.fgcolor()), "{}", screen.contents());
            assert_eq!(cell.bgcolor(), Color::Default, "{}", screen.contents());
        }
    }
    screen.contents().lines().map(str::to_owned).collect()
}

/// Rows of threads without a label, and the remarks of a busy machine, depend on chance; some
/// checks of `doctor` on the machine and the JDK.
fn is_by_chance(line: &str) -> bool {
    let begins = [
        " (",
        " interval: ",
        " losses: ",
        " CPU time: ",
        "       ",
        " note: ",
    ];
    let topics = [
        " symbols ",
        " cds ",
        " timers ",
        " seccomp ",
        " engine: ",
        " virtual threads: ",
    ];
    begins.iter().any(|begin| line.starts_with(begin))
        || topics.iter().any(|topic| line.contains(topic))
}

/// One line for each that does not fit and goes on, indented, in the next.
fn joined(lines: Vec<String>) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for line in lines {
        match joined.last_mut() {
            Some(last) if line.starts_with("       ") && last.starts_with(" ok ") => {
                last.push_str(&line);
            }
            _ => joined.push(line),
        }
    }
    joined
}

/// A line with `#` for each word that has a digit, and one blank between words. Which of the two
/// labels comes first, and whether threads of the VM took time, depends on chance.
fn without_numbers(line: &str, user: &str) -> String {
    let line = line.replace(" of Java threads", "");
    let line = line
        .replace("platform", "LABEL")
        .replace("virtual", "LABEL");
    let word = |word: &str| {
        let has_digit = word.contains(|c: char| c.is_ascii_digit());
        let is_unit = ["us", "ms", "s"].contains(&word.trim_end_matches([',', ';', ':']));
        match (has_digit, is_unit) {
            (true, _) => "#".to_owned(),
            (_, true) => "s".to_owned(),
            _ if word == user => "USER".to_owned(),
            _ => word.to_owned(),
        }
    };
    let words: Vec<String> = line.split_whitespace().map(word).collect();
    words.join(" ")
}

fn compare(name: &str, lines: &[String]) {
    let user = run(Command::new("whoami")).success().stdout;
    let path = workspace::root().join("tests/screens").join(name);
    let shown: Vec<String> = lines
        .iter()
        .map(|line| without_numbers(line, user.trim()))
        .collect();
    let shown = shown.join("\n") + "\n";
    if std::env::var_os("CTXJFR_BLESS").is_some() {
        fs::write(&path, &shown).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(shown, kept, "{name}:\n{}", lines.join("\n"));
}

#[test]
fn screens_fit_and_are_as_they_are_kept() {
    let (_test_dir, tool, jvm, pid) = working(Jdk::main());
    let show = |columns, arguments: &[&str]| {
        let lines = lines(&screen(&tool, columns, arguments), columns);
        println!("{}", lines.join("\n"));
        lines
    };
    let without_chance = |lines: Vec<String>| -> Vec<String> {
        let lines = lines.into_iter();
        lines.filter(|line| !is_by_chance(line)).collect()
    };
    for columns in WIDTHS {
        // Without the agent.
        let doctor = joined(show(columns, &["doctor", &pid]));
        compare("doctor", &without_chance(doctor));
    }
    for columns in WIDTHS {
        let record = ["record", &pid, "-d", "3s", "--force", "-o", "out.jfr"];
        compare("record", &without_chance(show(columns, &record)));
        // The second table has taken the place of the first.
        let top = show(
            columns,
            &["top", &pid, "-i", "3s", "-n", "2", "--by", "kind"],
        );
        compare("top", &without_chance(top));
        // Other JVMs may run, of other tests.
        let ps = show(columns, &["ps"]).into_iter();
        let ps = ps.filter(|line| {
            ["pid", pid.as_str()].contains(&line.split_whitespace().next().unwrap_or_default())
        });
        compare("ps", &ps.collect::<Vec<_>>());
    }
    jvm.end();
}
