//! Texts that outlive their chunk: cut, and copied once for all references.
//!
//! A hostile file can give one text of megabytes to a hundred thousand columns, event types or
//! samples, at a few bytes for each.

use std::sync::Arc;

use hashbrown::HashMap;

/// Names of threads, types, classes, methods and attributes are cut to this length.
pub(crate) const MAX_NAME_BYTES: usize = 512;
/// Values of attributes are cut to this length.
pub(crate) const MAX_VALUE_BYTES: usize = 4096;
/// Limit of the attribute columns that are read per event type; ours have at most 8.
pub(crate) const MAX_COLUMNS: usize = 64;

/// The start of a name.
pub(crate) fn cut(name: &str) -> &str {
    &name[..name.floor_char_boundary(MAX_NAME_BYTES)]
}

/// Copies by the address of the text, which is cheap to compare and fixed while the chunk lives.
#[derive(Debug, Default)]
pub(crate) struct SharedTexts<'c> {
    by_place: HashMap<(*const u8, usize), Arc<str>>,
    of_chunk: std::marker::PhantomData<&'c str>,
}

impl<'c> SharedTexts<'c> {
    /// A name.
    pub(crate) fn name(&mut self, text: &'c str) -> Arc<str> {
        self.share(cut(text))
    }

    /// A value of an attribute.
    pub(crate) fn value(&mut self, text: &'c str) -> Arc<str> {
        self.share(&text[..text.floor_char_boundary(MAX_VALUE_BYTES)])
    }

    fn share(&mut self, text: &'c str) -> Arc<str> {
        let copy = self.by_place.entry((text.as_ptr(), text.len()));
        copy.or_insert_with(|| text.into()).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_and_copied_once() {
        let long = "é".repeat(3000);
        let mut texts = SharedTexts::default();
        let (name, value) = (texts.name(&long), texts.value(&long));
        assert_eq!((name.len(), value.len()), (512, 4096));
        assert!(Arc::ptr_eq(&name, &texts.name(&long)));
        assert_eq!(&*texts.value("short"), "short");
        assert_eq!(&*texts.name(&"a".repeat(511)), "a".repeat(511));
    }
}
