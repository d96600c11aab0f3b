//! A class and its hooks to a new class.

use std::collections::HashMap;
use std::ops::Range;

use crate::bytes::{Reader, put_u16};
use crate::class_file::{ClassFile, Method, NewConstants};
use crate::code::{self, Prologue};
use crate::error::{Error, ErrorKind, HookFault, Result, short_name};
use crate::hook::Hook;

/// Position of the number of constants.
const POOL_COUNT: Range<usize> = 8..10;

/// The result of [`patch`].
#[derive(Debug, PartialEq, Eq)]
pub struct PatchedClass {
    /// The class file; the one given if no prologue was inserted.
    pub bytes: Vec<u8>,
    /// What became of each hook, in their order.
    pub outcomes: Vec<HookOutcome>,
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

/// Inserts the calls of `hooks` into a class. Each names another method; those that the class does
/// not have are left out, as the [outcomes](PatchedClass::outcomes) tell.
///
/// Only `Code` attributes of hooked methods are read in full.
///
/// # Errors
///
/// If a hook cannot be applied, the code of a hooked method is malformed or has an unknown
/// attribute, or the result would exceed a limit: 65,535 constants, bytes of code of a method, or
/// line numbers. No part of the class is patched then.
pub fn patch(class: &ClassFile<'_>, hooks: &[Hook<'_>]) -> Result<PatchedClass> {
    let by_method = by_method(hooks)?;
    let mut constants = NewConstants::behind(class.pool());
    let mut outcomes = vec![HookOutcome::NoSuchMethod; hooks.len()];
    let mut edits = Vec::new();
    for method in class.methods() {
        let Some(&number) = by_method.get(&(method.name(), method.descriptor())) else {
            continue;
        };
        let Some((hook, outcome)) = hooks.get(number).zip(outcomes.get_mut(number)) else {
            continue;
        };
        let Some(code) = method.code() else {
            *outcome = HookOutcome::NoCode;
            continue;
        };
        let prologue = Prologue::assemble(hook, class, method, &mut constants)?;
        let prologue_bytes = prologue.code.len();
        *outcome = HookOutcome::Inserted { prologue_bytes };
        edits.push((code, prologue));
    }
    let bytes = write(class, &constants, &edits)?;
    Ok(PatchedClass { bytes, outcomes })
}

/// Takes the code of every method apart and puts it together again, without a hook. The result
/// equals the class if this crate understands it all.
///
/// # Errors
///
/// As [`patch`].
pub fn rebuild(class: &ClassFile<'_>) -> Result<Vec<u8>> {
    let codes = class.methods().iter().filter_map(Method::code);
    let edits: Vec<_> = codes.map(|code| (code, Prologue::default())).collect();
    write(class, &NewConstants::behind(class.pool()), &edits)
}

/// The place of each hook in their list, by name and descriptor of the method.
type HookPlaces<'a> = HashMap<(&'a [u8], &'a [u8]), usize>;

fn by_method<'a>(hooks: &[Hook<'a>]) -> Result<HookPlaces<'a>> {
    let mut places = HashMap::new();
    for (place, hook) in hooks.iter().enumerate() {
        let key = (hook.method.as_bytes(), hook.descriptor.as_bytes());
        if places.insert(key, place).is_some() {
            let kind = ErrorKind::BadHook {
                method: short_name(&[key.0, key.1].concat()),
                reason: HookFault::SameMethodTwice,
            };
            return Err(Error::new(0, kind));
        }
    }
    Ok(places)
}

/// The class with more constants, and prologues at these codes, which are in order of position.
fn write(
    class: &ClassFile<'_>,
    constants: &NewConstants,
    edits: &[(Range<usize>, Prologue)],
) -> Result<Vec<u8>> {
    let mut reader = Reader::new(class.bytes());
    let added: usize = edits.iter().map(|(_, prologue)| prologue.code.len()).sum();
    let more = added.saturating_add(constants.bytes().len());
    let mut out = Vec::with_capacity(class.bytes().len().saturating_add(more));
    reader.copy(POOL_COUNT.start, &mut out)?;
    let _count = reader.u16()?;
    put_u16(&mut out, constants.count()?);
    copy_until(&mut reader, class.pool().range().end, &mut out)?;
    out.extend_from_slice(constants.bytes());
    for (code, prologue) in edits {
        copy_until(&mut reader, code.start, &mut out)?;
        code::insert(&mut reader, class.pool(), prologue, &mut out)?;
    }
    copy_until(&mut reader, class.bytes().len(), &mut out)?;
    Ok(out)
}

fn copy_until(reader: &mut Reader<'_>, end: usize, out: &mut Vec<u8>) -> Result<()> {
    reader.copy(end.saturating_sub(reader.at()), out)
}
