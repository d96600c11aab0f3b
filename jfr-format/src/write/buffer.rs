//! Events on their way to the file.

use super::model::Context;
use super::text;
use super::ticks::Ticks;
use crate::declare::EventId;
use crate::varint;

/// Events that are not in the file yet, as the file will have them.
#[derive(Debug, Default)]
pub(super) struct EventBuffer {
    /// The bytes; a flush appends checkpoint and padding to them before it writes.
    pub(super) bytes: Vec<u8>,
    events: u64,
}

impl EventBuffer {
    pub(super) fn events(&self) -> u64 {
        self.events
    }

    /// Appends an event: `body` writes the fields after `startTime`.
    #[inline]
    pub(super) fn event(
        &mut self,
        id: EventId,
        at: Ticks,
        columns: usize,
        body: impl FnOnce(&mut Fields<'_>),
    ) {
        put_event(&mut self.bytes, id, at, columns, body);
        self.events += 1;
    }

    /// Drops all events and all but some of the memory, so that a burst does not keep it.
    pub(super) fn clear(&mut self) {
        const KEEP: usize = 1 << 20;
        self.bytes.clear();
        self.bytes.shrink_to(KEEP);
        self.events = 0;
    }
}

/// Appends an event to `out`.
#[inline]
pub(super) fn put_event(
    out: &mut Vec<u8>,
    id: EventId,
    at: Ticks,
    columns: usize,
    body: impl FnOnce(&mut Fields<'_>),
) {
    let start = out.len();
    // One byte is enough for the size of most events.
    out.extend_from_slice(&[0, id]);
    varint::put(out, at.0);
    body(&mut Fields { out, columns });
    let size = out.len() - start;
    match u8::try_from(size) {
        Ok(size @ 0..0x80) => out[start] = size,
        _ => widen_size(out, start),
    }
}

/// Makes room for the size of an event of 128 bytes or more.
fn widen_size(out: &mut Vec<u8>, start: usize) {
    let rest = out.len() - start - 1;
    let mut width = 2;
    while varint::len((rest + width) as u64) > width {
        width += 1;
    }
    let mut size = Vec::with_capacity(width);
    varint::put(&mut size, (rest + width) as u64);
    out.splice(start..=start, size);
}

/// The fields of the event being written, behind `startTime`, in declared order.
#[derive(Debug)]
pub struct Fields<'a> {
    out: &'a mut Vec<u8>,
    columns: usize,
}

impl Fields<'_> {
    /// Whether attribute columns are declared.
    #[inline]
    pub fn has_columns(&self) -> bool {
        self.columns > 0
    }

    /// A pool key, or a number of 32 bits.
    #[inline]
    pub fn key(&mut self, key: impl Into<u32>) -> &mut Self {
        varint::put(self.out, u64::from(key.into()));
        self
    }

    /// A number that is not negative.
    #[inline]
    pub fn unsigned(&mut self, value: u64) -> &mut Self {
        varint::put(self.out, value);
        self
    }

    /// A number.
    pub fn signed(&mut self, value: i64) -> &mut Self {
        varint::put_long_signed(self.out, value);
        self
    }

    /// A `boolean`.
    pub fn flag(&mut self, value: bool) -> &mut Self {
        self.out.push(u8::from(value));
        self
    }

    /// A text that stands in the event itself.
    pub fn text(&mut self, value: &str) -> &mut Self {
        text::put(self.out, Some(value));
        self
    }

    /// A text that may be null.
    pub fn optional_text(&mut self, value: Option<&str>) -> &mut Self {
        text::put(self.out, value);
        self
    }

    /// The attribute columns ([`Part::Columns`](crate::declare::Part::Columns)).
    #[inline]
    pub fn columns(&mut self, context: &Context) -> &mut Self {
        for key in &context.values[..self.columns] {
            varint::put(self.out, u64::from(key.0));
        }
        self
    }

    /// The self-skipping trailer: its first byte counts the bytes to the event's end, itself
    /// included.
    ///
    /// What `body` writes must be shorter than 127 bytes: all columns, and four numbers of any
    /// size, are.
    #[inline]
    pub fn trailer(&mut self, body: impl FnOnce(&mut Self)) {
        let start = self.out.len();
        self.out.push(0);
        body(self);
        let len = self.out.len() - start;
        debug_assert!(len < 0x80, "a trailer of {len} bytes");
        self.out[start] = u8::try_from(len).unwrap_or(0x7f);
    }

    /// A trailer of columns and context id; nothing at all if no column is declared.
    pub fn context_trailer(&mut self, context: &Context) {
        if self.has_columns() {
            self.trailer(|fields| {
                fields.columns(context).key(context.id);
            });
        }
    }
}

/// An event that every chunk begins with, so that each chunk can be read alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkEvent {
    id: EventId,
    fields: Vec<u8>,
}

impl ChunkEvent {
    /// An event of a declared type without columns; `body` writes the fields after `startTime`.
    pub fn new(id: EventId, body: impl FnOnce(&mut Fields<'_>)) -> Self {
        let mut out = Vec::new();
        body(&mut Fields {
            out: &mut out,
            columns: 0,
        });
        Self { id, fields: out }
    }

    /// Appends the event.
    pub(super) fn put(&self, out: &mut Vec<u8>, at: Ticks) {
        put_event(out, self.id, at, 0, |fields| {
            fields.out.extend_from_slice(&self.fields);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_long_events_are_widened() {
        for len in [
            1, 120, 121, 122, 123, 124, 125, 126, 127, 128, 200, 16_370, 16_380, 70_000,
        ] {
            let mut out = vec![9];
            put_event(&mut out, 100, Ticks(5), 0, |f| {
                f.text(&"x".repeat(len));
            });
            let (size, _) = varint::get(&out[1..]).unwrap_or_default();
            assert_eq!(size, out.len() as u64 - 1, "{len}");
        }
    }
}
