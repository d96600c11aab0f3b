//! Calls that are replaced in their place, and hooks for calls that cannot be applied.

use super::test_class::{CALLEE_CONSTANTS, CONSTANTS, OBSERVER, TestClass, everything};
use crate::class_file::ClassFile;
use crate::error::{Error, ErrorKind, HookFault};
use crate::hook::{CallHook, CallTarget, Helper, Hook};
use crate::patch::{CallOutcome, HookOutcome, PatchedClass, patch, rebuild};

const DRAIN: CallTarget<'_> = CallTarget {
    class: "t/Queue",
    method: "drain",
    descriptor: "(JLt/List;)I",
    is_static: false,
};

/// A hook at the test class for `DRAIN`.
const HOOK: CallHook<'_> = CallHook {
    method: OBSERVER.method,
    descriptor: OBSERVER.descriptor,
    target: DRAIN,
    helper: Helper {
        class: "h/Helper",
        method: "drain",
        descriptor: "(Lt/Queue;JLt/List;)I",
    },
};

/// A class with one method of a class and the same of an interface to call.
fn class(code: &[u8]) -> TestClass {
    let callee = |tag| (tag, DRAIN.class, DRAIN.method, DRAIN.descriptor);
    TestClass {
        code: code.to_vec(),
        callees: vec![callee(10), callee(11)],
        ..TestClass::default()
    }
}

const OF_CLASS: u8 = CONSTANTS + CALLEE_CONSTANTS;
const OF_INTERFACE: u8 = OF_CLASS + CALLEE_CONSTANTS;
const HELPER: u8 = OF_INTERFACE + CALLEE_CONSTANTS;

fn patched(
    class: &TestClass,
    hooks: &[Hook<'_>],
    calls: &[CallHook<'_>],
) -> Result<PatchedClass, Error> {
    let bytes = class.bytes();
    patch(&ClassFile::parse(&bytes).unwrap(), hooks, calls)
}

/// The instructions of the only method.
fn code_of(bytes: &[u8]) -> Vec<u8> {
    let class = ClassFile::parse(bytes).unwrap();
    let begin = class.methods()[0].code().unwrap().start + 8;
    let len: [u8; 4] = bytes[begin..begin + 4].try_into().unwrap();
    let len = usize::try_from(u32::from_be_bytes(len)).unwrap();
    bytes[begin + 4..begin + 4 + len].to_vec()
}

#[test]
fn calls_are_replaced_without_a_change_of_length() {
    let class = class(&[
        182,
        0,
        OF_CLASS,
        87, // invokevirtual, pop
        185,
        0,
        OF_INTERFACE,
        4,
        0,
        87, // invokeinterface, pop
        183,
        0,
        OF_CLASS,
        184,
        0,
        OF_CLASS, // invokespecial and invokestatic
        17,
        182,
        0,
        19,
        0,
        OF_CLASS, // operands that look like calls
        182,
        0,
        OF_CLASS,
        177,
    ]);
    let result = patched(&class, &[], &[HOOK]).unwrap();
    assert_eq!(result.call_outcomes, [CallOutcome::Replaced { calls: 3 }]);
    let expected = [
        184, 0, HELPER, 87, 184, 0, HELPER, 0, 0, 87, 183, 0, OF_CLASS, 184, 0, OF_CLASS, 17, 182,
        0, 19, 0, OF_CLASS, 184, 0, HELPER, 177,
    ];
    assert_eq!(code_of(&result.bytes), expected);
    let constants = b"\x01\0\x08h/Helper\x07\0\x14\x01\0\x05drain\x01\0\x15(Lt/Queue;JLt/List;)I\
        \x0C\0\x16\0\x17\x0A\0\x15\0\x18";
    let found = result
        .bytes
        .windows(constants.len())
        .filter(|w| w == constants);
    assert_eq!(found.count(), 1);
    // All else is as it was.
    assert_eq!(result.bytes.len(), class.bytes().len() + constants.len());
}

#[test]
fn static_calls_are_replaced_where_the_target_is_static() {
    let class = class(&[
        184,
        0,
        OF_CLASS,
        184,
        0,
        OF_INTERFACE,
        182,
        0,
        OF_CLASS,
        177,
    ]);
    let target = CallTarget {
        is_static: true,
        ..DRAIN
    };
    let helper = |descriptor| Helper {
        descriptor,
        ..HOOK.helper
    };
    let hook = |descriptor| CallHook {
        target,
        helper: helper(descriptor),
        ..HOOK
    };
    let result = patched(&class, &[], &[hook("(JLt/List;)I")]).unwrap();
    assert_eq!(result.call_outcomes, [CallOutcome::Replaced { calls: 2 }]);
    let expected = [184, 0, HELPER, 184, 0, HELPER, 182, 0, OF_CLASS, 177];
    assert_eq!(code_of(&result.bytes), expected);
    let error = patched(&class, &[], &[hook(HOOK.helper.descriptor)]).unwrap_err();
    assert!(error.to_string().ends_with("another number of parameters"));
}

#[test]
fn a_method_gets_a_prologue_and_replaced_calls_at_once() {
    let class = TestClass {
        callees: class(&[]).callees,
        ..everything()
    };
    let names = u8::try_from(class.attributes.len()).unwrap();
    let (of_class, helper) = (OF_CLASS + names, HELPER + names);
    let mut class = class;
    class.code[40..43].copy_from_slice(&[182, 0, of_class]);
    let both = patched(&class, &[OBSERVER], &[HOOK]).unwrap();
    assert_eq!(both.outcomes, [HookOutcome::Inserted { prologue_bytes: 8 }]);
    assert_eq!(both.call_outcomes, [CallOutcome::Replaced { calls: 1 }]);
    // The prologue's helper comes first and shares its class with that of the call.
    let code = code_of(&both.bytes);
    assert_eq!(code[48..51], [184, 0, helper + 4]);
    let prologue_only = patched(&class, &[OBSERVER], &[]).unwrap();
    let mut expected = code_of(&prologue_only.bytes);
    expected[48..51].copy_from_slice(&[184, 0, helper + 4]);
    assert_eq!(code, expected);
}

#[test]
fn several_hooks_replace_calls_of_one_method() {
    let mut class = class(&[182, 0, OF_CLASS, 182, 0, HELPER, 177]);
    class
        .callees
        .push((10, "[I", "clone", "()Ljava/lang/Object;"));
    let clone = CallHook {
        target: CallTarget {
            class: "[I",
            method: "clone",
            descriptor: "()Ljava/lang/Object;",
            is_static: false,
        },
        helper: Helper {
            class: "h/Helper",
            method: "copy",
            descriptor: "([I)Ljava/lang/Object;",
        },
        ..HOOK
    };
    let result = patched(&class, &[], &[clone, HOOK]).unwrap();
    assert_eq!(
        result.call_outcomes,
        [CallOutcome::Replaced { calls: 1 }; 2]
    );
    let (copy, drain) = (HELPER + 6, HELPER + 10);
    assert_eq!(code_of(&result.bytes), [184, 0, drain, 184, 0, copy, 177]);
}

#[test]
fn a_class_without_the_call_stays_as_it_is() {
    let class = class(&[182, 0, OF_CLASS, 177]);
    let with_target = |target| CallHook { target, ..HOOK };
    let helper = |descriptor| Helper {
        descriptor,
        ..HOOK.helper
    };
    let others = [
        (
            CallTarget {
                method: "drainTo",
                ..DRAIN
            },
            HOOK.helper.descriptor,
        ),
        (
            CallTarget {
                class: "t/Deque",
                ..DRAIN
            },
            "(Lt/Deque;JLt/List;)I",
        ),
        (
            CallTarget {
                descriptor: "()V",
                ..DRAIN
            },
            "(Lt/Queue;)V",
        ),
    ];
    for (target, descriptor) in others {
        let hook = CallHook {
            helper: helper(descriptor),
            ..with_target(target)
        };
        let result = patched(&class, &[], &[hook]).unwrap();
        assert_eq!(result.call_outcomes, [CallOutcome::NoSuchCall]);
        assert_eq!(result.bytes, class.bytes());
    }
    let elsewhere = CallHook {
        descriptor: "()V",
        ..HOOK
    };
    let result = patched(&class, &[], &[elsewhere]).unwrap();
    assert_eq!(result.call_outcomes, [CallOutcome::NoSuchMethod]);
    assert_eq!(result.bytes, class.bytes());
    let mut bytes = class.bytes();
    let at = bytes.windows(4).position(|w| w == b"Code").unwrap();
    bytes[at] = b'N'; // no code, but an attribute of another name
    let result = patch(&ClassFile::parse(&bytes).unwrap(), &[], &[HOOK]).unwrap();
    assert_eq!(result.call_outcomes, [CallOutcome::NoCode]);
    assert_eq!(result.bytes, bytes);
}

#[test]
fn helpers_with_the_stack_of_the_call_are_accepted() {
    let class = class(&[182, 0, OF_CLASS, 177]);
    let object = "Ljava/lang/Object;";
    let fitting = [
        format!("({object}JLt/List;)I"),
        format!("(Lt/Queue;J{object})I"),
    ];
    for descriptor in &fitting {
        let helper = Helper {
            descriptor,
            ..HOOK.helper
        };
        let result = patched(&class, &[], &[CallHook { helper, ..HOOK }]);
        assert_eq!(
            result.unwrap().call_outcomes,
            [CallOutcome::Replaced { calls: 1 }]
        );
    }
    let bad = [
        ("()I", HookFault::ArgumentCount),
        ("(Lt/Queue;J)I", HookFault::ArgumentCount),
        ("(Lt/Queue;JLt/List;I)I", HookFault::ArgumentCount),
        ("(Lt/List;JLt/List;)I", HookFault::ArgumentType),
        ("(IJLt/List;)I", HookFault::ArgumentType),
        ("(Lt/Queue;DLt/List;)I", HookFault::ArgumentType),
        (
            "(Lt/Queue;Ljava/lang/Object;Lt/List;)I",
            HookFault::ArgumentType,
        ),
        ("(Lt/Queue;JLt/Queue;)I", HookFault::ArgumentType),
        ("(Lt/Queue;JLt/List;)Z", HookFault::CallResult),
        ("(Lt/Queue;JLt/List;)V", HookFault::CallResult),
        ("x", HookFault::BadDescriptor),
        ("(Lt/Quéue;JLt/List;)I", HookFault::BadName),
    ];
    for (descriptor, fault) in bad {
        let helper = Helper {
            descriptor,
            ..HOOK.helper
        };
        let error = patched(&class, &[], &[CallHook { helper, ..HOOK }]).unwrap_err();
        let ErrorKind::BadHook { reason, .. } = error.kind() else {
            panic!("{error}");
        };
        assert_eq!(*reason, fault, "{descriptor}");
    }
}

#[test]
fn two_hooks_for_the_same_call_are_refused() {
    let error = patched(&class(&[177]), &[], &[HOOK, HOOK]).unwrap_err();
    let text = "at byte 0: hook at run(Ljava/lang/String;)V: another hook replaces the same calls";
    assert_eq!(error.to_string(), text);
}

#[test]
fn code_that_ends_within_an_instruction_is_refused() {
    for code in [&[182, 0][..], &[185, 0, OF_INTERFACE, 4], &[0, 203]] {
        let class = class(code);
        let bytes = class.bytes();
        let parsed = ClassFile::parse(&bytes).unwrap();
        let code = parsed.methods()[0].code().unwrap();
        for error in [
            patch(&parsed, &[], &[HOOK]).unwrap_err(),
            rebuild(&parsed).unwrap_err(),
        ] {
            assert!(code.contains(&error.at()), "{error}");
        }
        // A prologue alone does not depend on the instructions.
        assert!(patch(&parsed, &[OBSERVER], &[]).is_ok());
    }
    // An interface's method is not called as that of a class.
    let error = patched(&class(&[182, 0, OF_INTERFACE, 177]), &[], &[HOOK]).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::WrongConstant { index, .. } if *index == OF_INTERFACE.into())
    );
}
