//! The VM's encoding of text.

/// Text from the VM's modified UTF-8: NUL as two bytes, supplementary characters as surrogate
/// pairs. Invalid bytes become U+FFFD.
pub(crate) fn from_modified_utf8(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_owned();
    }
    let mut units: Vec<u16> = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, tail @ ..] = rest {
        let (unit, used) = match (first, tail) {
            (0..=0x7f, _) => (u16::from(*first), 1),
            (0xc0..=0xdf, [b, ..]) => ((u16::from(*first & 0x1f) << 6) | u16::from(*b & 0x3f), 2),
            (0xe0..=0xef, [b, c, ..]) => (
                (u16::from(*first & 0x0f) << 12)
                    | (u16::from(*b & 0x3f) << 6)
                    | u16::from(*c & 0x3f),
                3,
            ),
            _ => (0xfffd, 1),
        };
        units.push(unit);
        rest = rest.get(used..).unwrap_or(&[]);
    }
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::from_modified_utf8;

    #[test]
    fn modified_utf8_is_decoded() {
        assert_eq!(from_modified_utf8("plain é 日".as_bytes()), "plain é 日");
        assert_eq!(from_modified_utf8(&[b'a', 0xc0, 0x80, b'b']), "a\0b");
        assert_eq!(
            from_modified_utf8(&[0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]),
            "😀"
        );
        assert_eq!(
            from_modified_utf8(&[0xed, 0xa0, 0xbd, b'x']),
            "\u{fffd}x",
            "a lone surrogate"
        );
        assert_eq!(
            from_modified_utf8(&[0xff, 0xe1]),
            "\u{fffd}\u{fffd}",
            "garbage, cut short"
        );
    }
}
