//! Wrong behaviour of test builds: each deviation must be noticed by a test. Without the feature
//! `deviations` none is in the build.

/// Whether this process deviates in this way: the variable `JFR_FORMAT_DEVIATION` names one.
#[cfg(not(feature = "deviations"))]
#[inline]
pub(crate) const fn is(_name: &str) -> bool {
    false
}

/// Whether this process deviates in this way: the variable `JFR_FORMAT_DEVIATION` names one.
#[cfg(feature = "deviations")]
pub(crate) fn is(name: &str) -> bool {
    static CHOSEN: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    let chosen = CHOSEN.get_or_init(|| std::env::var("JFR_FORMAT_DEVIATION").ok());
    chosen.as_deref() == Some(name)
}
