//! Where the JDK takes a task and runs it, by mechanism: the table in `hooks.txt`.
//!
//! A task that the JDK keeps in a private field is replaced where the field is set: nobody sees it.
//! One that others see runs as it is; its context is noted where it is taken and found where it
//! runs.

mod signature;

use crate::jvm::task_entry::{CALLS, ENTRY};
use crate::options::{Mechanism, MechanismSet};
use class_patcher::hook::{Argument, CallHook, CallTarget, Helper, Hook};
use signature::Signature;
use std::sync::LazyLock;

const TABLE: &str = include_str!("hooks.txt");
const OBJECT: &str = "Ljava/lang/Object;";

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| lines().filter_map(Row::parse).collect());

/// A method with a hook.
#[derive(Debug)]
struct Row {
    mechanism: Mechanism,
    /// Versions of the JDK that have it: the first and the last.
    versions: (u32, u32),
    helper_class: &'static str,
    helper_method: &'static str,
    helper_descriptor: String,
    signature: Signature,
    /// The call in the method that the helper replaces; `None` if it is called at the entry.
    call: Option<Signature>,
}

fn lines() -> impl Iterator<Item = &'static str> {
    let lines = TABLE.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

impl Row {
    fn parse(line: &'static str) -> Option<Self> {
        let (word, rest) = line.split_once(' ')?;
        let (versions, rest) = rest.trim_start().split_once(' ')?;
        let (helper, method) = rest.trim_start().split_once(' ')?;
        let (first, last) = versions.split_once('-')?;
        let (class, helper_method) = helper.split_once('.')?;
        let (method, call) = match method.split_once(" > ") {
            Some((method, call)) => (method, Some(Signature::parse(call)?)),
            None => (method, None),
        };
        let signature = Signature::parse(method)?;
        Some(Self {
            mechanism: Mechanism::ALL.into_iter().find(|m| m.word() == word)?,
            versions: (first.parse().ok()?, last_version(last)?),
            helper_class: if class == "calls" { CALLS } else { ENTRY },
            helper_method,
            helper_descriptor: match &call {
                Some(call) => of_call(call),
                None => of_entry(&signature),
            },
            signature,
            call,
        })
    }

    const fn is_of(&self, version: u32) -> bool {
        self.versions.0 <= version && version <= self.versions.1
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
            },
            helper: self.helper(),
        }
    }

    fn helper(&self) -> Helper<'_> {
        Helper {
            class: self.helper_class,
            method: self.helper_method,
            descriptor: &self.helper_descriptor,
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

/// The descriptor of a helper in place of a call: the receiver is its first parameter.
fn of_call(call: &Signature) -> String {
    let parameters = call.parameters.concat();
    format!("(L{};{parameters}){}", call.class, call.result)
}

/// The classes of a mechanism in a version of the JDK, each once.
pub(super) fn classes(mechanism: Mechanism, version: u32) -> impl Iterator<Item = &'static str> {
    let mut last = "";
    let is_wanted = move |row: &&Row| row.mechanism == mechanism && row.is_of(version);
    let rows = ROWS.iter().filter(is_wanted);
    rows.map(|row| row.signature.class.as_str())
        .filter(move |class| {
            let is_new = *class != last;
            last = class;
            is_new
        })
}

/// The hooks of a class: calls at entries of its methods, and calls to replace.
pub(super) type ClassHooks = (Vec<Hook<'static>>, Vec<CallHook<'static>>);

/// Those of these mechanisms in a version of the JDK.
pub(super) fn of_class(class: &str, mechanisms: MechanismSet, version: u32) -> ClassHooks {
    let mut hooks = ClassHooks::default();
    for row in ROWS.iter() {
        let is_of_class = row.signature.class == class && row.is_of(version);
        match &row.call {
            _ if !is_of_class || !mechanisms.has(row.mechanism) => {}
            Some(call) => hooks.1.push(row.call_hook(call)),
            None => hooks.0.push(row.hook()),
        }
    }
    hooks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_table_is_a_hook() {
        for line in lines() {
            assert!(Row::parse(line).is_some(), "{line}");
        }
        for mechanism in Mechanism::ALL {
            assert!(classes(mechanism, 25).count() > 0, "{mechanism:?}");
        }
    }

    #[test]
    fn each_class_of_a_mechanism_is_named_once() {
        for mechanism in Mechanism::ALL {
            for version in [17, 21, 25] {
                let mut classes: Vec<_> = classes(mechanism, version).collect();
                let count = classes.len();
                classes.sort_unstable();
                classes.dedup();
                assert_eq!(classes.len(), count, "{mechanism:?}, JDK {version}");
            }
        }
    }
}
