//! Hints for messages: the likely meaning of input that is not valid. Nothing is accepted here.

use super::kind::{Kind, SIZE_UNITS, TIME_UNITS, unit_text};
use super::near::shown;
use super::table::{Row, alone};

/// Options of other tools, and the text to write for them.
const MEANT: &[(&[&str], &str)] = &[
    (&["cpu"], "write event=cpu,interval=10ms"),
    (
        &["filename", "output", "dir", "path"],
        "write file=DIRECTORY/NAME.jfr",
    ),
    (&["verbose", "debug", "trace"], "write loglevel=debug"),
    (&["-h", "-help", "--help", "?"], "write help"),
    (&["quiet", "silent"], "write loglevel=off"),
    (
        &["maxsize", "maxage", "maxchunksize"],
        "the last 24 hours are kept by loop=1h,file=app-%n{24}.jfr",
    ),
    (
        &["delay"],
        "load the agent without a command and start later: jcmd PID JVMTI.agent_load LIB start",
    ),
    (
        &["name", "settings", "disk", "dumponexit"],
        "it is an option of the JDK's own recorder",
    ),
    (
        &["live", "nativemem"],
        "it is an option of async-profiler that has no counterpart",
    ),
];
/// Longest number whose unit may be missing.
const MAX_DIGITS_ALONE: usize = 4;
/// Walkers of native frames.
const NATIVE_WALKERS: &[&str] = &["fp", "dwarf", "lbr", "vmx"];
/// Events of other profilers that are no synonyms of ours.
const OTHER_EVENTS: &[(&str, &str)] = &[
    ("all", "did you mean 'cpu+wall+alloc+lock'?"),
    ("malloc", "native memory is not sampled"),
    ("nativemem", "native memory is not sampled"),
];

/// Hint for an unknown name. `before` is the option in front of it.
pub(super) fn for_name(name: &str, before: Option<&Row>) -> Option<String> {
    if let Some((_, instead)) = MEANT.iter().find(|(names, _)| names.contains(&name)) {
        return Some((*instead).to_owned());
    }
    if name.contains([';', ' ', '&', '\t']) && !name.starts_with(' ') {
        return Some("items are separated by commas without blanks: start,file=app.jfr".to_owned());
    }
    let list = before.filter(|row| {
        matches!(
            row.kind,
            Kind::Names
                | Kind::Filter
                | Kind::Redact
                | Kind::Labels
                | Kind::Rates
                | Kind::Choices(_)
                | Kind::Subset(_)
        )
    })?;
    Some(format!(
        "if it belongs to '{}', join it with + instead of a comma",
        list.name
    ))
}

/// Hint for an invalid value of an option.
pub(super) fn for_value(row: &Row, text: &str) -> Option<String> {
    let meant = |value: &str| format!("did you mean '{value}'?");
    match row.kind {
        Kind::Time { min, max, bare } => {
            // A small bare number is rarely meant as nanoseconds.
            let usual = (bare == 1).then_some("ms");
            number(row, text).or_else(|| amount(text, TIME_UNITS, usual, min..=max))
        }
        Kind::Size { min, max } => {
            let text = text.trim_end_matches(['b', 'B']);
            number(row, text).or_else(|| amount(text, SIZE_UNITS, Some("k"), min..=max))
        }
        Kind::Choices(words) => {
            if let Some((_, hint)) = OTHER_EVENTS.iter().find(|(event, _)| *event == text) {
                return Some((*hint).to_owned());
            }
            let parts: Vec<&str> = text.split([';', '|', '&', '/', ':', ' ']).collect();
            let are_words = parts.len() > 1 && parts.iter().all(|part| words.contains(part));
            are_words.then(|| meant(&parts.join("+")))
        }
        Kind::Flag => match text.to_ascii_lowercase().as_str() {
            "1" | "yes" | "on" | "true" => Some(meant("true")),
            "0" | "no" | "off" | "false" => Some(meant("false")),
            _ => None,
        },
        Kind::Signal => {
            let name = text.to_ascii_lowercase();
            let name = name.strip_prefix("sig")?;
            ["prof", "vtalrm"].contains(&name).then(|| meant(name))
        }
        Kind::Choice(_) if row.name == "cstack" && NATIVE_WALKERS.contains(&text) => {
            Some("native frames are not recorded; 'vm' walks Java frames".to_owned())
        }
        _ => None,
    }
}

/// Hint for a switch instead of an amount.
fn number(row: &Row, text: &str) -> Option<String> {
    let standard = alone(row)?;
    match text {
        "true" | "on" | "yes" => Some(format!("'{}' alone means {standard}", row.name)),
        "0" | "false" | "off" | "no" => Some("leave the option out".to_owned()),
        _ => None,
    }
}

/// Normalizes an amount with blanks, upper case, a fraction or without its unit: `0.5 S` to
/// `500ms`.
fn amount(
    text: &str,
    units: &[(&str, u64)],
    usual: Option<&str>,
    allowed: std::ops::RangeInclusive<u64>,
) -> Option<String> {
    let text: String = text.to_ascii_lowercase().split_whitespace().collect();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let unit = match unit {
        "" if number.len() <= MAX_DIGITS_ALONE => usual?,
        _ => unit,
    };
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let places = u32::try_from(fraction.len()).ok()?;
    let scale = 10_u64.checked_pow(places)?;
    let scaled = format!("{whole}{fraction}").parse::<u64>().ok()?;
    let total = scaled.checked_mul(*factor)? / scale;
    let fits = allowed.contains(&total);
    fits.then(|| format!("did you mean '{}'?", unit_text(total, units)))
}

/// Refuses file names that rely on a shell or on quotes.
pub(super) fn check_file_name(text: &str) -> Result<(), String> {
    if text.starts_with(['"', '\'']) {
        return Err("quotes are not taken off; write the name without them".to_owned());
    }
    if text.starts_with("~/") || text.starts_with('$') || text.contains("/${") {
        return Err(
            "'~' and '$' are for a shell; write the path in full, or with %{HOME} for a variable"
                .to_owned(),
        );
    }
    if text == "stdout" || text == "-" {
        return Err(format!(
            "stdout is the application's; write ./{} for a file of that name",
            shown(text)
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
