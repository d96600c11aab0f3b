//! The metadata event: types and events as the format's element tree.

use std::collections::HashMap;

use super::columns::Column;
use super::text;
use crate::declare::{Annotation, EventType, Field, Part, Schema};
use crate::types::{self, ANNOTATION_TYPES, DATA_TYPES, DataType};
use crate::varint;

/// Everything of a metadata event after its time stamps: id, strings, elements.
///
/// The id is taken from the content: the JDK does not parse the metadata of a chunk whose id equals
/// that of the chunk before, so other content must have another id, also in files that were
/// appended to each other. Its high bit keeps it away from the small numbers that the JDK counts
/// up.
pub(super) fn body(schema: &Schema, columns: &[Column]) -> Vec<u8> {
    let mut tree = Tree::new(schema);
    tree.root(ANNOTATION_TYPES, schema.events, columns);
    tree.into_body()
}

/// The same of a chunk that has no events, and no constants but the frame types: it must be small.
/// Grafana's parser wants all types of data to be declared.
pub(super) fn stub_body(schema: &Schema) -> Vec<u8> {
    let mut tree = Tree::new(schema);
    // Of the annotations the fields have labels only.
    tree.root(&ANNOTATION_TYPES[..1], &[], &[]);
    tree.into_body()
}

const _: () = assert!(ANNOTATION_TYPES[0].id == types::LABEL, "labels come first");

fn put_content(tree: &Tree) -> Vec<u8> {
    let mut content = Vec::new();
    varint::put(&mut content, tree.strings.len() as u64);
    for string in &tree.strings {
        text::put_utf8(&mut content, string);
    }
    content.extend_from_slice(&tree.elements);
    content
}

/// FNV-1a: stable over runs, machines and versions of this crate.
fn fnv(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |h, b| {
        (h ^ u32::from(*b)).wrapping_mul(0x0100_0193)
    })
}

/// The element tree, children after their parent, strings by index.
struct Tree {
    column_type: DataType,
    strings: Vec<String>,
    indices: HashMap<String, usize>,
    elements: Vec<u8>,
}

impl Tree {
    fn new(schema: &Schema) -> Self {
        Self {
            column_type: types::column_type(schema.column_type),
            strings: Vec::new(),
            indices: HashMap::new(),
            elements: Vec::new(),
        }
    }

    fn string(&mut self, text: &str) {
        let next = self.strings.len();
        let index = *self.indices.entry(text.to_owned()).or_insert(next);
        if index == next {
            self.strings.push(text.to_owned());
        }
        varint::put(&mut self.elements, index as u64);
    }

    fn element(&mut self, name: &str, attributes: &[(&str, &str)], children: usize) {
        self.string(name);
        varint::put(&mut self.elements, attributes.len() as u64);
        for (key, value) in attributes {
            self.string(key);
            self.string(value);
        }
        varint::put(&mut self.elements, children as u64);
    }

    /// The metadata event's part from its id on.
    fn into_body(self) -> Vec<u8> {
        let content = put_content(&self);
        let mut body = Vec::with_capacity(content.len() + 5);
        let id = 0x4000_0000 | (fnv(&content) & 0x3fff_ffff);
        varint::put(&mut body, u64::from(id));
        body.extend_from_slice(&content);
        body
    }

    fn root(&mut self, annotations: &[DataType], events: &[EventType], columns: &[Column]) {
        let column_type = self.column_type;
        let types = DATA_TYPES.iter().chain([&column_type]).chain(annotations);
        let count = DATA_TYPES.len() + 1 + annotations.len() + events.len();
        self.element("root", &[], 2);
        self.element("metadata", &[], count);
        for ty in types {
            self.data_type(ty);
        }
        for event in events {
            self.event(event, columns);
        }
        // Printed times are formatted with it; UTC says what is in the file.
        let region = [("locale", "en_US"), ("gmtOffset", "0"), ("dst", "0")];
        self.element("region", &region, 0);
    }

    fn data_type(&mut self, ty: &DataType) {
        let id = ty.id.to_string();
        let mut attributes = vec![("name", ty.name), ("id", id.as_str())];
        if let Some(parent) = ty.super_type {
            attributes.push(("superType", parent));
        }
        if ty.simple {
            attributes.push(("simpleType", "true"));
        }
        self.element("class", &attributes, ty.fields.len() + ty.annotations.len());
        for field in ty.fields {
            self.field(field);
        }
        for annotation in ty.annotations {
            self.annotation(annotation);
        }
    }

    fn event(&mut self, event: &EventType, columns: &[Column]) {
        let id = event.id.to_string();
        let attributes = [
            ("name", event.name),
            ("id", &id),
            ("superType", "jdk.jfr.Event"),
        ];
        self.element("class", &attributes, field_count(event, columns.len()) + 3);
        self.annotation(&Annotation::Label(event.label));
        self.annotation(&Annotation::Category(event.category));
        self.annotation(&Annotation::Description(event.description));
        for part in event.parts {
            self.part(part, columns);
        }
    }

    fn part(&mut self, part: &Part, columns: &[Column]) {
        match part {
            Part::WithColumns(_) if columns.is_empty() => {}
            Part::Field(field) | Part::WithColumns(field) => self.field(field),
            Part::Columns => {
                for column in columns {
                    self.column(column);
                }
            }
        }
    }

    fn column(&mut self, column: &Column) {
        let class = self.column_type.id.to_string();
        let attributes = [
            ("name", column.field.as_str()),
            ("class", &class),
            ("constantPool", "true"),
        ];
        let annotations = 1 + usize::from(column.is_unused);
        self.element("field", &attributes, annotations);
        self.text_annotation("jdk.jfr.Label", &column.label);
        if column.is_unused {
            self.annotation(&Annotation::Experimental);
        }
    }

    fn field(&mut self, field: &Field) {
        let class = self.type_id(field.type_name);
        let mut attributes = vec![("name", field.name), ("class", class.as_str())];
        // The JDK takes the presence of the attribute as true, so a false one is left out.
        if field.constant_pool {
            attributes.push(("constantPool", "true"));
        }
        if field.array {
            attributes.push(("dimension", "1"));
        }
        let labels = usize::from(!field.label.is_empty());
        self.element("field", &attributes, field.annotations.len() + labels);
        if labels == 1 {
            self.annotation(&Annotation::Label(field.label));
        }
        for annotation in field.annotations {
            self.annotation(annotation);
        }
    }

    /// Id of the type of a field as text; [`Schema::check`] has found every name.
    fn type_id(&self, name: &str) -> String {
        if name == self.column_type.name {
            self.column_type.id.to_string()
        } else {
            type_id(name)
        }
    }

    fn annotation(&mut self, annotation: &Annotation) {
        let name = annotation.type_name();
        match annotation {
            Annotation::Label(value)
            | Annotation::Description(value)
            | Annotation::Timestamp(value)
            | Annotation::Timespan(value)
            | Annotation::DataAmount(value) => self.text_annotation(name, value),
            Annotation::Category(values) => self.array_annotation(name, values),
            Annotation::Unsigned
            | Annotation::MemoryAddress
            | Annotation::Contextual
            | Annotation::Experimental
            | Annotation::ContentType => {
                self.element("annotation", &[("class", &type_id(name))], 0);
            }
        }
    }

    fn text_annotation(&mut self, name: &str, value: &str) {
        self.element(
            "annotation",
            &[("class", &type_id(name)), ("value", value)],
            0,
        );
    }

    fn array_annotation(&mut self, name: &str, values: &[&str]) {
        let class = type_id(name);
        let keys: Vec<String> = (0..values.len()).map(|i| format!("value-{i}")).collect();
        let mut attributes = vec![("class", class.as_str())];
        attributes.extend(keys.iter().map(String::as_str).zip(values.iter().copied()));
        self.element("annotation", &attributes, 0);
    }
}

fn field_count(event: &EventType, columns: usize) -> usize {
    let count = |part: &Part| match part {
        Part::Field(_) => 1,
        Part::WithColumns(_) => usize::from(columns > 0),
        Part::Columns => columns,
    };
    event.parts.iter().map(count).sum()
}

/// Id of a type as text.
fn type_id(name: &str) -> String {
    types::by_name(name).map_or(0, |ty| ty.id).to_string()
}
