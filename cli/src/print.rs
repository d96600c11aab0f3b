//! `print`: events as text or JSON lines.

use std::borrow::Cow;
use std::collections::BTreeSet;

use jfr_format::chunk::Header;
use jfr_format::read::{Event, Field, Struct, Value};
use serde_json::{Value as Json, json};

use crate::args::PrintArgs;
use crate::filter::matches_type;
use crate::input;
use crate::output::{Cleaner, Failure, Output};
use crate::shared::cut;
use crate::text::{self, utc, utc_exact};

/// References are followed so deep in text; below, only the key is shown, or the text where it
/// leads to one.
const MAX_TEXT_DEPTH: u32 = 4;
/// In JSON structs are unfolded so deep, which is the class of a frame of a stack; below, they show
/// their name.
const MAX_JSON_DEPTH: u32 = 8;
/// Elements of an array shown, and structs unfolded per event: bounds the output by the input. A
/// stack of 2048 frames takes a third.
const MAX_NODES: u32 = 100_000;
/// Bytes of names and texts shown per event, beside those that stand in the event itself: texts of
/// pools cost an event one byte each.
const MAX_POOLED_BYTES: usize = 4 << 20;

/// Types named where a wanted one is not there.
const MAX_KNOWN: usize = 1000;

/// What may still be shown of an event.
struct Budget {
    nodes: u32,
    bytes: usize,
    /// Something had no place.
    is_cut: bool,
}

impl Budget {
    fn of(event: &Event<'_>) -> Self {
        // A text of the event itself at most doubles on its way to UTF-8.
        let own = event.raw().payload.len().saturating_mul(2);
        Self {
            nodes: MAX_NODES,
            bytes: own.saturating_add(MAX_POOLED_BYTES),
            is_cut: false,
        }
    }

    /// To be asked before something more is shown: whether it has no place.
    fn is_spent(&mut self) -> bool {
        let is_spent = self.nodes == 0 || self.bytes == 0;
        self.is_cut |= is_spent;
        is_spent
    }

    /// Counts a value. Returns whether it still fits.
    fn takes_value(&mut self) -> bool {
        self.nodes = self.nodes.saturating_sub(1);
        !self.is_spent()
    }

    /// The text, or as much of it as fits.
    fn text<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        if text.len() <= self.bytes {
            self.bytes -= text.len();
            return Cow::Borrowed(text);
        }
        let shown = &text[..text.floor_char_boundary(self.bytes)];
        self.bytes = 0;
        self.is_cut = true;
        Cow::Owned(format!("{shown}..."))
    }
}

/// Runs the command; gives whether everything is fine.
pub(crate) fn run(args: &PrintArgs, output: &mut Output) -> Result<bool, Failure> {
    let cleaner = output.cleaner();
    // Types that the files declare, and whether a pattern has met one.
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut met = vec![false; args.events.len()];
    let outcome = input::for_each_chunk_in_order(&args.files.files, |chunk| {
        if met.contains(&false) {
            let types = chunk.metadata().types().iter().filter(|ty| ty.is_event());
            for name in types.map(|ty| cut(&ty.name)) {
                for (met, wanted) in met.iter_mut().zip(&args.events) {
                    *met = *met || matches_type(name, wanted);
                }
                if known.len() < MAX_KNOWN && !known.contains(name) {
                    known.insert(name.to_owned());
                }
            }
        }
        // What cannot be read is among the chunk's damages.
        for event in chunk.events().map_while(Result::ok) {
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
    let complete = outcome.warn_damages();
    let unmet = args.events.iter().zip(&met).find(|(_, met)| !**met);
    if let Some((wanted, _)) = unmet {
        let known: Vec<String> = known.into_iter().collect();
        return Err(Failure::Finding(format!(
            "no event type '{wanted}'; there are: {}",
            known.join(", ")
        )));
    }
    Ok(complete)
}

fn event_json(header: &Header, event: &Event<'_>) -> Json {
    let mut budget = Budget::of(event);
    let name = budget.text(&event.ty().name);
    let mut values = serde_json::Map::new();
    for (field, value) in event.fields() {
        if budget.is_spent() {
            break;
        }
        // Told on stderr; the fields behind it have no place either.
        let Ok(value) = value else { break };
        let name = budget.text(&field.name).into_owned();
        values.insert(name, field_json(header, field, value, &mut budget));
    }
    json!({"type": name, "values": values, "is_cut": budget.is_cut})
}

fn field_json(header: &Header, field: &Field, value: Value<'_>, budget: &mut Budget) -> Json {
    match time_of(header, field, &value) {
        Some(Time::At(nanos)) => json!(utc_exact(nanos)),
        Some(Time::Span(nanos)) => json!(nanos),
        None => value_json(value, 0, budget),
    }
}

fn value_json(value: Value<'_>, depth: u32, budget: &mut Budget) -> Json {
    if !budget.takes_value() {
        return json!("...");
    }
    match value {
        Value::Boolean(value) => json!(value),
        Value::Float(value) => json!(value),
        Value::Double(value) => json!(value),
        Value::Text(text) => json!(budget.text(&text)),
        Value::Ref(reference) => reference
            .resolve()
            .map_or(Json::Null, |value| value_json(value, depth + 1, budget)),
        Value::Struct(value) if depth > MAX_JSON_DEPTH => name_json(&value, budget),
        Value::Struct(value) => {
            let mut fields = serde_json::Map::new();
            for (field, value) in value.fields() {
                if budget.is_spent() {
                    break;
                }
                let name = budget.text(&field.name).into_owned();
                let value = value.map_or(Json::Null, |value| value_json(value, depth + 1, budget));
                fields.insert(name, value);
            }
            Json::Object(fields)
        }
        Value::Array(array) => {
            let mut elements = Vec::new();
            for element in array.iter() {
                if budget.is_spent() {
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

/// A struct that is not unfolded: an object with its name, which is what a package, a module or a
/// loader is asked for.
fn name_json(value: &Struct<'_>, budget: &mut Budget) -> Json {
    let name = value.get("name").ok().flatten().and_then(Value::into_text);
    let name = name.map_or(Json::Null, |name| json!(budget.text(&name)));
    json!({"name": name})
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
    let mut budget = Budget::of(event);
    let mut page = output.clean(&budget.text(&event.ty().name));
    page.push_str(" {\n");
    for (field, value) in event.fields() {
        if budget.is_spent() {
            page.push_str("  ...\n");
            break;
        }
        let name = output.clean(&budget.text(&field.name));
        let text = match value {
            Err(error) => format!("(unreadable: {error})"),
            Ok(value) => match time_of(header, field, &value) {
                Some(Time::At(nanos)) => utc(nanos),
                Some(Time::Span(nanos)) if nanos >= 0 => text::duration(nanos.unsigned_abs()),
                Some(Time::Span(nanos)) => format!("{nanos} ns"),
                None if &*field.name == "stackTrace" => {
                    stack_text(value, args.stack_depth, &mut budget, output)
                }
                None => value_text(value, 0, &mut budget, output),
            },
        };
        page.push_str("  ");
        page.push_str(&name);
        page.push_str(" = ");
        page.push_str(&text);
        page.push('\n');
    }
    page.push_str("}\n\n");
    page
}

fn value_text(value: Value<'_>, depth: u32, budget: &mut Budget, output: Cleaner) -> String {
    if !budget.takes_value() {
        return "...".to_owned();
    }
    match value {
        Value::Null => "null".to_owned(),
        Value::Boolean(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Double(value) => value.to_string(),
        Value::Text(text) => format!("\"{}\"", output.clean(&budget.text(&text))),
        Value::Array(array) => format!("[{} elements]", array.len()),
        Value::Ref(reference) => match reference.resolve() {
            None => "N/A".to_owned(),
            Some(value) if depth < MAX_TEXT_DEPTH || matches!(value, Value::Text(_)) => {
                value_text(value, depth + 1, budget, output)
            }
            Some(_) => format!("#{}", reference.key),
        },
        Value::Struct(value) => struct_text(&value, depth, budget, output),
        value => value
            .as_long()
            .map_or_else(String::new, |number| number.to_string()),
    }
}

fn struct_text(value: &Struct<'_>, depth: u32, budget: &mut Budget, output: Cleaner) -> String {
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
                output.clean(&budget.text(&name)),
                long("javaThreadId").unwrap_or(0),
                long("osThreadId").unwrap_or(0)
            )
        }
        "java.lang.Class"
        | "jdk.types.Package"
        | "jdk.types.Module"
        | "jdk.types.ClassLoader"
        | "jdk.types.ThreadGroup" => {
            let name = text("name").unwrap_or_default();
            output.clean(&budget.text(&name).replace('/', "."))
        }
        _ if depth < MAX_TEXT_DEPTH => {
            let mut fields = Vec::new();
            for (field, value) in value.fields().take(16) {
                if budget.is_spent() {
                    break;
                }
                let name = output.clean(&budget.text(&field.name));
                let value = value.map_or_else(
                    |error| error.to_string(),
                    |value| value_text(value, depth + 1, budget, output),
                );
                fields.push(format!("{name} = {value}"));
            }
            format!("{{ {} }}", fields.join(", "))
        }
        name => output.clean(&budget.text(name)),
    }
}

fn stack_text(value: Value<'_>, depth: usize, budget: &mut Budget, output: Cleaner) -> String {
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
        if budget.is_spent() {
            break;
        }
        text.push_str("\n    ");
        text.push_str(&output.clean(&budget.text(&frame_text(&frame))));
    }
    if frames.len() > depth || budget.is_spent() {
        text.push_str("\n    ...");
    }
    text.push_str("\n  ]");
    text
}

fn frame_text(frame: &Struct<'_>) -> String {
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
    if line > 0 {
        format!("{class}.{name} line: {line}")
    } else {
        format!("{class}.{name}")
    }
}
