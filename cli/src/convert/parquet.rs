//! Parquet: a row for each event, <https://parquet.apache.org/docs/file-format/>.
//!
//! Texts are in dictionaries; that of the stacks is their table. Rows with the same labels and stack
//! are neighbours, so that a column of texts is a few runs. One type of page does, so that the crate
//! `parquet` would be more than this file.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::profile::{Kind, MAX_VALUE, Profile, Row};
use super::protobuf::varint;
use super::thrift::Struct;

const MAGIC: &[u8] = b"PAR1";
/// Events of a row group, or a few more; its columns are in memory.
const GROUP_EVENTS: usize = 1 << 20;
/// Columns that are no labels. A label of such a name gets [`PREFIX`].
const COLUMNS: [&str; 4] = ["unit", "time", "value", "stack"];
const PREFIX: &str = "label:";

/// Numbers of the format.
const INT64: i32 = 2;
const BYTE_ARRAY: i32 = 6;
const REQUIRED: i32 = 0;
const OPTIONAL: i32 = 1;
const UTF8: i32 = 0;
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const RLE_DICTIONARY: i32 = 8;
const GZIP: i32 = 2;
const DATA_PAGE: i32 = 0;
const DICTIONARY_PAGE: i32 = 2;

/// A file in the making.
struct File<'w> {
    out: &'w mut dyn Write,
    offset: i64,
}

impl File<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.offset += len(bytes)?;
        self.out.write_all(bytes)
    }

    /// Writes a page. Returns its size before packing, with the header.
    fn page(&mut self, ty: i32, bytes: &[u8], head: (u8, Struct)) -> io::Result<i64> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes)?;
        let packed = encoder.finish()?;
        let header = Struct::default()
            .with_i32(1, ty)
            .with_i32(2, len32(bytes.len())?)
            .with_i32(3, len32(packed.len())?)
            .with_struct(head.0, head.1)
            .finish();
        self.write(&header)?;
        self.write(&packed)?;
        Ok(len(&header)? + len(bytes)?)
    }
}

fn len(bytes: &[u8]) -> io::Result<i64> {
    i64::try_from(bytes.len()).map_err(io::Error::other)
}

fn len32(len: usize) -> io::Result<i32> {
    i32::try_from(len).map_err(io::Error::other)
}

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

/// The texts of a column.
#[derive(Default)]
struct TextDictionary {
    places: HashMap<Box<str>, u32>,
    encoded: Vec<u8>,
}

impl TextDictionary {
    fn place(&mut self, text: &str) -> io::Result<u32> {
        if let Some(&place) = self.places.get(text) {
            return Ok(place);
        }
        let place = len32(self.places.len())?.cast_unsigned();
        self.encoded.extend(len32(text.len())?.to_le_bytes());
        self.encoded.extend_from_slice(text.as_bytes());
        self.places.insert(text.into(), place);
        Ok(place)
    }
}

/// Writes runs of texts, as places in a dictionary.
fn text_column<T: AsRef<str>>(
    file: &mut File<'_>,
    name: &str,
    repetition: i32,
    runs: impl Iterator<Item = (Option<T>, usize)>,
) -> io::Result<Struct> {
    let mut dictionary = TextDictionary::default();
    let mut places: Vec<(Option<u32>, usize)> = Vec::new();
    for (text, count) in runs {
        let place = text.map(|text| dictionary.place(text.as_ref()));
        let place = place.transpose()?;
        match places.last_mut() {
            Some((last, many)) if *last == place => *many += count,
            _ => places.push((place, count)),
        }
    }
    let dictionary_offset = file.offset;
    let head = Struct::default()
        .with_i32(1, len32(dictionary.places.len())?)
        .with_i32(2, PLAIN);
    let mut plain_size = file.page(DICTIONARY_PAGE, &dictionary.encoded, (7, head))?;
    let mut page = Vec::new();
    if repetition == OPTIONAL {
        let mut levels = Vec::new();
        for (place, count) in &places {
            run(&mut levels, *count, u32::from(place.is_some()), 1);
        }
        page.extend(len32(levels.len())?.to_le_bytes());
        page.extend(levels);
    }
    let bits = (dictionary.places.len().max(2) - 1).ilog2() + 1;
    page.push(bits.to_le_bytes()[0]);
    for (place, count) in &places {
        if let Some(place) = place {
            run(&mut page, *count, *place, bits);
        }
    }
    let events = places.iter().map(|(_, count)| count).sum();
    let data_offset = file.offset;
    plain_size += file.page(DATA_PAGE, &page, data_page(events, RLE_DICTIONARY)?)?;
    let sizes = (plain_size, file.offset - dictionary_offset);
    let metadata = column(
        name,
        BYTE_ARRAY,
        &[PLAIN, RLE, RLE_DICTIONARY],
        events,
        sizes,
    )?;
    let metadata = metadata
        .with_i64(9, data_offset)
        .with_i64(11, dictionary_offset);
    Ok(Struct::default()
        .with_i64(2, dictionary_offset)
        .with_struct(3, metadata))
}

fn number_column(
    file: &mut File<'_>,
    name: &str,
    values: impl Iterator<Item = i64>,
) -> io::Result<Struct> {
    let values: Vec<[u8; 8]> = values.map(i64::to_le_bytes).collect();
    let offset = file.offset;
    let head = data_page(values.len(), PLAIN)?;
    let plain_size = file.page(DATA_PAGE, values.as_flattened(), head)?;
    let sizes = (plain_size, file.offset - offset);
    let metadata = column(name, INT64, &[PLAIN], values.len(), sizes)?.with_i64(9, offset);
    Ok(Struct::default()
        .with_i64(2, offset)
        .with_struct(3, metadata))
}

fn data_page(events: usize, encoding: i32) -> io::Result<(u8, Struct)> {
    let head = Struct::default()
        .with_i32(1, len32(events)?)
        .with_i32(2, encoding);
    Ok((5, head.with_i32(3, RLE).with_i32(4, RLE)))
}

fn column(
    name: &str,
    ty: i32,
    encodings: &[i32],
    events: usize,
    (plain, packed): (i64, i64),
) -> io::Result<Struct> {
    Ok(Struct::default()
        .with_i32(1, ty)
        .with_i32s(2, encodings)
        .with_texts(3, name)
        .with_i32(4, GZIP)
        .with_i64(5, len32(events)?.into())
        .with_i64(6, plain)
        .with_i64(7, packed))
}

/// A number of so many bits, so many times.
fn run(into: &mut Vec<u8>, count: usize, value: u32, bits: u32) {
    varint(into, (count as u64) << 1);
    let bytes = bits.div_ceil(8) as usize;
    into.extend_from_slice(&value.to_le_bytes()[..bytes]);
}
