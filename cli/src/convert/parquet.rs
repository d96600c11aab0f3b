//! Parquet: a row for each event, <https://parquet.apache.org/docs/file-format/>.
//!
//! Texts are in dictionaries; that of the stacks is their table. Rows with the same labels and stack
//! are neighbours, so that a column of texts is a few runs. One type of page does, so that the crate
//! `parquet` would be more than this file.

mod columns;

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::profile::{Kind, MAX_VALUE, Profile, Row};
use super::thrift::Struct;
use columns::{
    BYTE_ARRAY, File, INT64, OPTIONAL, REQUIRED, UTF8, len32, number_column, text_column,
};

const MAGIC: &[u8] = b"PAR1";
/// Events of a row group, or a few more; its columns are in memory.
const GROUP_EVENTS: usize = 1 << 20;
/// Columns that are no labels. A label of such a name gets [`PREFIX`].
const COLUMNS: [&str; 4] = ["unit", "time", "value", "stack"];
const PREFIX: &str = "label:";

/// Writes the file.
pub(super) fn write(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let keys = profile.keys();
    let mut file = File { out, offset: 0 };
    file.write(MAGIC)?;
    let mut groups = Vec::new();
    let (mut rows, mut events) = (Vec::new(), 0);
    let kinds = profile.kinds.iter();
    for (kind, row) in kinds.flat_map(|kind| kind.rows.iter().map(move |row| (kind, row))) {
        rows.push((kind, row));
        events += row.moments.len();
        if events >= GROUP_EVENTS {
            groups.push(row_group(&mut file, &keys, &std::mem::take(&mut rows))?);
            events = 0;
        }
    }
    if !rows.is_empty() {
        groups.push(row_group(&mut file, &keys, &rows)?);
    }
    let metadata = Struct::default()
        .with_i32(1, 2)
        .with_structs(2, schema(&keys)?)
        .with_i64(
            3,
            i64::try_from(profile.samples()).map_err(io::Error::other)?,
        )
        .with_structs(4, groups)
        .with_text(6, concat!("ctxjfr ", env!("CARGO_PKG_VERSION")))
        .finish();
    file.write(&metadata)?;
    file.write(&len32(metadata.len())?.to_le_bytes())?;
    file.write(MAGIC)
}

fn column_of(key: &str) -> String {
    let prefix = if COLUMNS.contains(&key) { PREFIX } else { "" };
    format!("{prefix}{key}")
}

fn schema(keys: &BTreeSet<&str>) -> io::Result<Vec<Struct>> {
    let element = |ty, repetition, name: &str| {
        let element = Struct::default().with_i32(1, ty).with_i32(3, repetition);
        element.with_text(4, name)
    };
    let text = |repetition, name: &str| {
        let string = Struct::default().with_struct(1, Struct::default());
        let element = element(BYTE_ARRAY, repetition, name);
        element.with_i32(6, UTF8).with_struct(10, string)
    };
    let nanos = Struct::default().with_struct(3, Struct::default());
    let timestamp = Struct::default().with_true(1).with_struct(2, nanos);
    let columns = len32(keys.len() + COLUMNS.len())?;
    let mut schema = vec![
        Struct::default()
            .with_text(4, "events")
            .with_i32(5, columns),
        text(REQUIRED, "unit"),
        element(INT64, REQUIRED, "time")
            .with_struct(10, Struct::default().with_struct(8, timestamp)),
        element(INT64, REQUIRED, "value"),
    ];
    schema.extend(keys.iter().map(|key| text(OPTIONAL, &column_of(key))));
    schema.push(text(REQUIRED, "stack"));
    Ok(schema)
}

/// Writes the columns of the rows. Returns their description.
fn row_group(
    file: &mut File<'_>,
    keys: &BTreeSet<&str>,
    rows: &[(&Kind, &Row)],
) -> io::Result<Struct> {
    let start = file.offset;
    let units = rows
        .iter()
        .map(|(kind, row)| (Some(kind.unit.name()), row.moments.len()));
    let mut columns = vec![text_column(file, "unit", REQUIRED, units)?];
    let moments = || rows.iter().flat_map(|(_, row)| &row.moments);
    let times = moments().map(|moment| moment.nanos);
    columns.push(number_column(file, "time", times)?);
    let values = moments().map(|moment| moment.value.min(MAX_VALUE).cast_signed());
    columns.push(number_column(file, "value", values)?);
    for key in keys {
        let value = |kind: &Kind, row: &Row| {
            let mut labels = kind.labels(row.group);
            let label = labels.find(|(name, _)| name == key);
            label.map(|(_, value)| value.to_owned())
        };
        let values = rows
            .iter()
            .map(|(kind, row)| (value(kind, row), row.moments.len()));
        columns.push(text_column(file, &column_of(key), OPTIONAL, values)?);
    }
    let stacks = rows
        .iter()
        .map(|(kind, row)| (Some(kind.stack_text(row)), row.moments.len()));
    columns.push(text_column(file, "stack", REQUIRED, stacks)?);
    Ok(Struct::default()
        .with_structs(1, columns)
        .with_i64(2, file.offset - start)
        .with_i64(
            3,
            i64::try_from(moments().count()).map_err(io::Error::other)?,
        ))
}
