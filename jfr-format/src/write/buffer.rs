//! Events on their way to the file.

use super::config::Ticks;
use super::model::Context;
use super::text;
use crate::events::EventId;
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
    pub(super) fn event(&mut self, id: EventId, at: Ticks, body: impl FnOnce(&mut Fields<'_>)) {
        put_event(&mut self.bytes, id, at, body);
        self.events += 1;
    }

    /// Drops all events; keeps some memory, so that a burst is not paid for for ever.
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
    body: impl FnOnce(&mut Fields<'_>),
) {
    let start = out.len();
    // One byte is enough for the size of most events.
    out.extend_from_slice(&[0, id]);
    varint::put(out, at.0);
    body(&mut Fields { out });
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

/// The fields of the event being written.
pub(super) struct Fields<'a> {
    out: &'a mut Vec<u8>,
}

impl Fields<'_> {
    #[inline]
    pub(super) fn key(&mut self, key: u32) -> &mut Self {
        varint::put(self.out, u64::from(key));
        self
    }

    #[inline]
    pub(super) fn unsigned(&mut self, value: u64) -> &mut Self {
        varint::put(self.out, value);
        self
    }

    pub(super) fn signed(&mut self, value: i64) -> &mut Self {
        varint::put_long_signed(self.out, value);
        self
    }

    pub(super) fn flag(&mut self, value: bool) -> &mut Self {
        self.out.push(u8::from(value));
        self
    }

    pub(super) fn text(&mut self, value: &str) -> &mut Self {
        text::put(self.out, Some(value));
        self
    }

    pub(super) fn optional_text(&mut self, value: Option<&str>) -> &mut Self {
        text::put(self.out, value);
        self
    }

    #[inline]
    pub(super) fn columns(&mut self, context: &Context, columns: usize) -> &mut Self {
        for key in &context.values[..columns] {
            self.key(key.0);
        }
        self
    }

    /// `contextLength`, columns, `contextId`; nothing at all if no column is declared.
    pub(super) fn context(&mut self, context: &Context, columns: usize) {
        if columns > 0 {
            self.trailer(|f| {
                f.columns(context, columns).key(context.id);
            });
        }
    }

    /// The self-skipping trailer: its first byte counts the bytes to the event's end, itself included.
    #[inline]
    pub(super) fn trailer(&mut self, body: impl FnOnce(&mut Self)) {
        let start = self.out.len();
        self.out.push(0);
        body(self);
        // At most eight keys, an id, a weight and a thread of five bytes each, or a size of nine: below 128.
        self.out[start] = u8::try_from(self.out.len() - start).unwrap_or(0x7f);
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
            put_event(&mut out, 100, Ticks(5), |f| {
                f.text(&"x".repeat(len));
            });
            let (size, _) = varint::get(&out[1..]).unwrap_or_default();
            assert_eq!(size, out.len() as u64 - 1, "{len}");
        }
    }
}
