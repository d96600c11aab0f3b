//! The pages of a column, and the numbers of the format.

use std::collections::HashMap;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::convert::protobuf::varint;
use crate::convert::thrift::Struct;

/// Numbers of the format.
pub(super) const INT64: i32 = 2;
pub(super) const BYTE_ARRAY: i32 = 6;
pub(super) const REQUIRED: i32 = 0;
pub(super) const OPTIONAL: i32 = 1;
pub(super) const UTF8: i32 = 0;
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const RLE_DICTIONARY: i32 = 8;
const GZIP: i32 = 2;
const DATA_PAGE: i32 = 0;
const DICTIONARY_PAGE: i32 = 2;

/// A file in the making.
pub(super) struct File<'w> {
    pub(super) out: &'w mut dyn Write,
    pub(super) offset: i64,
}

impl File<'_> {
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
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

pub(super) fn len32(len: usize) -> io::Result<i32> {
    i32::try_from(len).map_err(io::Error::other)
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
pub(super) fn text_column<T: AsRef<str>>(
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

pub(super) fn number_column(
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
