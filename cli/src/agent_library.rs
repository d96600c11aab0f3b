//! The agent's library that comes with `ctxjfr`.

use std::fs::File;
use std::path::PathBuf;

use crate::output::Failure;

/// Its file name.
pub(crate) const NAME: &str = "libctxagent.so";

/// Whether a library is an agent, by its file name.
pub(crate) fn is_agent(name: &str) -> bool {
    name.starts_with("libctxagent") && name.contains(".so")
}

/// The library beside `ctxjfr`, or in `lib` beside its directory, as packages place both.
pub(crate) fn open() -> Result<File, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::Finding(format!("the place of ctxjfr: {error}")))?;
    let directory = program.parent().unwrap_or(&program);
    let places: [PathBuf; 2] = [directory.join(NAME), directory.join("../lib").join(NAME)];
    let Some(place) = places.iter().find(|place| place.is_file()) else {
        return Err(Failure::Finding(format!(
            "{NAME} is not beside {}; put it there, or name the target's own with --agent",
            program.display()
        )));
    };
    File::open(place).map_err(|error| Failure::Finding(format!("{}: {error}", place.display())))
}
