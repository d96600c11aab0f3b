//! Tables of hooks: which method calls which helper, a line each. `propagation/hooks.txt`
//! and `network/hooks.txt` have those of the JDK, `labels/sources.txt` those of libraries.

pub(crate) mod boot;
pub(crate) mod class_cache;
pub(crate) mod on_demand;
mod signature;

use class_patcher::class_file::ClassFile;
use class_patcher::hook::{Argument, CallHook, CallTarget, Helper, Hook};
use class_patcher::patch::{CallOutcome, HookOutcome, patch};
use signature::Signature;

const OBJECT: &str = "Ljava/lang/Object;";

/// A method with a hook.
#[derive(Debug)]
pub(crate) struct Row {
    /// The first word of the line: what the hook is for.
    pub(crate) group: &'static str,
    /// Versions of the JDK that have it: the first and the last.
    versions: (u32, u32),
    helper_class: String,
    helper_method: &'static str,
    helper_descriptor: String,
    signature: Signature,
    /// The call in the method that the helper replaces; `None` if it is called at the entry.
    call: Option<Signature>,
}

/// The hooks of a class: calls at entries of its methods, and calls to replace.
pub(crate) type ClassHooks = (Vec<Hook<'static>>, Vec<CallHook<'static>>);

/// The rows of a table; `class_of` gives the full name of a helper's class, with slashes.
pub(crate) fn rows(
    table: &'static str,
    class_of: impl Fn(&str) -> String,
) -> impl Iterator<Item = Row> {
    lines(table).filter_map(move |line| Row::parse(line, &class_of))
}

pub(crate) fn lines(table: &'static str) -> impl Iterator<Item = &'static str> {
    let lines = table.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

impl Row {
    fn parse(line: &'static str, class_of: &impl Fn(&str) -> String) -> Option<Self> {
        let (group, rest) = line.split_once(' ')?;
        let (versions, rest) = rest.trim_start().split_once(' ')?;
        let (helper, method) = rest.trim_start().split_once(' ')?;
        let (first, last) = versions.split_once('-')?;
        let (class, helper_method) = helper.rsplit_once('.')?;
        let (method, call) = match method.split_once(" > ") {
            Some((method, call)) => (method, Some(Signature::parse(call)?)),
            None => (method, None),
        };
        let signature = Signature::parse(method)?;
        Some(Self {
            group,
            versions: (first.parse().ok()?, last_version(last)?),
            helper_class: class_of(class),
            helper_method,
            helper_descriptor: match &call {
                Some(call) => of_call(call),
                None => of_entry(&signature),
            },
            signature,
            call,
        })
    }

    /// The class of the method, with slashes.
    pub(crate) fn class(&self) -> &str {
        &self.signature.class
    }

    /// What the hook calls.
    pub(crate) fn helper(&self) -> Helper<'_> {
        Helper {
            class: &self.helper_class,
            method: self.helper_method,
            descriptor: &self.helper_descriptor,
        }
    }

    /// Whether a version of the JDK has it.
    pub(crate) const fn is_of(&self, version: u32) -> bool {
        self.versions.0 <= version && version <= self.versions.1
    }

    /// Adds the hook to those of its class.
    pub(crate) fn add_to(&'static self, hooks: &mut ClassHooks) {
        match &self.call {
            Some(call) => hooks.1.push(self.call_hook(call)),
            None => hooks.0.push(self.hook()),
        }
    }

    fn hook(&self) -> Hook<'_> {
        Hook {
            method: &self.signature.method,
            descriptor: &self.signature.descriptor,
            helper: self.helper(),
            arguments: &self.signature.passed,
            replaces: self.signature.replaced,
        }
    }

    fn call_hook<'r>(&'r self, call: &'r Signature) -> CallHook<'r> {
        CallHook {
            method: &self.signature.method,
            descriptor: &self.signature.descriptor,
            target: CallTarget {
                class: &call.class,
                method: &call.method,
                descriptor: &call.descriptor,
                is_static: call.is_static,
            },
            helper: self.helper(),
        }
    }
}

/// Empty: it is still there.
fn last_version(text: &str) -> Option<u32> {
    match text {
        "" => Some(u32::MAX),
        last => last.parse().ok(),
    }
}

/// The descriptor of a helper at the entry of a method: objects are passed, and replaced, as such.
fn of_entry(signature: &Signature) -> String {
    let passed = signature.passed.iter().map(|argument| {
        let kind = match argument {
            Argument::This => None,
            Argument::Parameter(place) => signature.parameters.get(usize::from(*place)),
        };
        match kind.map(String::as_str) {
            Some(primitive @ ("I" | "J" | "Z")) => primitive,
            _ => OBJECT,
        }
    });
    let result = signature.replaced.map_or("V", |_| OBJECT);
    format!("({}){result}", passed.collect::<String>())
}

/// The descriptor of a helper in place of a call: the receiver, if any, is its first parameter, as
/// an object if it is marked.
fn of_call(call: &Signature) -> String {
    let receiver = match call.passed.first() {
        _ if call.is_static => String::new(),
        Some(Argument::This) => OBJECT.to_owned(),
        _ => format!("L{};", call.class),
    };
    let parameters = call.parameters.concat();
    format!("({receiver}{parameters}){}", call.result)
}

/// The hooks of a class, by its rows.
pub(crate) fn hooks_of(rows: impl Iterator<Item = &'static Row>) -> ClassHooks {
    let mut hooks = ClassHooks::default();
    rows.for_each(|row| row.add_to(&mut hooks));
    hooks
}

/// The class with these hooks, or why it cannot have one of them.
pub(crate) fn with_hooks(hooks: &ClassHooks, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let (entries, calls) = hooks;
    let class = ClassFile::parse(bytes);
    let patched = class.and_then(|class| patch(&class, entries, calls));
    let patched = patched.map_err(|error| error.to_string())?;
    for (hook, outcome) in entries.iter().zip(&patched.outcomes) {
        if !matches!(outcome, HookOutcome::Inserted { .. }) {
            return Err(format!("it has no method {}", hook.method));
        }
    }
    for (call, outcome) in calls.iter().zip(&patched.call_outcomes) {
        if !matches!(outcome, CallOutcome::Replaced { .. }) {
            let (called, by) = (call.target.method, call.method);
            return Err(format!("it has no call of {called} in method {by}"));
        }
    }
    Ok(patched.bytes)
}
