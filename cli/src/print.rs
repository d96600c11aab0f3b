//! `print`: events as text or JSON lines.

use jfr_format::chunk::Header;
use jfr_format::read::{Event, Field, Value};
use serde_json::{Value as Json, json};

use crate::args::PrintArgs;
use crate::filter::matches_type;
use crate::input;
use crate::output::{Cleaner, Failure, Output};
use crate::summary::utc;
use crate::text;

/// References are followed so deep; below, only the key is shown.
const MOST_DEPTH: u32 = 4;
/// Elements of an array shown, and structs unfolded per event: bounds the output by the input.
const MOST_NODES: u32 = 20_000;

/// Runs the command; gives whether everything is fine.
pub(crate) fn run(args: &PrintArgs, output: &mut Output) -> Result<bool, Failure> {
    let cleaner = output.cleaner();
    let outcome = input::in_turn(&args.files.files, |chunk, damages| {
        for event in chunk.events() {
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    damages.push(format!(
                        "chunk at {}, {error}; the rest of the chunk is left out",
                        chunk.offset()
                    ));
                    break;
                }
            };
            let name = &event.ty().name;
            if !args.events.is_empty()
                && !args.events.iter().any(|wanted| matches_type(name, wanted))
            {
                continue;
            }
            if args.files.json {
                output.json(&event_json(chunk.header(), &event))?;
            } else {
                output.bytes(event_text(chunk.header(), &event, args, cleaner).as_bytes())?;
            }
        }
        Ok(())
    })?;
    Ok(outcome.tell())
}

fn event_json(header: &Header, event: &Event<'_>) -> Json {
    let mut budget = MOST_NODES;
    let mut values = serde_json::Map::new();
    for (field, value) in event.fields() {
        let value = match value {
            Ok(value) => field_json(header, field, value, &mut budget),
            Err(error) => json!({"error": error.to_string()}),
        };
        values.insert(field.name.to_string(), value);
    }
    json!({"type": &*event.ty().name, "values": values})
}

fn field_json(header: &Header, field: &Field, value: Value<'_>, budget: &mut u32) -> Json {
    match time_of(header, field, &value) {
        Some(Time::At(nanos)) => json!(utc(nanos)),
        Some(Time::Span(nanos)) => json!(nanos),
        None => value_json(value, 0, budget),
    }
}

fn value_json(value: Value<'_>, depth: u32, budget: &mut u32) -> Json {
    *budget = budget.saturating_sub(1);
    if *budget == 0 {
        return json!("...");
    }
    match value {
        Value::Boolean(value) => json!(value),
        Value::Float(value) => json!(value),
        Value::Double(value) => json!(value),
        Value::Text(text) => json!(text),
        Value::Ref(reference) if depth < MOST_DEPTH + 4 => reference
            .resolve()
            .map_or(Json::Null, |value| value_json(value, depth + 1, budget)),
        Value::Ref(reference) => json!({"key": reference.key}),
        Value::Struct(value) => {
            let mut fields = serde_json::Map::new();
            for (field, value) in value.fields() {
                if *budget == 0 {
                    break;
                }
                let value = value.map_or(Json::Null, |value| value_json(value, depth + 1, budget));
                fields.insert(field.name.to_string(), value);
            }
            Json::Object(fields)
        }
        Value::Array(array) => {
            let mut elements = Vec::new();
            for element in array.iter() {
                if *budget == 0 {
                    break;
                }
                elements.push(
                    element.map_or(Json::Null, |element| value_json(element, depth + 1, budget)),
                );
            }
            Json::Array(elements)
        }
        value => value.as_long().map_or(Json::Null, |number| json!(number)),
    }
}

enum Time {
    At(i64),
    Span(i64),
}

/// Times by their annotations, in nanoseconds.
fn time_of(header: &Header, field: &Field, value: &Value<'_>) -> Option<Time> {
    let number = value.as_long()?;
    if let Some(unit) = field.annotation("jdk.jfr.Timestamp") {
        return match unit {
            "TICKS" => Some(Time::At(header.epoch_nanos(number))),
            "MILLISECONDS_SINCE_EPOCH" if number > 0 => {
                Some(Time::At(number.saturating_mul(1_000_000)))
            }
            _ => None,
        };
    }
    match field.annotation("jdk.jfr.Timespan")? {
        // The smallest and greatest long mean "none".
        _ if number == i64::MIN || number == i64::MAX => None,
        "TICKS" => Some(Time::Span(header.span_nanos(number))),
        "NANOSECONDS" => Some(Time::Span(number)),
        "MICROSECONDS" => Some(Time::Span(number.saturating_mul(1_000))),
        "MILLISECONDS" => Some(Time::Span(number.saturating_mul(1_000_000))),
        "SECONDS" => Some(Time::Span(number.saturating_mul(1_000_000_000))),
        _ => None,
    }
}

fn event_text(header: &Header, event: &Event<'_>, args: &PrintArgs, output: Cleaner) -> String {
    let mut page = output.clean(&event.ty().name);
    page.push_str(" {\n");
    for (field, value) in event.fields() {
        let text = match value {
            Err(error) => format!("(unreadable: {error})"),
            Ok(value) => match time_of(header, field, &value) {
                Some(Time::At(nanos)) => utc(nanos),
                Some(Time::Span(nanos)) if nanos >= 0 => text::duration(nanos.unsigned_abs()),
                Some(Time::Span(nanos)) => format!("{nanos} ns"),
                None if &*field.name == "stackTrace" => stack_text(value, args.stack_depth, output),
                None => value_text(value, 0, output),
            },
        };
        page.push_str("  ");
        page.push_str(&output.clean(&field.name));
        page.push_str(" = ");
        page.push_str(&text);
        page.push('\n');
    }
    page.push_str("}\n\n");
    page
}

fn value_text(value: Value<'_>, depth: u32, output: Cleaner) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Boolean(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Double(value) => value.to_string(),
        Value::Text(text) => format!("\"{}\"", output.clean(&text)),
        Value::Array(array) => format!("[{} elements]", array.len()),
        Value::Ref(reference) if depth < MOST_DEPTH => reference.resolve().map_or_else(
            || "N/A".to_owned(),
            |value| value_text(value, depth + 1, output),
        ),
        Value::Ref(reference) => format!("#{}", reference.key),
        Value::Struct(value) => {
            let text = |name: &str| match value.get(name).ok().flatten() {
                Some(value @ (Value::Text(_) | Value::Ref(_))) => value.into_text(),
                _ => None,
            };
            let long = |name: &str| {
                value
                    .get(name)
                    .ok()
                    .flatten()
                    .and_then(|value| value.as_long())
            };
            match &*value.ty().name {
                "java.lang.Thread" => {
                    let name = text("javaName")
                        .or_else(|| text("osName"))
                        .unwrap_or_default();
                    format!(
                        "\"{}\" (javaThreadId = {}, osThreadId = {})",
                        output.clean(&name),
                        long("javaThreadId").unwrap_or(0),
                        long("osThreadId").unwrap_or(0)
                    )
                }
                "java.lang.Class"
                | "jdk.types.Package"
                | "jdk.types.Module"
                | "jdk.types.ClassLoader"
                | "jdk.types.ThreadGroup" => {
                    output.clean(&text("name").unwrap_or_default().replace('/', "."))
                }
                _ if depth < MOST_DEPTH => {
                    let fields: Vec<String> = value
                        .fields()
                        .take(16)
                        .map(|(field, value)| {
                            let value = value.map_or_else(
                                |error| error.to_string(),
                                |value| value_text(value, depth + 1, output),
                            );
                            format!("{} = {value}", output.clean(&field.name))
                        })
                        .collect();
                    format!("{{ {} }}", fields.join(", "))
                }
                name => output.clean(name),
            }
        }
        value => value
            .as_long()
            .map_or_else(String::new, |number| number.to_string()),
    }
}

fn stack_text(value: Value<'_>, depth: usize, output: Cleaner) -> String {
    let stack = match value {
        Value::Ref(reference) => reference.resolve(),
        value => Some(value),
    };
    let Some(Value::Struct(stack)) = stack else {
        return "N/A".to_owned();
    };
    let Ok(Some(Value::Array(frames))) = stack.get("frames") else {
        return "N/A".to_owned();
    };
    let mut text = String::from("[");
    for frame in frames.iter().take(depth) {
        let Ok(Value::Struct(frame)) = frame else {
            break;
        };
        text.push_str("\n    ");
        text.push_str(&frame_text(&frame, output));
    }
    if frames.len() > depth {
        text.push_str("\n    ...");
    }
    text.push_str("\n  ]");
    text
}

fn frame_text(frame: &jfr_format::read::Struct<'_>, output: Cleaner) -> String {
    let resolve = |value: Option<Value<'_>>| match value {
        Some(Value::Ref(reference)) => match reference.resolve() {
            Some(Value::Struct(value)) => Some((
                value.get("type").ok().flatten().is_some(),
                value.get("name").ok().flatten()?.into_text()?.into_owned(),
            )),
            _ => None,
        },
        _ => None,
    };
    let Ok(Some(Value::Ref(method))) = frame.get("method") else {
        return "(unknown)".to_owned();
    };
    let Some(Value::Struct(method)) = method.resolve() else {
        return "(unknown)".to_owned();
    };
    let class = resolve(method.get("type").ok().flatten())
        .map(|(_, name)| name.replace('/', "."))
        .unwrap_or_default();
    let name = method
        .get("name")
        .ok()
        .flatten()
        .and_then(Value::into_text)
        .unwrap_or_default()
        .into_owned();
    let line = frame
        .get("lineNumber")
        .ok()
        .flatten()
        .and_then(|line| line.as_long())
        .unwrap_or(0);
    output.clean(&if line > 0 {
        format!("{class}.{name} line: {line}")
    } else {
        format!("{class}.{name}")
    })
}
