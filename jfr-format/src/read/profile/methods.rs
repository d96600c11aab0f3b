//! Methods and the names of their classes, decoded when first asked for.

use std::sync::Arc;

use super::decode_plan::{ClassField, DecodePlan, DecodePlans, MethodField};
use super::rows::{NONE, RawMethod, place_in};
use super::tables::{MAX_ROWS, ProfileData, row_count};
use crate::read::typed::pool::EntryIndex;

impl ProfileData<'_> {
    #[inline]
    pub(crate) fn raw_method(&self, place: u32) -> Option<&RawMethod> {
        self.tables.methods.get(
            place,
            || {
                row_count(
                    self.method_plan()
                        .and_then(|plan| self.data.pools.of(plan.ty)),
                    MAX_ROWS,
                )
            },
            || {
                let method = self
                    .method_plan()
                    .and_then(|plan| RawMethod::read(self, plan, place));
                method.unwrap_or_default()
            },
        )
    }

    fn method_plan(&self) -> Option<&DecodePlan<MethodField>> {
        self.plans.method.as_ref()
    }
}

impl RawMethod {
    /// Reads the entry at a place; `None` if it cannot be read.
    pub(crate) fn read(
        profile: &ProfileData<'_>,
        plan: &DecodePlan<MethodField>,
        place: u32,
    ) -> Option<Self> {
        let plans = &profile.plans;
        let mut cursor = profile.data.entry_at(plan.ty, EntryIndex(place))?;
        let ty = profile.data.metadata.at(plan.ty);
        let pool = |ty: Option<_>| ty.and_then(|ty| profile.data.pools.of(ty));
        let mut method = Self::default();
        let mut class = NONE;
        for field in &plan.fields {
            match *field {
                MethodField::Class => {
                    class = place_in(pool(plans.method_class), cursor.varint().ok()?);
                }
                MethodField::Name => {
                    let place = place_in(pool(plans.symbols), cursor.varint().ok()?);
                    method.name = profile.shared_text(plans.symbols, place);
                }
                MethodField::Descriptor => {
                    method.descriptor =
                        place_in(pool(plans.method_descriptor), cursor.varint().ok()?);
                }
                MethodField::Hidden => method.hidden = cursor.byte().ok()? != 0,
                MethodField::Other(place) => {
                    profile
                        .data
                        .metadata
                        .skip(&ty.fields[place], &mut cursor)
                        .ok()?;
                }
            }
        }
        method.class = class_name(profile, plans, class);
        Some(method)
    }
}

/// The name of the class at a place.
fn class_name(profile: &ProfileData<'_>, plans: &DecodePlans, class: u32) -> Option<Arc<str>> {
    let plan = plans.class.as_ref()?;
    let mut cursor = profile.data.entry_at(plan.ty, EntryIndex(class))?;
    let ty = profile.data.metadata.at(plan.ty);
    for field in &plan.fields {
        match *field {
            ClassField::Name => {
                let pool = plans.class_name.and_then(|ty| profile.data.pools.of(ty));
                let place = place_in(pool, cursor.varint().ok()?);
                return profile.shared_text(plans.class_name, place);
            }
            ClassField::Other(place) => profile
                .data
                .metadata
                .skip(&ty.fields[place], &mut cursor)
                .ok()?,
        }
    }
    None
}
