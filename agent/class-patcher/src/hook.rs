//! What to call at the entry of which method.

/// The length of a prologue is a multiple of this, in bytes: `tableswitch` and `lookupswitch` pad
/// their operands to positions of such multiples.
pub const ALIGNMENT: usize = 4;

/// A call at the entry of a method. Names are ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hook<'a> {
    /// Name of the method: `execute`, `<init>`.
    pub method: &'a str,
    /// Its descriptor: `(Ljava/lang/Runnable;)V`.
    pub descriptor: &'a str,
    /// What is called.
    pub helper: Helper<'a>,
    /// What is passed, in the order of the helper's parameters.
    pub arguments: &'a [Argument],
    /// The parameter that the helper's result replaces, counted as in [`Argument::Parameter`];
    /// `None` if the helper only observes and returns nothing.
    ///
    /// Where the helper does not return just the type of this parameter, the result is cast to it:
    /// a result of another type makes the hooked method throw `ClassCastException`.
    pub replaces: Option<u8>,
}

/// A static method of a class (not of an interface) that the hooked class can link to. An
/// exception that it throws leaves the hooked method, as no handler of that covers the prologue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Helper<'a> {
    /// Internal name of its class: `io/example/Context`.
    pub class: &'a str,
    /// Name of the method.
    pub method: &'a str,
    /// Its descriptor. Each parameter has the type of the argument, or is `Object` for a reference.
    pub descriptor: &'a str,
}

/// A value that the hooked method has at its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The object on which the method was called; not in static methods and constructors.
    This,
    /// A parameter, counted from 0 without `this`. A `long` or `double` counts once.
    Parameter(u8),
}
