//! What the samples are of, for OpenTelemetry: from the variables that its own tools read, and from
//! the recording where these say nothing.

use std::collections::BTreeMap;

use super::protobuf::Message;
use crate::collect::{Fact, ProcessFacts};

const SERVICE_NAME: &str = "service.name";
/// The specification's name for a service that nobody named.
const UNKNOWN_SERVICE: &str = "unknown_service:java";

/// The message `Resource`.
pub(super) fn resource(process: &ProcessFacts) -> Message {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let attributes = attributes(
        &variable("OTEL_SERVICE_NAME"),
        &variable("OTEL_RESOURCE_ATTRIBUTES"),
    );
    let attributes = attributes.into_iter();
    let mut facts: BTreeMap<String, Fact> = attributes
        .map(|(key, value)| (key, Fact::Text(value)))
        .collect();
    for (key, fact) in process.iter() {
        facts.entry(key.to_owned()).or_insert_with(|| fact.clone());
    }
    let mut resource = Message::default();
    for (key, fact) in facts {
        let mut any = Message::default();
        match fact {
            Fact::Text(text) => any.text(1, &text),
            Fact::Number(number) => any.unsigned(3, number.cast_unsigned()),
        }
        let mut pair = Message::default();
        pair.text(1, &key);
        pair.message(2, &any);
        resource.message(1, &pair);
    }
    resource
}

/// `key=value,...` with `%2C` for a comma; the name of the service counts before that.
fn attributes(service: &str, list: &str) -> BTreeMap<String, String> {
    let pairs = list.split(',').filter_map(|pair| pair.split_once('='));
    let pairs = pairs.map(|(key, value)| (decode(key.trim()), decode(value.trim())));
    let mut attributes: BTreeMap<String, String> = pairs.collect();
    if !service.is_empty() {
        attributes.insert(SERVICE_NAME.to_owned(), service.to_owned());
    }
    let name = attributes.entry(SERVICE_NAME.to_owned());
    name.or_insert_with(|| UNKNOWN_SERVICE.to_owned());
    attributes.remove("");
    attributes
}

/// Percent-encoded text; what is not encoded right stays as it is.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let code = behind.get(..2).filter(|_| first == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        let code = code.filter(|code| code.bytes().all(|digit| digit.is_ascii_hexdigit()));
        if let Some(byte) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            bytes.push(byte);
            rest = &behind[2..];
        } else {
            bytes.push(first);
            rest = behind;
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read_as_open_telemetry_writes_them() {
        let read = |service, list| {
            let attributes = attributes(service, list).into_iter();
            let shown: Vec<String> = attributes
                .map(|(key, value)| format!("{key}={value}"))
                .collect();
            shown.join(";")
        };
        assert_eq!(read("", ""), "service.name=unknown_service:java");
        assert_eq!(read("shop", "service.name=x,a=1"), "a=1;service.name=shop");
        assert_eq!(
            read(
                "",
                "service.name=x, a = b%2C%3D%C3%A9 ,=1,none,p=100%,q=%zz"
            ),
            "a=b,=é;p=100%;q=%zz;service.name=x"
        );
        assert_eq!(read("", "a=%ff"), "a=%ff;service.name=unknown_service:java");
    }
}
