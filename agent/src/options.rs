//! Option string → [`Options`]. One table, [`TABLE`], holds every name with its kind, limits,
//! default and help; `read` reads a value by its kind, `names` checks names of attributes, `near`
//! and `hints` make messages helpful and printable.
//!
//! No `unsafe`, no I/O, no panic on any input.
//!
//! Grammar, as in async-profiler: items separated by commas, each `name=value`; the first item may
//! be a [`Command`] without a value. Options without a command mean `start`; an empty string means
//! [`Command::Load`]. Empty items are skipped. A value may hold any character except commas and
//! control characters. An option given twice is an error, and so is one that the command does not
//! use: no input is ignored.

mod defaults;
mod events;
mod filter;
mod help;
mod hints;
mod kind;
mod labels;
mod names;
mod near;
mod parse;
mod parsed;
mod rates;
mod read;
mod redact;
mod suffix;
mod table;
mod types;
mod value;

pub use filter::{Condition, MAX_CONDITIONS};
pub use help::{help, list_text};
pub use kind::Kind;
pub use labels::Labels;
pub use names::{NameProblem, RESERVED_NAMES, check_attribute_name};
pub use parse::{
    ENVIRONMENT, KILL_SWITCH, MAX_LEN_BYTES, OptionsError, parse, parse_with_environment,
};
pub(crate) use parse::{asks_nothing_else, gives};
pub use parsed::Options;
pub use rates::RateLimits;
pub use redact::{Redact, Redaction};
pub use table::{Row, Scope, TABLE};
pub use types::{
    CStack, Command, Engine, LabelSource, Log, LogLevel, Mechanism, MechanismSet, Signal,
    StatusFormat, VirtualThreads, WallThreads,
};

#[cfg(test)]
mod page_tests;
#[cfg(test)]
mod testing;
