//! A class with one method, put together byte by byte.

use crate::bytes::{put_u16, put_u32};
use crate::class_file::ClassFile;
use crate::hook::{Argument, Helper, Hook};
use crate::patch::{HookOutcome, patch};

pub(super) const OBJECT: &str = "Ljava/lang/Object;";

/// A hook that calls a helper of two parameters and replaces nothing: a prologue of 8 bytes.
pub(super) const OBSERVER: Hook<'_> = Hook {
    method: "run",
    descriptor: "(Ljava/lang/String;)V",
    helper: Helper {
        class: "h/Helper",
        method: "note",
        descriptor: "(Ljava/lang/Object;Ljava/lang/String;)V",
    },
    arguments: &[Argument::This, Argument::Parameter(0)],
    replaces: None,
};
pub(super) const OBSERVER_BYTES: u16 = 8;

/// The class `t/Test` and its only method.
#[derive(Clone, Debug)]
pub(super) struct TestClass {
    pub(super) access: u16,
    pub(super) method: &'static str,
    pub(super) descriptor: String,
    pub(super) max_stack: u16,
    pub(super) code: Vec<u8>,
    /// Start, end, handler, type.
    pub(super) exceptions: Vec<[u16; 4]>,
    /// Attributes of the code.
    pub(super) attributes: Vec<(&'static str, Vec<u8>)>,
    /// Unused constants at the end of the pool.
    pub(super) spare_constants: u16,
    /// Tag, class, name and descriptor of methods to call. Their names are behind those constants.
    pub(super) callees: Vec<(u8, &'static str, &'static str, &'static str)>,
}

/// Constants of the class without any that are added.
pub(super) const CONSTANTS: u8 = 7;
/// Constants of each method to call; the last one is what a call names.
pub(super) const CALLEE_CONSTANTS: u8 = 6;

impl Default for TestClass {
    fn default() -> Self {
        Self {
            access: 1,
            method: "run",
            descriptor: "(Ljava/lang/String;)V".into(),
            max_stack: 1,
            code: vec![177; 100], // return
            exceptions: Vec::new(),
            attributes: Vec::new(),
            spare_constants: 0,
            callees: Vec::new(),
        }
    }
}

impl TestClass {
    /// The class file.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let texts = [
            "t/Test",
            "java/lang/Object",
            "Code",
            self.method,
            &self.descriptor,
        ];
        let names = self.attributes.iter().map(|(name, _)| *name);
        let texts: Vec<&str> = texts.into_iter().chain(names).collect();
        let mut out = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61];
        let count = u16::try_from(texts.len()).unwrap();
        let first_callee = count + 3 + self.spare_constants;
        let callees = u16::try_from(self.callees.len()).unwrap();
        put_u16(
            &mut out,
            first_callee + callees * u16::from(CALLEE_CONSTANTS),
        );
        for text in texts {
            put_text(text, &mut out);
        }
        out.extend_from_slice(&[7, 0, 1, 7, 0, 2]); // the two classes
        for _ in 0..self.spare_constants {
            out.extend_from_slice(&[3, 0, 0, 0, 0]);
        }
        self.put_callees(first_callee, &mut out);
        for value in [0x21, count + 1, count + 2, 0, 0, 1, self.access, 4, 5, 1, 3] {
            put_u16(&mut out, value);
        }
        let code = self.code_attribute();
        put_u32(&mut out, u32::try_from(code.len()).unwrap());
        out.extend_from_slice(&code);
        put_u16(&mut out, 0); // attributes of the class
        out
    }

    /// The constants of each callee, those of the first from this index on.
    fn put_callees(&self, first: u16, out: &mut Vec<u8>) {
        let indexes = (first..).step_by(CALLEE_CONSTANTS.into());
        for (at, (tag, class, name, descriptor)) in indexes.zip(&self.callees) {
            for text in [class, name, descriptor] {
                put_text(text, out);
            }
            let (class, name_and_type) = ([at], [at + 1, at + 2]);
            let method = [at + 3, at + 4];
            for (tag, indexes) in [(7, &class[..]), (12, &name_and_type), (*tag, &method)] {
                out.push(tag);
                out.extend_from_slice(&words(indexes));
            }
        }
    }

    fn code_attribute(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_u16(&mut out, self.max_stack);
        put_u16(&mut out, 300);
        put_u32(&mut out, u32::try_from(self.code.len()).unwrap());
        out.extend_from_slice(&self.code);
        put_u16(&mut out, u16::try_from(self.exceptions.len()).unwrap());
        let values = self.exceptions.iter().flatten();
        values.for_each(|value| put_u16(&mut out, *value));
        put_u16(&mut out, u16::try_from(self.attributes.len()).unwrap());
        for (index, (_, content)) in (6..).zip(&self.attributes) {
            put_u16(&mut out, index);
            put_u32(&mut out, u32::try_from(content.len()).unwrap());
            out.extend_from_slice(content);
        }
        out
    }

    /// The class with a hook at its method, and the prologue.
    pub(super) fn patched(&self, hook: &Hook<'_>) -> (Vec<u8>, Vec<u8>) {
        let bytes = self.bytes();
        let class = ClassFile::parse(&bytes).unwrap();
        let patched = patch(&class, &[*hook], &[]).unwrap();
        let [HookOutcome::Inserted { prologue_bytes }] = patched.outcomes[..] else {
            panic!("{:?}", patched.outcomes);
        };
        let new = ClassFile::parse(&patched.bytes).unwrap();
        let begin = new.methods()[0].code().unwrap().start + 12;
        let prologue = patched.bytes[begin..begin + prologue_bytes].to_vec();
        (patched.bytes, prologue)
    }

    /// Whether the observer at this class gives what the observer's constants and prologue at
    /// `expected` give: all else is as there.
    pub(super) fn assert_becomes(&self, expected: &Self) {
        let (bytes, prologue) = self.patched(&OBSERVER);
        assert_eq!(prologue.len(), usize::from(OBSERVER_BYTES));
        let new = ClassFile::parse(&bytes).unwrap();
        let code = new.methods()[0].code().unwrap();
        let mut expected = expected.clone();
        expected.code.splice(0..0, prologue);
        expected.max_stack = expected.max_stack.max(2);
        assert_eq!(bytes[code.start + 4..code.end], expected.code_attribute());
    }
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    out.push(1);
    put_u16(out, u16::try_from(text.len()).unwrap());
    out.extend_from_slice(text.as_bytes());
}

/// 16-bit values as bytes.
pub(super) fn words(values: &[u16]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_be_bytes())
        .collect()
}

/// A class with every attribute of code, every kind of frame and of annotation target.
pub(super) fn everything() -> TestClass {
    let attributes = vec![
        ("LineNumberTable", words(&[2, 0, 10, 5, 11])),
        (
            "LocalVariableTable",
            words(&[2, 0, 100, 1, 1, 0, 10, 90, 1, 1, 2]),
        ),
        ("LocalVariableTypeTable", words(&[1, 0, 100, 1, 1, 1])),
        ("StackMapTable", frames(30)),
        ("RuntimeVisibleTypeAnnotations", annotations()),
        ("RuntimeInvisibleTypeAnnotations", annotations()),
    ];
    TestClass {
        exceptions: vec![[0, 100, 50, 0], [7, 8, 9, 0]],
        attributes,
        ..TestClass::default()
    }
}

/// One frame of each kind, the first at `first`; each with a type that names the position 7.
pub(super) fn frames(first: u8) -> Vec<u8> {
    let mut table = words(&[8]);
    table.push(first); // same
    table.extend_from_slice(&[64, 8, 0, 7]); // same with stack
    table.extend_from_slice(&[247, 0, 2, 7, 0, 1]);
    table.extend_from_slice(&[250, 0, 0]); // chop
    table.extend_from_slice(&[251, 0, 1]);
    table.extend_from_slice(&[253, 0, 0, 8, 0, 7, 1]); // append
    table.extend_from_slice(&[255, 0, 0, 0, 2, 2, 8, 0, 7, 0, 1, 8, 0, 7]); // full
    table.push(3);
    table
}

/// One annotation on each kind of target, with values of each kind.
fn annotations() -> Vec<u8> {
    let targets: [&[u8]; 6] = [
        &[0x40, 0, 1, 0, 0, 0, 5, 0, 1],
        &[0x41, 0, 2, 0, 4, 0, 5, 0, 1, 0, 50, 0, 50, 0, 2],
        &[0x42, 0, 0],
        &[0x43, 0, 9],
        &[0x46, 0, 99],
        &[0x4B, 0, 3, 2],
    ];
    let values = [
        0, 1, 0, 4, // type, four named values
        0, 1, b'I', 0, 1, // a constant
        0, 1, b'e', 0, 1, 0, 1, // an enum
        0, 1, b'@', 0, 1, 0, 1, 0, 1, b'c', 0, 1, // an annotation
        0, 1, b'[', 0, 2, b's', 0, 1, b'[', 0, 0, // arrays
    ];
    let mut table = words(&[6]);
    for target in targets {
        table.extend_from_slice(target);
        table.extend_from_slice(&[1, 0, 0]); // path
        table.extend_from_slice(&values);
    }
    table
}
