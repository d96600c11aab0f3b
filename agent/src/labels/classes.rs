//! The Java classes of `labels` that the agent carries, by their names with slashes.

use super::sources::{JAKARTA, JAVAX, JAVAX_PACKAGE, PACKAGE};
use crate::jvm::class_bundle::{self, ClassBundle, Classes, unpack};
use class_patcher::class_file::ClassFile;
use std::borrow::Cow;

const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/labels.bin"));
/// Unpacked where the first class is wanted: most programs have none of the libraries.
static BUNDLE: ClassBundle = ClassBundle::new(|| unpack(PACKED));

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
    class_bundle::find(&BUNDLE, name)
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
