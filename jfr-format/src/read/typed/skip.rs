//! Skipping values that nobody asked for: most bytes of a checkpoint.
//!
//! A type's fields become a short list of steps once per chunk; neighbours of one kind are one
//! step.

use super::metadata::{Field, Metadata, Shape, SkipStep, Type, TypeIndex};
use crate::error::{Error, ErrorKind};
use crate::read::raw::cursor::Cursor;

fn is_varint(field: &Field) -> bool {
    let number = matches!(
        field.shape,
        Shape::Char | Shape::Short | Shape::Int | Shape::Long
    );
    field.constant_pool || number
}

/// The steps over a value of a type with fields.
pub(super) fn plan(ty: &Type, types: &[Type]) -> Vec<SkipStep> {
    let mut plan: Vec<SkipStep> = Vec::new();
    for (place, field) in (0u32..).zip(&ty.fields) {
        let next = step(field, place, types);
        match (plan.last_mut(), next) {
            (Some(SkipStep::Varints(n)), SkipStep::Varints(more))
            | (Some(SkipStep::Bytes(n)), SkipStep::Bytes(more)) => *n += more,
            _ => plan.push(next),
        }
    }
    plan
}

fn step(field: &Field, place: u32, types: &[Type]) -> SkipStep {
    if field.array {
        return match varints_of_element(field, types) {
            Some(n) => SkipStep::VarintArray(n),
            None => SkipStep::Field(place),
        };
    }
    match field.shape {
        _ if is_varint(field) => SkipStep::Varints(1),
        Shape::Boolean | Shape::Byte => SkipStep::Bytes(1),
        Shape::Float => SkipStep::Bytes(4),
        Shape::Double => SkipStep::Bytes(8),
        Shape::Text => SkipStep::Text,
        _ => SkipStep::Field(place),
    }
}

/// How many compressed integers an element of an array is; `None` if it is something else.
fn varints_of_element(field: &Field, types: &[Type]) -> Option<u32> {
    if is_varint(field) {
        return Some(1);
    }
    let element = types.get(field.type_index?.usize())?;
    let all = element.fields.iter().all(|f| is_varint(f) && !f.array);
    let whole = field.shape == Shape::Struct && all;
    u32::try_from(element.fields.len()).ok().filter(|_| whole)
}

impl Metadata {
    /// Skips one value of a field.
    pub(crate) fn skip(&self, field: &Field, cursor: &mut Cursor<'_>) -> Result<(), Error> {
        if field.array {
            for _ in 0..cursor.count(1)? {
                self.skip_one(field, cursor)?;
            }
            return Ok(());
        }
        self.skip_one(field, cursor)
    }

    /// Skips one element of a field. Recursion is bounded: what nests deeper than 64 is opaque.
    pub(crate) fn skip_one(&self, field: &Field, cursor: &mut Cursor<'_>) -> Result<(), Error> {
        if field.constant_pool {
            return cursor.skip_varint();
        }
        match field.shape {
            Shape::Boolean | Shape::Byte => cursor.byte().map(|_| ()),
            Shape::Char | Shape::Short | Shape::Int | Shape::Long => cursor.skip_varint(),
            Shape::Float => cursor.take(4).map(|_| ()),
            Shape::Double => cursor.take(8).map(|_| ()),
            Shape::Text => cursor.skip_string(),
            Shape::Struct => match field.type_index {
                Some(index) => self.skip_struct(index, cursor),
                None => Err(cursor.error(ErrorKind::OpaqueType(field.type_id))),
            },
            Shape::Opaque => Err(cursor.error(ErrorKind::OpaqueType(field.type_id))),
        }
    }

    /// Skips a value of a type: a pool's entry or an inline struct.
    pub(crate) fn skip_struct(
        &self,
        index: TypeIndex,
        cursor: &mut Cursor<'_>,
    ) -> Result<(), Error> {
        let ty = self.at(index);
        match ty.shape {
            Shape::Text => cursor.skip_string(),
            Shape::Struct => ty
                .skip_plan
                .iter()
                .try_for_each(|&step| self.skip_step(ty, step, cursor)),
            _ => Err(cursor.error(ErrorKind::OpaqueType(ty.id))),
        }
    }

    fn skip_step(&self, ty: &Type, step: SkipStep, cursor: &mut Cursor<'_>) -> Result<(), Error> {
        match step {
            SkipStep::Varints(n) => cursor.skip_varints(n.into()),
            SkipStep::Bytes(n) => cursor.take(n.into()).map(|_| ()),
            SkipStep::Text => cursor.skip_string(),
            SkipStep::VarintArray(n) => {
                let count = cursor.count(n as usize)? as u64;
                cursor.skip_varints(count * u64::from(n))
            }
            SkipStep::Field(place) => match ty.fields.get(place as usize) {
                Some(field) => self.skip(field, cursor),
                None => Ok(()),
            },
        }
    }
}
