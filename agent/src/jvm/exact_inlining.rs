//! Debug information at every instruction, not at safepoints only: the compilers record it while an
//! agent asks for the event that compiled code was loaded. Without it, a sample between two
//! safepoints gets the methods of the next one, which may be those of an inlined neighbour.

use super::jvmti::Jvmti;
use crate::os::start;
use jvmti_sys::{Capability, Event};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

/// Since when the compilers record it.
static SINCE: OnceLock<Since> = OnceLock::new();

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Since {
    /// Before any code was compiled.
    Load,
    /// So long after the start of the process. Earlier code stays as it is.
    Running(Duration),
    /// The VM refuses the event.
    Never,
}

/// Asks for the event, whose callback does nothing; `at_load`: no code is compiled yet.
pub(crate) fn begin(jvmti: Jvmti, at_load: bool) {
    let asked = jvmti
        .add_capability(Capability::CAN_GENERATE_COMPILED_METHOD_LOAD_EVENTS)
        .and_then(|()| jvmti.notify(Event::COMPILED_METHOD_LOAD, true));
    let age = start::process_start().and_then(|begun| SystemTime::now().duration_since(begun).ok());
    let since = match asked {
        Ok(()) if at_load => Since::Load,
        Ok(()) => Since::Running(age.unwrap_or_default()),
        Err(_) => Since::Never,
    };
    // A second load is refused before.
    let _ = SINCE.set(since);
}

/// For `status` and recordings.
pub(crate) fn description() -> String {
    SINCE.get().copied().unwrap_or(Since::Never).text()
}

impl Since {
    fn text(self) -> String {
        match self {
            Self::Load => "exact".into(),
            Self::Running(age) => format!(
                "exact in code compiled later than {:.1} s after the start of the JVM",
                age.as_secs_f64()
            ),
            Self::Never => "exact at safepoints only".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Since;
    use std::time::Duration;

    #[test]
    fn an_attach_names_its_moment() {
        assert_eq!(Since::Load.text(), "exact");
        let late = Since::Running(Duration::from_millis(61_250)).text();
        assert!(late.contains(" 61.2 s "), "{late}");
    }
}
