//! Text from recordings is hostile until it went through here: one function per output format.

use std::borrow::Cow;
use std::fmt::Write as _;

mod dates;

pub(crate) use dates::{moment, utc, utc_exact};

/// Characters that a terminal or an editor acts upon: controls, bidirectional marks, separators of
/// lines, invisible ones.
pub(crate) fn is_active(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// For a terminal: active characters become escapes like `\u{1b}`.
pub(crate) fn terminal(text: &str) -> Cow<'_, str> {
    if !text.contains(is_active) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => clean.push_str("\\n"),
            '\r' => clean.push_str("\\r"),
            '\t' => clean.push_str("\\t"),
            c if is_active(c) => {
                let _ = write!(clean, "\\u{{{:x}}}", u32::from(c));
            }
            c => clean.push(c),
        }
    }
    Cow::Owned(clean)
}

/// A value as JSON text. Active characters, and those that mean something to HTML, are escaped, so
/// that the text may stand in a page too.
pub(crate) fn json(value: &serde_json::Value) -> String {
    let plain = value.to_string();
    let mut safe = String::with_capacity(plain.len());
    // Outside of strings JSON has none of these characters, so escapes land in strings only.
    for c in plain.chars() {
        if is_active(c) || matches!(c, '<' | '>' | '&') {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(c);
        }
    }
    safe
}

/// A cell of CSV: quoted where needed, and never the start of a formula.
pub(crate) fn csv(cell: &str) -> String {
    let clean = terminal(cell);
    let formula = clean.starts_with(['=', '+', '-', '@']);
    let text = if formula {
        format!("'{clean}")
    } else {
        clean.into_owned()
    };
    if text.contains([',', '"', ';']) || formula || text.starts_with(' ') || text.ends_with(' ') {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text
}

/// Text of HTML, also inside of a quoted attribute.
pub(crate) fn html(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in terminal(text).chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

/// A word of a shell command that is shown for copying.
pub(crate) fn shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) && !word.starts_with('-') {
        return word.to_owned();
    }
    format!("'{}'", terminal(word).replace('\'', "'\\''"))
}

/// A frame of the collapsed format, without its separators.
pub(crate) fn collapsed(frame: &str) -> String {
    terminal(frame).replace(';', ":")
}

/// Digits in groups of three.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A span of time with three significant places or so.
#[expect(clippy::cast_precision_loss, reason = "shown with three places")]
pub(crate) fn duration(nanos: u64) -> String {
    let seconds = nanos as f64 / 1e9;
    match nanos {
        0 => "0 s".to_owned(),
        1..1_000_000 => format!("{:.1} us", seconds * 1e6),
        1_000_000..1_000_000_000 => format!("{:.0} ms", seconds * 1e3),
        1_000_000_000..1_000_000_000_000 => format!("{seconds:.2} s"),
        _ => format!("{} s", thousands(nanos / 1_000_000_000)),
    }
}

/// A number of things: `1 chunk`, `2,000 chunks`.
pub(crate) fn count(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", thousands(number))
}

/// How often something happened.
pub(crate) fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{} times", thousands(count)),
    }
}

/// A number of bytes.
#[expect(clippy::cast_precision_loss, reason = "shown with one place")]
pub(crate) fn bytes(count: u64) -> String {
    let mut size = count as f64;
    let mut unit = "B";
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        unit = next;
    }
    if unit == "B" {
        format!("{count} B")
    } else {
        format!("{size:.1} {unit}")
    }
}

/// A share in per cent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Number of places that a text takes; wide characters count twice, roughly.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(|c| if matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' | '\u{1f300}'..='\u{1faff}') { 2 } else { 1 }).sum()
}

/// Cut to a number of places, with an ellipsis.
pub(crate) fn cut(text: &str, places: usize) -> String {
    if width(text) <= places {
        return text.to_owned();
    }
    let mut cut = String::new();
    for c in text.chars() {
        if width(&cut) + 2 > places {
            break;
        }
        cut.push(c);
    }
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_text_has_no_active_character_left() {
        assert_eq!(
            terminal("a\u{1b}[31mb\n\u{202e}c\u{9b}"),
            "a\\u{1b}[31mb\\n\\u{202e}c\\u{9b}"
        );
        assert!(matches!(terminal("é日😀"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_stays_json_and_cannot_end_an_element() {
        let value = serde_json::json!({"k": "</div>&\u{2028}\u{202e}\u{7f}\u{e0041}\"\\"});
        let text = json(&value);
        assert!(!text.contains(['<', '>', '&']) && !text.contains(is_active));
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).ok(),
            Some(value)
        );
    }

    #[test]
    fn csv_cells_never_start_a_formula() {
        assert_eq!(csv("=1+1"), "\"'=1+1\"");
        assert_eq!(csv("@x"), "\"'@x\"");
        assert_eq!(csv("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(csv("plain"), "plain");
        assert_eq!(csv("\t=1"), "\\t=1");
    }

    #[test]
    fn shell_words_survive_a_shell() {
        assert_eq!(shell("a.jfr"), "a.jfr");
        assert_eq!(shell("http.route=POST /x"), "'http.route=POST /x'");
        assert_eq!(shell("it's"), "'it'\\''s'");
        assert_eq!(shell("-rf"), "'-rf'");
        assert_eq!(shell("$(x)"), "'$(x)'");
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(duration(18_400_000_000), "18.40 s");
        assert_eq!(duration(412_000_000), "412 ms");
        assert_eq!(cut("abcdef", 4), "abc…");
        let counts = [0, 1, 2000].map(|number| count(number, "chunk"));
        assert_eq!(counts, ["0 chunks", "1 chunk", "2,000 chunks"]);
        assert_eq!([1, 2, 3].map(times), ["once", "twice", "3 times"]);
    }
}
