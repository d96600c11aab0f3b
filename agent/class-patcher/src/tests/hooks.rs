//! The instructions of a hook, and hooks that cannot be applied.

use super::test_class::{OBJECT, OBSERVER, TestClass};
use crate::class_file::ClassFile;
use crate::error::{ErrorKind, HookFault};
use crate::hook::{Argument, Helper, Hook};
use crate::patch::{HookOutcome, patch};

const RUNNABLE: &str = "Ljava/lang/Runnable;";

fn helper(descriptor: &str) -> Helper<'_> {
    Helper {
        class: "h/Helper",
        method: "wrap",
        descriptor,
    }
}

fn class(method: &'static str, descriptor: &str) -> TestClass {
    TestClass {
        method,
        descriptor: descriptor.into(),
        ..TestClass::default()
    }
}

/// The class `t/Test` without a hook has 7 constants; 8 to 13 are those of the helper.
const METHOD: u8 = 13;

#[test]
fn parameter_of_a_constructor_is_replaced() {
    let descriptor = format!("({RUNNABLE}{OBJECT})V");
    let hook = Hook {
        method: "<init>",
        descriptor: &descriptor,
        helper: helper("(Ljava/lang/Runnable;)Ljava/lang/Runnable;"),
        arguments: &[Argument::Parameter(0)],
        replaces: Some(0),
    };
    let (bytes, prologue) = class("<init>", &descriptor).patched(&hook);
    // aload_1; invokestatic; astore_1; three nop
    assert_eq!(prologue, [43, 184, 0, METHOD, 76, 0, 0, 0]);
    let constants = b"\x01\0\x08h/Helper\x07\0\x08\x01\0\x04wrap\x01\0\x2A(Ljava/lang/Runnable;)Ljava/lang/Runnable;\
        \x0C\0\x0A\0\x0B\x0A\0\x09\0\x0C";
    let found = bytes.windows(constants.len()).filter(|w| w == constants);
    assert_eq!(found.count(), 1);
}

#[test]
fn result_of_another_type_is_cast() {
    let descriptor = format!("(JJ{RUNNABLE}[I)V");
    let hook = |parameter| Hook {
        method: "run",
        descriptor: &descriptor,
        helper: helper("(Ljava/lang/Object;)Ljava/lang/Object;"),
        arguments: match parameter {
            2 => &[Argument::Parameter(2)],
            _ => &[Argument::Parameter(3)],
        },
        replaces: Some(parameter),
    };
    let class = class("run", &descriptor);
    // aload 5; invokestatic; checkcast; astore 5; two nop
    let cast = METHOD + 2;
    let (bytes, prologue) = class.patched(&hook(2));
    assert_eq!(prologue, [25, 5, 184, 0, METHOD, 192, 0, cast, 58, 5, 0, 0]);
    let constant = b"\x01\0\x12java/lang/Runnable\x07\0\x0E";
    assert!(bytes.windows(constant.len()).any(|w| w == constant));
    let (bytes, _) = class.patched(&hook(3));
    let constant = b"\x01\0\x02[I\x07\0\x0E";
    assert!(bytes.windows(constant.len()).any(|w| w == constant));
}

#[test]
fn values_of_each_kind_are_loaded_from_their_slots() {
    let descriptor = "(IJFDLjava/lang/String;Z[B)V";
    let hook = Hook {
        method: "run",
        descriptor,
        helper: helper("(IJFDLjava/lang/String;ZLjava/lang/Object;Lt/Test;Ljava/lang/Object;)V"),
        arguments: &[
            Argument::Parameter(0),
            Argument::Parameter(1),
            Argument::Parameter(2),
            Argument::Parameter(3),
            Argument::Parameter(4),
            Argument::Parameter(5),
            Argument::Parameter(6),
            Argument::This,
            Argument::This,
        ],
        replaces: None,
    };
    let (bytes, prologue) = class("run", descriptor).patched(&hook);
    let loads = [27, 32, 23, 4, 24, 5, 25, 7, 21, 8, 25, 9, 42, 42];
    assert_eq!(prologue[..14], loads);
    assert_eq!(prologue[14..], [184, 0, METHOD, 0, 0, 0]);
    let new = ClassFile::parse(&bytes).unwrap();
    let stack = new.methods()[0].code().unwrap().start + 4;
    assert_eq!(bytes[stack..stack + 2], [0, 11]);
    // A static method has its first parameter at 0.
    let mut class = class("run", descriptor);
    class.access = 9;
    let first = Hook {
        helper: helper("(I)V"),
        arguments: &[Argument::Parameter(0)],
        ..hook
    };
    assert_eq!(class.patched(&first).1, [26, 184, 0, METHOD]);
}

#[test]
fn the_stack_never_shrinks() {
    let mut class = TestClass::default();
    for (before, after) in [(0, 2), (1, 2), (9, 9)] {
        class.max_stack = before;
        let (bytes, _) = class.patched(&OBSERVER);
        let new = ClassFile::parse(&bytes).unwrap();
        let stack = new.methods()[0].code().unwrap().start + 4;
        assert_eq!(bytes[stack..stack + 2], u16::to_be_bytes(after));
    }
}

#[test]
fn outcomes_tell_what_became_of_each_hook() {
    let bytes = TestClass::default().bytes();
    let class = ClassFile::parse(&bytes).unwrap();
    let other = Hook {
        descriptor: "()V",
        ..OBSERVER
    };
    let patched = patch(&class, &[other, OBSERVER], &[]).unwrap();
    let inserted = HookOutcome::Inserted { prologue_bytes: 8 };
    assert_eq!(patched.outcomes, [HookOutcome::NoSuchMethod, inserted]);
    let untouched = patch(&class, &[other], &[]).unwrap();
    assert_eq!(untouched.bytes, bytes);
}

#[test]
fn abstract_methods_are_left_as_they_are() {
    let mut bytes = TestClass::default().bytes();
    let at = bytes.windows(4).position(|w| w == b"Code").unwrap();
    bytes[at] = b'N'; // no code, but an attribute of another name
    let class = ClassFile::parse(&bytes).unwrap();
    let patched = patch(&class, &[OBSERVER], &[]).unwrap();
    assert_eq!(patched.outcomes, [HookOutcome::NoCode]);
    assert_eq!(patched.bytes, bytes);
}

#[test]
fn hooks_that_do_not_fit_are_refused() {
    let fault = |class: &TestClass, hook: Hook<'_>| {
        let bytes = class.bytes();
        let class = ClassFile::parse(&bytes).unwrap();
        let error = patch(&class, &[hook], &[]).unwrap_err();
        match error.kind() {
            ErrorKind::BadHook { reason, .. } => *reason,
            _ => panic!("{error}"),
        }
    };
    let run = TestClass::default();
    let with = |descriptor, arguments, replaces| Hook {
        helper: helper(descriptor),
        arguments,
        replaces,
        ..OBSERVER
    };
    let first = &[Argument::Parameter(0)];
    let cases = [
        (with("()V", first, None), HookFault::ArgumentCount),
        (with("(I)V", first, None), HookFault::ArgumentType),
        (with("(Lt/Test;)V", first, None), HookFault::ArgumentType),
        (
            with("(Lt/Other;)V", &[Argument::This], None),
            HookFault::ArgumentType,
        ),
        (
            with("(I)V", &[Argument::Parameter(1)], None),
            HookFault::NoSuchParameter,
        ),
        (with("()V", &[], Some(0)), HookFault::ResultType),
        (with("()I", &[], Some(0)), HookFault::ResultType),
        (with("()I", &[], None), HookFault::ResultType),
        (
            with("()Ljava/lang/String;", &[], Some(1)),
            HookFault::NoSuchParameter,
        ),
        (with("x", &[], None), HookFault::BadDescriptor),
        (with("(Lé;)V", first, None), HookFault::BadName),
    ];
    for (hook, reason) in cases {
        assert_eq!(fault(&run, hook), reason, "{hook:?}");
    }
    let this = with("(Ljava/lang/Object;)V", &[Argument::This], None);
    let static_method = TestClass {
        access: 9,
        ..TestClass::default()
    };
    assert_eq!(fault(&static_method, this), HookFault::NoThis);
    let constructor = Hook {
        method: "<init>",
        ..this
    };
    let init = class("<init>", OBSERVER.descriptor);
    assert_eq!(fault(&init, constructor), HookFault::NoThis);
    let primitive = class("run", "(I)V");
    let replace_primitive = Hook {
        descriptor: "(I)V",
        ..with("()Ljava/lang/Object;", &[], Some(0))
    };
    assert_eq!(fault(&primitive, replace_primitive), HookFault::ResultType);
}

#[test]
fn two_hooks_at_one_method_are_refused() {
    let bytes = TestClass::default().bytes();
    let class = ClassFile::parse(&bytes).unwrap();
    let error = patch(&class, &[OBSERVER, OBSERVER], &[]).unwrap_err();
    let text = "at byte 0: hook at run(Ljava/lang/String;)V: another hook names the same method";
    assert_eq!(error.to_string(), text);
}
