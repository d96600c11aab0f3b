//! The data types that every recording declares, as tables.
//!
//! Names, field order and the one-byte id of `StackFrame` are what async-profiler's converter and
//! Grafana's parser insist on; both bind by name and position and look at nothing else. All other
//! ids begin at 100 001, so that a file of this writer appended to one of the JDK's does not bind a
//! JDK type id to another type (the JDK looks pools up by type id across chunks).

use crate::field::{Annotation, Field};

/// A type that is not an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataType {
    /// Type id; dense from [`FIRST_TYPE_ID`], `StackFrame` excepted.
    pub id: u32,
    /// Name as the JDK gives it.
    pub name: &'static str,
    /// `None` for data, else the JDK's marker (annotations).
    pub super_type: Option<&'static str>,
    /// Whether readers show the value of the only field instead of the structure.
    pub simple: bool,
    /// Fields in the order of the bytes.
    pub fields: &'static [Field],
    /// Annotations of the type itself.
    pub annotations: &'static [Annotation],
}

/// Smallest id of a type that is neither an event nor `StackFrame`.
pub const FIRST_TYPE_ID: u32 = 100_001;

/// Ids of the types that have a pool in the checkpoints.
pub mod pool {
    /// `java.lang.Class`.
    pub const CLASS: u32 = 100_011;
    /// `java.lang.Thread`.
    pub const THREAD: u32 = 100_012;
    /// `jdk.types.ThreadGroup`.
    pub const THREAD_GROUP: u32 = 100_013;
    /// `jdk.types.Package`.
    pub const PACKAGE: u32 = 100_015;
    /// `jdk.types.Method`.
    pub const METHOD: u32 = 100_016;
    /// `jdk.types.Symbol`.
    pub const SYMBOL: u32 = 100_017;
    /// `jdk.types.StackTrace`.
    pub const STACK_TRACE: u32 = 100_018;
    /// `jdk.types.FrameType`.
    pub const FRAME_TYPE: u32 = 100_019;
    /// `jdk.types.ThreadState`.
    pub const THREAD_STATE: u32 = 100_020;
    /// The values of attribute columns, see
    /// [`Schema::column_type`](crate::declare::Schema::column_type).
    pub const ATTRIBUTE_VALUE: u32 = 100_023;
}

/// Id of `jdk.jfr.Label`.
pub const LABEL: u32 = 100_031;

const STRING: &str = "java.lang.String";
const SYMBOL: &str = "jdk.types.Symbol";
const ANNOTATION: Option<&str> = Some("java.lang.annotation.Annotation");
const TEXT_VALUE: &[Field] = &[Field::plain("value", STRING, "")];
const CONTENT: &[Annotation] = &[Annotation::ContentType];

const fn data(id: u32, name: &'static str, fields: &'static [Field]) -> DataType {
    DataType {
        id,
        name,
        super_type: None,
        simple: false,
        fields,
        annotations: &[],
    }
}

const fn primitive(id: u32, name: &'static str) -> DataType {
    data(id, name, &[])
}

const fn simple(id: u32, name: &'static str, fields: &'static [Field]) -> DataType {
    DataType {
        id,
        name,
        super_type: None,
        simple: true,
        fields,
        annotations: &[],
    }
}

const fn annotation(
    id: u32,
    name: &'static str,
    fields: &'static [Field],
    annotations: &'static [Annotation],
) -> DataType {
    DataType {
        id,
        name,
        super_type: ANNOTATION,
        simple: false,
        fields,
        annotations,
    }
}

/// Every type that is neither an event nor an annotation.
pub const DATA_TYPES: &[DataType] = &[
    primitive(100_001, "boolean"),
    primitive(100_002, "char"),
    primitive(100_003, "float"),
    primitive(100_004, "double"),
    primitive(100_005, "byte"),
    primitive(100_006, "short"),
    primitive(100_007, "int"),
    primitive(100_008, "long"),
    primitive(100_009, STRING),
    data(
        pool::CLASS,
        "java.lang.Class",
        &[
            Field::pooled("classLoader", "jdk.types.ClassLoader", "Class Loader"),
            Field::pooled("name", SYMBOL, "Name"),
            Field::pooled("package", "jdk.types.Package", "Package"),
            Field::plain("modifiers", "int", "Access Modifiers"),
            Field::plain("hidden", "boolean", "Hidden"),
        ],
    ),
    data(
        pool::THREAD,
        "java.lang.Thread",
        &[
            Field::plain("osName", STRING, "OS Thread Name"),
            Field::plain("osThreadId", "long", "OS Thread Id"),
            Field::plain("javaName", STRING, "Java Thread Name"),
            Field::plain("javaThreadId", "long", "Java Thread Id"),
            Field::pooled("group", "jdk.types.ThreadGroup", "Java Thread Group"),
            Field::plain("virtual", "boolean", "Virtual Thread"),
        ],
    ),
    data(
        pool::THREAD_GROUP,
        "jdk.types.ThreadGroup",
        &[
            Field::pooled("parent", "jdk.types.ThreadGroup", "Parent"),
            Field::plain("name", STRING, "Name"),
        ],
    ),
    // Declared for Grafana's parser; a class of ours has loader 0, "none".
    data(
        100_014,
        "jdk.types.ClassLoader",
        &[
            Field::pooled("type", "java.lang.Class", "Type"),
            Field::pooled("name", SYMBOL, "Name"),
        ],
    ),
    data(
        pool::PACKAGE,
        "jdk.types.Package",
        &[Field::pooled("name", SYMBOL, "Name")],
    ),
    data(
        pool::METHOD,
        "jdk.types.Method",
        &[
            Field::pooled("type", "java.lang.Class", "Type"),
            Field::pooled("name", SYMBOL, "Name"),
            Field::pooled("descriptor", SYMBOL, "Descriptor"),
            Field::plain("modifiers", "int", "Access Modifiers"),
            Field::plain("hidden", "boolean", "Hidden"),
        ],
    ),
    simple(
        pool::SYMBOL,
        SYMBOL,
        &[Field::plain("string", STRING, "String")],
    ),
    data(
        pool::STACK_TRACE,
        "jdk.types.StackTrace",
        &[
            Field::plain("truncated", "boolean", "Truncated"),
            Field::array("frames", "jdk.types.StackFrame"),
        ],
    ),
    // async-profiler's converter expects this id in one byte.
    data(
        99,
        "jdk.types.StackFrame",
        &[
            Field::pooled("method", "jdk.types.Method", "Java Method"),
            Field::plain("lineNumber", "int", "Line Number"),
            Field::plain("bytecodeIndex", "int", "Bytecode Index"),
            Field::pooled("type", "jdk.types.FrameType", "Frame Type"),
        ],
    ),
    simple(
        pool::FRAME_TYPE,
        "jdk.types.FrameType",
        &[Field::plain("description", STRING, "Description")],
    ),
    simple(
        pool::THREAD_STATE,
        "jdk.types.ThreadState",
        &[Field::plain("name", STRING, "Name")],
    ),
];

/// The type of the values of attribute columns, which the caller names.
pub const fn column_type(name: &'static str) -> DataType {
    simple(pool::ATTRIBUTE_VALUE, name, TEXT_VALUE)
}

/// Every annotation type that declarations may use.
pub const ANNOTATION_TYPES: &[DataType] = &[
    annotation(LABEL, "jdk.jfr.Label", TEXT_VALUE, &[]),
    annotation(100_032, "jdk.jfr.Description", TEXT_VALUE, &[]),
    annotation(
        100_033,
        "jdk.jfr.Category",
        &[Field::array("value", STRING)],
        &[],
    ),
    annotation(100_034, "jdk.jfr.Timestamp", TEXT_VALUE, CONTENT),
    annotation(100_035, "jdk.jfr.Timespan", TEXT_VALUE, CONTENT),
    annotation(100_036, "jdk.jfr.DataAmount", TEXT_VALUE, CONTENT),
    annotation(100_037, "jdk.jfr.Unsigned", &[], CONTENT),
    annotation(100_038, "jdk.jfr.MemoryAddress", &[], CONTENT),
    annotation(100_039, "jdk.jfr.Contextual", &[], &[]),
    annotation(100_040, "jdk.jfr.ContentType", &[], &[]),
    annotation(100_041, "jdk.jfr.Experimental", &[], &[]),
];

/// The type called `name`.
pub fn by_name(name: &str) -> Option<&'static DataType> {
    let mut all = DATA_TYPES.iter().chain(ANNOTATION_TYPES);
    all.find(|ty| ty.name == name)
}
