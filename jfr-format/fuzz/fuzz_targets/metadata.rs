//! Metadata: the payload of a metadata event is any bytes.
#![no_main]

use jfr_format::read::{Metadata, RawEvent};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|payload: &[u8]| {
    let event = RawEvent {
        offset: 68,
        size: payload.len() as u64 + 5,
        type_id: 0,
        payload_offset: 73,
        payload,
    };
    let metadata = match Metadata::parse(&event) {
        Ok(metadata) => metadata,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    for ty in metadata.types() {
        let index = metadata
            .index_of(ty.id)
            .expect("each type is found by its id");
        assert_eq!(metadata.at(index).id, ty.id);
        let _ = (ty.is_event(), ty.label(), metadata.index_of_name(&ty.name));
        for (place, field) in ty.fields.iter().enumerate() {
            assert!(
                ty.field_position(&field.name)
                    .is_some_and(|first| first <= place)
            );
            if let Some(index) = field.type_index {
                let _ = metadata.at(index);
            }
        }
    }
});
