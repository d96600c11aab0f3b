//! Kinds of values with their limits and units.

use super::filter::MAX_CONDITIONS;
use super::rates;
use schema::limits::ATTRIBUTE_SLOTS;
use std::fmt;

pub(super) const NANOS_PER_MILLI: u64 = 1_000_000;
pub(super) const NANOS_PER_SEC: u64 = 1_000_000_000;
pub(super) const NANOS_PER_DAY: u64 = 24 * 3600 * NANOS_PER_SEC;
pub(super) const KIB: u64 = 1024;
pub(super) const MIB: u64 = 1024 * KIB;
pub(super) const GIB: u64 = 1024 * MIB;

/// Units of time, in nanoseconds.
pub(super) const TIME_UNITS: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("ms", NANOS_PER_MILLI),
    ("s", NANOS_PER_SEC),
    ("m", 60 * NANOS_PER_SEC),
    ("h", 3600 * NANOS_PER_SEC),
    ("d", NANOS_PER_DAY),
];
/// Units of size, in bytes.
pub(super) const SIZE_UNITS: &[(&str, u64)] = &[("k", KIB), ("m", MIB), ("g", GIB)];

/// Kind and limits of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number and a unit; all in nanoseconds. A bare number counts `bare`.
    Time {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
        /// Unit of a bare number.
        bare: u64,
    },
    /// A whole number of bytes, or with unit `k`, `m`, `g`.
    Size {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A whole number.
    Count {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
        /// Whether only powers of two are allowed.
        power_of_two: bool,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One or more of these words, joined with `+`; with `+` in front they add to the default.
    Choices(&'static [&'static str]),
    /// Some of these words, or `all`, joined with `+`; a word with `-` in front leaves it out.
    Subset(&'static [&'static str]),
    /// `true` or `false`; the bare name is `true`.
    Flag,
    /// No value: the bare name.
    Alone,
    /// Names of attributes, separated by `+`.
    Names,
    /// Conditions on the context, separated by `+`.
    Filter,
    /// Redactions by attribute, joined with `+`.
    Redact,
    /// Where labels come from, joined with `+`.
    Labels,
    /// Events per second by kind, joined with `+`.
    Rates,
    /// A file name with patterns.
    File,
    /// `prof`, `vtalrm` or a number.
    Signal,
    /// `stderr` or a file name.
    Log,
    /// `default`, `profile` or the file of settings of the JDK's recorder.
    JdkSettings,
}

impl fmt::Display for Kind {
    /// The allowed values, for messages and help.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Time { min, max, bare } => {
                let alone = unit_text(bare, TIME_UNITS);
                write!(
                    f,
                    "{} to {}, ",
                    unit_text(min, TIME_UNITS),
                    unit_text(max, TIME_UNITS)
                )?;
                write!(
                    f,
                    "whole numbers with ns, us, ms, s, m, h, d (a number alone counts {})",
                    &alone[1..]
                )
            }
            Self::Size { min, max } => {
                write!(
                    f,
                    "{} to {}, ",
                    unit_text(min, SIZE_UNITS),
                    unit_text(max, SIZE_UNITS)
                )?;
                f.write_str("whole numbers with k, m, g (a number alone counts bytes)")
            }
            Self::Count {
                min,
                max,
                power_of_two,
            } => {
                let what = if power_of_two {
                    "powers of two"
                } else {
                    "whole numbers"
                };
                write!(f, "{min} to {max}, {what}")
            }
            Self::Choice(words) => f.write_str(&words.join(", ")),
            Self::Choices(words) => write!(
                f,
                "{}, several joined with +, +lock means cpu+lock",
                words.join(", ")
            ),
            Self::Subset(words) => write!(
                f,
                "all, {}, several joined with +; -NAME leaves one out",
                words.join(", ")
            ),
            Self::Flag => f.write_str("true, false"),
            Self::Alone => f.write_str("no value"),
            Self::Names => write!(f, "up to {ATTRIBUTE_SLOTS} names joined with +"),
            Self::Labels => f.write_str(
                "auto (route+otel), none, or some of route, otel, mdc:NAME, joined with +; - in \
                 front of a word leaves it out",
            ),
            Self::Redact => write!(
                f,
                "up to {ATTRIBUTE_SLOTS} of NAME:drop, NAME:hash joined with +"
            ),
            Self::Rates => f.write_str(rates::ALLOWED),
            Self::Filter => write!(
                f,
                "up to {MAX_CONDITIONS} of @context, @none, NAME, NAME=VALUE joined with + (in a \
                 value %2B is +, %2C a comma, %25 a %)"
            ),
            Self::File => f.write_str("a file name with %p, %t, %n{MAX}, %h, %{NAME}, %%"),
            Self::Signal => f.write_str("prof, vtalrm, 34 to 64"),
            Self::JdkSettings => f.write_str("default, profile, or the name of a .jfc file"),
            Self::Log => f.write_str("stderr, or a file name with %p, %t, %h, %{NAME}, %%"),
        }
    }
}

/// `number` in the largest unit that divides it.
pub(super) fn unit_text(number: u64, units: &[(&str, u64)]) -> String {
    let unit = units
        .iter()
        .rev()
        .find(|(_, factor)| number.is_multiple_of(*factor));
    match unit {
        Some((unit, factor)) if number != 0 => format!("{}{unit}", number / factor),
        _ => number.to_string(),
    }
}
