//! The option `filter`: resolves names to slots and values to ids, for the handler.

use crate::options::{Condition, Options};
use crate::registry::Registry;
use signal_core::filter;
use signal_core::layout::RAW_BYTES;

/// The conditions as the handler tests them. A name gets its slot now, so that it has its column
/// from the first chunk on.
pub(crate) fn resolve<'a>(
    registry: &Registry,
    options: &'a Options,
) -> Result<Vec<filter::Condition<'a>>, String> {
    let slot = |name: &str| {
        let slot = registry
            .bind(name)
            .and_then(|slot| u32::try_from(slot).ok());
        slot.ok_or_else(|| {
            format!("option 'filter': all slots are in use, none is free for attribute '{name}'")
        })
    };
    let limit = usize::from(options.value_limit_bytes);
    let resolved = options.filter.iter().map(|condition| match condition {
        Condition::Context => Ok(filter::Condition::Context),
        Condition::NoContext => Ok(filter::Condition::NoContext),
        Condition::Key(name) => Ok(filter::Condition::Key { slot: slot(name)? }),
        Condition::Entry(name, value) if value.len() > limit => Err(format!(
            "option 'filter': the value of '{name}' has {} bytes; values are cut at {limit} \
             (ctxvalue)",
            value.len()
        )),
        Condition::Entry(name, value) => Ok(filter::Condition::Entry {
            slot: slot(name)?,
            id: registry.intern(value).unwrap_or(0),
            // As Java writes it if it has space.
            text: &value[..value.floor_char_boundary(RAW_BYTES)],
        }),
    });
    resolved.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Options {
        crate::options::parse(&format!("start,{text}")).expect(text)
    }

    #[test]
    fn names_get_the_slot_that_java_will_use_and_values_the_same_id() {
        let registry = Registry::new(10);
        registry.bind("first");
        let options = options("filter=tenant=acme+first");
        let resolved = resolve(&registry, &options).expect("not full");
        assert_eq!(
            resolved,
            [
                filter::Condition::Entry {
                    slot: 1,
                    id: registry.intern("acme").expect("not full"),
                    text: "acme"
                },
                filter::Condition::Key { slot: 0 },
            ]
        );
    }

    #[test]
    fn a_name_without_slot_and_a_value_that_is_always_cut_are_refused() {
        let registry = Registry::new(10);
        for i in 0..8 {
            registry.bind(&format!("k{i}"));
        }
        let refused = resolve(&registry, &options("filter=ninth")).expect_err("no slot");
        assert!(refused.contains("'ninth'"), "{refused}");
        let long = options(&format!("ctxvalue=8,filter=k0={}", "x".repeat(9)));
        let refused = resolve(&registry, &long).expect_err("too long");
        assert!(refused.contains("ctxvalue"), "{refused}");
    }

    #[test]
    fn a_long_value_is_compared_with_raw_ones_as_they_are_cut() {
        let registry = Registry::new(10);
        let value = format!("{}\u{e9}tail", "x".repeat(RAW_BYTES - 1));
        let options = options(&format!("filter=tenant={value}"));
        let resolved = resolve(&registry, &options).expect("a slot is free");
        let expected = filter::Condition::Entry {
            slot: 0,
            id: registry.intern(&value).expect("not full"),
            text: &"x".repeat(RAW_BYTES - 1),
        };
        assert_eq!(resolved, [expected]);
    }

    #[test]
    fn a_full_dictionary_leaves_the_comparison_of_raw_values() {
        let registry = Registry::new(0);
        let options = options("filter=tenant=acme");
        let resolved = resolve(&registry, &options).expect("a slot is free");
        assert!(
            matches!(resolved[..], [filter::Condition::Entry { id: 0, .. }]),
            "{resolved:?}"
        );
    }
}
