//! The pages: links, index, length, and that what they name exists. No JVM is started here.

use std::fs;
use std::path::{Path, PathBuf};

use e2e::pages::{self, Page};
use e2e::workspace::{root, sources};
use schema::counter::Counter;

/// A reader has an hour: README, changelog and all of `docs/` together.
const MAX_WORDS: usize = 20_640;
const MAX_LINE: usize = 120;

/// The lines outside of fenced blocks; those within are empty.
fn prose(text: &str) -> Vec<&str> {
    let mut is_fenced = false;
    let lines = text.lines().map(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        if is_fenced || is_fence { "" } else { line }
    });
    lines.collect()
}

/// Targets of `[text](target)` outside of code spans.
fn links(text: &str) -> Vec<String> {
    let lines = prose(text);
    let outside = lines.iter().map(|line| {
        let parts: Vec<&str> = line.split('`').step_by(2).collect();
        parts.concat()
    });
    let outside: Vec<String> = outside.collect();
    let text = outside.join("\n");
    let targets = text.split("](").skip(1);
    let targets = targets.filter_map(|rest| rest.split(')').next());
    targets.map(str::to_owned).collect()
}

/// The anchor that a heading gets: lower case, spaces to hyphens, other signs dropped.
fn anchors(text: &str) -> Vec<String> {
    let lines = prose(text);
    let headings = lines.iter().filter(|line| line.starts_with('#'));
    let anchor = |heading: &&str| {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        heading.chars().filter(is_kept).collect::<String>()
    };
    headings.map(anchor).map(|a| a.replace(' ', "-")).collect()
}

fn leads_somewhere(page: &Page, link: &str) -> bool {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() {
        page.path()
    } else {
        page.path().parent().unwrap().join(file)
    };
    let has_anchor = |text: String| anchors(&text).iter().any(|known| known == anchor);
    target.exists() && (anchor.is_empty() || fs::read_to_string(&target).is_ok_and(has_anchor))
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    let mut count = 0;
    for page in pages::all() {
        for link in links(&page.text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            count += 1;
            if !leads_somewhere(&page, &link) {
                broken.push(format!("{}: {link}", page.name));
            }
        }
    }
    println!("{count} links");
    assert!(count > 30, "{count} links: the pages are written otherwise");
    assert!(
        broken.is_empty(),
        "links that lead nowhere:\n{}",
        broken.join("\n")
    );
}

/// README is the index for users, CONTRIBUTING for contributors.
#[test]
fn every_page_of_docs_is_in_an_index_that_says_when_to_read_it() {
    let pages = pages::all();
    let is_index = |page: &&Page| ["README.md", "CONTRIBUTING.md"].contains(&page.name.as_str());
    let indexes: Vec<&Page> = pages.iter().filter(is_index).collect();
    let mut missing = Vec::new();
    for page in pages.iter().filter(|page| page.name.starts_with("docs/")) {
        let link = format!("]({})", page.name);
        let says_when = |line: &str| line.contains(&link) && line.len() > link.len() + 25;
        if !indexes
            .iter()
            .any(|index| index.text.lines().any(says_when))
        {
            missing.push(page.name.as_str());
        }
    }
    assert!(missing.is_empty(), "in no index: {}", missing.join(", "));
}

#[test]
fn no_page_knows_the_machine_it_was_written_on() {
    let mut found = Vec::new();
    for page in pages::all() {
        for (number, line) in page.text.lines().enumerate() {
            let paths = ["/root/", "/home/", "/work/"];
            if paths.iter().any(|path| line.contains(path)) {
                found.push(format!("{}:{}: {line}", page.name, number + 1));
            }
        }
    }
    assert!(
        found.is_empty(),
        "paths of one machine:\n{}",
        found.join("\n")
    );
}

/// Lines outside of tables and fenced blocks that are too long.
fn too_long(text: &str) -> Vec<&str> {
    let mut lines = prose(text);
    lines.retain(|line| !line.starts_with('|') && line.chars().count() > MAX_LINE);
    lines
}

#[test]
fn the_documentation_is_short() {
    let mut all = 0;
    for page in pages::all().iter().filter(|page| page.is_documentation()) {
        let words = page.text.split_whitespace().count();
        println!("{words:6} {}", page.name);
        all += words;
        let long = too_long(&page.text);
        assert!(long.is_empty(), "{}: too long: {long:#?}", page.name);
    }
    println!("{all:6} together");
    assert!(all <= MAX_WORDS, "{all} words, {MAX_WORDS} allowed");
}

#[test]
fn every_shell_block_is_run_or_says_why_not() {
    for page in pages::all() {
        for block in page.shell_blocks() {
            let reason = block.reason_not_to_run.as_deref();
            println!(
                "{}: {}",
                block.place,
                reason.unwrap_or("run by page_commands.rs")
            );
            assert!(
                reason.is_none_or(|reason| reason.len() > 10),
                "{}",
                block.place
            );
        }
    }
}

/// Sources cite pages by their path from the root: `docs/operations.md`.
fn cited(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("docs/").filter_map(|(at, _)| {
        let rest = &text[at..];
        let is_end = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '/' | '.'));
        let path = rest.split(is_end).next().unwrap_or(rest);
        let is_page = Path::new(path).extension().is_some_and(|end| end == "md");
        is_page.then_some(path)
    })
}

#[test]
fn every_page_that_a_source_cites_exists() {
    let files = sources(root(), &["rs", "java", "sh", "toml", "gradle"]);
    let mut missing = Vec::new();
    let mut count = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for page in cited(&text) {
            count += 1;
            if !root().join(page).exists() {
                missing.push(format!("{}: {page}", file.display()));
            }
        }
    }
    assert!(count > 20, "{count} citations");
    assert!(missing.is_empty(), "no such pages:\n{}", missing.join("\n"));
}

/// What follows `prefix` in code spans and shell blocks: `make test`, `scripts/stress.sh`.
fn named(page: &Page, prefix: &str) -> Vec<String> {
    let blocks = page.shell_blocks().into_iter().map(|block| block.script);
    let commands = blocks.flat_map(|script| script.lines().map(str::to_owned).collect::<Vec<_>>());
    let spans = page.text.split('`').map(str::to_owned);
    let named = commands.chain(spans).filter_map(|text| {
        let name = text.strip_prefix(prefix)?;
        let is_end = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
        name.split(is_end).next().map(str::to_owned)
    });
    named.filter(|name| !name.is_empty()).collect()
}

#[test]
fn every_script_and_make_target_of_the_pages_exists() {
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    let is_target = |name: &str| makefile.contains(&format!("\n{name}:"));
    let is_script = |name: &str| Path::new(root()).join("scripts").join(name).exists();
    let mut count = 0;
    for page in pages::all() {
        for target in named(&page, "make ") {
            count += 1;
            assert!(is_target(&target), "{}: make {target}", page.name);
        }
        for script in named(&page, "scripts/") {
            count += 1;
            assert!(is_script(&script), "{}: scripts/{script}", page.name);
        }
    }
    assert!(count > 20, "{count}: the pages are written otherwise");
}

/// The word after `option` in a command.
fn value_of<'c>(words: &[&'c str], option: &str) -> Option<&'c str> {
    let at = words.iter().position(|word| *word == option)?;
    words.get(at + 1).copied()
}

/// The directory of a package of the workspace.
fn package(name: &str) -> Option<PathBuf> {
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let (_, members) = workspace.split_once("members = [").unwrap();
    let members = members.split(']').next().unwrap_or_default();
    let mut members = members.split('"').skip(1).step_by(2);
    let is_named = |member: &&str| {
        let manifest = fs::read_to_string(root().join(member).join("Cargo.toml"));
        manifest.is_ok_and(|text| text.contains(&format!("\nname = \"{name}\"\n")))
    };
    members.find(is_named).map(|member| root().join(member))
}

/// The filter of `cargo test -p e2e --test jvm known_split -- --nocapture`: a part of the name of
/// a function or module somewhere in the package.
fn has_filtered_tests(words: &[&str], package: &Path) -> bool {
    let options = words.split(|word| *word == "--").next().unwrap();
    let mut last = "";
    let filter = options.iter().skip(2).find(|word| {
        let is_value = last.starts_with('-');
        last = word;
        !is_value && !word.starts_with('-')
    });
    filter.is_none_or(|filter| {
        let mut files = sources(package, &["rs"]).into_iter();
        files.any(|file| {
            let text = fs::read_to_string(file).unwrap();
            let mut names = text.lines().filter_map(|line| {
                let line = line.trim_start();
                line.strip_prefix("fn ").or(line.strip_prefix("mod "))
            });
            names.any(|name| name.contains(filter))
        })
    })
}

/// `-p jfr-format --bench writer`: such a package, and a target of that name in it; for tests, what
/// they are filtered by. `make test` runs them, and the benches take minutes each.
fn is_cargo_command(words: &[&str]) -> bool {
    let Some(name) = value_of(words, "-p") else {
        return true;
    };
    let Some(package) = package(name) else {
        return false;
    };
    let is_test = words.get(1) == Some(&"test");
    if is_test && !has_filtered_tests(words, &package) {
        return false;
    }
    [("--test", "tests"), ("--bench", "benches")]
        .iter()
        .all(|(option, targets)| {
            value_of(words, option).is_none_or(|target| {
                let directory = package.join(targets);
                directory.join(format!("{target}.rs")).is_file()
                    || directory.join(target).join("main.rs").is_file()
            })
        })
}

/// The variables of `make TARGET NAME=VALUE` are options of the script.
fn is_make_command(words: &[&str]) -> bool {
    let script = root().join("scripts").join(format!("{}.sh", words[1]));
    let script = fs::read_to_string(script).unwrap_or_default();
    let mut variables = words[2..].iter().filter_map(|word| word.split_once('='));
    variables.all(|(name, _)| script.contains(name))
}

#[test]
fn every_command_in_text_and_tables_can_be_called() {
    let mut count = 0;
    for page in pages::all() {
        for command in page.commands(&["cargo", "make"]) {
            let words: Vec<&str> = command.split_whitespace().collect();
            let is_known = if words[0] == "cargo" {
                is_cargo_command(&words)
            } else {
                is_make_command(&words)
            };
            assert!(is_known, "{}: {command}", page.name);
            count += 1;
        }
    }
    assert!(count > 20, "{count}: the pages are written otherwise");
}

/// Names and patterns (`shadow.*`) at the begin of the list items of a section.
fn listed<'t>(page: &'t str, heading: &str) -> Vec<&'t str> {
    let section = page.split_once(heading).map_or("", |(_, section)| section);
    let section = section.split("\n## ").next().unwrap_or(section);
    let items = section.split("\n- `").skip(1);
    let names = items.flat_map(|item| {
        let (names, _meaning) = item.split_once(':').unwrap_or((item, ""));
        names
            .split([',', '`', '\n', ' '])
            .filter(|name| !name.is_empty())
    });
    names.collect()
}

/// Those of test builds are not for users.
#[test]
fn the_page_lists_every_counter_and_no_other() {
    let page = fs::read_to_string(root().join("docs/operations.md")).unwrap();
    let listed = listed(&page, "\n## Counters\n");
    let stands_for = |listed: &str, name: &str| match listed.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == listed,
    };
    let known: Vec<&str> = Counter::ALL.iter().map(|counter| counter.name()).collect();
    let mut missing = known.clone();
    missing.retain(|name| !name.starts_with("oracle."));
    missing.retain(|name| !listed.iter().any(|listed| stands_for(listed, name)));
    assert!(missing.is_empty(), "docs/operations.md lacks {missing:?}");
    let mut unknown = listed;
    unknown.retain(|listed| !known.iter().any(|name| stands_for(listed, name)));
    assert!(unknown.is_empty(), "no counters: {unknown:?}");
}
