//! The integers of the format: seven bits a byte, least significant first, at most nine bytes.
//!
//! The ninth byte carries eight raw bits and no continuation flag, so this is not ULEB128. There is
//! no zigzag: a negative `long` takes nine bytes, a negative `int` goes out as its unsigned 32-bit
//! value, because Grafana's parser and async-profiler's converter fail on anything else.
//!
//! ```
//! use jfr_format::varint;
//! let mut out = Vec::new();
//! varint::put(&mut out, 300);
//! assert_eq!(out, [0xac, 0x02]);
//! assert_eq!(varint::get(&out), Some((300, 2)));
//! ```

/// Most bytes an integer can take.
pub const MAX_LEN: usize = 9;

/// Appends `value`.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "the low seven bits are what is meant"
)]
pub fn put(out: &mut Vec<u8>, value: u64) {
    // Most values of a recording are small; this keeps them to one compare.
    if value < 0x80 {
        out.push(value as u8);
        return;
    }
    put_long(out, value);
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the low seven bits are what is meant"
)]
fn put_long(out: &mut Vec<u8>, value: u64) {
    let mut bytes = [0u8; MAX_LEN];
    let mut len = 0;
    let mut rest = value;
    while rest >= 0x80 && len < MAX_LEN - 1 {
        bytes[len] = (rest as u8) | 0x80;
        rest >>= 7;
        len += 1;
    }
    // In the ninth byte all eight bits are data.
    bytes[len] = rest as u8;
    out.extend_from_slice(&bytes[..=len]);
}

/// Appends an `int`; -1 takes five bytes, not nine.
#[inline]
pub fn put_int(out: &mut Vec<u8>, value: i32) {
    put(out, u64::from(value.cast_unsigned()));
}

/// Appends a `long`; a negative one takes nine bytes.
#[inline]
pub fn put_long_signed(out: &mut Vec<u8>, value: i64) {
    put(out, value.cast_unsigned());
}

/// `value` in exactly `N` bytes, for sizes that are patched later. Trailing zero groups are legal.
///
/// Bits that do not fit into `7 * N` are lost: callers keep sizes below that.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the low seven bits are what is meant"
)]
pub const fn padded<const N: usize>(value: u64) -> [u8; N] {
    let mut bytes = [0u8; N];
    let mut i = 0;
    while i < N {
        let more = if i + 1 < N { 0x80 } else { 0 };
        bytes[i] = ((value >> (7 * i)) as u8 & 0x7f) | more;
        i += 1;
    }
    bytes
}

/// Number of bytes that [`put`] takes for `value`.
pub const fn len(value: u64) -> usize {
    let bits = 64 - value.leading_zeros() as usize;
    let groups = bits.div_ceil(7);
    if groups == 0 {
        1
    } else if groups > MAX_LEN {
        MAX_LEN
    } else {
        groups
    }
}

/// The integer at the start of `bytes`, and the number of bytes it took; `None` if it is cut off.
#[inline]
pub fn get(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    if first < 0x80 {
        return Some((u64::from(first), 1));
    }
    get_long(bytes)
}

/// The integer, if it ends within eight bytes: all of them at once, as time stamps have six.
#[inline]
fn get_in_word(bytes: [u8; 8]) -> Option<(u64, usize)> {
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let word = u64::from_le_bytes(bytes);
    let ends = !word & TOPS;
    if ends == 0 {
        return None;
    }
    let len = ends.trailing_zeros() as usize / 8 + 1;
    let sevens = word & !TOPS & (u64::MAX >> (64 - 8 * len));
    // Groups of 7, 14 and 28 bits move together.
    let pairs = sevens & 0x007f_007f_007f_007f | (sevens & 0x7f00_7f00_7f00_7f00) >> 1;
    let fours = pairs & 0x0000_3fff_0000_3fff | (pairs & 0x3fff_0000_3fff_0000) >> 2;
    let value = fours & 0x0fff_ffff | (fours & 0x0fff_ffff_0000_0000) >> 4;
    Some((value, len))
}

fn get_long(bytes: &[u8]) -> Option<(u64, usize)> {
    if let Some(read) = bytes.first_chunk().and_then(|word| get_in_word(*word)) {
        return Some(read);
    }
    let mut value = 0u64;
    for (i, &byte) in bytes.iter().take(MAX_LEN - 1).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            return Some((value, i + 1));
        }
    }
    let ninth = *bytes.get(MAX_LEN - 1)?;
    Some((value | u64::from(ninth) << 56, MAX_LEN))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(value: u64) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, value);
        out
    }

    /// The vectors of the format description.
    const VECTORS: &[(u64, &[u8])] = &[
        (0, &[0]),
        (127, &[0x7f]),
        (128, &[0x80, 1]),
        (300, &[0xac, 2]),
        (16383, &[0xff, 0x7f]),
        (16384, &[0x80, 0x80, 1]),
        ((1 << 31) - 1, &[0xff, 0xff, 0xff, 0xff, 7]),
        ((1 << 32) - 1, &[0xff, 0xff, 0xff, 0xff, 0x0f]),
        (
            (1 << 56) - 1,
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
        ),
        (
            1 << 56,
            &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1],
        ),
        (
            (1 << 63) - 1,
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
        ),
        (u64::MAX, &[0xff; 9]),
    ];

    #[test]
    fn known_values_have_the_known_bytes_in_both_directions() {
        for &(value, bytes) in VECTORS {
            assert_eq!(encoded(value), bytes, "{value}");
            assert_eq!(get(bytes), Some((value, bytes.len())), "{value}");
            assert_eq!(len(value), bytes.len(), "{value}");
        }
    }

    #[test]
    fn bytes_behind_do_not_matter() {
        let powers = (0..64).map(|bit| 1u64 << bit);
        let values = powers.flat_map(|power| [power - 1, power, power | power >> 1 | 1]);
        for value in values.chain(VECTORS.iter().map(|&(value, _)| value)) {
            for behind in [0, 0x7f, 0x80, 0xff] {
                let mut bytes = encoded(value);
                let len = bytes.len();
                bytes.extend([behind; MAX_LEN]);
                assert_eq!(get(&bytes), Some((value, len)), "{value}, then {behind}");
            }
        }
    }

    #[test]
    fn one_missing_byte_is_noticed() {
        for &(value, bytes) in VECTORS {
            assert_eq!(get(&bytes[..bytes.len() - 1]), None, "{value}");
        }
    }

    #[test]
    fn negative_int_takes_five_bytes_and_negative_long_nine() {
        let mut out = Vec::new();
        put_int(&mut out, -1);
        assert_eq!(out, [0xff, 0xff, 0xff, 0xff, 0x0f]);
        out.clear();
        put_long_signed(&mut out, -27);
        assert_eq!(out, [0xe5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    }

    #[test]
    fn padded_forms_read_back() {
        assert_eq!(padded::<4>(300), [0xac, 0x82, 0x80, 0]);
        assert_eq!(get(&padded::<4>(300)), Some((300, 4)));
        assert_eq!(get(&padded::<5>(1 << 30)), Some((1 << 30, 5)));
    }
}
