//! Hooks in classes of the JDK, which the VM loads anew with them.

use super::{ClassHooks, with_hooks};
use crate::jvm::jni::{Jni, LocalRef};
use crate::jvm::jvmti::Jvmti;
use std::ffi::CString;
use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Classes whose patch failed, with the reason, few at most. Not held while the VM loads classes,
/// which runs transformers of other agents.
static FAULTS: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

fn faults() -> MutexGuard<'static, Vec<(String, String)>> {
    FAULTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes those of these classes.
fn take_faults(classes: &[&str]) -> Vec<(String, String)> {
    let is_of = |(class, _): &mut (String, String)| classes.contains(&class.as_str());
    faults().extract_if(.., is_of).collect()
}

/// Has the VM load classes anew. From `arm` on the caller has [`patched`] asked for their hooks.
pub(crate) fn load_anew(
    jvmti: Jvmti,
    jni: Jni,
    classes: &[&str],
    arm: &dyn Fn(),
) -> Result<(), String> {
    let mut loaded = load_once(jvmti, jni, classes, arm);
    let mut found = take_faults(classes);
    if !found.is_empty() {
        // Another agent that changes the same class at the same time can make the VM post bytes
        // that are no class.
        loaded = load_once(jvmti, jni, classes, arm);
        found = take_faults(classes);
    }
    match found.first() {
        Some((class, why)) => Err(format!("{class}: {why}")),
        None => loaded,
    }
}

fn load_once(jvmti: Jvmti, jni: Jni, classes: &[&str], arm: &dyn Fn()) -> Result<(), String> {
    jni.with_local_frame(|jni| {
        let find = |class: &&str| find(jni, class).ok_or(format!("there is no class {class}"));
        let classes: Vec<LocalRef<'_>> = classes.iter().map(find).collect::<Result<_, _>>()?;
        jvmti.watch_class_files().map_err(refusal)?;
        arm();
        jvmti.retransform(&classes).map_err(refusal)
    })
}

/// Why no class has hooks.
pub(crate) fn refusal(error: impl Display) -> String {
    format!("this JVM changes no loaded classes ({error})")
}

/// A class of the JDK, which is loaded if it is not yet.
fn find<'e>(jni: &'e Jni, class: &str) -> Option<LocalRef<'e>> {
    jni.find_class(&CString::new(class).ok()?)
}

/// The class with its hooks; `None` if it gets none.
pub(crate) fn patched(name: &str, hooks: &ClassHooks, bytes: &[u8]) -> Option<Vec<u8>> {
    if *hooks == Default::default() {
        return None;
    }
    with_hooks(hooks, bytes)
        .inspect_err(|fault| {
            let mut faults = faults();
            faults.retain(|(class, _)| class != name);
            faults.push((name.to_owned(), fault.clone()));
        })
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_hooks;

    /// The prologue of a class that is not what it should be.
    #[test]
    fn class_that_cannot_be_patched_stays_and_is_reported() {
        let class = "java/util/concurrent/FutureTask";
        let table = "futures 17- entry.callable FutureTask.<init>(*Callable)";
        let mut hooks = ClassHooks::default();
        assert_eq!(patched(class, &hooks, b"no class"), None);
        assert!(faults().is_empty(), "it has no hooks");
        for row in class_hooks::rows(table, str::to_owned) {
            Box::leak(Box::new(row)).add_to(&mut hooks);
        }
        assert_eq!(patched(class, &hooks, b"no class"), None);
        let found = take_faults(&[class]);
        let fault = found.first().map_or("", |(_, why)| why);
        assert!(fault.starts_with("at byte 0: found 0x6e6f2063"), "{fault}");
        assert!(faults().is_empty());
    }
}
