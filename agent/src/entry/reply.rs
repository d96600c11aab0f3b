//! Where the answer to a command by attach goes: to the log, or to a file of the caller.
//!
//! The attach protocol returns a number only. `ctxjfr` adds the item `reply=FILE` to the option
//! string, last, with a name in a directory of its own, and reads the answer there.

use crate::log;
use crate::output;
use std::path::Path;

const ITEM: &str = "reply=";

/// The option string without the item, and the item's file.
pub(super) fn split(text: &str) -> (&str, Option<&Path>) {
    let (rest, item) = text.rsplit_once(',').unwrap_or(("", text));
    let file = item.strip_prefix(ITEM).map(Path::new);
    match file.filter(|file| file.is_absolute()) {
        Some(file) => (rest, Some(file)),
        None => (text, None),
    }
}

/// Delivers an answer, or the line of a refusal. An answer that the file cannot take goes to the
/// log.
pub(super) fn deliver(answer: &Result<String, String>, file: Option<&Path>) {
    let (Ok(text) | Err(text)) = answer;
    match file.map(|file| output::write_reply(file, text)) {
        Some(Ok(())) => return,
        Some(Err(why)) => log::warn(&format!("the answer cannot go to the caller: {why}")),
        None => {}
    }
    match answer {
        Ok(answer) if answer.is_empty() => {}
        Ok(answer) => log::answer(answer),
        Err(line) => log::error(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_absolute_name_at_the_end_is_taken_out() {
        let file = Some(Path::new("/tmp/x/reply"));
        assert_eq!(split("status,reply=/tmp/x/reply"), ("status", file));
        assert_eq!(split("reply=/tmp/x/reply"), ("", file));
        for other in [
            "",
            "status",
            "reply=x",
            "start,reply=/a,file=x.jfr",
            "file=reply=/a",
        ] {
            assert_eq!(split(other), (other, None));
        }
    }
}
