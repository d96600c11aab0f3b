//! Reads protocol buffers without knowing their types; independent of what writes them.

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    pub(crate) fn number(self) -> u64 {
        match self {
            Field::Number(number) => number,
            Field::Bytes(bytes) => panic!("not a number: {bytes:?}"),
        }
    }

    pub(crate) fn bytes(self) -> &'a [u8] {
        match self {
            Field::Bytes(bytes) => bytes,
            Field::Number(number) => panic!("not bytes: {number}"),
        }
    }

    pub(crate) fn text(self) -> String {
        String::from_utf8(self.bytes().to_vec()).unwrap()
    }
}

/// A number in groups of seven bits.
pub(crate) fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
    }
    panic!("number of more than 64 bits");
}

/// The fields of a message, in their order.
pub(crate) fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => {
                let (number, rest) = bytes.split_first_chunk().unwrap();
                bytes = rest;
                Field::Number(u64::from_le_bytes(*number))
            }
            2 => {
                let len = usize::try_from(varint(&mut bytes)).unwrap();
                let (field, rest) = bytes.split_at(len);
                bytes = rest;
                Field::Bytes(field)
            }
            other => panic!("wire type {other}"),
        };
        fields.push((key >> 3, field));
    }
    fields
}

/// All values of a field.
pub(crate) fn all(bytes: &[u8], wanted: u64) -> Vec<Field<'_>> {
    let fields = fields(bytes).into_iter();
    fields
        .filter(|(number, _)| *number == wanted)
        .map(|(_, field)| field)
        .collect()
}

/// The last value of a number field; 0 where it is left out.
pub(crate) fn number(bytes: &[u8], wanted: u64) -> u64 {
    all(bytes, wanted).last().map_or(0, |field| field.number())
}

/// The numbers of a packed list.
pub(crate) fn packed(bytes: &[u8], wanted: u64) -> Vec<u64> {
    let mut numbers = Vec::new();
    for list in all(bytes, wanted) {
        let mut list = list.bytes();
        while !list.is_empty() {
            numbers.push(varint(&mut list));
        }
    }
    numbers
}

/// The numbers of a packed list of eight bytes each.
pub(crate) fn packed_fixed(bytes: &[u8], wanted: u64) -> Vec<u64> {
    let lists = all(bytes, wanted);
    let lists = lists.iter().flat_map(|list| list.bytes().as_chunks().0);
    lists.map(|number| u64::from_le_bytes(*number)).collect()
}
