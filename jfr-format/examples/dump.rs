//! `dump FILE [TYPE]`: the samples of a recording, or every field of the events of one type. A tool
//! of some thirty lines.

use std::error::Error;
use std::io::{self, Write};

use jfr_format::read::{Chunks, ParsedChunk, Value, is_execution_sample};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let file = std::fs::read(args.next().ok_or("usage: dump FILE [TYPE]")?)?;
    dump(&file, args.next().as_deref(), &mut io::stdout().lock())
}

pub(crate) fn dump(
    file: &[u8],
    wanted: Option<&str>,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let mut chunks = Chunks::new(file);
    for chunk in chunks.by_ref() {
        let open = ParsedChunk::new(&chunk)?;
        match wanted {
            Some(name) => {
                for event in open.events_named(name) {
                    writeln!(out, "{} {}", event.raw().offset, event.ty().name)?;
                    for (field, value) in event.fields() {
                        let value = match value? {
                            Value::Ref(reference) => reference.resolve().unwrap_or(Value::Null),
                            value => value,
                        };
                        match value {
                            Value::Struct(value) => {
                                writeln!(out, "  {} = {}", field.name, value.ty().name)?;
                            }
                            Value::Array(array) => {
                                writeln!(out, "  {} = [{}]", field.name, array.len())?;
                            }
                            value => writeln!(out, "  {} = {value:?}", field.name)?,
                        }
                    }
                }
            }
            None => {
                for sample in open.samples(is_execution_sample) {
                    let sample = sample?;
                    let thread = sample.thread();
                    write!(
                        out,
                        "{} {:?}",
                        sample.start_nanos,
                        thread.as_ref().map_or("", |thread| thread.name())
                    )?;
                    for (name, value) in sample.context() {
                        write!(out, " {name}={value:?}")?;
                    }
                    writeln!(out)?;
                    for frame in sample.stack().into_iter().flat_map(|stack| stack.frames()) {
                        let line = frame.line().unwrap_or(0);
                        writeln!(
                            out,
                            "    {}.{}{}:{line}",
                            frame.class(),
                            frame.method(),
                            frame.descriptor()
                        )?;
                    }
                }
            }
        }
    }
    for damage in chunks.corruptions() {
        writeln!(out, "{damage}")?;
    }
    Ok(())
}
