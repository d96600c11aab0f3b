//! Structures in Thrift's compact protocol, as Parquet describes itself with them.

use super::protobuf::varint;

/// Types of fields and elements.
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;
const TRUE: u8 = 1;

/// A structure in the making. Its fields are written in the order of their numbers.
#[derive(Debug, Default)]
pub(super) struct Struct {
    bytes: Vec<u8>,
    last_field: u8,
}

impl Struct {
    fn field(&mut self, number: u8, ty: u8) {
        self.bytes.push((number - self.last_field) << 4 | ty);
        self.last_field = number;
    }

    pub(super) fn with_i32(mut self, number: u8, value: i32) -> Self {
        self.field(number, I32);
        zigzag(&mut self.bytes, value.into());
        self
    }

    pub(super) fn with_i64(mut self, number: u8, value: i64) -> Self {
        self.field(number, I64);
        zigzag(&mut self.bytes, value);
        self
    }

    pub(super) fn with_true(mut self, number: u8) -> Self {
        self.field(number, TRUE);
        self
    }

    pub(super) fn with_text(mut self, number: u8, text: &str) -> Self {
        self.field(number, BINARY);
        self.text(text);
        self
    }

    pub(super) fn with_struct(mut self, number: u8, value: Struct) -> Self {
        self.field(number, STRUCT);
        self.bytes.extend(value.finish());
        self
    }

    pub(super) fn with_structs(mut self, number: u8, values: Vec<Struct>) -> Self {
        self.list(number, STRUCT, values.len());
        for value in values {
            self.bytes.extend(value.finish());
        }
        self
    }

    pub(super) fn with_i32s(mut self, number: u8, values: &[i32]) -> Self {
        self.list(number, I32, values.len());
        for &value in values {
            zigzag(&mut self.bytes, value.into());
        }
        self
    }

    /// A list of one text.
    pub(super) fn with_texts(mut self, number: u8, text: &str) -> Self {
        self.list(number, BINARY, 1);
        self.text(text);
        self
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    fn list(&mut self, number: u8, ty: u8, len: usize) {
        self.field(number, LIST);
        self.bytes.push(0xf0 | ty);
        varint(&mut self.bytes, len as u64);
    }

    fn text(&mut self, text: &str) {
        varint(&mut self.bytes, text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }
}

fn zigzag(into: &mut Vec<u8>, value: i64) {
    varint(into, (value << 1 ^ value >> 63).cast_unsigned());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_encoded_as_the_protocol_says() {
        let inner = Struct::default().with_true(1);
        let encoded = Struct::default()
            .with_i32(1, -1)
            .with_i64(3, 64)
            .with_text(4, "é")
            .with_struct(5, inner)
            .with_i32s(7, &[1, -2])
            .finish();
        let expected: &[&[u8]] = &[
            &[0x15, 1],
            &[0x26, 0x80, 1],
            &[0x18, 2, 0xc3, 0xa9],
            &[0x1c, 0x11, 0],
            &[0x29, 0xf5, 2, 2, 3],
            &[0],
        ];
        assert_eq!(encoded, expected.concat());
    }
}
