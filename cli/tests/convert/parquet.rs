//! Parquet, decoded: as much of the format as is written.

use std::collections::BTreeMap;
use std::io::Read;

use crate::wire::varint;
use crate::{Totals, common::*, converted, reported};

/// A value in Thrift's compact protocol.
#[derive(Debug, Clone)]
enum Thrift {
    Number(i64),
    Text(Vec<u8>),
    List(Vec<Thrift>),
    Struct(BTreeMap<u8, Thrift>),
}

impl Thrift {
    fn read(bytes: &mut &[u8], ty: u8) -> Self {
        match ty {
            1 | 2 => Self::Number(i64::from(ty == 1)),
            5 | 6 => {
                let value = varint(bytes).cast_signed();
                Self::Number(value.cast_unsigned().wrapping_shr(1).cast_signed() ^ -(value & 1))
            }
            8 => {
                let len = usize::try_from(varint(bytes)).unwrap();
                Self::Text(take(bytes, len).to_vec())
            }
            9 => {
                let head = take(bytes, 1)[0];
                let len = match head >> 4 {
                    15 => varint(bytes),
                    len => len.into(),
                };
                Self::List((0..len).map(|_| Self::read(bytes, head & 15)).collect())
            }
            12 => {
                let (mut fields, mut number) = (BTreeMap::new(), 0);
                loop {
                    let head = take(bytes, 1)[0];
                    if head == 0 {
                        return Self::Struct(fields);
                    }
                    number += head >> 4;
                    fields.insert(number, Self::read(bytes, head & 15));
                }
            }
            other => panic!("type {other}"),
        }
    }

    fn field(&self, number: u8) -> &Self {
        match self {
            Self::Struct(fields) => &fields[&number],
            other => panic!("no structure: {other:?}"),
        }
    }

    fn number(&self, field: u8) -> usize {
        match self.field(field) {
            Self::Number(number) => usize::try_from(*number).unwrap(),
            other => panic!("no number: {other:?}"),
        }
    }

    fn text(&self, field: u8) -> String {
        match self.field(field) {
            Self::Text(text) => String::from_utf8(text.clone()).unwrap(),
            other => panic!("no text: {other:?}"),
        }
    }

    fn list(&self, field: u8) -> &[Self] {
        match self.field(field) {
            Self::List(list) => list,
            other => panic!("no list: {other:?}"),
        }
    }
}

fn take<'a>(bytes: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at(len);
    *bytes = rest;
    taken
}

fn number_of(bytes: &[u8]) -> usize {
    let numbers = bytes.iter().rev();
    numbers.fold(0, |number, &byte| number << 8 | usize::from(byte))
}

/// The page at a place, unpacked.
fn page(file: &[u8], at: usize) -> Vec<u8> {
    let mut rest = &file[at..];
    let header = Thrift::read(&mut rest, 12);
    let mut plain = Vec::new();
    let packed = &rest[..header.number(3)];
    flate2::read::GzDecoder::new(packed)
        .read_to_end(&mut plain)
        .unwrap();
    assert_eq!(plain.len(), header.number(2));
    plain
}

/// Numbers in runs.
fn runs(mut bytes: &[u8], bits: usize) -> Vec<usize> {
    let mut numbers = Vec::new();
    while !bytes.is_empty() {
        let head = varint(&mut bytes);
        assert_eq!(head & 1, 0, "a run");
        let value = number_of(take(&mut bytes, bits.div_ceil(8)));
        numbers.extend((0..head >> 1).map(|_| value));
    }
    numbers
}

/// A file: its columns of texts and those of numbers.
#[derive(Debug, Default)]
struct Decoded {
    texts: BTreeMap<String, Vec<Option<String>>>,
    numbers: BTreeMap<String, Vec<u64>>,
}

impl Decoded {
    fn new(file: &[u8]) -> Self {
        assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
        let (rest, len) = file[..file.len() - 4].split_last_chunk::<4>().unwrap();
        let metadata = Thrift::read(&mut &rest[rest.len() - number_of(len)..], 12);
        let mut decoded = Self::default();
        let schema = &metadata.list(2)[1..];
        for group in metadata.list(4) {
            let columns = group.list(1);
            assert_eq!(columns.len(), schema.len());
            for (column, element) in columns.iter().zip(schema) {
                decoded.add(file, column.field(3), element);
            }
        }
        let rows = metadata.number(3);
        assert!(decoded.texts.values().all(|column| column.len() == rows));
        assert!(decoded.numbers.values().all(|column| column.len() == rows));
        decoded
    }

    fn add(&mut self, file: &[u8], column: &Thrift, element: &Thrift) {
        let (name, data) = (element.text(4), page(file, column.number(9)));
        let count = column.number(5);
        if element.number(1) == 2 {
            let numbers = data
                .as_chunks()
                .0
                .iter()
                .map(|bytes| u64::from_le_bytes(*bytes));
            self.numbers.entry(name).or_default().extend(numbers);
            return;
        }
        let dictionary = page(file, column.number(11));
        let (mut rest, mut texts) = (&*dictionary, Vec::new());
        while !rest.is_empty() {
            let len = number_of(take(&mut rest, 4));
            texts.push(String::from_utf8(take(&mut rest, len).to_vec()).unwrap());
        }
        let mut rest = &*data;
        let levels = if element.number(3) == 1 {
            let len = number_of(take(&mut rest, 4));
            runs(take(&mut rest, len), 1)
        } else {
            vec![1; count]
        };
        let bits = usize::from(take(&mut rest, 1)[0]);
        let mut places = runs(rest, bits).into_iter();
        let values = levels.into_iter().map(|level| {
            let place = (level == 1).then(|| places.next().unwrap());
            place.map(|place| texts[place].clone())
        });
        self.texts.entry(name).or_default().extend(values);
        assert_eq!(places.next(), None);
    }

    fn totals(&self, unit: &str, key: &str) -> Totals {
        let mut totals = Totals::new();
        let rows = self.texts["unit"].iter().zip(&self.texts[key]);
        for ((of, value), number) in rows.zip(&self.numbers["value"]) {
            if of.as_deref() == Some(unit) {
                *totals.entry(value.clone()).or_default() += number;
            }
        }
        totals
    }
}

#[test]
fn events_are_rows_with_labels_time_and_stack() {
    let mut shop = Shop::new();
    for text in crate::labels::TEXTS {
        shop.sample(Some(text), None, "m", 2);
    }
    shop.sample(None, None, "m", 1);
    shop.wait("r", 700);
    let dir = TestDir::new().with("p.jfr", &shop.bytes());
    let decoded = Decoded::new(&converted(&dir, "p.jfr", "parquet", &[]));
    for (unit, event) in [("cpu_ns", "cpu"), ("lock_ns", "lock")] {
        let expected = reported(&dir, "p.jfr", event, "http.route");
        assert_eq!(decoded.totals(unit, "http.route"), expected, "{unit}");
    }
    let stack = "java.lang.Thread.run:12;app.Shop.m:12";
    assert!(decoded.texts["stack"].contains(&Some(stack.to_owned())));
    let start = 1_700_000_000_000_000_000;
    let second = start..start + 1_000_000_000;
    assert!(
        decoded.numbers["time"]
            .iter()
            .all(|time| second.contains(time))
    );
    // A label that no event has is no column.
    let names: Vec<&str> = decoded.texts.keys().map(String::as_str).collect();
    assert_eq!(names, ["http.route", "stack", "thread", "unit"]);
}
