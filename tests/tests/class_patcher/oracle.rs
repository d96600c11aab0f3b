//! What `ristretto_classfile`, an independent reader, finds in a class before and after a patch. It
//! names positions by the number of their instruction, so it also decodes all instructions.

use std::mem::discriminant;

use ristretto_classfile::ClassFile;
use ristretto_classfile::attributes::{Attribute, Instruction, StackFrame, VerificationType};

/// The prologue of a method.
#[derive(Clone, Copy)]
struct Inserted {
    instructions: u16,
    bytes: u16,
}

/// Fails unless the patched class differs from the original by prologues only.
pub(crate) fn assert_moved(name: &str, original: &[u8], patched: &[u8]) {
    let read = |bytes| {
        let class = ClassFile::from_slice(bytes);
        class.unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let (before, after) = (read(original), read(patched));
    assert_eq!(before.methods.len(), after.methods.len(), "{name}");
    assert_eq!(before.attributes, after.attributes, "{name}");
    assert_eq!(before.fields, after.fields, "{name}");
    for (before, after) in before.methods.iter().zip(&after.methods) {
        assert_eq!(before.attributes.len(), after.attributes.len(), "{name}");
        for (before, after) in before.attributes.iter().zip(&after.attributes) {
            assert_attribute(name, before, after);
        }
    }
}

/// Fails unless the patched class differs from the original by so many replaced calls only, none of
/// which changed its length.
pub(crate) fn assert_replaced(name: &str, original: &[u8], patched: &[u8], calls: usize) {
    let read = |bytes| {
        let class = ClassFile::from_slice(bytes);
        class.unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let (before, after) = (read(original), read(patched));
    let (old, new) = (codes(&before), codes(&after));
    assert_eq!(old.len(), new.len(), "{name}");
    let mut replaced = 0;
    for (old, new) in old.iter().zip(new) {
        let mut found = new.iter();
        for instruction in *old {
            let next = found.next().unwrap();
            // The reader's branches lead to numbers of instructions, and padding is instructions.
            let is_same = discriminant(next) == discriminant(instruction);
            if next == instruction || is_same && !is_call(instruction) {
                continue;
            }
            assert!(is_call(instruction), "{name}: {instruction:?}");
            replaced += 1;
            assert!(
                matches!(next, Instruction::Invokestatic(_)),
                "{name}: {next:?}"
            );
            if matches!(instruction, Instruction::Invokeinterface(..)) {
                let padding = [found.next(), found.next()];
                assert_eq!(padding, [Some(&Instruction::Nop); 2], "{name}");
            }
        }
        assert_eq!(found.next(), None, "{name}");
    }
    assert_eq!(replaced, calls, "{name}");
}

fn is_call(instruction: &Instruction) -> bool {
    matches!(
        instruction,
        Instruction::Invokevirtual(_)
            | Instruction::Invokestatic(_)
            | Instruction::Invokeinterface(..)
    )
}

/// The instructions of each method that has code.
fn codes<'a>(class: &'a ClassFile<'_>) -> Vec<&'a [Instruction]> {
    let attributes = class.methods.iter().flat_map(|method| &method.attributes);
    let code = |attribute: &'a Attribute| match attribute {
        Attribute::Code { code, .. } => Some(&code[..]),
        _ => None,
    };
    attributes.filter_map(code).collect()
}

fn assert_attribute(name: &str, before: &Attribute, after: &Attribute) {
    let (
        Attribute::Code {
            code: old_code,
            exception_table: old_exceptions,
            attributes: old_attributes,
            max_locals: old_locals,
            ..
        },
        Attribute::Code {
            code,
            exception_table,
            attributes,
            max_locals,
            ..
        },
    ) = (before, after)
    else {
        assert_eq!(before, after, "{name}");
        return;
    };
    if before == after {
        return; // without a hook
    }
    let inserted = prologue(code, old_code);
    assert_eq!(old_locals, max_locals, "{name}");
    let mut expected = old_exceptions.clone();
    for entry in &mut expected {
        entry.range_pc.start += inserted.instructions;
        entry.range_pc.end += inserted.instructions;
        entry.handler_pc += inserted.instructions;
    }
    assert_eq!(*exception_table, expected, "{name}");
    assert_eq!(attributes.len(), old_attributes.len(), "{name}");
    for (before, after) in old_attributes.iter().zip(attributes) {
        assert_code_attribute(name, before, after, inserted);
    }
}

/// The instructions in front, which are those of a hook.
fn prologue(code: &[Instruction], old: &[Instruction]) -> Inserted {
    let count = code.len() - old.len();
    let mut bytes = 0;
    for instruction in &code[..count] {
        bytes += match instruction {
            Instruction::Invokestatic(_) | Instruction::Checkcast(_) => 3,
            Instruction::Aload(_) | Instruction::Lload(_) | Instruction::Astore(_) => 2,
            _ => 1,
        };
    }
    let is_call = |instruction: &Instruction| matches!(instruction, Instruction::Invokestatic(_));
    let calls = code[..count].iter().filter(|i| is_call(i)).count();
    assert!(calls == 1 && bytes % 4 == 0, "{:?}", &code[..count]);
    // Branches of the reader lead to numbers of instructions; all other operands stay.
    let kinds = |code: &[Instruction]| code.iter().map(discriminant).collect::<Vec<_>>();
    assert_eq!(kinds(&code[count..]), kinds(old));
    Inserted {
        instructions: u16::try_from(count).unwrap(),
        bytes,
    }
}

fn assert_code_attribute(name: &str, before: &Attribute, after: &Attribute, inserted: Inserted) {
    match (before, after) {
        (
            Attribute::LineNumberTable { line_numbers, .. },
            Attribute::LineNumberTable {
                line_numbers: new, ..
            },
        ) => {
            let mut expected = line_numbers.clone();
            let mut first = expected.iter().find(|line| line.start_pc == 0).cloned();
            for line in &mut expected {
                line.start_pc += inserted.instructions;
            }
            expected.splice(0..0, first.take());
            assert_eq!(*new, expected, "{name}");
        }
        (Attribute::StackMapTable { frames, .. }, Attribute::StackMapTable { frames: new, .. }) => {
            let mut expected: Vec<_> = frames.iter().map(|f| frame(f, inserted.bytes)).collect();
            if let Some(first) = expected.first_mut() {
                first.distance += inserted.instructions;
            }
            let found: Vec<_> = new.iter().map(|f| frame(f, 0)).collect();
            assert_eq!(found, expected, "{name}");
        }
        (
            Attribute::LocalVariableTable { variables, .. },
            Attribute::LocalVariableTable { variables: new, .. },
        ) => {
            let ranges = variables.iter().map(|v| (v.start_pc, v.length, v.index));
            let found = new.iter().map(|v| (v.start_pc, v.length, v.index));
            let expected = ranges.map(|(start, length, slot)| match start {
                0 => (0, length + inserted.bytes, slot),
                _ => (start + inserted.bytes, length, slot),
            });
            assert!(found.eq(expected), "{name}: {variables:?} {new:?}");
        }
        _ => assert_eq!(before.name(), after.name(), "{name}"),
    }
}

/// A frame whatever form it has in the file.
#[derive(Debug, PartialEq)]
struct Frame {
    distance: u16,
    /// Locals that are gone.
    chopped: u8,
    /// Whether the locals are all there are.
    is_full: bool,
    locals: Vec<VerificationType>,
    stack: Vec<VerificationType>,
}

/// Objects that are not initialised are moved by so many bytes.
fn frame(frame: &StackFrame, moved_by: u16) -> Frame {
    let (chopped, locals, stack): (u8, &[_], &[_]) = match frame {
        StackFrame::SameLocals1StackItemFrame { stack, .. }
        | StackFrame::SameLocals1StackItemFrameExtended { stack, .. } => (0, &[], stack),
        StackFrame::ChopFrame { frame_type, .. } => (251 - frame_type, &[], &[]),
        StackFrame::AppendFrame { locals, .. } => (0, locals, &[]),
        StackFrame::FullFrame { locals, stack, .. } => (0, locals, stack),
        _ => (0, &[], &[]),
    };
    let moved = |types: &[VerificationType]| {
        let mut types = types.to_vec();
        for kind in &mut types {
            if let VerificationType::Uninitialized { offset } = kind {
                *offset += moved_by;
            }
        }
        types
    };
    Frame {
        distance: frame.offset_delta(),
        chopped,
        is_full: matches!(frame, StackFrame::FullFrame { .. }),
        locals: moved(locals),
        stack: moved(stack),
    }
}
