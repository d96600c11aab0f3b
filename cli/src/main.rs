//! ctxjfr
fn main() {}
