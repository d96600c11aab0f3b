//! How the entries of the well-known pools are read: fields looked up by name once per metadata, not once per entry.

use super::metadata::{Field, Metadata, Shape, TypeIndex};

/// What a field of a frame is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FrameStep {
    Method,
    Line,
    Bci,
    Kind,
    Other(usize),
}

/// What a field of a stack is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StackStep {
    Truncated,
    Frames,
    Other(usize),
}

/// What a field of a method is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MethodStep {
    Class,
    Name,
    Descriptor,
    Hidden,
    Other(usize),
}

/// What a field of a class is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ClassStep {
    Name,
    Other(usize),
}

/// What a field of a thread is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ThreadStep {
    OsName,
    JavaName,
    OsId,
    JavaId,
    IsVirtual,
    Other(usize),
}

/// A type and the steps over its fields.
#[derive(Debug, Clone)]
pub(crate) struct Way<S> {
    pub(crate) ty: TypeIndex,
    pub(crate) steps: Vec<S>,
}

impl<S> Way<S> {
    fn new(
        metadata: &Metadata,
        ty: Option<TypeIndex>,
        step: impl Fn(usize, &Field) -> S,
    ) -> Option<Self> {
        let ty = ty?;
        let fields = metadata.at(ty).fields.iter().enumerate();
        let steps = fields.map(|(place, field)| step(place, field)).collect();
        Some(Self { ty, steps })
    }
}

/// The well-known types. `None`: not declared.
#[derive(Debug, Clone)]
pub(crate) struct Ways {
    pub(crate) thread: Option<Way<ThreadStep>>,
    pub(crate) class: Option<Way<ClassStep>>,
    pub(crate) method: Option<Way<MethodStep>>,
    pub(crate) stack: Option<Way<StackStep>>,
    /// The type of the frames of the stacks.
    pub(crate) frame: Option<Way<FrameStep>>,
    pub(crate) strings: Option<TypeIndex>,
    /// The type of the names of methods.
    pub(crate) symbols: Option<TypeIndex>,
    pub(crate) frame_kinds: Option<TypeIndex>,
    /// The types that the references of a frame and a method lead to.
    pub(crate) frame_method: Option<TypeIndex>,
    pub(crate) method_class: Option<TypeIndex>,
    pub(crate) method_descriptor: Option<TypeIndex>,
    pub(crate) class_name: Option<TypeIndex>,
}

impl Ways {
    pub(crate) fn new(metadata: &Metadata) -> Self {
        let thread = metadata.index_of_name("java.lang.Thread");
        let class = metadata.index_of_name("java.lang.Class");
        let method = metadata.index_of_name("jdk.types.Method");
        let stack = metadata.index_of_name("jdk.types.StackTrace");
        let frame = stack.and_then(|stack| frames_of(metadata, stack));
        Self {
            thread: Way::new(metadata, thread, thread_step),
            class: Way::new(metadata, class, class_step),
            method: Way::new(metadata, method, method_step),
            stack: Way::new(metadata, stack, stack_step),
            frame: Way::new(metadata, frame, frame_step),
            strings: metadata.index_of_name("java.lang.String"),
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

fn thread_step(place: usize, field: &Field) -> ThreadStep {
    match &*field.name {
        "osName" if is_plain(field, Shape::Text) => ThreadStep::OsName,
        "javaName" if is_plain(field, Shape::Text) => ThreadStep::JavaName,
        "osThreadId" if is_integer(field) => ThreadStep::OsId,
        "javaThreadId" if is_integer(field) => ThreadStep::JavaId,
        "virtual" if is_plain(field, Shape::Boolean) => ThreadStep::IsVirtual,
        _ => ThreadStep::Other(place),
    }
}

fn class_step(place: usize, field: &Field) -> ClassStep {
    match &*field.name {
        "name" if is_reference(field) => ClassStep::Name,
        _ => ClassStep::Other(place),
    }
}

fn method_step(place: usize, field: &Field) -> MethodStep {
    match &*field.name {
        "type" if is_reference(field) => MethodStep::Class,
        "name" if is_reference(field) => MethodStep::Name,
        "descriptor" if is_reference(field) => MethodStep::Descriptor,
        "hidden" if is_plain(field, Shape::Boolean) => MethodStep::Hidden,
        _ => MethodStep::Other(place),
    }
}

fn stack_step(place: usize, field: &Field) -> StackStep {
    match &*field.name {
        "truncated" if is_plain(field, Shape::Boolean) => StackStep::Truncated,
        "frames" if has_frames(field) => StackStep::Frames,
        _ => StackStep::Other(place),
    }
}

fn frame_step(place: usize, field: &Field) -> FrameStep {
    match &*field.name {
        "method" if is_reference(field) => FrameStep::Method,
        "lineNumber" if is_integer(field) => FrameStep::Line,
        "bytecodeIndex" if is_integer(field) => FrameStep::Bci,
        "type" if is_reference(field) => FrameStep::Kind,
        _ => FrameStep::Other(place),
    }
}
