//! A hook for any method: one that replaces its first reference, or observes what there is.

use class_patcher::class_file::{ClassFile, Method};
use class_patcher::hook::{Argument, Helper, Hook};

const HELPER: &str = "io/ctxagent/patched/Entry";

/// A hook with all that it borrows.
pub(crate) struct Specimen<'a> {
    method: &'a str,
    descriptor: &'a str,
    helper: (&'static str, &'static str),
    arguments: Vec<Argument>,
    replaces: Option<u8>,
}

impl Specimen<'_> {
    pub(crate) fn hook(&self) -> Hook<'_> {
        let (method, descriptor) = self.helper;
        Hook {
            method: self.method,
            descriptor: self.descriptor,
            helper: Helper {
                class: HELPER,
                method,
                descriptor,
            },
            arguments: &self.arguments,
            replaces: self.replaces,
        }
    }
}

/// One hook for each method that has code; every second one replaces where it can. An empty
/// `finalize` must stay empty: with code in it, the JVM would finalize each object of the class.
pub(crate) fn for_each_method<'a>(class: &ClassFile<'a>) -> Vec<Specimen<'a>> {
    let methods = class.methods().iter();
    let methods = methods.filter(|method| method.has_code() && method.name() != b"finalize");
    let numbered = methods.enumerate();
    numbered
        .map(|(number, method)| specimen(method, number % 2 == 0))
        .collect()
}

fn specimen<'a>(method: &Method<'a>, is_to_replace: bool) -> Specimen<'a> {
    let text = |bytes: &'a [u8]| std::str::from_utf8(bytes).unwrap();
    let (name, descriptor) = (text(method.name()), text(method.descriptor()));
    let first_kinds = kinds(descriptor);
    let find = |wanted: &[char]| {
        let place = first_kinds.iter().position(|kind| wanted.contains(kind))?;
        u8::try_from(place).ok()
    };
    let reference = find(&['L', '[']);
    let has_this = !method.is_static() && name != "<init>";
    let object = match reference {
        None if has_this => Some(Argument::This),
        reference => reference.map(Argument::Parameter),
    };
    let long = find(&['J']).map(Argument::Parameter);
    let replaces = reference.filter(|_| is_to_replace);
    let (helper, arguments) = match (object, long, replaces) {
        (Some(object), _, Some(_)) => (
            ("replace", "(Ljava/lang/Object;)Ljava/lang/Object;"),
            vec![object],
        ),
        (Some(object), Some(long), None) => {
            (("observe", "(Ljava/lang/Object;J)V"), vec![object, long])
        }
        (Some(object), None, None) => (("observe", "(Ljava/lang/Object;)V"), vec![object]),
        (None, ..) => (("observe", "()V"), Vec::new()),
    };
    Specimen {
        method: name,
        descriptor,
        helper,
        arguments,
        replaces,
    }
}

/// The first sign of each parameter's type.
fn kinds(descriptor: &str) -> Vec<char> {
    let mut kinds = Vec::new();
    let mut signs = descriptor[1..].chars();
    while let Some(first) = signs.next().filter(|sign| *sign != ')') {
        kinds.push(first);
        let mut last = first;
        while last == '[' {
            last = signs.next().unwrap();
        }
        if last == 'L' {
            signs.by_ref().find(|sign| *sign == ';');
        }
    }
    kinds
}
