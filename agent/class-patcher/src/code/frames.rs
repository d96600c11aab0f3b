//! The `StackMapTable`. Each frame's position counts from the one before, so only the first moves.
//! Types stay, but for objects that are not initialised yet: they are named by the position of
//! their `new`.

use super::shift::Shift;
use crate::bytes::{Reader, put_u16};
use crate::error::{Error, Result};

/// Frames whose tag has the distance in it: tags from 0 on, and from 64 on.
const SHORT: u8 = 64;
const SAME_WITH_STACK: u8 = 64;
/// Tags with the distance behind them.
const SAME_WITH_STACK_EXTENDED: u8 = 247;
const CHOP: u8 = 248;
const SAME_EXTENDED: u8 = 251;
const APPEND: u8 = 252;
const FULL: u8 = 255;

/// Begin of a frame.
#[derive(Debug)]
struct FrameHead {
    tag: u8,
    /// Distance from the frame before, less one; of the first frame its position.
    distance: u16,
}

pub(super) fn stack_map(reader: &mut Reader<'_>, shift: &Shift, out: &mut Vec<u8>) -> Result<()> {
    let mut before: Option<u32> = None;
    for _ in 0..reader.copy_u16(out)? {
        let at = reader.at();
        let mut head = FrameHead::read(reader)?;
        let next = before.map_or(0, |before| before.saturating_add(1));
        let position = next.saturating_add(head.distance.into());
        shift.check(at, position)?;
        if before.is_none() {
            head.distance = shift.moved(head.distance);
        }
        before = Some(position);
        head.put(out);
        types(&head, reader, shift, out)?;
    }
    Ok(())
}

impl FrameHead {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let at = reader.at();
        let tag = reader.u8()?;
        let distance = match tag {
            0..SAME_WITH_STACK => tag.into(),
            SAME_WITH_STACK..128 => tag.wrapping_sub(SAME_WITH_STACK).into(),
            128..SAME_WITH_STACK_EXTENDED => return Err(Error::unknown_tag(at, "frame", tag)),
            SAME_WITH_STACK_EXTENDED.. => reader.u16()?,
        };
        Ok(Self { tag, distance })
    }

    /// Writes it in the form that it was read in, unless the distance has become too long for that.
    fn put(&self, out: &mut Vec<u8>) {
        let short = u8::try_from(self.distance)
            .ok()
            .filter(|short| *short < SHORT);
        let tag = match (self.tag, short) {
            (0..SAME_WITH_STACK, Some(short)) => return out.push(short),
            (0..SAME_WITH_STACK, None) => SAME_EXTENDED,
            (SAME_WITH_STACK..128, Some(short)) => {
                return out.push(SAME_WITH_STACK.wrapping_add(short));
            }
            (SAME_WITH_STACK..128, None) => SAME_WITH_STACK_EXTENDED,
            (tag, _) => tag,
        };
        out.push(tag);
        put_u16(out, self.distance);
    }
}

/// The types behind a frame's head.
fn types(
    head: &FrameHead,
    reader: &mut Reader<'_>,
    shift: &Shift,
    out: &mut Vec<u8>,
) -> Result<()> {
    let count = match head.tag {
        0..SAME_WITH_STACK | CHOP..=SAME_EXTENDED => 0,
        APPEND..FULL => head.tag.wrapping_sub(SAME_EXTENDED).into(),
        FULL => {
            let locals = reader.copy_u16(out)?;
            verification_types(locals, reader, shift, out)?;
            reader.copy_u16(out)?
        }
        _ => 1,
    };
    verification_types(count, reader, shift, out)
}

fn verification_types(
    count: u16,
    reader: &mut Reader<'_>,
    shift: &Shift,
    out: &mut Vec<u8>,
) -> Result<()> {
    for _ in 0..count {
        let at = reader.at();
        match reader.copy_u8(out)? {
            0..=6 => {}
            7 => reader.copy(2, out)?,         // class
            8 => shift.position(reader, out)?, // of the `new`
            tag => return Err(Error::unknown_tag(at, "verification type", tag)),
        }
    }
    Ok(())
}
