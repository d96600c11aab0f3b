//! pprof: <https://github.com/google/pprof/blob/main/proto/profile.proto>, packed with gzip.
//!
//! A sample has a number for each kind: how many events, and their value. A label is a text; the
//! thread is one. Of a label that `--numeric` names it is a number, with its unit.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::profile::{Kind, MAX_VALUE, Profile};
use super::protobuf::Message;

/// Numbers of the fields of a profile.
mod field {
    pub(super) const SAMPLE_TYPE: u32 = 1;
    pub(super) const SAMPLE: u32 = 2;
    pub(super) const MAPPING: u32 = 3;
    pub(super) const LOCATION: u32 = 4;
    pub(super) const FUNCTION: u32 = 5;
    pub(super) const STRING_TABLE: u32 = 6;
    pub(super) const TIME_NANOS: u32 = 9;
    pub(super) const DURATION_NANOS: u32 = 10;
    pub(super) const PERIOD_TYPE: u32 = 11;
    pub(super) const PERIOD: u32 = 12;
    pub(super) const DEFAULT_SAMPLE_TYPE: u32 = 14;
}

const MAPPING_ID: u64 = 1;
/// Bytes that are packed at once.
const BUFFER_LEN: usize = 1 << 16;

/// The table of texts. The first is empty and means that there is none.
struct Texts<'p> {
    places: HashMap<&'p str, u64>,
    list: Vec<&'p str>,
    empty_value: Option<u64>,
}

impl<'p> Texts<'p> {
    fn new() -> Self {
        Self {
            places: HashMap::from([("", 0)]),
            list: vec![""],
            empty_value: None,
        }
    }

    fn place(&mut self, text: &'p str) -> u64 {
        let next = self.list.len() as u64;
        *self.places.entry(text).or_insert_with(|| {
            self.list.push(text);
            next
        })
    }

    /// The place of a label's value. Also an empty one is a value: it has a place of its own.
    fn value_place(&mut self, text: &'p str) -> u64 {
        if !text.is_empty() {
            return self.place(text);
        }
        *self.empty_value.get_or_insert_with(|| {
            self.list.push("");
            self.list.len() as u64 - 1
        })
    }
}

/// Writes the parts of a profile one by one.
struct Writer<'p, W: Write> {
    /// The encoder clears all of its free memory for each write.
    out: BufWriter<GzEncoder<W>>,
    part: Message,
    texts: Texts<'p>,
    functions: HashMap<&'p str, u64>,
    locations: HashMap<(u64, u32), u64>,
}

/// Writes the profile.
pub(super) fn write(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer {
        out: BufWriter::with_capacity(BUFFER_LEN, GzEncoder::new(out, Compression::default())),
        part: Message::default(),
        texts: Texts::new(),
        functions: HashMap::new(),
        locations: HashMap::new(),
    };
    writer.head(profile)?;
    let mut values = vec![0; 2 * profile.kinds.len()];
    for (place, kind) in profile.kinds.iter().enumerate() {
        values.fill(0);
        let locations = writer.locations(kind)?;
        for rows in kind.rows.chunk_by(|a, b| a.group == b.group) {
            let labels = writer.labels(profile, kind, rows[0].group);
            for row in rows {
                values[2 * place] = row.sum.samples;
                values[2 * place + 1] = row.sum.value.min(MAX_VALUE);
                writer.sample(kind.stack(row), &locations, &values, &labels)?;
            }
        }
    }
    for text in std::mem::take(&mut writer.texts.list) {
        writer.part.text(field::STRING_TABLE, text);
        writer.end_part()?;
    }
    writer.out.into_inner()?.finish()?;
    Ok(())
}

impl<'p, W: Write> Writer<'p, W> {
    fn end_part(&mut self) -> io::Result<()> {
        self.out.write_all(self.part.bytes())?;
        self.part.clear();
        Ok(())
    }

    fn value_type(&mut self, (name, unit): (&'p str, &'p str)) -> Message {
        let mut message = Message::default();
        message.unsigned(1, self.texts.place(name));
        message.unsigned(2, self.texts.place(unit));
        message
    }

    fn head(&mut self, profile: &'p Profile) -> io::Result<()> {
        for ty in profile.kinds.iter().flat_map(Kind::value_types) {
            let ty = self.value_type(ty);
            self.part.message(field::SAMPLE_TYPE, &ty);
        }
        // The only one: of all code. Its functions and lines are known.
        let mut mapping = Message::default();
        mapping.unsigned(1, MAPPING_ID);
        mapping.unsigned(5, self.texts.place(&profile.name));
        mapping.unsigned(7, 1);
        mapping.unsigned(9, 1);
        self.part.message(field::MAPPING, &mapping);
        self.part.signed(field::TIME_NANOS, profile.start_nanos);
        self.part
            .signed(field::DURATION_NANOS, profile.duration_nanos());
        if let Some(kind) = profile.kinds.first() {
            let [_, value] = kind.value_types();
            let ty = self.value_type(value);
            self.part.message(field::PERIOD_TYPE, &ty);
            if kind.unit.is_time() {
                let interval = kind.interval_nanos.unwrap_or(0);
                self.part.unsigned(field::PERIOD, interval);
            }
            let name = self.texts.place(value.0);
            self.part.unsigned(field::DEFAULT_SAMPLE_TYPE, name);
        }
        self.end_part()
    }

    /// The locations of the kind's frames.
    fn locations(&mut self, kind: &'p Kind) -> io::Result<Vec<u64>> {
        let mut locations = Vec::with_capacity(kind.frames.len());
        for frame in &kind.frames {
            let function = self.function(&frame.text)?;
            let next = self.locations.len() as u64 + 1;
            let known = *self.locations.entry((function, frame.line)).or_insert(next);
            if known == next {
                let mut line = Message::default();
                line.unsigned(1, function);
                line.unsigned(2, frame.line.into());
                let mut location = Message::default();
                location.unsigned(1, known);
                location.unsigned(2, MAPPING_ID);
                location.message(4, &line);
                self.part.message(field::LOCATION, &location);
                self.end_part()?;
            }
            locations.push(known);
        }
        Ok(locations)
    }

    fn function(&mut self, name: &'p str) -> io::Result<u64> {
        if let Some(&known) = self.functions.get(name) {
            return Ok(known);
        }
        let id = self.functions.len() as u64 + 1;
        self.functions.insert(name, id);
        let name = self.texts.place(name);
        let mut function = Message::default();
        function.unsigned(1, id);
        function.unsigned(2, name);
        function.unsigned(3, name);
        self.part.message(field::FUNCTION, &function);
        self.end_part()?;
        Ok(id)
    }

    /// The labels of a group, as fields of a sample.
    fn labels(&mut self, profile: &'p Profile, kind: &'p Kind, group: u32) -> Message {
        let mut labels = Message::default();
        for (key, value) in kind.labels(group) {
            let mut label = Message::default();
            label.unsigned(1, self.texts.place(key));
            match profile.number(key, value) {
                Some((number, unit)) => {
                    label.signed(3, number);
                    label.unsigned(4, self.texts.place(unit));
                }
                None => label.unsigned(2, self.texts.value_place(value)),
            }
            labels.message(3, &label);
        }
        labels
    }

    fn sample(
        &mut self,
        stack: &[u32],
        locations: &[u64],
        values: &[u64],
        labels: &Message,
    ) -> io::Result<()> {
        let mut sample = Message::default();
        sample.packed(1, stack.iter().map(|&frame| locations[frame as usize]));
        sample.packed(2, values.iter().copied());
        sample.append(labels);
        self.part.message(field::SAMPLE, &sample);
        self.end_part()
    }
}
