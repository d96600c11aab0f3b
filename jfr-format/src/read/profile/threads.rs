//! Threads, decoded when first asked for.

use super::decode_plan::ThreadField;
use super::rows::{NONE, RawThread, Text, place_in};
use super::tables::{MAX_ROWS, ProfileData, row_count};
use crate::error::Error;
use crate::read::raw::cursor::{Cursor, RawString};
use crate::read::typed::metadata::Field;
use crate::read::typed::pool::EntryIndex;

/// A thread as the sample's chunk describes it.
#[derive(Debug, Clone)]
pub struct Thread<'c> {
    os_name: Option<&'c str>,
    java_name: Option<&'c str>,
    /// Id that the operating system gave.
    pub os_id: i64,
    /// Java id; 0 = not a Java thread.
    pub java_id: i64,
    /// Whether it is a virtual thread.
    pub is_virtual: bool,
}

impl<'c> Thread<'c> {
    /// Name that the operating system knows.
    pub fn os_name(&self) -> Option<&'c str> {
        self.os_name
    }

    /// Java name; `None` = not a Java thread, or one without a name.
    pub fn java_name(&self) -> Option<&'c str> {
        self.java_name
    }

    /// The Java name, else the other one, else nothing.
    pub fn name(&self) -> &'c str {
        let non_empty = |name: Option<&'c str>| name.filter(|name| !name.is_empty());
        non_empty(self.java_name)
            .or(non_empty(self.os_name))
            .unwrap_or("")
    }
}

impl ProfileData<'_> {
    pub(crate) fn thread(&self, entry: EntryIndex) -> Option<Thread<'_>> {
        let plan = self.plans.thread.as_ref()?;
        let raw = self.tables.threads.get(
            entry.0,
            || row_count(self.data.pools.of(plan.ty), MAX_ROWS),
            || {
                let cursor = self.data.entry_at(plan.ty, entry);
                let thread = cursor.and_then(|mut at| {
                    read_thread(
                        self,
                        &self.data.metadata.at(plan.ty).fields,
                        &plan.fields,
                        &mut at,
                    )
                    .ok()
                });
                thread.unwrap_or_default()
            },
        )?;
        Some(Thread {
            os_name: self.resolve(&raw.os_name),
            java_name: self.resolve(&raw.java_name),
            os_id: raw.os_id,
            java_id: raw.java_id,
            is_virtual: raw.is_virtual,
        })
    }
}

fn text_field(profile: &ProfileData<'_>, cursor: &mut Cursor<'_>) -> Result<Text, Error> {
    Ok(match cursor.string()? {
        RawString::Null => Text::Null,
        RawString::Text(text) => Text::Here(text.into()),
        RawString::PoolKey(key) => {
            match place_in(
                profile
                    .data
                    .metadata
                    .string_type
                    .and_then(|ty| profile.data.pools.of(ty)),
                key,
            ) {
                NONE => Text::Null,
                place => Text::Pooled(place),
            }
        }
    })
}

fn read_thread(
    profile: &ProfileData<'_>,
    fields: &[Field],
    plan: &[ThreadField],
    cursor: &mut Cursor<'_>,
) -> Result<RawThread, Error> {
    let mut thread = RawThread::default();
    for field in plan {
        match *field {
            ThreadField::OsName => thread.os_name = text_field(profile, cursor)?,
            ThreadField::JavaName => thread.java_name = text_field(profile, cursor)?,
            ThreadField::OsId => thread.os_id = cursor.long()?,
            ThreadField::JavaId => thread.java_id = cursor.long()?,
            ThreadField::IsVirtual => thread.is_virtual = cursor.byte()? != 0,
            ThreadField::Other(place) => profile.data.metadata.skip(&fields[place], cursor)?,
        }
    }
    Ok(thread)
}
