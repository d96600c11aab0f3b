//! Numbers that several parts enforce. The Java API has its own copies, with these values.

/// Attributes of a context: slots of a block, and columns of a sample event.
pub const ATTRIBUTE_SLOTS: usize = 8;
/// Length of an attribute's name in bytes, at most.
pub const MAX_ATTRIBUTE_NAME_BYTES: usize = 63;
