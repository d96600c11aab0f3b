//! Texts as the format wants them.

use std::borrow::Cow;

use crate::varint;

/// Appends a string: tags 0 (null), 1 (empty) and 3 (UTF-8) only, because Grafana's parser fails on
/// 2 and async-profiler's converter and the metadata readers on some of the others.
pub(super) fn put(out: &mut Vec<u8>, text: Option<&str>) {
    match text {
        None => out.push(0),
        Some("") => out.push(1),
        Some(text) => put_utf8(out, text),
    }
}

/// Appends a string with tag 3, also an empty one: async-profiler's converter knows nothing else in
/// symbols.
pub(super) fn put_utf8(out: &mut Vec<u8>, text: &str) {
    out.push(3);
    varint::put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// `descriptor`, or `()V` if it is not one: `jfr print` aborts on those.
pub(super) fn sound_descriptor(descriptor: &str) -> &str {
    if is_method_descriptor(descriptor.as_bytes()) {
        descriptor
    } else {
        "()V"
    }
}

fn is_method_descriptor(bytes: &[u8]) -> bool {
    let Some(mut rest) = bytes.strip_prefix(b"(") else {
        return false;
    };
    while !rest.starts_with(b")") {
        match after_type(rest) {
            Some(next) => rest = next,
            None => return false,
        }
    }
    let result = &rest[1..];
    result == b"V" || after_type(result).is_some_and(<[u8]>::is_empty)
}

/// What follows the field type at the start of `bytes`.
fn after_type(bytes: &[u8]) -> Option<&[u8]> {
    let dimensions = bytes.iter().take_while(|b| **b == b'[').count();
    let (first, rest) = bytes[dimensions..].split_first()?;
    match first {
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' => Some(rest),
        b'L' => {
            let end = rest.iter().position(|b| *b == b';')?;
            Some(&rest[end + 1..])
        }
        _ => None,
    }
}

/// The JVM's "modified UTF-8" as text: `c0 80` is NUL, characters beyond the BMP are two surrogates
/// of three bytes each. Anything that is neither becomes U+FFFD.
///
/// ```
/// use jfr_format::write::from_modified_utf8;
/// assert_eq!(from_modified_utf8(b"a\xc0\x80b"), "a\0b");
/// assert_eq!(from_modified_utf8(b"\xed\xa0\xbd\xed\xb8\x80"), "\u{1f600}");
/// ```
pub fn from_modified_utf8(bytes: &[u8]) -> Cow<'_, str> {
    // Almost every name is the same in both encodings.
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let units = modified_units(bytes);
    Cow::Owned(
        char::decode_utf16(units)
            .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect(),
    )
}

fn modified_units(bytes: &[u8]) -> Vec<u16> {
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&first, tail)) = rest.split_first() {
        let (unit, used) = match (first, tail) {
            (0..0x80, _) => (u16::from(first), 1),
            (0xc0..0xe0, [b @ 0x80..0xc0, ..]) => {
                (u16::from(first & 0x1f) << 6 | u16::from(b & 0x3f), 2)
            }
            (0xe0..0xf0, [b @ 0x80..0xc0, c @ 0x80..0xc0, ..]) => (
                u16::from(first & 0xf) << 12 | u16::from(b & 0x3f) << 6 | u16::from(c & 0x3f),
                3,
            ),
            _ => (0xfffd, 1),
        };
        units.push(unit);
        rest = &rest[used..];
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_strings() {
        let encoded = |text| {
            let mut out = Vec::new();
            put(&mut out, text);
            out
        };
        assert_eq!(encoded(None), [0]);
        assert_eq!(encoded(Some("")), [1]);
        assert_eq!(encoded(Some("GET")), *b"\x03\x03GET");
        assert_eq!(encoded(Some("é")), [3, 2, 0xc3, 0xa9]);
        assert_eq!(encoded(Some("😀")), [3, 4, 0xf0, 0x9f, 0x98, 0x80]);
    }

    #[test]
    fn descriptors_that_break_the_printer_are_replaced() {
        for good in [
            "()V",
            "(I[[J)Ljava/lang/String;",
            "(Ljava/util/List;ZC)[B",
            "()L;",
        ] {
            assert_eq!(sound_descriptor(good), good);
        }
        for bad in [
            "", "V", "(", "()", "(V)V", "(Lx)V", "()VV", "(Q)V", "()[", "x()V",
        ] {
            assert_eq!(sound_descriptor(bad), "()V", "{bad}");
        }
    }

    #[test]
    fn broken_modified_utf8_is_replaced() {
        assert_eq!(from_modified_utf8(b"\xff\xc0"), "\u{fffd}\u{fffd}");
        assert_eq!(from_modified_utf8(b"\xed\xa0\xbdx"), "\u{fffd}x");
    }
}
