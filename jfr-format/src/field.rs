//! Fields of types and events, and their annotations.

/// A field of a type or an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Name, a Java identifier.
    pub name: &'static str,
    /// Name of the type, found in [`DATA_TYPES`](crate::types::DATA_TYPES) or that of the columns.
    pub type_name: &'static str,
    /// Text for people; empty = the name will do.
    pub label: &'static str,
    /// Whether the bytes hold a key into the type's pool.
    pub constant_pool: bool,
    /// Whether the bytes hold a count and that many values.
    pub array: bool,
    /// Annotations other than the label.
    pub annotations: &'static [Annotation],
}

/// An annotation of a type or a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Annotation {
    /// Text for people.
    Label(&'static str),
    /// Longer text for people.
    Description(&'static str),
    /// Place in the tree of events, outermost first.
    Category(&'static [&'static str]),
    /// A point in time; `TICKS` or `MILLISECONDS_SINCE_EPOCH`.
    Timestamp(&'static str),
    /// A duration; `TICKS`, `NANOSECONDS`, `MILLISECONDS`.
    Timespan(&'static str),
    /// A number of `BYTES`.
    DataAmount(&'static str),
    /// Not negative, whatever the top bit.
    Unsigned,
    /// Print in hexadecimal.
    MemoryAddress,
    /// JDK 25 shows such fields of a span on the events below it.
    Contextual,
    /// Viewers that know it hide the field until the user asks.
    Experimental,
    /// On annotation types: only then does `jfr print` format values.
    ContentType,
}

impl Annotation {
    /// Name of the annotation's type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Label(_) => "jdk.jfr.Label",
            Self::Description(_) => "jdk.jfr.Description",
            Self::Category(_) => "jdk.jfr.Category",
            Self::Timestamp(_) => "jdk.jfr.Timestamp",
            Self::Timespan(_) => "jdk.jfr.Timespan",
            Self::DataAmount(_) => "jdk.jfr.DataAmount",
            Self::Unsigned => "jdk.jfr.Unsigned",
            Self::MemoryAddress => "jdk.jfr.MemoryAddress",
            Self::Contextual => "jdk.jfr.Contextual",
            Self::Experimental => "jdk.jfr.Experimental",
            Self::ContentType => "jdk.jfr.ContentType",
        }
    }
}

impl Field {
    /// A plain field: its value stands in the bytes.
    pub const fn plain(name: &'static str, type_name: &'static str, label: &'static str) -> Self {
        let annotations = &[];
        Self {
            name,
            type_name,
            label,
            constant_pool: false,
            array: false,
            annotations,
        }
    }

    /// A field whose bytes hold a pool key.
    pub const fn pooled(name: &'static str, type_name: &'static str, label: &'static str) -> Self {
        let mut field = Self::plain(name, type_name, label);
        field.constant_pool = true;
        field
    }

    /// The same field with annotations.
    #[must_use]
    pub const fn with(mut self, annotations: &'static [Annotation]) -> Self {
        self.annotations = annotations;
        self
    }

    /// A field with any number of values, which stand in the bytes.
    pub const fn array(name: &'static str, type_name: &'static str) -> Self {
        let mut field = Self::plain(name, type_name, "");
        field.array = true;
        field
    }
}
