//! `stats FILE...`: chunks, events and bytes per type, damage. A small tool that needs level 2
//! only.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};

use jfr_format::read::{ChunkParser, ChunkStream};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for path in std::env::args_os().skip(1) {
        let mut stream = ChunkStream::new(File::open(&path)?);
        let mut types: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        let mut chunks = 0;
        let mut parser = ChunkParser::new();
        while let Some(chunk) = stream.next_chunk()? {
            chunks += 1;
            let chunk = chunk.as_chunk();
            let open = match parser.parse(&chunk) {
                Ok(open) => open,
                Err(error) => {
                    writeln!(out, "chunk at {}: {error}", chunk.offset)?;
                    continue;
                }
            };
            for damage in open.corruptions() {
                writeln!(out, "{damage}")?;
            }
            for event in open.raw_events() {
                let event = match event {
                    Ok(event) => event,
                    Err(error) => {
                        writeln!(out, "chunk at {}: {error}", chunk.offset)?;
                        break;
                    }
                };
                let name = match event.type_id {
                    0 => "(metadata)".to_owned(),
                    1 => "(checkpoint)".to_owned(),
                    id => open
                        .metadata()
                        .type_by_id(id)
                        .map_or_else(|| format!("(unknown {id})"), |ty| ty.name.to_string()),
                };
                let row = types.entry(name).or_default();
                row.0 += 1;
                row.1 += event.size;
            }
        }
        for damage in stream.corruptions() {
            writeln!(out, "{damage}")?;
        }
        writeln!(out, "{chunks} chunks")?;
        let mut rows: Vec<_> = types.into_iter().collect();
        rows.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        for (name, (count, bytes)) in rows {
            writeln!(out, "{count:>10} {bytes:>12}  {name}")?;
        }
    }
    Ok(())
}
