//! Java classes that the agent carries, packed by `build.rs` (deflate): of each the length of the
//! name in 4 bytes, the name, the length of the class file, and the class file.

use std::sync::LazyLock;

/// A bundle, unpacked where the first class is wanted.
pub(crate) type ClassBundle = LazyLock<Vec<u8>>;

/// Unpacks one. Nothing is left of one that is damaged.
pub(crate) fn unpack(packed: &[u8]) -> Vec<u8> {
    miniz_oxide::inflate::decompress_to_vec(packed).unwrap_or_default()
}

/// The class file of a class, by its name in the bundle.
pub(crate) fn find(bundle: &'static ClassBundle, name: &str) -> Option<&'static [u8]> {
    let mut classes = Classes(bundle);
    let class = classes.find(|(known, _)| *known == name.as_bytes());
    class.map(|(_, bytes)| bytes)
}

/// The classes of a bundle: names and class files.
pub(crate) struct Classes(pub(crate) &'static [u8]);

impl Classes {
    fn take(&mut self) -> Option<&'static [u8]> {
        let (length, rest) = self.0.split_first_chunk()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (taken, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }
}

impl Iterator for Classes {
    type Item = (&'static [u8], &'static [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        Some((self.take()?, self.take()?))
    }
}
