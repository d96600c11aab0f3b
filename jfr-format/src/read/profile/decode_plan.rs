//! How the entries of the well-known pools are read: fields looked up by name once per metadata,
//! not once per entry.

use crate::read::typed::metadata::{Field, Metadata, Shape, TypeIndex};

/// What a field of a frame is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FrameField {
    Method,
    Line,
    Bci,
    Kind,
    Other(usize),
}

/// What a field of a stack is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StackField {
    Truncated,
    Frames,
    Other(usize),
}

/// What a field of a method is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MethodField {
    Class,
    Name,
    Descriptor,
    Hidden,
    Other(usize),
}

/// What a field of a class is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ClassField {
    Name,
    Other(usize),
}

/// What a field of a thread is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ThreadField {
    OsName,
    JavaName,
    OsId,
    JavaId,
    IsVirtual,
    Other(usize),
}

/// A type, and what each of its fields is for.
#[derive(Debug, Clone)]
pub(crate) struct DecodePlan<S> {
    pub(crate) ty: TypeIndex,
    pub(crate) fields: Vec<S>,
}

impl<S> DecodePlan<S> {
    fn new(
        metadata: &Metadata,
        ty: Option<TypeIndex>,
        decoder: impl Fn(usize, &Field) -> S,
    ) -> Option<Self> {
        let ty = ty?;
        let fields = metadata.at(ty).fields.iter().enumerate();
        let fields = fields.map(|(place, field)| decoder(place, field)).collect();
        Some(Self { ty, fields })
    }
}

/// The well-known types. `None`: not declared.
#[derive(Debug, Clone)]
pub(crate) struct DecodePlans {
    pub(crate) thread: Option<DecodePlan<ThreadField>>,
    pub(crate) class: Option<DecodePlan<ClassField>>,
    pub(crate) method: Option<DecodePlan<MethodField>>,
    pub(crate) stack: Option<DecodePlan<StackField>>,
    /// The type of the frames of the stacks.
    pub(crate) frame: Option<DecodePlan<FrameField>>,
    /// The type of the names of methods.
    pub(crate) symbols: Option<TypeIndex>,
    pub(crate) frame_kinds: Option<TypeIndex>,
    /// The types that the references of a frame and a method lead to.
    pub(crate) frame_method: Option<TypeIndex>,
    pub(crate) method_class: Option<TypeIndex>,
    pub(crate) method_descriptor: Option<TypeIndex>,
    pub(crate) class_name: Option<TypeIndex>,
}

impl DecodePlans {
    pub(crate) fn new(metadata: &Metadata) -> Self {
        let thread = metadata.index_of_name("java.lang.Thread");
        let class = metadata.index_of_name("java.lang.Class");
        let method = metadata.index_of_name("jdk.types.Method");
        let stack = metadata.index_of_name("jdk.types.StackTrace");
        let frame = stack.and_then(|stack| frames_of(metadata, stack));
        Self {
            thread: DecodePlan::new(metadata, thread, thread_field),
            class: DecodePlan::new(metadata, class, class_field),
            method: DecodePlan::new(metadata, method, method_field),
            stack: DecodePlan::new(metadata, stack, stack_field),
            frame: DecodePlan::new(metadata, frame, frame_field),
            symbols: referenced(metadata, method, "name"),
            frame_kinds: referenced(metadata, frame, "type"),
            frame_method: referenced(metadata, frame, "method"),
            method_class: referenced(metadata, method, "type"),
            method_descriptor: referenced(metadata, method, "descriptor"),
            class_name: referenced(metadata, class, "name"),
        }
    }
}

/// The type that a field of a type refers to.
fn referenced(metadata: &Metadata, owner: Option<TypeIndex>, field: &str) -> Option<TypeIndex> {
    let ty = metadata.at(owner?);
    let field = &ty.fields[ty.field_position(field)?];
    field.type_index.filter(|_| is_reference(field))
}

fn frames_of(metadata: &Metadata, stack: TypeIndex) -> Option<TypeIndex> {
    let fields = &metadata.at(stack).fields;
    let frames = fields.iter().find(|field| &*field.name == "frames")?;
    frames.type_index.filter(|_| has_frames(frames))
}

fn has_frames(field: &Field) -> bool {
    field.array && !field.constant_pool && field.shape == Shape::Struct
}

fn is_plain(field: &Field, shape: Shape) -> bool {
    field.shape == shape && !field.constant_pool && !field.array
}

fn is_integer(field: &Field) -> bool {
    [Shape::Int, Shape::Long, Shape::Short, Shape::Char]
        .iter()
        .any(|&shape| is_plain(field, shape))
}

fn is_reference(field: &Field) -> bool {
    field.constant_pool && !field.array
}

fn thread_field(place: usize, field: &Field) -> ThreadField {
    match &*field.name {
        "osName" if is_plain(field, Shape::Text) => ThreadField::OsName,
        "javaName" if is_plain(field, Shape::Text) => ThreadField::JavaName,
        "osThreadId" if is_integer(field) => ThreadField::OsId,
        "javaThreadId" if is_integer(field) => ThreadField::JavaId,
        "virtual" if is_plain(field, Shape::Boolean) => ThreadField::IsVirtual,
        _ => ThreadField::Other(place),
    }
}

fn class_field(place: usize, field: &Field) -> ClassField {
    match &*field.name {
        "name" if is_reference(field) => ClassField::Name,
        _ => ClassField::Other(place),
    }
}

fn method_field(place: usize, field: &Field) -> MethodField {
    match &*field.name {
        "type" if is_reference(field) => MethodField::Class,
        "name" if is_reference(field) => MethodField::Name,
        "descriptor" if is_reference(field) => MethodField::Descriptor,
        "hidden" if is_plain(field, Shape::Boolean) => MethodField::Hidden,
        _ => MethodField::Other(place),
    }
}

fn stack_field(place: usize, field: &Field) -> StackField {
    match &*field.name {
        "truncated" if is_plain(field, Shape::Boolean) => StackField::Truncated,
        "frames" if has_frames(field) => StackField::Frames,
        _ => StackField::Other(place),
    }
}

fn frame_field(place: usize, field: &Field) -> FrameField {
    match &*field.name {
        "method" if is_reference(field) => FrameField::Method,
        "lineNumber" if is_integer(field) => FrameField::Line,
        "bytecodeIndex" if is_integer(field) => FrameField::Bci,
        "type" if is_reference(field) => FrameField::Kind,
        _ => FrameField::Other(place),
    }
}
