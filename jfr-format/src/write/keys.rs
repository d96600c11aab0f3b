//! Typed pool keys: what an event holds instead of a value.
//!
//! Counted densely per file and never bound to a second value, because the JDK keeps the first
//! value that it saw for a key, also over chunks.

macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        ///
        /// Good for one [`generation`](super::Recording::generation).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// No value.
            pub const NONE: Self = Self(0);

            /// Whether there is no value.
            pub fn is_none(self) -> bool {
                self.0 == 0
            }

            /// The number in the file.
            pub fn get(self) -> u32 {
                self.0
            }
        }

        impl From<$name> for u32 {
            #[inline]
            fn from(key: $name) -> Self {
                key.0
            }
        }
    )+};
}

keys! {
    /// A thread.
    ThreadKey;
    /// A thread group.
    ThreadGroupKey;
    /// A class.
    ClassKey;
    /// A method.
    MethodKey;
    /// A stack trace.
    StackKey;
    /// A value of a context attribute.
    AttributeKey;
    /// A thread state.
    StateKey;
}
