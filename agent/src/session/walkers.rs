//! The stack walkers of a recording: the request (`cstack`) limited to what this VM allows.

use crate::hotspot::identity::Identity;
use crate::hotspot::walk_tables;
use crate::jvm::jni::Jni;
use crate::log;
use crate::options::CStack;
use crate::session::fault_watch;
use crate::threads::handler_memory::CallTrace;
use signal_core::handler_state::{HandlerState, WalkMode};
use std::sync::atomic::Ordering::Relaxed;

/// The choice for a recording.
#[derive(Debug)]
pub(crate) struct Walkers {
    asgct: CallTrace,
    mode: WalkMode,
    /// Whether stacks are walked at all.
    pub(crate) any: bool,
    /// For `status`.
    pub(crate) text: String,
}

impl Walkers {
    fn off(why: &str) -> Self {
        Self {
            asgct: CallTrace::NONE,
            mode: WalkMode::Asgct,
            any: false,
            text: format!("off ({why})"),
        }
    }

    /// Makes the choice; logs a choice that is less than requested.
    pub(crate) fn choose(
        handler: &HandlerState,
        identity: &Identity,
        jni: Option<Jni>,
        cstack: CStack,
    ) -> Self {
        let own = || prepare_own(handler, identity, jni);
        let function = CallTrace::find();
        if matches!(cstack, CStack::No | CStack::Asgct) {
            // The agent's walker is also made ready for its checked loads: they find sleeping
            // threads and holders of monitors. Its absence only disables these features.
            let _ = own();
        }
        let denied = identity.walker_denied();
        match cstack {
            CStack::No => Self::off("cstack=no"),
            CStack::Asgct => Self::asgct(function),
            CStack::Auto => match (own(), denied) {
                (Ok(()), denied) => Self::own_first(if denied.is_none() {
                    function
                } else {
                    CallTrace::NONE
                }),
                (Err(_), None) => Self::asgct(function),
                (Err(unknown), Some(why)) => {
                    log::warn(&format!(
                        "no stacks: {why}, and our own walker does not know this JVM \
                         ({unknown}); samples carry thread and context only \
                         (cstack=asgct walks all the same)"
                    ));
                    Self::off(&why)
                }
            },
            CStack::Vm => {
                let asgct = if denied.is_none() {
                    function
                } else {
                    CallTrace::NONE
                };
                match own() {
                    Ok(()) => Self::own_first(asgct),
                    Err(why) => {
                        log::warn(&format!("cstack=vm is not possible: {why}"));
                        Self::asgct(asgct)
                    }
                }
            }
            CStack::Shadow => match own() {
                Ok(()) => Self {
                    mode: WalkMode::Shadow,
                    text: "asgct, compared with vm".into(),
                    ..Self::asgct(function)
                },
                Err(why) => {
                    log::warn(&format!("cstack=shadow compares nothing: {why}"));
                    Self::asgct(function)
                }
            },
        }
    }

    /// The agent's walker, then AsyncGetCallTrace if it is allowed .
    fn own_first(asgct: CallTrace) -> Self {
        let text = if asgct.is_none() {
            "vm"
        } else {
            "vm, then asgct"
        };
        Self {
            asgct,
            mode: WalkMode::Own,
            any: true,
            text: text.into(),
        }
    }

    fn asgct(function: CallTrace) -> Self {
        if function.is_none() {
            log::warn("no stacks: this JVM has no AsyncGetCallTrace that may be used");
            return Self::off("no AsyncGetCallTrace that may be used");
        }
        Self {
            asgct: function,
            mode: WalkMode::Asgct,
            any: true,
            text: "asgct".into(),
        }
    }

    /// Applies the choice to the handlers.
    pub(crate) fn apply(&self, handler: &HandlerState) {
        handler.walk_mode.store(self.mode as u32, Relaxed);
        self.asgct.publish(handler);
    }
}

/// Initializes the agent's walker, once.
fn prepare_own(
    handler: &HandlerState,
    identity: &Identity,
    jni: Option<Jni>,
) -> Result<(), String> {
    if fault_watch::has_tripped() {
        return Err("it was switched off after repeated faults".into());
    }
    if handler.stack_walker().is_none() {
        let some_id = jni.and_then(Jni::some_method_id);
        let walker = Box::new(walk_tables::find(identity, some_id)?);
        handler.set_stack_walker(Box::leak(walker));
    }
    #[cfg(feature = "faults")]
    fault_watch::begin_faults();
    Ok(())
}
