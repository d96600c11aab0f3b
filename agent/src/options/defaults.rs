//! The defaults of the option table, as options.

use super::parsed::Options;
use super::read::value_of;
use super::table::TABLE;

impl Default for Options {
    fn default() -> Self {
        let mut options = Self::unset();
        for row in TABLE.iter().filter(|row| !row.default.is_empty()) {
            // A test shows that each is allowed.
            if let Ok(value) = value_of(row, Some(row.default)) {
                (row.set)(&mut options, value);
            }
        }
        options
    }
}
