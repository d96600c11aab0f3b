//! Shared by the integration tests; each uses a part of it.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub(crate) mod checker;
#[path = "../../../jfr-format/tests/common/jdk.rs"]
pub(crate) mod jdk;
pub(crate) mod scenario;
