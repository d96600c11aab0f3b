//! Other names for packages and classes.

use super::constant_pool::{ConstantPool, UTF8, put_text};
use crate::error::Result;
use std::borrow::Cow;

/// The entries of the pool, without their number, with other names in their texts.
pub(super) fn with_other_names(pool: &ConstantPool<'_>, names: &[(&str, &str)]) -> Result<Vec<u8>> {
    let mut entries = Vec::new();
    for (tag, content) in pool.entries() {
        entries.push(tag);
        if tag == UTF8 {
            put_text(&renamed(content, names), pool.range().start, &mut entries)?;
        } else {
            entries.extend_from_slice(content);
        }
    }
    Ok(entries)
}

fn renamed<'a>(content: &'a [u8], names: &[(&str, &str)]) -> Cow<'a, [u8]> {
    // A name that is not UTF-8 is none of those.
    let Ok(text) = str::from_utf8(content) else {
        return content.into();
    };
    let replace = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
    let renamed = names.iter().fold(text.to_owned(), replace);
    renamed.into_bytes().into()
}
