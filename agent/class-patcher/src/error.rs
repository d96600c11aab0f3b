//! One error type: the place in the class file, and what was found there.

use std::fmt;

/// Result of this crate's fallible functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Most characters of a foreign name that an error carries.
const MAX_NAME: usize = 64;

/// What went wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    at: usize,
    kind: ErrorKind,
}

/// The reason of an [`Error`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value goes on beyond the bytes of the class or attribute.
    Truncated {
        /// Bytes that the value needs.
        needed: usize,
        /// Bytes that are left.
        left: usize,
    },
    /// Bytes behind the end of the class or of an attribute's content.
    BytesLeft(usize),
    /// The file does not begin with `0xCAFEBABE`.
    BadMagic(u32),
    /// A class file version below 45.3, whose `Code` attribute is laid out otherwise.
    OldVersion {
        /// Major version found.
        major: u16,
        /// Minor version found.
        minor: u16,
    },
    /// A tag byte that this crate does not know.
    UnknownTag {
        /// What the tag belongs to: `constant`, `frame`, `verification type`, …
        what: &'static str,
        /// The tag found.
        found: u8,
    },
    /// An index that leads to no constant of the expected kind.
    WrongConstant {
        /// The index found.
        index: u16,
        /// The kind expected.
        expected: &'static str,
    },
    /// A method with two `Code` attributes.
    SecondCode,
    /// An attribute of `Code` that may hold positions; the name is cut to 64 characters.
    UnknownCodeAttribute(String),
    /// A position that is not inside the method's code.
    OutOfCode {
        /// The position found.
        found: u32,
        /// Bytes of code.
        code_length: u32,
    },
    /// A `tableswitch` whose lowest number is above its highest.
    SwitchRange {
        /// The lowest number found.
        low: i32,
        /// The highest number found.
        high: i32,
    },
    /// The result would be larger than the class file format or the JVM allows.
    LimitExceeded {
        /// What is too large.
        what: &'static str,
        /// Its size.
        found: usize,
        /// The largest size allowed.
        most: usize,
    },
    /// A hook that cannot be applied to its method.
    BadHook {
        /// Name and descriptor of the method, cut to 64 characters.
        method: String,
        /// What is wrong.
        reason: HookFault,
    },
}

/// What is wrong with a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookFault {
    /// Two hooks name the same method.
    SameMethodTwice,
    /// Two hooks replace the same calls.
    SameCallTwice,
    /// The method's or the helper's descriptor does not follow the format, or has more than 255
    /// slots.
    BadDescriptor,
    /// A name has signs outside of ASCII, or is longer than 65,535 bytes.
    BadName,
    /// Not as many arguments as the helper's descriptor has parameters; the receiver of a call is
    /// one.
    ArgumentCount,
    /// The method has no such parameter.
    NoSuchParameter,
    /// A static method has no `this`; in a constructor nothing may use it yet.
    NoThis,
    /// The helper's parameter is neither of the argument's type nor `Object` for a reference.
    ArgumentType,
    /// The helper must return a reference to replace a parameter, which must be one too, and
    /// nothing otherwise.
    ResultType,
    /// The helper must return what the call that it replaces returns.
    CallResult,
}

impl Error {
    pub(crate) fn new(at: usize, kind: ErrorKind) -> Self {
        Self { at, kind }
    }

    pub(crate) fn limit(at: usize, what: &'static str, found: usize, most: usize) -> Self {
        Self::new(at, ErrorKind::LimitExceeded { what, found, most })
    }

    /// A hook at the method of this name and descriptor; 0 if the class is not read yet.
    pub(crate) fn bad_hook(
        at: usize,
        (name, descriptor): (&[u8], &[u8]),
        reason: HookFault,
    ) -> Self {
        let method = short_name(&[name, descriptor].concat());
        Self::new(at, ErrorKind::BadHook { method, reason })
    }

    pub(crate) fn unknown_tag(at: usize, what: &'static str, found: u8) -> Self {
        Self::new(at, ErrorKind::UnknownTag { what, found })
    }

    /// Byte position in the class file; of a hook, that of its method, 0 if there is none.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The reason.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }
}

/// A name as an error carries it: a hostile class can have one of 65,535 bytes.
pub(crate) fn short_name(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    text.chars().take(MAX_NAME).collect()
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.at, self.kind)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { needed, left } => {
                write!(f, "cut off: {needed} bytes needed, {left} left")
            }
            Self::BytesLeft(found) => write!(f, "{found} bytes left over, expected the end"),
            Self::BadMagic(found) => write!(f, "found {found:#010x}, expected 0xcafebabe"),
            Self::OldVersion { major, minor } => {
                write!(
                    f,
                    "class file version {major}.{minor}, expected 45.3 or later"
                )
            }
            Self::UnknownTag { what, found } => write!(f, "unknown {what} {found}"),
            Self::WrongConstant { index, expected } => {
                write!(f, "constant {index} is not the expected {expected}")
            }
            Self::SecondCode => write!(f, "a second Code attribute, expected one"),
            Self::UnknownCodeAttribute(name) => {
                write!(
                    f,
                    "attribute '{name}' of Code is unknown and may hold positions"
                )
            }
            Self::OutOfCode { found, code_length } => {
                write!(f, "position {found} in code of {code_length} bytes")
            }
            Self::SwitchRange { low, high } => write!(f, "switch from {low} to {high}"),
            Self::LimitExceeded { what, found, most } => {
                write!(f, "{what}: {found}, at most {most} are possible")
            }
            Self::BadHook { method, reason } => write!(f, "hook at {method}: {reason}"),
        }
    }
}

impl fmt::Display for HookFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SameMethodTwice => "another hook names the same method",
            Self::SameCallTwice => "another hook replaces the same calls",
            Self::BadDescriptor => "a descriptor is malformed or has more than 255 slots",
            Self::BadName => "a name is not ASCII or too long",
            Self::ArgumentCount => "the helper has another number of parameters",
            Self::NoSuchParameter => "the method has no such parameter",
            Self::NoThis => "'this' cannot be used at the entry of this method",
            Self::ArgumentType => "the helper's parameter has another type, expected it or Object",
            Self::ResultType => {
                "the helper must return a reference to replace one, and nothing otherwise"
            }
            Self::CallResult => "the helper must return what the replaced call returns",
        })
    }
}

impl std::error::Error for Error {}
