//! The instructions of a hook.

use super::descriptor::{MethodDescriptor, class_constant, is_reference, slots};
use super::instructions::{INVOKESTATIC, NOP};
use crate::class_file::{ClassFile, Method, NewConstants};
use crate::error::{HookFault, Result};
use crate::hook::{ALIGNMENT, Argument, Hook, are_good_names};

const LOAD: u8 = 21;
const LOAD_SHORT: u8 = 26;
const STORE_REFERENCE: u8 = 58;
const STORE_REFERENCE_SHORT: u8 = 75;
const CHECKCAST: u8 = 192;
/// Slots that have load and store instructions of their own.
const SHORT_SLOTS: u8 = 4;
/// Place of references among the kinds `int`, `long`, `float`, `double`, reference.
const REFERENCE: u8 = 4;

/// Straight-line code for the entry of a method.
#[derive(Debug, Default)]
pub(crate) struct Prologue {
    pub(crate) code: Vec<u8>,
    /// Slots of the stack that it needs.
    pub(crate) stack: u16,
}

/// A local variable that a hook uses.
#[derive(Debug)]
struct Local<'a> {
    slot: u8,
    /// Its type; `None` for `this`.
    kind: Option<&'a str>,
}

impl Prologue {
    /// The code of `hook` at `method`.
    pub(crate) fn assemble(
        hook: &Hook<'_>,
        class: &ClassFile<'_>,
        method: &Method<'_>,
        constants: &mut NewConstants,
    ) -> Result<Self> {
        let fail = |reason| method.bad_hook(reason);
        if !are_good_names(&hook.helper, &[hook.descriptor]) {
            return Err(fail(HookFault::BadName));
        }
        let parse = |text| MethodDescriptor::parse(text).ok_or(HookFault::BadDescriptor);
        let types = parse(hook.descriptor).map_err(fail)?;
        let helper = parse(hook.helper.descriptor).map_err(fail)?;
        let arguments = arguments(hook, class, method, &types, &helper).map_err(fail)?;
        let result = replaced(hook, method, &types, &helper).map_err(fail)?;

        let mut prologue = Self::default();
        for argument in &arguments {
            prologue.load(argument);
        }
        let name = &hook.helper;
        let call = constants.method(name.class, name.method, name.descriptor)?;
        prologue.put_with_index(INVOKESTATIC, call);
        if let Some(local) = &result {
            prologue.store(local, helper.result, constants)?;
        }
        prologue.pad();
        Ok(prologue)
    }

    fn load(&mut self, local: &Local<'_>) {
        let place = match local.kind {
            Some("J") => 1,
            Some("F") => 2,
            Some("D") => 3,
            Some(kind) if !is_reference(kind) => 0,
            _ => REFERENCE,
        };
        let size = local.kind.map_or(1, slots);
        self.stack = self.stack.saturating_add(u16::try_from(size).unwrap_or(0));
        let short = LOAD_SHORT.wrapping_add(place.wrapping_mul(SHORT_SLOTS));
        self.put_with_slot(LOAD.wrapping_add(place), short, local.slot);
    }

    /// Casts the result unless it has the local's type, and stores it.
    fn store(
        &mut self,
        local: &Local<'_>,
        result: Option<&str>,
        constants: &mut NewConstants,
    ) -> Result<()> {
        self.stack = self.stack.max(1);
        if let Some(kind) = local.kind.filter(|_| local.kind != result) {
            let class = constants.class(class_constant(kind))?;
            self.put_with_index(CHECKCAST, class);
        }
        self.put_with_slot(STORE_REFERENCE, STORE_REFERENCE_SHORT, local.slot);
        Ok(())
    }

    fn put_with_slot(&mut self, opcode: u8, short: u8, slot: u8) {
        if slot < SHORT_SLOTS {
            self.code.push(short.wrapping_add(slot));
        } else {
            self.code.extend_from_slice(&[opcode, slot]);
        }
    }

    fn put_with_index(&mut self, opcode: u8, index: u16) {
        self.code.push(opcode);
        self.code.extend_from_slice(&index.to_be_bytes());
    }

    fn pad(&mut self) {
        let len = self.code.len().next_multiple_of(ALIGNMENT);
        self.code.resize(len, NOP);
    }
}

/// The locals to load. Each has the type of the helper's parameter, or that is `Object`.
fn arguments<'a>(
    hook: &Hook<'a>,
    class: &ClassFile<'_>,
    method: &Method<'_>,
    types: &MethodDescriptor<'a>,
    helper: &MethodDescriptor<'a>,
) -> std::result::Result<Vec<Local<'a>>, HookFault> {
    if hook.arguments.len() != helper.parameters.len() {
        return Err(HookFault::ArgumentCount);
    }
    let mut locals = Vec::new();
    for (argument, expected) in hook.arguments.iter().zip(&helper.parameters) {
        let local = match *argument {
            Argument::This => this(method)?,
            Argument::Parameter(index) => parameter(index, method, types)?,
        };
        let is_same = match local.kind {
            Some(kind) => kind == *expected,
            None => {
                expected.starts_with('L') && class_constant(expected).as_bytes() == class.name()
            }
        };
        let is_object = *expected == "Ljava/lang/Object;" && local.kind.is_none_or(is_reference);
        if !is_same && !is_object {
            return Err(HookFault::ArgumentType);
        }
        locals.push(local);
    }
    Ok(locals)
}

fn this<'a>(method: &Method<'_>) -> std::result::Result<Local<'a>, HookFault> {
    let is_there = !method.is_static() && !method.is_constructor();
    let this = Local {
        slot: 0,
        kind: None,
    };
    is_there.then_some(this).ok_or(HookFault::NoThis)
}

fn parameter<'a>(
    index: u8,
    method: &Method<'_>,
    types: &MethodDescriptor<'a>,
) -> std::result::Result<Local<'a>, HookFault> {
    let index = usize::from(index);
    let kind = types
        .parameters
        .get(index)
        .ok_or(HookFault::NoSuchParameter)?;
    let before = usize::from(!method.is_static()).saturating_add(types.slots_before(index));
    let slot = u8::try_from(before).map_err(|_| HookFault::BadDescriptor)?;
    Ok(Local {
        slot,
        kind: Some(kind),
    })
}

/// The local that the helper's result replaces.
fn replaced<'a>(
    hook: &Hook<'a>,
    method: &Method<'_>,
    types: &MethodDescriptor<'a>,
    helper: &MethodDescriptor<'a>,
) -> std::result::Result<Option<Local<'a>>, HookFault> {
    let Some(index) = hook.replaces else {
        return match helper.result {
            None => Ok(None),
            Some(_) => Err(HookFault::ResultType),
        };
    };
    let local = parameter(index, method, types)?;
    let are_references = [local.kind, helper.result]
        .into_iter()
        .all(|kind| kind.is_some_and(is_reference));
    are_references
        .then_some(Some(local))
        .ok_or(HookFault::ResultType)
}
