//! Messages in the encoding of protocol buffers, version 3: fields of the default value are left
//! out, except in lists.

/// A message in the making, or a part of one.
#[derive(Debug, Default)]
pub(super) struct Message(Vec<u8>);

/// How the bytes behind a field's number are to be read.
const VARINT: u32 = 0;
const FIXED: u32 = 1;
const LENGTH: u32 = 2;

impl Message {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn unsigned(&mut self, field: u32, value: u64) {
        if value != 0 {
            self.key(field, VARINT);
            varint(&mut self.0, value);
        }
    }

    pub(super) fn signed(&mut self, field: u32, value: i64) {
        self.unsigned(field, value.cast_unsigned());
    }

    /// An element of a list of texts, or a text that is there although empty.
    pub(super) fn text(&mut self, field: u32, text: &str) {
        self.delimited(field, text.as_bytes());
    }

    pub(super) fn bytes_field(&mut self, field: u32, bytes: &[u8]) {
        self.delimited(field, bytes);
    }

    /// A number of always eight bytes.
    pub(super) fn fixed(&mut self, field: u32, value: u64) {
        if value != 0 {
            self.key(field, FIXED);
            self.0.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// A list of such numbers.
    pub(super) fn packed_fixed(&mut self, field: u32, values: impl Iterator<Item = u64>) {
        let list: Vec<[u8; 8]> = values.map(u64::to_le_bytes).collect();
        if !list.is_empty() {
            self.delimited(field, list.as_flattened());
        }
    }

    pub(super) fn message(&mut self, field: u32, message: &Message) {
        self.delimited(field, &message.0);
    }

    /// A list of numbers.
    pub(super) fn packed(&mut self, field: u32, values: impl Iterator<Item = u64>) {
        let mut list = Vec::new();
        values.for_each(|value| varint(&mut list, value));
        if !list.is_empty() {
            self.delimited(field, &list);
        }
    }

    /// The fields of another one.
    pub(super) fn append(&mut self, fields: &Message) {
        self.0.extend_from_slice(&fields.0);
    }

    fn delimited(&mut self, field: u32, bytes: &[u8]) {
        self.key(field, LENGTH);
        varint(&mut self.0, bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn key(&mut self, field: u32, wire_type: u32) {
        varint(&mut self.0, u64::from(field << 3 | wire_type));
    }
}

/// Seven bits a byte, the lowest first. Not as in JFR, whose ninth byte has eight.
pub(super) fn varint(into: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        into.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    into.push(value.to_le_bytes()[0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the encoding's own page, and the edges.
    #[test]
    fn messages_are_encoded_as_the_specification_shows() {
        let mut message = Message::default();
        message.unsigned(1, 150);
        assert_eq!(message.bytes(), [0x08, 0x96, 0x01]);
        message.clear();
        message.text(2, "testing");
        assert_eq!(message.bytes(), b"\x12\x07testing");
        message.clear();
        message.packed(6, [3, 270, 86_942].into_iter());
        assert_eq!(message.bytes(), [0x32, 6, 3, 0x8e, 2, 0x9e, 0xa7, 5]);
        let mut outer = Message::default();
        outer.message(3, &message);
        outer.unsigned(4, 0);
        outer.packed(5, std::iter::empty());
        assert_eq!(outer.bytes()[..2], [0x1a, 8]);
        assert_eq!(outer.bytes().len(), 10);
        message.clear();
        message.fixed(2, 1);
        message.packed_fixed(3, [258].into_iter());
        let numbers = [
            [0x11, 1, 0, 0, 0, 0, 0, 0, 0].as_slice(),
            &[0x1a, 8, 2, 1, 0, 0, 0, 0, 0, 0],
        ];
        assert_eq!(message.bytes(), numbers.concat());
        message.clear();
        message.signed(1, -1);
        assert_eq!(message.bytes(), [&[8][..], &[0xff; 9], &[1]].concat());
    }
}
