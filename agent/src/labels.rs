//! Labels without a change of the application: methods of its libraries that tell what a thread
//! works for call classes of ours, which set attributes with a copy of the Java API.
//!
//! The first class of a library is given its hooks when it is prepared; up to then there is nothing
//! of ours, and where no such library is used there never is. From then on the VM posts the bytes
//! of classes, so others get theirs when they are loaded, which spares a pause for each; when such
//! a class is prepared, and before anything of it runs, it is checked whether what the hooks call
//! fits it. The hooks stay for the life of the VM; without a recording that wants them they only
//! take away what they have set.

mod classes;
mod java;
mod sources;

use crate::class_hooks::boot::refusal;
use crate::class_hooks::{Row, hooks_of, with_hooks};
use crate::jvm::jni::{Jni, LocalRef, WeakRef};
use crate::jvm::jvmti::Jvmti;
use crate::log;
use crate::options::{LabelSource, Labels};
use class_patcher::hook::Helper;
pub(crate) use classes::{are_there as has_classes, class_file};
pub(crate) use java::{define_boot_class, prepare};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The sources that a recording wants, by their bits.
static WANTED: AtomicU32 = AtomicU32::new(0);
static STATE: Mutex<State> = Mutex::new(State::NEW);

/// What became of the sources. Its lock is not held while calling the VM.
#[derive(Debug)]
struct State {
    /// Names of attributes that sources may set, joined with `+`.
    names: String,
    /// The classes with hooks, by the source that they are of.
    found: BTreeMap<LabelSource, Vec<WeakRef>>,
    /// Names of the classes that got their hooks when they were loaded, and are not prepared yet.
    loaded: Vec<String>,
    /// Why sources are off.
    faults: BTreeMap<LabelSource, String>,
    /// Why none can work.
    fault: Option<String>,
}

impl State {
    const NEW: Self = Self {
        names: String::new(),
        found: BTreeMap::new(),
        loaded: Vec::new(),
        faults: BTreeMap::new(),
        fault: None,
    };

    fn has_fault(&self, source: LabelSource) -> bool {
        self.faults.contains_key(&source)
    }

    /// A class is about to get its hooks as it is loaded; `false` if it must not. From now on
    /// [`end`] leaves the event on that it waits for.
    fn note_loaded(&mut self, source: LabelSource, name: &str) -> bool {
        let is_wanted = WANTED.load(Relaxed) & source.bit() != 0 && !self.has_fault(source);
        if is_wanted {
            self.loaded.push(name.to_owned());
        }
        is_wanted
    }

    /// Whether the class is one of those; forgets it.
    fn take_loaded(&mut self, name: &str) -> bool {
        let place = self.loaded.iter().position(|loaded| loaded == name);
        place.map(|place| self.loaded.swap_remove(place)).is_some()
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A recording begins that wants these.
pub(crate) fn begin(jvmti: Jvmti, jni: Jni, wanted: &Labels) {
    let bits = wanted.bits();
    if bits == 0 {
        return;
    }
    if !classes::are_there() {
        turn_all_off("this build of the agent has no Java classes");
        return;
    }
    state().names = wanted.names.join("+");
    WANTED.store(bits, Relaxed);
    turn(jni);
    let _ = jvmti.notify_of_prepared_classes(true);
    jni.with_local_frame(|jni| {
        for class in jvmti.loaded_classes(jni).unwrap_or_default() {
            on_class_prepare(jvmti, *jni, &class);
            jni.delete_local(class);
        }
    });
}

/// A recording has ended, with labels or without: turns off the event that it needed, unless a
/// class with hooks still waits for it.
pub(crate) fn end(jvmti: Jvmti, jni: Jni) {
    let (wanted, is_awaited) = {
        let state = state();
        (WANTED.swap(0, Relaxed), !state.loaded.is_empty())
    };
    let _ = jvmti.notify_of_prepared_classes(is_awaited);
    if wanted != 0 {
        turn(jni);
    }
}

fn turn(jni: Jni) {
    let names = state().names.clone();
    java::turn(jni, WANTED.load(Relaxed), &names);
}

/// `ClassPrepare`, on the thread that prepares the class: gives one of a library its hooks, or
/// checks those that it has.
pub(crate) fn on_class_prepare(jvmti: Jvmti, jni: Jni, class: &LocalRef<'_>) {
    let wanted = WANTED.load(Relaxed);
    if wanted == 0 && state().loaded.is_empty() {
        return;
    }
    let Ok(signature) = jvmti.class_signature(class) else {
        return;
    };
    let name = signature
        .strip_prefix('L')
        .and_then(|s| s.strip_suffix(';'));
    let Some(name) = name else { return };
    let Some(source) = sources::of_class(name) else {
        return;
    };
    let was_loaded_with_hooks = state().take_loaded(name);
    let is_wanted = wanted & source.bit() != 0 && !has_hooks(jni, source, class);
    if !was_loaded_with_hooks && !is_wanted {
        return;
    }
    match jni.with_local_frame(|jni| hook(jvmti, *jni, (source, name), class)) {
        Ok(()) if !state().has_fault(source) => note(jni, source, class),
        Ok(()) => {}
        Err(why) => fail(source, &why),
    }
}

/// Whether an earlier recording gave the class its hooks: to load it anew would throw away what was
/// compiled of it.
fn has_hooks(jni: Jni, source: LabelSource, class: &LocalRef<'_>) -> bool {
    let known = state().found.get(&source).cloned().unwrap_or_default();
    known.iter().any(|known| jni.is_same(*known, class))
}

/// A class of a source has hooks. Forgets those that were unloaded.
fn note(jni: Jni, source: LabelSource, class: &LocalRef<'_>) {
    let mut classes = state().found.remove(&source).unwrap_or_default();
    classes.retain(|known| {
        let Some(class) = jni.local(*known) else {
            jni.delete_weak(*known);
            return false;
        };
        jni.delete_local(class);
        true
    });
    classes.push(jni.weak(class));
    state().found.entry(source).or_default().extend(classes);
}

/// Sees to it that the class has hooks if what they call fits it, and none otherwise.
fn hook(
    jvmti: Jvmti,
    jni: Jni,
    (source, name): (LabelSource, &str),
    class: &LocalRef<'_>,
) -> Result<(), String> {
    let constants = jvmti.constant_pool(class).map_err(refusal)?;
    let rows = || sources::of_constants(name, &constants);
    let has_hooks = rows().all(|row| sources::is_in(&constants, row.helper().class));
    match (prepare_helpers(jvmti, jni, class, rows()), has_hooks) {
        (Ok(()), false) => load_anew(jvmti, class),
        (Err(why), true) => {
            // With this the class is loaded without them.
            fail(source, &why);
            load_anew(jvmti, class)
        }
        (fits, _) => fits,
    }
}

/// Has the VM load the class anew, which posts [`patched`].
fn load_anew(jvmti: Jvmti, class: &LocalRef<'_>) -> Result<(), String> {
    jvmti.watch_class_files().map_err(refusal)?;
    let loaded_anew = jvmti.retransform(std::slice::from_ref(class));
    loaded_anew.map_err(refusal)
}

/// Prepares what the hooks of a class call, and verifies that it fits.
fn prepare_helpers(
    jvmti: Jvmti,
    jni: Jni,
    class: &LocalRef<'_>,
    rows: impl Iterator<Item = &'static Row>,
) -> Result<(), String> {
    let loader = jvmti.class_loader(&jni, class).map_err(refusal)?;
    let loader = loader.as_ref();
    is_reachable(jni, loader)?;
    turn(jni);
    for row in rows {
        let defined = define(&jni, loader, &row.helper())?;
        java::add_reads(jvmti, jni, class, &defined).ok_or("its module cannot read ours")?;
    }
    Ok(())
}

/// Whether classes of a loader can call ours.
fn is_reachable(jni: Jni, loader: Option<&LocalRef<'_>>) -> Result<(), String> {
    java::prepare(&jni).ok_or("the classes that hooks call cannot be defined")?;
    if !java::is_found_by(jni, loader) {
        return Err("its class loader does not ask the boot loader".to_owned());
    }
    Ok(())
}

/// Defines what a hook calls, unless it is there, and has the VM verify it: a class that another
/// version of the library makes invalid must not be called.
fn define<'e>(
    jni: &'e Jni,
    loader: Option<&LocalRef<'_>>,
    helper: &Helper<'_>,
) -> Result<LocalRef<'e>, String> {
    let defined = (|| {
        let class = define_unverified(jni, loader, helper)?;
        let (method, descriptor) = (
            java::c_name(helper.method)?,
            java::c_name(helper.descriptor)?,
        );
        jni.static_method_id(&class, &method, &descriptor)?;
        Some(class)
    })();
    defined.ok_or_else(|| format!("{} does not fit this version of it", helper.class))
}

/// Defines what a hook calls, unless it is there; nothing of it runs.
fn define_unverified<'e>(
    jni: &'e Jni,
    loader: Option<&LocalRef<'_>>,
    helper: &Helper<'_>,
) -> Option<LocalRef<'e>> {
    for nested in classes::nested(helper.class) {
        java::define(jni, loader, &java::c_name(nested)?)?;
    }
    java::define(jni, loader, &java::c_name(helper.class)?)
}

/// The class with hooks; `None` if it gets none. The VM calls this for each class that it loads, once
/// the first one has hooks. If anything is wrong with this one, [`on_class_prepare`] will say so.
pub(crate) fn patched_at_load(
    jni: Jni,
    loader: Option<&LocalRef<'_>>,
    name: &str,
    bytes: &[u8],
) -> Option<Vec<u8>> {
    if WANTED.load(Relaxed) == 0 {
        return None;
    }
    let source = sources::of_class(name)?;
    if !state().note_loaded(source, name) {
        return None;
    }
    let patched = jni.with_local_frame(|jni| {
        is_reachable(*jni, loader).ok()?;
        for row in sources::of_constants(name, bytes) {
            // Verifying would load classes, this one perhaps, which is not there yet.
            define_unverified(jni, loader, &row.helper())?;
        }
        with_hooks(&hooks_of(sources::of_constants(name, bytes)), bytes).ok()
    });
    if patched.is_none() {
        state().take_loaded(name);
    }
    patched
}

/// The class with hooks; `None` if it gets none. The VM calls this for each class that it loads
/// anew.
pub(crate) fn patched(
    jni: Jni,
    loader: Option<&LocalRef<'_>>,
    name: &str,
    bytes: &[u8],
) -> Option<Vec<u8>> {
    let source = sources::of_class(name)?;
    let is_hooked = WANTED.load(Relaxed) & source.bit() != 0 || state().found.contains_key(&source);
    if !is_hooked || state().has_fault(source) {
        return None;
    }
    let rows = || sources::of_constants(name, bytes);
    let defined = rows().map(|row| define(&jni, loader, &row.helper()).map(drop));
    let patched = defined
        .collect::<Result<(), _>>()
        .and_then(|()| with_hooks(&hooks_of(rows()), bytes));
    patched
        .inspect_err(|why| fail(source, &format!("{}: {why}", name.replace('/', "."))))
        .ok()
}

fn turn_all_off(why: &str) {
    log::warn(&format!("labels= is off: {why}"));
    state().fault = Some(why.to_owned());
}

/// A source does not work; said once.
fn fail(source: LabelSource, why: &str) {
    let is_new = state().faults.insert(source, why.to_owned()).is_none();
    if is_new {
        log::warn(&format!("labels of {} are off: {why}", source.word()));
    }
}

/// A hook failed: `bit` is its source's, 0 if none can work.
pub(crate) fn report(bit: u32, why: &str) {
    let mut sources = LabelSource::ALL.into_iter();
    if let Some(source) = sources.find(|source| source.bit() == bit) {
        fail(source, why);
    } else {
        turn_all_off(why);
    }
}

/// The lines of `status`.
pub(crate) fn status(jni: Option<Jni>) -> Vec<String> {
    let wanted = WANTED.load(Relaxed);
    let (found, faults, fault) = {
        let state = state();
        (
            state.found.clone(),
            state.faults.clone(),
            state.fault.clone(),
        )
    };
    if let Some(why) = fault {
        return vec![format!("labels: off ({why})")];
    }
    let line = |source: LabelSource| {
        let text = match (faults.get(&source), found.get(&source)) {
            _ if wanted & source.bit() == 0 => return None,
            (Some(why), _) => format!("off ({why})"),
            (None, Some(classes)) => {
                let class = classes.first();
                let version = jni.and_then(|jni| java::version(jni, *class?));
                let version =
                    version.map_or(String::new(), |version| format!("version {version}, "));
                let set = jni.map_or(0, |jni| java::counted(jni, source as u32));
                let classes = classes.len();
                format!("on ({version}classes with hooks: {classes}, labels set: {set})")
            }
            (None, None) => return None,
        };
        Some(format!("labels {}: {text}", source.word()))
    };
    let lines: Vec<String> = LabelSource::ALL.into_iter().filter_map(line).collect();
    if lines.is_empty() && wanted != 0 {
        return vec!["labels: no library that they come from was loaded so far".to_owned()];
    }
    lines
}
