//! Where each instruction begins and how long it is.

use std::ops::Range;

use crate::bytes::Reader;
use crate::error::{Error, ErrorKind, Result};

pub(super) const NOP: u8 = 0;
pub(super) const INVOKESTATIC: u8 = 184;
const IINC: u8 = 132;
const TABLESWITCH: u8 = 170;
const LOOKUPSWITCH: u8 = 171;
const WIDE: u8 = 196;
/// The operands of a switch begin at a multiple of this.
const SWITCH_ALIGNMENT: usize = 4;

/// An instruction of a method.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Instruction<'a> {
    /// Position in the class.
    pub(super) at: usize,
    pub(super) opcode: u8,
    pub(super) operands: &'a [u8],
}

impl Instruction<'_> {
    /// Opcode and operands in the class.
    pub(super) fn place(&self) -> Range<usize> {
        let len = self.operands.len().saturating_add(1);
        self.at..self.at.saturating_add(len)
    }
}

/// Reads the instructions of a method one after another.
#[derive(Debug)]
pub(super) struct Instructions<'a> {
    reader: Reader<'a>,
    /// Position of the first one in the class.
    begin: usize,
}

impl<'a> Instructions<'a> {
    /// The instructions that fill this part of the class.
    pub(super) fn new(code: Reader<'a>) -> Self {
        let begin = code.at();
        Self {
            reader: code,
            begin,
        }
    }

    /// The next one; `None` if the code ends just where the last one did.
    pub(super) fn read(&mut self) -> Result<Option<Instruction<'a>>> {
        if self.reader.rest().is_empty() {
            return Ok(None);
        }
        let at = self.reader.at();
        let opcode = self.reader.u8()?;
        let len = self.operands_len(at, opcode)?;
        let operands = self.reader.take(len)?;
        Ok(Some(Instruction {
            at,
            opcode,
            operands,
        }))
    }

    fn operands_len(&self, at: usize, opcode: u8) -> Result<usize> {
        match opcode {
            WIDE => self.wide_len(),
            TABLESWITCH | LOOKUPSWITCH => self.switch_len(opcode),
            _ => fixed_len(opcode).ok_or(Error::unknown_tag(at, "instruction", opcode)),
        }
    }

    /// The instruction behind `wide`, with operands of twice their size.
    fn wide_len(&self) -> Result<usize> {
        let at = self.reader.at();
        match self.reader.clone().u8()? {
            21..=25 | 54..=58 | 169 => Ok(3), // loads, stores, ret
            IINC => Ok(5),
            opcode => Err(Error::unknown_tag(at, "wide instruction", opcode)),
        }
    }

    /// Padding, default, number of entries or their range, and the entries.
    fn switch_len(&self, opcode: u8) -> Result<usize> {
        let mut ahead = self.reader.clone();
        let position = ahead.at().saturating_sub(self.begin);
        let padding = position
            .next_multiple_of(SWITCH_ALIGNMENT)
            .abs_diff(position);
        ahead.take(padding)?;
        let _default = ahead.u32()?;
        let entries = match opcode {
            TABLESWITCH => table_len(&mut ahead)?,
            _ => size(ahead.u32()?).saturating_mul(8),
        };
        let before = self.reader.rest().len().abs_diff(ahead.rest().len());
        Ok(before.saturating_add(entries))
    }
}

/// Bytes of the entries of a `tableswitch`, one for each number from the lowest to the highest.
fn table_len(reader: &mut Reader<'_>) -> Result<usize> {
    let at = reader.at();
    let [low, high] = [reader.u32()?.cast_signed(), reader.u32()?.cast_signed()];
    let refuse = || Error::new(at, ErrorKind::SwitchRange { low, high });
    let distance = u32::try_from(i64::from(high).saturating_sub(low.into()));
    let distance = distance.map_err(|_| refuse())?;
    Ok(size(distance).saturating_add(1).saturating_mul(4))
}

fn size(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Bytes of the operands (Java Virtual Machine Specification, 6.5); `None` if no instruction that a
/// class file may have is of a fixed length and has this opcode.
fn fixed_len(opcode: u8) -> Option<usize> {
    Some(match opcode {
        0..=15 | 26..=53 | 59..=131 | 133..=152 | 172..=177 | 190 | 191 | 194 | 195 => 0,
        16 | 18 | 21..=25 | 54..=58 | 169 | 188 => 1,
        17 | 19 | 20 | IINC | 153..=168 | 178..=184 | 187 | 189 | 192 | 193 | 198 | 199 => 2,
        197 => 3,
        185 | 186 | 200 | 201 => 4,
        _ => return None,
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// The opcode and the number of operand bytes of each instruction.
    fn walk(code: &[u8]) -> Result<Vec<(u8, usize)>> {
        let mut instructions = Instructions::new(Reader::new(code));
        let mut found = Vec::new();
        while let Some(instruction) = instructions.read()? {
            found.push((instruction.opcode, instruction.operands.len()));
        }
        Ok(found)
    }

    #[test]
    fn instructions_of_a_fixed_length_are_told_apart() {
        let code = [
            0, 16, 7, 17, 0, 7, 25, 4, 26, 132, 1, 2, 153, 0, 3, 169, 1, 184, 0, 1, 185, 0, 1, 1,
            0, 186, 0, 1, 0, 0, 197, 0, 1, 2, 199, 0, 3, 200, 0, 0, 0, 5, 177,
        ];
        let expected = [
            (0, 0),
            (16, 1),
            (17, 2),
            (25, 1),
            (26, 0),
            (132, 2),
            (153, 2),
            (169, 1),
            (184, 2),
            (185, 4),
            (186, 4),
            (197, 3),
            (199, 2),
            (200, 4),
            (177, 0),
        ];
        assert_eq!(walk(&code).unwrap(), expected);
    }

    #[test]
    fn wide_operands_are_twice_as_long() {
        let code = [196, 21, 1, 0, 196, 132, 1, 0, 0, 1, 196, 169, 1, 0, 177];
        assert_eq!(
            walk(&code).unwrap(),
            [(196, 3), (196, 5), (196, 3), (177, 0)]
        );
        assert_eq!(walk(&[196]).unwrap_err().at(), 1);
        let error = walk(&[0, 196, 0]).unwrap_err();
        assert_eq!(error.to_string(), "at byte 2: unknown wide instruction 0");
    }

    #[test]
    fn switches_are_padded_to_multiples_of_four() {
        for before in 0..4_usize {
            let padding = 3 - before;
            let mut table = vec![0; before];
            table.push(170);
            table.resize(before + 1 + padding + 4, 0);
            table.extend([-1_i32, 1].iter().flat_map(|bound| bound.to_be_bytes()));
            table.resize(table.len() + 12, 0xFF);
            let mut lookup = vec![0; before];
            lookup.push(171);
            lookup.resize(before + 1 + padding + 4, 0);
            lookup.extend(2_u32.to_be_bytes());
            lookup.resize(lookup.len() + 16, 0xFF);
            for (mut code, len) in [(table, padding + 24), (lookup, padding + 24)] {
                code.push(177);
                let found = walk(&code).unwrap();
                assert_eq!(found.len(), before + 2);
                assert_eq!(found[before].1, len);
                for cut in before + 1..code.len() - 1 {
                    assert!(walk(&code[..cut]).is_err(), "{cut}");
                }
            }
        }
    }

    #[test]
    fn bad_switches_are_refused() {
        let table = |low: i32, high: i32| {
            let code = [170, 0, 0, 0, 0, 0, 0, 0];
            [&code[..], &low.to_be_bytes(), &high.to_be_bytes()].concat()
        };
        let error = walk(&table(1, 0)).unwrap_err();
        assert_eq!(error.to_string(), "at byte 8: switch from 1 to 0");
        assert!(walk(&table(i32::MIN, i32::MAX)).is_err());
        let lookup = [171, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF];
        assert!(walk(&lookup).is_err());
    }

    #[test]
    fn opcodes_that_no_class_file_has_are_refused() {
        for opcode in 202..=255 {
            let error = walk(&[0, opcode]).unwrap_err();
            assert_eq!(
                *error.kind(),
                *Error::unknown_tag(1, "instruction", opcode).kind()
            );
            assert_eq!(error.at(), 1);
        }
    }
}
