//! Calls inside of a method that become calls of a helper, in their place.

use std::ops::Range;

use super::descriptor::{MethodDescriptor, class_constant, is_reference};
use super::instructions::{INVOKESTATIC, Instruction, Instructions, NOP};
use crate::bytes::Reader;
use crate::class_file::{ClassFile, ConstantPool, Method, MethodName};
use crate::error::{HookFault, Result};
use crate::hook::{CallHook, are_good_names};

const INVOKEVIRTUAL: u8 = 182;
const INVOKEINTERFACE: u8 = 185;

/// A call that a hook replaces.
#[derive(Debug)]
pub(crate) struct FoundCall {
    /// Its instruction in the class.
    pub(crate) place: Range<usize>,
    /// Number of the hook in their list.
    pub(crate) hook: usize,
}

/// A call to write in place of one that was found.
#[derive(Debug)]
pub(crate) struct NewCall {
    /// The instruction that it replaces, in the class that was read.
    pub(crate) place: Range<usize>,
    /// Index of the constant that names the helper.
    pub(crate) helper: u16,
}

/// Finds the calls in the code of a method that `hooks`, with their numbers in their list, are for.
/// Reads every instruction, also if there are no hooks.
pub(crate) fn find(
    class: &ClassFile<'_>,
    method: &Method<'_>,
    hooks: &[(usize, &CallHook<'_>)],
) -> Result<Vec<FoundCall>> {
    let Some(code) = method.code() else {
        return Ok(Vec::new());
    };
    let mut reader = Reader::new(class.bytes());
    reader.take(code.start)?;
    let (_len, _max_stack, _max_locals) = (reader.u32()?, reader.u16()?, reader.u16()?);
    let code_length = reader.u32()?;
    let mut instructions = Instructions::new(reader.part(code_length)?);
    let mut found = Vec::new();
    while let Some(instruction) = instructions.read()? {
        let Some(name) = called(&instruction, class.pool())? else {
            continue;
        };
        let is_static = instruction.opcode == INVOKESTATIC;
        let is_for = |(_, hook): &&(usize, &CallHook<'_>)| {
            hook.target.is_static == is_static && hook.target.is(&name)
        };
        if let Some((hook, _)) = hooks.iter().find(is_for) {
            let (place, hook) = (instruction.place(), *hook);
            found.push(FoundCall { place, hook });
        }
    }
    Ok(found)
}

/// The method that an instruction calls, unless by `invokespecial` or `invokedynamic`.
fn called<'a>(
    instruction: &Instruction<'_>,
    pool: &ConstantPool<'a>,
) -> Result<Option<MethodName<'a>>> {
    let mut operands = Reader::new(instruction.operands);
    let at = instruction.at;
    match instruction.opcode {
        INVOKEVIRTUAL => pool.method(operands.u16()?, at).map(Some),
        INVOKEINTERFACE => pool.interface_method(operands.u16()?, at).map(Some),
        INVOKESTATIC => pool.any_method(operands.u16()?, at).map(Some),
        _ => Ok(None),
    }
}

/// Fails unless the helper takes and leaves on the stack what the call that it replaces does.
pub(crate) fn check(hook: &CallHook<'_>, method: &Method<'_>) -> Result<()> {
    check_types(hook).map_err(|reason| method.bad_hook(reason))
}

fn check_types(hook: &CallHook<'_>) -> std::result::Result<(), HookFault> {
    let target = &hook.target;
    let texts = [target.class, target.method, target.descriptor];
    if !are_good_names(&hook.helper, &texts) {
        return Err(HookFault::BadName);
    }
    let parse = |text| MethodDescriptor::parse(text).ok_or(HookFault::BadDescriptor);
    let (types, helper) = (parse(target.descriptor)?, parse(hook.helper.descriptor)?);
    let receivers = usize::from(!target.is_static);
    let Some((receiver, parameters)) = helper.parameters.split_at_checked(receivers) else {
        return Err(HookFault::ArgumentCount);
    };
    if parameters.len() != types.parameters.len() {
        return Err(HookFault::ArgumentCount);
    }
    let is_object = |kind: &str| kind == "Ljava/lang/Object;";
    let is_receiver =
        |kind: &&str| is_object(kind) || is_reference(kind) && class_constant(kind) == target.class;
    let fits = |(expected, kind): (&&str, &&str)| {
        kind == expected || is_object(expected) && is_reference(kind)
    };
    let mut pairs = parameters.iter().zip(&types.parameters);
    if !receiver.iter().all(is_receiver) || !pairs.all(fits) {
        return Err(HookFault::ArgumentType);
    }
    let is_same = helper.result == types.result;
    is_same.then_some(()).ok_or(HookFault::CallResult)
}

/// Writes `code`, with calls of helpers in place of others. What such a call is shorter is filled up.
pub(super) fn put(code: &Reader<'_>, calls: &[NewCall], out: &mut Vec<u8>) {
    let first = out.len();
    out.extend_from_slice(code.rest());
    for call in calls {
        let begin = first.saturating_add(call.place.start.saturating_sub(code.at()));
        let end = begin.saturating_add(call.place.len());
        let [high, low] = call.helper.to_be_bytes();
        let instruction = [INVOKESTATIC, high, low].into_iter();
        let bytes = instruction.chain(std::iter::repeat(NOP));
        let old = out.get_mut(begin..end).unwrap_or_default();
        old.iter_mut().zip(bytes).for_each(|(old, new)| *old = new);
    }
}
