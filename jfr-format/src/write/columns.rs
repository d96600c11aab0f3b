//! The attribute columns: names that every reader can live with, the same in all chunks of a file.

use super::config::{Attribute, Columns};
use crate::declare::{EventType, MAX_COLUMNS, field_name};

/// Most bytes of field name and label together of a column that is named when a chunk is closed.
const LATE_NAME_BYTES: usize = 200;
/// What the names of all columns can add to the metadata of a closed chunk.
pub(super) const LATE_NAMES_BYTES: usize = MAX_COLUMNS * (LATE_NAME_BYTES + 40);

/// A declared column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    /// Field name: `jfr print`, `view` and JSON show it.
    pub(super) field: String,
    /// Label: JMC shows it.
    pub(super) label: String,
    /// Whether no attribute has it: viewers that can should hide it.
    pub(super) is_unused: bool,
}

/// The columns of a file, and what is known about them.
#[derive(Debug)]
pub(super) struct ColumnSet {
    events: &'static [EventType],
    columns: Vec<Column>,
    attributes: [Option<Attribute>; MAX_COLUMNS],
    /// Names may still come: only with [`Columns::Auto`], and while all chunks can get them. A name
    /// that only some have would make JMC split the event type.
    open: bool,
    /// A chunk is closed: columns that have a name keep it, and what comes must fit where closed
    /// chunks have room.
    is_late: bool,
    changed: bool,
}

impl ColumnSet {
    pub(super) fn new(config: &Columns, events: &'static [EventType]) -> Self {
        let mut set = Self {
            events,
            columns: Vec::new(),
            attributes: Default::default(),
            open: *config == Columns::Auto,
            is_late: false,
            changed: false,
        };
        match config {
            Columns::Named(names) => {
                for name in names.iter().take(MAX_COLUMNS) {
                    let column = set.column(set.columns.len(), name, name);
                    set.columns.push(column);
                }
            }
            Columns::Auto => {
                set.columns = (0..MAX_COLUMNS).map(neutral).collect();
            }
        }
        set
    }

    pub(super) fn columns(&self) -> &[Column] {
        &self.columns
    }

    pub(super) fn len(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn attributes(&self) -> impl Iterator<Item = (usize, &Attribute)> {
        self.attributes
            .iter()
            .enumerate()
            .filter_map(|(i, a)| Some((i, a.as_ref()?)))
    }

    /// Remembers an attribute; `false` if it is known already.
    pub(super) fn set(&mut self, slot: usize, attribute: &Attribute) -> bool {
        if self.attributes[slot].as_ref() == Some(attribute) {
            return false;
        }
        let label = if attribute.label.is_empty() {
            &attribute.name
        } else {
            &attribute.label
        };
        let column = self.column(slot, &attribute.name, label);
        let fits = !self.is_late
            || self.columns[slot].is_unused
                && column.field.len() + column.label.len() <= LATE_NAME_BYTES;
        if self.open && fits {
            self.columns[slot] = column;
            self.changed = true;
        }
        self.attributes[slot] = Some(attribute.clone());
        true
    }

    /// No name changes any more.
    pub(super) fn freeze(&mut self) {
        self.open = false;
    }

    /// A chunk is about to be closed: whether columns of it may get names later.
    pub(super) fn close_chunk(&mut self) -> bool {
        self.is_late = true;
        self.open && self.columns.iter().any(|column| column.is_unused)
    }

    /// Whether the metadata in the file lags behind.
    pub(super) fn changed(&self) -> bool {
        self.changed
    }

    pub(super) fn mark_flushed(&mut self) {
        self.changed = false;
    }

    fn column(&self, slot: usize, name: &str, label: &str) -> Column {
        let field = field_name(slot, name, |field| {
            self.is_field_name(field) || self.is_taken(slot, field)
        });
        let label = if label.is_empty() {
            field.clone()
        } else {
            label.to_owned()
        };
        Column {
            field,
            label,
            is_unused: false,
        }
    }

    /// Whether an event with columns has a field of that name.
    fn is_field_name(&self, name: &str) -> bool {
        let mut events = self.events.iter().filter(|event| event.has_columns());
        events.any(|event| event.has_field(name))
    }

    fn is_taken(&self, slot: usize, field: &str) -> bool {
        self.columns
            .iter()
            .enumerate()
            .any(|(i, c)| i != slot && c.field == field)
    }
}

fn neutral(slot: usize) -> Column {
    let field = field_name(slot, "", |_| false);
    Column {
        label: field.clone(),
        field,
        is_unused: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::{Field, Part};

    const fn field(name: &'static str) -> Part {
        Part::Field(Field::plain(name, "long", ""))
    }

    const EVENTS: &[EventType] = &[EventType {
        id: 100,
        name: "test.Sample",
        label: "",
        category: &[],
        description: "",
        parts: &[
            field("startTime"),
            field("duration"),
            Part::Columns,
            field("weight"),
        ],
    }];

    fn fields(names: &[&str]) -> Vec<String> {
        let names = names.iter().map(|s| (*s).to_owned()).collect();
        let set = ColumnSet::new(&Columns::Named(names), EVENTS);
        set.columns().iter().map(|c| c.field.clone()).collect()
    }

    #[test]
    fn names_become_identifiers_that_clash_with_nothing() {
        assert_eq!(
            fields(&[
                "http.route",
                "http_route",
                "startTime",
                "weight",
                "2nd",
                "",
                "日",
                "duration"
            ]),
            [
                "http_route",
                "http_route_2",
                "startTime_2",
                "weight_2",
                "_2nd",
                "context5",
                "context6",
                "duration_2"
            ]
        );
    }

    #[test]
    fn automatic_columns_take_names_until_frozen() {
        let attribute = |name: &str| Attribute {
            name: name.into(),
            ..Attribute::default()
        };
        let mut set = ColumnSet::new(&Columns::Auto, EVENTS);
        assert!(set.set(3, &attribute("tenant")));
        assert!(!set.set(3, &attribute("tenant")));
        assert!(set.close_chunk(), "seven have no name");
        assert!(set.set(3, &attribute("other")));
        assert!(set.set(2, &attribute(&"long".repeat(50))));
        assert!(set.set(5, &attribute("later")));
        set.freeze();
        assert!(set.set(4, &attribute("late")));
        assert_eq!(set.columns()[3].field, "tenant");
        assert_eq!(set.columns()[5].field, "later");
        assert_eq!(set.columns()[2].field, "context2");
        assert_eq!(set.columns()[4].field, "context4");
        assert!(set.columns()[4].is_unused && !set.columns()[5].is_unused);
        assert_eq!(set.attributes().count(), 4);
    }
}
