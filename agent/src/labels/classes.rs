//! The Java classes that the agent carries, made by `build.rs`: each is a length of 4 bytes, the
//! name with slashes, a length, and the class file. All of them are packed (deflate).

use super::sources::{JAKARTA, JAVAX, JAVAX_PACKAGE, PACKAGE};
use class_patcher::class_file::ClassFile;
use std::borrow::Cow;
use std::sync::LazyLock;

const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/labels.bin"));
/// Unpacked where the first class is wanted: most programs have none of the libraries.
static BUNDLE: LazyLock<Vec<u8>> =
    LazyLock::new(|| miniz_oxide::inflate::decompress_to_vec(PACKED).unwrap_or_default());

/// Packages whose classes are copies of those in [`PACKAGE`]: for the same API by another name.
const COPIES: [(&str, (&str, &str)); 2] = [
    (JAVAX_PACKAGE, (JAKARTA, JAVAX)),
    (
        "io/ctxagent/labels/shaded/",
        (
            "io/opentelemetry/",
            "io/opentelemetry/javaagent/shaded/io/opentelemetry/",
        ),
    ),
];

/// The class file of a class, by its name with slashes.
pub(crate) fn class_file(name: &str) -> Option<Cow<'static, [u8]>> {
    let mut copies = COPIES.iter();
    let copy = copies.find_map(|(package, api)| Some((package, api, name.strip_prefix(package)?)));
    let Some((package, api, class)) = copy else {
        return packed(name).map(Cow::Borrowed);
    };
    let class = packed(&format!("{PACKAGE}{class}"))?;
    let class = ClassFile::parse(class).ok()?;
    let copy = class.with_other_names(&[*api, (PACKAGE, package)]).ok()?;
    Some(copy.into())
}

fn packed(name: &str) -> Option<&'static [u8]> {
    let mut classes = Classes(&BUNDLE);
    let class = classes.find(|(known, _)| *known == name.as_bytes());
    class.map(|(_, bytes)| bytes)
}

/// The names of the classes that are nested in a class.
pub(super) fn nested(name: &str) -> impl Iterator<Item = &'static str> {
    let names = Classes(&BUNDLE).filter_map(|(known, _)| str::from_utf8(known).ok());
    names.filter(move |known| {
        known
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with('$'))
    })
}

/// Whether this build has any.
pub(crate) const fn are_there() -> bool {
    !PACKED.is_empty()
}

struct Classes(&'static [u8]);

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_found_by_name() {
        if are_there() {
            let class = class_file("io/ctxagent/labels/Labels").unwrap_or_default();
            assert!(class.starts_with(&[0xCA, 0xFE, 0xBA, 0xBE]));
            assert!(Classes(&BUNDLE).count() > 50);
            for (copy, _) in COPIES {
                assert_eq!(nested(copy).count(), 0, "nested classes have no copies");
            }
        }
        assert_eq!(class_file("io/ctxagent/labels/None"), None);
        let grpc: Vec<_> = nested("io/ctxagent/labels/source/Grpc").collect();
        assert_eq!(grpc.len(), if are_there() { 2 } else { 0 }, "{grpc:?}");
    }
}
