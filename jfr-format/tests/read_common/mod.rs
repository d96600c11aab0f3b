//! Chunks put together by hand, right or wrong at will; independent of the writer.

use jfr_format::read::ParsedChunk;
use jfr_format::varint;

/// An element of the metadata tree.
#[derive(Debug, Clone, Default)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) children: Vec<Element>,
}

pub(crate) fn element(name: &str, attributes: &[(&str, &str)], children: Vec<Element>) -> Element {
    let attributes = attributes
        .iter()
        .map(|&(k, v)| (k.to_owned(), v.to_owned()))
        .collect();
    Element {
        name: name.to_owned(),
        attributes,
        children,
    }
}

pub(crate) fn class(id: u64, name: &str, extra: &[(&str, &str)], fields: Vec<Element>) -> Element {
    let id = id.to_string();
    let mut attributes = vec![("id", id.as_str()), ("name", name)];
    attributes.extend(extra);
    element("class", &attributes, fields)
}

pub(crate) fn field(name: &str, class: u64, extra: &[(&str, &str)]) -> Element {
    let class = class.to_string();
    let mut attributes = vec![("name", name), ("class", class.as_str())];
    attributes.extend(extra);
    element("field", &attributes, Vec::new())
}

pub(crate) const POOL: (&str, &str) = ("constantPool", "true");
pub(crate) const ARRAY: (&str, &str) = ("dimension", "1");
pub(crate) const EVENT: (&str, &str) = ("superType", "jdk.jfr.Event");

pub(crate) fn text(out: &mut Vec<u8>, text: &str) {
    out.push(3);
    varint::put(out, text.len() as u64);
    out.extend(text.as_bytes());
}

/// An event with a four-byte size.
pub(crate) fn event(type_id: u64, payload: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    varint::put(&mut body, type_id);
    body.extend(payload);
    let mut event = varint::padded::<4>(body.len() as u64 + 4).to_vec();
    event.extend(body);
    event
}

fn write_element(element: &Element, index: &mut impl FnMut(&str) -> u64, out: &mut Vec<u8>) {
    varint::put(out, index(&element.name));
    varint::put(out, element.attributes.len() as u64);
    for (key, value) in &element.attributes {
        varint::put(out, index(key));
        varint::put(out, index(value));
    }
    varint::put(out, element.children.len() as u64);
    for child in &element.children {
        write_element(child, index, out);
    }
}

/// A metadata event of the classes.
pub(crate) fn metadata(classes: Vec<Element>) -> Vec<u8> {
    let region = element(
        "region",
        &[("locale", "en_US"), ("gmtOffset", "0")],
        Vec::new(),
    );
    let tree = element("root", &[], vec![element("metadata", &[], classes), region]);
    let mut strings: Vec<String> = Vec::new();
    let mut places = std::collections::HashMap::new();
    let mut body = Vec::new();
    let mut index = |text: &str| {
        *places.entry(text.to_owned()).or_insert_with(|| {
            strings.push(text.to_owned());
            strings.len() as u64 - 1
        })
    };
    write_element(&tree, &mut index, &mut body);
    metadata_of(&strings, &body)
}

/// A metadata event of strings and the bytes of the tree.
pub(crate) fn metadata_of(strings: &[String], tree: &[u8]) -> Vec<u8> {
    let mut payload = vec![0, 0, 7];
    varint::put(&mut payload, strings.len() as u64);
    for string in strings {
        text(&mut payload, string);
    }
    payload.extend(tree);
    event(0, &payload)
}

/// A pool: type, entries as key and bytes.
pub(crate) type Pool = (u64, Vec<(u64, Vec<u8>)>);

pub(crate) fn checkpoint(delta: i64, pools: &[Pool]) -> Vec<u8> {
    let mut payload = vec![0, 0];
    varint::put_long_signed(&mut payload, delta);
    payload.push(0);
    varint::put(&mut payload, pools.len() as u64);
    for (type_id, entries) in pools {
        varint::put(&mut payload, *type_id);
        varint::put(&mut payload, entries.len() as u64);
        for (key, value) in entries {
            varint::put(&mut payload, *key);
            payload.extend(value);
        }
    }
    event(1, &payload)
}

/// A chunk with sound header: the offsets lead to the last metadata and the last checkpoint among
/// the events.
pub(crate) fn chunk(events: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = vec![0; 68];
    let (mut metadata, mut checkpoint) = (0, 0);
    for event in events {
        let type_id = varint::get(&event[4.min(event.len())..]).map_or(u64::MAX, |(id, _)| id);
        match type_id {
            0 => metadata = bytes.len() as u64,
            1 => checkpoint = bytes.len() as u64,
            _ => {}
        }
        bytes.extend(event);
    }
    let header = jfr_format::chunk::Header {
        major: 2,
        minor: 1,
        size: bytes.len() as u64,
        checkpoint,
        metadata,
        start_nanos: 1_700_000_000_000_000_000,
        duration_nanos: 1_000_000_000,
        start_ticks: 1_000,
        ticks_per_second: 1_000_000_000,
        state: 0,
        flags: 1,
    };
    bytes[..68].copy_from_slice(&header.to_bytes());
    bytes
}

pub(crate) mod ids {
    pub(crate) const LONG: u64 = 1_000;
    pub(crate) const INT: u64 = 1_001;
    pub(crate) const BOOLEAN: u64 = 1_002;
    pub(crate) const STRING: u64 = 1_003;
    pub(crate) const THREAD: u64 = 1_004;
    pub(crate) const SYMBOL: u64 = 1_005;
    pub(crate) const CLASS: u64 = 1_006;
    pub(crate) const METHOD: u64 = 1_007;
    pub(crate) const FRAME_TYPE: u64 = 1_008;
    pub(crate) const FRAME: u64 = 99;
    pub(crate) const STACK: u64 = 1_009;
    pub(crate) const VALUE: u64 = 1_010;
    pub(crate) const STATE: u64 = 1_011;
    pub(crate) const SAMPLE: u64 = 100;
}

/// The types of a small recording with one attribute column.
pub(crate) fn types() -> Vec<Element> {
    use ids::*;
    let simple = ("simpleType", "true");
    vec![
        class(LONG, "long", &[], vec![]),
        class(INT, "int", &[], vec![]),
        class(BOOLEAN, "boolean", &[], vec![]),
        class(STRING, "java.lang.String", &[], vec![]),
        class(
            SYMBOL,
            "jdk.types.Symbol",
            &[simple],
            vec![field("string", STRING, &[])],
        ),
        class(
            STATE,
            "jdk.types.ThreadState",
            &[simple],
            vec![field("name", STRING, &[])],
        ),
        class(
            FRAME_TYPE,
            "jdk.types.FrameType",
            &[simple],
            vec![field("description", STRING, &[])],
        ),
        class(
            VALUE,
            "ctxagent.types.AttributeValue",
            &[simple],
            vec![field("value", STRING, &[])],
        ),
        class(
            THREAD,
            "java.lang.Thread",
            &[],
            vec![
                field("osName", STRING, &[]),
                field("osThreadId", LONG, &[]),
                field("javaName", STRING, &[]),
                field("javaThreadId", LONG, &[]),
                field("virtual", BOOLEAN, &[]),
            ],
        ),
        class(
            CLASS,
            "java.lang.Class",
            &[],
            vec![field("name", SYMBOL, &[POOL])],
        ),
        class(
            METHOD,
            "jdk.types.Method",
            &[],
            vec![
                field("type", CLASS, &[POOL]),
                field("name", SYMBOL, &[POOL]),
                field("descriptor", SYMBOL, &[POOL]),
                field("modifiers", INT, &[]),
                field("hidden", BOOLEAN, &[]),
            ],
        ),
        class(
            FRAME,
            "jdk.types.StackFrame",
            &[],
            vec![
                field("method", METHOD, &[POOL]),
                field("lineNumber", INT, &[]),
                field("bytecodeIndex", INT, &[]),
                field("type", FRAME_TYPE, &[POOL]),
            ],
        ),
        class(
            STACK,
            "jdk.types.StackTrace",
            &[],
            vec![
                field("truncated", BOOLEAN, &[]),
                field("frames", FRAME, &[ARRAY]),
            ],
        ),
        class(
            SAMPLE,
            "jdk.ExecutionSample",
            &[EVENT],
            vec![
                field("startTime", LONG, &[]),
                field("sampledThread", THREAD, &[POOL]),
                field("stackTrace", STACK, &[POOL]),
                field("state", STATE, &[POOL]),
                field("tenant", VALUE, &[POOL]),
            ],
        ),
    ]
}

fn texts(texts: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    for t in texts {
        text(&mut out, t);
    }
    out
}

/// The pools of the small recording.
pub(crate) fn pools() -> Vec<Pool> {
    use ids::*;
    let mut thread = texts(&["os"]);
    thread.push(17);
    text(&mut thread, "java");
    thread.extend([3, 1]);
    vec![
        (THREAD, vec![(11, thread)]),
        (
            SYMBOL,
            vec![
                (1, texts(&["a/B"])),
                (2, texts(&["run"])),
                (3, texts(&["()V"])),
            ],
        ),
        (CLASS, vec![(1, vec![1])]),
        (METHOD, vec![(9, vec![1, 2, 3, 0, 0])]),
        (FRAME_TYPE, vec![(1, texts(&["JIT compiled"]))]),
        (STACK, vec![(1, vec![0, 1, 9, 42, 7, 1])]),
        (STATE, vec![(1, texts(&["STATE_RUNNABLE"]))]),
        (VALUE, vec![(129, texts(&["acme"]))]),
    ]
}

/// A sample: ticks 1100, thread 11, stack 1, state 1, value 129.
pub(crate) fn sample() -> Vec<u8> {
    event(ids::SAMPLE, &[0xcc, 8, 11, 1, 1, 0x81, 1])
}

/// The small recording: metadata, two samples, checkpoint.
pub(crate) fn small() -> Vec<u8> {
    chunk(&[
        metadata(types()),
        sample(),
        checkpoint(0, &pools()),
        sample(),
    ])
}

/// Copies of the texts of all events of a type, as readers of counters and descriptions make them.
pub(crate) fn copied_texts(
    open: &ParsedChunk<'_>,
    type_name: &str,
    fields: &[&str],
) -> Vec<Vec<String>> {
    open.rows_of(type_name, usize::MAX, |event, texts| {
        let text = |field| Some(texts.copy(event.text(field).ok()?));
        fields.iter().copied().map(text).collect()
    })
}
