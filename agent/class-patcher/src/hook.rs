//! What to call at the entry of which method, or in place of which call.

use crate::class_file::MethodName;

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

/// A call in a method that becomes a call of a helper: of the same receiver and arguments, with the
/// same result. Names are ASCII.
///
/// There may be several such calls. What calls by `invokespecial` stays: constructors, `super`, and
/// private methods in older class files. The code keeps its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallHook<'a> {
    /// Name of the method with the call: `runWorker`.
    pub method: &'a str,
    /// Its descriptor.
    pub descriptor: &'a str,
    /// The method that is called there.
    pub target: CallTarget<'a>,
    /// What is called instead. Its first parameter is the receiver, of the type of the target's
    /// class, unless the target is static; then come the parameters of the target. Each reference
    /// may be an `Object`. The result is that of the target.
    pub helper: Helper<'a>,
}

/// A method as a call names it: the class is that of the expression on which it is called, which
/// may inherit the method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallTarget<'a> {
    /// Internal name of the class or interface: `java/util/TimerTask`; of an array its descriptor.
    pub class: &'a str,
    /// Name of the method.
    pub method: &'a str,
    /// Its descriptor: `()V`.
    pub descriptor: &'a str,
    /// Whether it is called by `invokestatic`; if not, by `invokevirtual` or `invokeinterface`.
    pub is_static: bool,
}

impl CallTarget<'_> {
    pub(crate) fn is(&self, name: &MethodName<'_>) -> bool {
        let wanted = [self.method, self.descriptor, self.class].map(str::as_bytes);
        wanted == [name.method, name.descriptor, name.class]
    }
}

/// A static method of a class (not of an interface) that the hooked class can link to. An
/// exception that it throws from a prologue leaves the hooked method: no handler covers that.
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

/// Whether these can be matched and written as they are, which only ASCII without NUL allows.
pub(crate) fn are_good_names(helper: &Helper<'_>, others: &[&str]) -> bool {
    let helper = [helper.class, helper.method, helper.descriptor];
    let is_good = |text: &&str| {
        let is_plain = text.bytes().all(|byte| matches!(byte, 1..=0x7F));
        is_plain && !text.is_empty() && u16::try_from(text.len()).is_ok()
    };
    helper.iter().chain(others).all(is_good)
}
