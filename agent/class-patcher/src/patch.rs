//! A class and its hooks to a new class.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::bytes::{Reader, put_u16};
use crate::class_file::{ClassFile, Method, NewConstants};
use crate::code::{self, CodeEdit, NewCall, Prologue};
use crate::error::{Error, HookFault, Result};
use crate::hook::{CallHook, Hook};

/// Position of the number of constants.
const POOL_COUNT: Range<usize> = 8..10;

/// The result of [`patch`].
#[derive(Debug, PartialEq, Eq)]
pub struct PatchedClass {
    /// The class file; the one given if nothing was inserted or replaced.
    pub bytes: Vec<u8>,
    /// What became of each hook, in their order.
    pub outcomes: Vec<HookOutcome>,
    /// What became of each call hook, in their order.
    pub call_outcomes: Vec<CallOutcome>,
}

/// What became of a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookOutcome {
    /// The method begins with the call.
    Inserted {
        /// Bytes of the prologue. The JIT compiler weighs them: it inlines small methods only, and
        /// compiles none of more than 8,000 bytes.
        prologue_bytes: usize,
    },
    /// The class has no such method.
    NoSuchMethod,
    /// The method is abstract or native.
    NoCode,
}

/// What became of a hook for calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// The method calls the helper instead.
    Replaced {
        /// Number of calls, at least one.
        calls: usize,
    },
    /// The class has no such method.
    NoSuchMethod,
    /// The method has no such call.
    NoSuchCall,
    /// The method is abstract or native.
    NoCode,
}

/// Inserts the calls of `hooks` into a class, and replaces those of `calls`. Each hook names another
/// method or another call; those that the class does not have are left out, as the outcomes tell.
///
/// Only `Code` attributes of hooked methods are read in full, and instructions only of those in which
/// calls are to be replaced.
///
/// # Errors
///
/// If a hook cannot be applied, the code of a hooked method is malformed or has an unknown
/// attribute, or the result would exceed a limit: 65,535 constants, bytes of code of a method, or
/// line numbers. No part of the class is patched then.
pub fn patch(
    class: &ClassFile<'_>,
    hooks: &[Hook<'_>],
    calls: &[CallHook<'_>],
) -> Result<PatchedClass> {
    let by_method = by_method(hooks, calls)?;
    let mut patch = Patch {
        class,
        constants: NewConstants::behind(class.pool()),
        outcomes: vec![HookOutcome::NoSuchMethod; hooks.len()],
        call_outcomes: vec![CallOutcome::NoSuchMethod; calls.len()],
    };
    let mut edits = Vec::new();
    for method in class.methods() {
        let Some(hooks) = by_method.get(&(method.name(), method.descriptor())) else {
            continue;
        };
        match method.code() {
            Some(code) => edits.push((code, patch.edit(method, hooks)?)),
            None => patch.note_lack_of_code(hooks),
        }
    }
    let bytes = write(class, &patch.constants, &edits)?;
    Ok(PatchedClass {
        bytes,
        outcomes: patch.outcomes,
        call_outcomes: patch.call_outcomes,
    })
}

/// Takes the code of every method apart and puts it together again, without a hook. The result
/// equals the class if this crate understands it all, each instruction included.
///
/// # Errors
///
/// As [`patch`].
pub fn rebuild(class: &ClassFile<'_>) -> Result<Vec<u8>> {
    let mut edits = Vec::new();
    for method in class.methods() {
        code::find_calls(class, method, &[])?;
        edits.extend(method.code().map(|code| (code, CodeEdit::default())));
    }
    write(class, &NewConstants::behind(class.pool()), &edits)
}

/// The hooks of a method, with their numbers in their lists.
#[derive(Debug, Default)]
struct MethodHooks<'a> {
    entry: Option<(usize, &'a Hook<'a>)>,
    calls: Vec<(usize, &'a CallHook<'a>)>,
}

/// The hooks of each method, by its name and descriptor.
type HooksByMethod<'a> = HashMap<(&'a [u8], &'a [u8]), MethodHooks<'a>>;

fn by_method<'a>(hooks: &'a [Hook<'a>], calls: &'a [CallHook<'a>]) -> Result<HooksByMethod<'a>> {
    let mut methods = HooksByMethod::new();
    for entry in hooks.iter().enumerate() {
        let key = (entry.1.method.as_bytes(), entry.1.descriptor.as_bytes());
        let method = methods.entry(key).or_default();
        if method.entry.replace(entry).is_some() {
            return Err(Error::bad_hook(0, key, HookFault::SameMethodTwice));
        }
    }
    let mut targets = HashSet::new();
    for call in calls.iter().enumerate() {
        let key = (call.1.method.as_bytes(), call.1.descriptor.as_bytes());
        if !targets.insert((key, call.1.target)) {
            return Err(Error::bad_hook(0, key, HookFault::SameCallTwice));
        }
        methods.entry(key).or_default().calls.push(call);
    }
    Ok(methods)
}

/// A patch of a class in the making.
struct Patch<'a> {
    class: &'a ClassFile<'a>,
    constants: NewConstants,
    outcomes: Vec<HookOutcome>,
    call_outcomes: Vec<CallOutcome>,
}

impl Patch<'_> {
    /// The edit of a method that has code.
    fn edit(&mut self, method: &Method<'_>, hooks: &MethodHooks<'_>) -> Result<CodeEdit> {
        let mut edit = CodeEdit::default();
        if let Some((number, hook)) = hooks.entry {
            edit.prologue = Prologue::assemble(hook, self.class, method, &mut self.constants)?;
            let prologue_bytes = edit.prologue.code.len();
            set(
                &mut self.outcomes,
                number,
                HookOutcome::Inserted { prologue_bytes },
            );
        }
        if !hooks.calls.is_empty() {
            edit.calls = self.new_calls(method, &hooks.calls)?;
        }
        Ok(edit)
    }

    fn new_calls(
        &mut self,
        method: &Method<'_>,
        hooks: &[(usize, &CallHook<'_>)],
    ) -> Result<Vec<NewCall>> {
        let found = code::find_calls(self.class, method, hooks)?;
        let mut new_calls = Vec::with_capacity(found.len());
        for (number, hook) in hooks {
            code::check_call(hook, method)?;
            let places = found.iter().filter(|call| call.hook == *number);
            let count = places.clone().count();
            let outcome = match count {
                0 => CallOutcome::NoSuchCall,
                calls => CallOutcome::Replaced { calls },
            };
            set(&mut self.call_outcomes, *number, outcome);
            if count == 0 {
                continue;
            }
            let name = &hook.helper;
            let helper = self
                .constants
                .method(name.class, name.method, name.descriptor)?;
            new_calls.extend(places.map(|call| NewCall {
                place: call.place.clone(),
                helper,
            }));
        }
        Ok(new_calls)
    }

    fn note_lack_of_code(&mut self, hooks: &MethodHooks<'_>) {
        if let Some((number, _)) = hooks.entry {
            set(&mut self.outcomes, number, HookOutcome::NoCode);
        }
        for (number, _) in &hooks.calls {
            set(&mut self.call_outcomes, *number, CallOutcome::NoCode);
        }
    }
}

/// Sets the outcome of a hook by its number.
fn set<T>(outcomes: &mut [T], number: usize, outcome: T) {
    if let Some(place) = outcomes.get_mut(number) {
        *place = outcome;
    }
}

/// The class with more constants, and with edits of these codes, which are in order of position.
fn write(
    class: &ClassFile<'_>,
    constants: &NewConstants,
    edits: &[(Range<usize>, CodeEdit)],
) -> Result<Vec<u8>> {
    let mut reader = Reader::new(class.bytes());
    let added: usize = edits.iter().map(|(_, edit)| edit.prologue.code.len()).sum();
    let more = added.saturating_add(constants.bytes().len());
    let mut out = Vec::with_capacity(class.bytes().len().saturating_add(more));
    reader.copy(POOL_COUNT.start, &mut out)?;
    let _count = reader.u16()?;
    put_u16(&mut out, constants.count()?);
    copy_until(&mut reader, class.pool().range().end, &mut out)?;
    out.extend_from_slice(constants.bytes());
    for (code, edit) in edits {
        copy_until(&mut reader, code.start, &mut out)?;
        code::write(&mut reader, class.pool(), edit, &mut out)?;
    }
    copy_until(&mut reader, class.bytes().len(), &mut out)?;
    Ok(out)
}

fn copy_until(reader: &mut Reader<'_>, end: usize, out: &mut Vec<u8>) -> Result<()> {
    reader.copy(end.saturating_sub(reader.at()), out)
}
