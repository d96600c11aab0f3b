//! `counters`: what each counter counts, as declared in `schema`.

use schema::counter::{Class, Counter};

use crate::args::CountersArgs;
use crate::filter::glob_match;
use crate::output::{Failure, Output};

/// Runs the command; counters of test builds are left out.
pub(crate) fn run(args: &CountersArgs, output: &mut Output) -> Result<bool, Failure> {
    let is_wanted = |name: &str| {
        let mut globs = args.names.iter();
        args.names.is_empty() || globs.any(|glob| glob_match(name, glob))
    };
    let counters = Counter::ALL.iter().copied();
    let mut shown = counters
        .filter(|counter| is_wanted(counter.name()) && !counter.name().starts_with("oracle."))
        .peekable();
    if shown.peek().is_none() {
        let message = format!("no counter is called {}", args.names.join(" or "));
        return Err(Failure::Finding(message));
    }
    for counter in shown {
        // A unit is one word, that of its variant.
        let unit = format!("{:?}", counter.unit()).to_lowercase();
        let at_present = match counter.class() {
            Class::Gauge => ", at present",
            Class::Recording | Class::Process => "",
        };
        let (name, meaning) = (output.bold(counter.name()), counter.meaning());
        output.line(format!("{name} ({unit}{at_present}):{meaning}"))?;
    }
    Ok(true)
}
