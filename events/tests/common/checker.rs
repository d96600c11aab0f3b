//! A second, independent opinion on our files: walks every chunk by event sizes, reads the
//! metadata, every pool and every declared event to the exact byte, and resolves every reference.
//! Shares no code with the crate and panics on anything unusual: it is the judge, not a product.
//! One file above 500 lines, because it is one small reader, to be read from top to bottom.

use std::collections::HashMap;

/// A decoded value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    Number(i64),
    Text(Option<String>),
    Struct(Vec<(String, Value)>),
    Array(Vec<Value>),
    /// Type and key of a pool entry.
    Reference(u64, u64),
}

/// A decoded event.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) size: u64,
    pub(crate) chunk: usize,
    pub(crate) fields: Vec<(String, Value)>,
}

/// A decoded file.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    pub(crate) chunks: Vec<ChunkInfo>,
    pub(crate) events: Vec<Event>,
    pub(crate) pools: HashMap<(u64, u64), Value>,
    pub(crate) types: HashMap<u64, Type>,
    names_may_differ: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct ChunkInfo {
    pub(crate) start: u64,
    pub(crate) size: u64,
    pub(crate) start_nanos: i64,
    pub(crate) start_ticks: i64,
    pub(crate) duration: i64,
    pub(crate) flags: u16,
    pub(crate) checkpoints: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) name: String,
    pub(crate) is_event: bool,
    pub(crate) fields: Vec<FieldInfo>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldInfo {
    pub(crate) name: String,
    pub(crate) class: u64,
    pub(crate) pool: bool,
    pub(crate) array: bool,
}

impl Event {
    pub(crate) fn get(&self, name: &str) -> &Value {
        let found = self.fields.iter().find(|(n, _)| n == name);
        &found
            .unwrap_or_else(|| panic!("{} has no {name}", self.name))
            .1
    }

    pub(crate) fn number(&self, name: &str) -> i64 {
        match self.get(name) {
            Value::Number(n) => *n,
            other => panic!("{name} is {other:?}"),
        }
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Value::Text(Some(t)) => t,
            other => panic!("{name} is {other:?}"),
        }
    }
}

impl Recording {
    pub(crate) fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Event> {
        self.events.iter().filter(move |e| e.name == name)
    }

    /// The value behind a reference; `None` for key 0.
    pub(crate) fn resolve(&self, value: &Value) -> Option<&Value> {
        match value {
            Value::Reference(_, 0) => None,
            Value::Reference(ty, key) => Some(&self.pools[&(*ty, *key)]),
            other => panic!("{other:?} is no reference"),
        }
    }

    /// The text behind a reference to a simple type.
    pub(crate) fn simple_text(&self, value: &Value) -> Option<String> {
        match self.resolve(value)? {
            Value::Struct(fields) => match &fields[0].1 {
                Value::Text(t) => t.clone(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    /// A field of a struct value behind a reference.
    pub(crate) fn field(&self, value: &Value, name: &str) -> Value {
        match self.resolve(value) {
            Some(Value::Struct(fields)) => fields
                .iter()
                .find(|(n, _)| n == name)
                .map(|(_, v)| v.clone())
                .unwrap(),
            other => panic!("{other:?} has no {name}"),
        }
    }

    /// `class.method` of each frame.
    pub(crate) fn frames(&self, stack: &Value) -> Vec<String> {
        let Value::Array(frames) = self.field(stack, "frames") else {
            panic!("frames")
        };
        frames.iter().map(|f| self.frame(f)).collect()
    }

    fn frame(&self, frame: &Value) -> String {
        let Value::Struct(fields) = frame else {
            panic!("frame")
        };
        let method = &fields.iter().find(|(n, _)| n == "method").unwrap().1;
        let class = self.field(method, "type");
        let class = self.simple_text(&self.field(&class, "name")).unwrap();
        let name = self.simple_text(&self.field(method, "name")).unwrap();
        format!("{class}.{name}")
    }
}

/// Reads a file; panics with a reason if anything is wrong with it.
pub(crate) fn read(bytes: &[u8]) -> Recording {
    read_into(bytes, Recording::default())
}

/// The same for a file as it is at an instant: while a column gets its name, chunk after chunk
/// does.
pub(crate) fn read_at_an_instant(bytes: &[u8]) -> Recording {
    let names_may_differ = true;
    read_into(
        bytes,
        Recording {
            names_may_differ,
            ..Recording::default()
        },
    )
}

fn read_into(bytes: &[u8], mut recording: Recording) -> Recording {
    let mut at = 0;
    while at < bytes.len() {
        let size = chunk(&bytes[at..], at, &mut recording);
        at += size;
    }
    assert_eq!(at, bytes.len(), "chunk sizes sum to the file's length");
    assert!(!recording.chunks.is_empty(), "no chunk");
    one_line(&recording.chunks);
    recording
}

/// All chunks lie on one line of time, and no two begin at the same instant.
fn one_line(chunks: &[ChunkInfo]) {
    for pair in chunks.windows(2) {
        let nanos = pair[1].start_nanos - pair[0].start_nanos;
        assert!(nanos > 0, "chunks begin one after another");
        assert_eq!(nanos, (pair[1].start_ticks - pair[0].start_ticks) * 1000);
    }
}

fn be64(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn chunk(bytes: &[u8], file_offset: usize, recording: &mut Recording) -> usize {
    assert!(
        bytes.len() >= 68,
        "rest of {} bytes at {file_offset}",
        bytes.len()
    );
    assert_eq!(&bytes[..8], b"FLR\0\0\x02\0\x01", "magic at {file_offset}");
    let size = usize::try_from(be64(bytes, 8)).unwrap();
    assert!(
        (68..=bytes.len()).contains(&size),
        "chunk of {size} in {}",
        bytes.len()
    );
    let bytes = &bytes[..size];
    assert_eq!(be64(bytes, 56), 1_000_000, "frequency");
    assert_eq!(bytes[64], 0, "state");
    let flags = u16::from_be_bytes([bytes[66], bytes[67]]);
    assert_eq!(flags & 1, 1, "compressed integers");

    let types = metadata(bytes, usize::try_from(be64(bytes, 24)).unwrap());
    let (pools, checkpoints) = checkpoints(bytes, be64(bytes, 16).cast_signed(), &types);
    let number = recording.chunks.len();
    events(bytes, &types, &pools, number, &mut recording.events);
    for (key, value) in &pools {
        references(value, &pools, &format!("pool {key:?}"));
    }
    for (key, value) in pools {
        let before = recording.pools.insert(key, value.clone());
        assert!(
            before.is_none_or(|b| b == value),
            "key {key:?} has two values in one file"
        );
    }
    for (id, ty) in types {
        let before = recording.types.insert(id, ty.clone());
        let unnamed = |mut ty: Type| {
            ty.fields.iter_mut().for_each(|f| f.name.clear());
            ty
        };
        let is_same =
            |b: Type| b == ty || recording.names_may_differ && unnamed(b) == unnamed(ty.clone());
        assert!(
            before.is_none_or(is_same),
            "type {} changes within the file",
            ty.name
        );
    }
    recording.chunks.push(ChunkInfo {
        start: file_offset as u64,
        size: size as u64,
        start_nanos: be64(bytes, 32).cast_signed(),
        duration: be64(bytes, 40).cast_signed(),
        start_ticks: be64(bytes, 48).cast_signed(),
        flags,
        checkpoints,
    });
    size
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn byte(&mut self) -> u8 {
        self.at += 1;
        self.bytes[self.at - 1]
    }

    fn number(&mut self) -> u64 {
        let mut value = 0u64;
        for i in 0..8 {
            let b = self.byte();
            value |= u64::from(b & 0x7f) << (7 * i);
            if b < 0x80 {
                return value;
            }
        }
        value | u64::from(self.byte()) << 56
    }

    fn text(&mut self) -> Option<String> {
        match self.byte() {
            0 => None,
            1 => Some(String::new()),
            3 => {
                let len = usize::try_from(self.number()).unwrap();
                let text = std::str::from_utf8(&self.bytes[self.at..self.at + len]).unwrap();
                self.at += len;
                Some(text.to_owned())
            }
            tag => panic!("string tag {tag} at {}", self.at - 1),
        }
    }

    fn end(&self, expected: usize, what: &str) {
        assert_eq!(self.at, expected, "{what} must end exactly at its size");
    }
}

/// Size, type, and a cursor behind them.
fn begin(bytes: &[u8], at: usize) -> (usize, u64, Cursor<'_>) {
    let mut c = Cursor { bytes, at };
    let size = usize::try_from(c.number()).unwrap();
    let ty = c.number();
    assert!(
        size >= 2 && at + size <= bytes.len(),
        "event of {size} bytes at {at}"
    );
    (size, ty, c)
}

fn metadata(bytes: &[u8], at: usize) -> HashMap<u64, Type> {
    assert!(at >= 68, "metadata offset {at}");
    let (size, ty, mut c) = begin(bytes, at);
    assert_eq!(ty, 0, "metadata offset leads to type {ty}");
    c.number();
    c.number();
    assert!(c.number() > 1000, "metadata id");
    let count = c.number();
    let strings: Vec<String> = (0..count).map(|_| c.text().unwrap()).collect();
    let mut types = HashMap::new();
    let root = element(&mut c, &strings);
    c.end(at + size, "metadata");
    assert_eq!(root.children.len(), 2);
    for class in &root.children[0].children {
        let fields = class
            .children
            .iter()
            .filter(|e| e.name == "field")
            .map(field)
            .collect();
        let is_event = class.get("superType") == Some("jdk.jfr.Event");
        let name = class.get("name").unwrap().to_owned();
        let id = class.get("id").unwrap().parse().unwrap();
        let double = types.insert(
            id,
            Type {
                name,
                is_event,
                fields,
            },
        );
        assert!(double.is_none(), "type id {id} twice");
    }
    for element in &root.children[0].children {
        declared(element, &types);
    }
    types
}

/// Every `class` attribute below refers to a declared type.
fn declared(element: &Element, types: &HashMap<u64, Type>) {
    if let Some(class) = element.get("class") {
        assert!(
            types.contains_key(&class.parse().unwrap()),
            "type {class} is not declared"
        );
    }
    element.children.iter().for_each(|e| declared(e, types));
}

fn field(e: &Element) -> FieldInfo {
    FieldInfo {
        name: e.get("name").unwrap().to_owned(),
        class: e.get("class").unwrap().parse().unwrap(),
        pool: e.get("constantPool").is_some(),
        array: e.get("dimension").is_some(),
    }
}

struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
}

impl Element {
    fn get(&self, key: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(k, _)| k == key)
            .map(|(_, v)| v.as_str())
    }
}

fn element(c: &mut Cursor<'_>, strings: &[String]) -> Element {
    let text = |i: u64| strings[usize::try_from(i).unwrap()].clone();
    let name = text(c.number());
    let attributes = (0..c.number())
        .map(|_| (text(c.number()), text(c.number())))
        .collect();
    let children = (0..c.number()).map(|_| element(c, strings)).collect();
    Element {
        name,
        attributes,
        children,
    }
}

type PoolMap = HashMap<(u64, u64), Value>;

fn checkpoints(bytes: &[u8], last: i64, types: &HashMap<u64, Type>) -> (PoolMap, usize) {
    let mut pools = PoolMap::new();
    let mut at = last;
    for n in 1.. {
        assert!(at >= 68, "checkpoint offset {at}");
        let delta = checkpoint(bytes, usize::try_from(at).unwrap(), types, &mut pools);
        if delta == 0 {
            return (pools, n);
        }
        assert!(delta < 0, "delta {delta}");
        at += delta;
    }
    unreachable!("the chain ends")
}

fn checkpoint(bytes: &[u8], at: usize, types: &HashMap<u64, Type>, pools: &mut PoolMap) -> i64 {
    let (size, ty, mut c) = begin(bytes, at);
    assert_eq!(ty, 1, "checkpoint offset {at} leads to type {ty}");
    c.number();
    c.number();
    let delta = c.number().cast_signed();
    assert!(c.byte() < 0x80, "mask");
    let count = c.number();
    assert!(count > 0, "empty checkpoint");
    for _ in 0..count {
        let id = c.number();
        let entries = c.number();
        assert!(entries > 0, "empty pool of {id}");
        for _ in 0..entries {
            let key = c.number();
            assert!(key < 1 << 31);
            let value = structure(&mut c, id, types);
            assert!(
                pools.insert((id, key), value).is_none(),
                "key {key} of {id} twice"
            );
        }
    }
    c.end(at + size, "checkpoint");
    delta
}

fn structure(c: &mut Cursor<'_>, id: u64, types: &HashMap<u64, Type>) -> Value {
    let ty = &types[&id];
    match ty.name.as_str() {
        "boolean" | "byte" => Value::Number(i64::from(c.byte())),
        "int" => Value::Number(i64::from(u32::try_from(c.number()).unwrap().cast_signed())),
        "short" | "char" | "long" => Value::Number(c.number().cast_signed()),
        "java.lang.String" => Value::Text(c.text()),
        name => {
            assert!(!ty.fields.is_empty(), "cannot read a {name}");
            Value::Struct(fields(c, ty, types))
        }
    }
}

fn fields(c: &mut Cursor<'_>, ty: &Type, types: &HashMap<u64, Type>) -> Vec<(String, Value)> {
    ty.fields
        .iter()
        .map(|f| (f.name.clone(), value(c, f, types)))
        .collect()
}

fn value(c: &mut Cursor<'_>, f: &FieldInfo, types: &HashMap<u64, Type>) -> Value {
    if f.array {
        let count = c.number();
        return Value::Array((0..count).map(|_| structure(c, f.class, types)).collect());
    }
    if f.pool {
        return Value::Reference(f.class, c.number());
    }
    structure(c, f.class, types)
}

fn references(value: &Value, pools: &PoolMap, place: &str) {
    match value {
        Value::Reference(ty, key) if *key != 0 => {
            assert!(
                pools.contains_key(&(*ty, *key)),
                "{place}: {ty}/{key} dangles"
            );
        }
        Value::Struct(fields) => fields.iter().for_each(|(_, v)| references(v, pools, place)),
        Value::Array(values) => values.iter().for_each(|v| references(v, pools, place)),
        _ => {}
    }
}

fn events(
    bytes: &[u8],
    types: &HashMap<u64, Type>,
    pools: &PoolMap,
    chunk: usize,
    out: &mut Vec<Event>,
) {
    let mut at = 68;
    while at < bytes.len() {
        let (size, id, mut c) = begin(bytes, at);
        if let Some(ty) = types.get(&id).filter(|t| t.is_event) {
            let start = c.at;
            let fields = fields(&mut c, ty, types);
            c.end(at + size, &ty.name);
            for (name, value) in &fields {
                references(value, pools, &format!("{}.{name}", ty.name));
            }
            skips_itself(&bytes[start..at + size], ty, types);
            out.push(Event {
                name: ty.name.clone(),
                size: size as u64,
                chunk,
                fields,
            });
        } else {
            assert!(matches!(id, 0 | 1 | 76), "event of type {id} at {at}");
        }
        at += size;
    }
    assert_eq!(at, bytes.len(), "event sizes sum to the chunk's size");
}

/// The trailer rule: `contextLength` leads exactly to the event's end, and what follows it is no
/// event id.
fn skips_itself(event: &[u8], ty: &Type, types: &HashMap<u64, Type>) {
    let Some(index) = ty.fields.iter().position(|f| f.name == "contextLength") else {
        return;
    };
    let mut c = Cursor {
        bytes: event,
        at: 0,
    };
    for f in &ty.fields[..index] {
        value(&mut c, f, types);
    }
    let start = c.at;
    let length = usize::try_from(c.number()).unwrap();
    assert_eq!(start + length, event.len(), "{}: contextLength", ty.name);
    assert_eq!(c.at, start + 1, "contextLength takes one byte");
    let next = c.number();
    assert!(
        !types.get(&next).is_some_and(|t| t.is_event),
        "{}: trailer type {next}",
        ty.name
    );
}
