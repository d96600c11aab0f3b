//! Metadata events that are wrong, huge or endless.

use crate::*;

/// A parser that reuses the metadata of earlier chunks reads each chunk as a new parser does.
#[test]
fn only_equal_metadata_are_reused() {
    let body = [checkpoint(0, &pools()), sample()];
    let with = |types: Vec<Element>| chunk(&[&[metadata(types)], &body[..]].concat());
    let mut other = types();
    other.push(class(101, "x.Other", &[EVENT], vec![]));
    let damaged = {
        let mut file = with(types());
        file[24..32].copy_from_slice(&7i64.to_be_bytes());
        file
    };
    let parts = [
        with(types()),
        with(types()),
        with(other.clone()),
        damaged,
        with(types()),
        with(other),
    ];
    let file = parts.concat();
    let mut parser = ChunkParser::new();
    let mut shown = Vec::new();
    for chunk in Chunks::new(&file) {
        let open = parser.parse(&chunk).unwrap();
        let alone = ParsedChunk::new(&chunk).unwrap();
        let names = |open: &ParsedChunk<'_>| {
            let types = open.metadata().types().iter();
            types.map(|ty| ty.name.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(&open), names(&alone));
        assert_eq!(open.corruptions().len(), alone.corruptions().len());
        let context = |open: &ParsedChunk<'_>| {
            let sample = open.samples(|_| true).next().unwrap().unwrap();
            sample
                .context()
                .map(|(_, v)| v.to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(context(&open), context(&alone));
        shown.push((
            open.metadata().index_of_name("x.Other").is_some(),
            open.corruptions().len(),
        ));
    }
    let expected = [
        (false, 0),
        (false, 0),
        (true, 0),
        (false, 1),
        (false, 0),
        (true, 0),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn metadata_table() {
    let with = |classes: Vec<Element>| chunk(&[metadata(classes), sample(), checkpoint(0, &[])]);
    assert_eq!(read_all(&with(Vec::new())).samples, 0);
    // Missing or senseless numbers.
    for attributes in [
        &[("name", "x")][..],
        &[("id", "x"), ("name", "x")],
        &[("id", "-1")],
        &[("id", "99999999999999999999")],
    ] {
        let error = open_error(&with(vec![element("class", attributes, Vec::new())]));
        assert!(error.contains("'id'"), "{error}");
    }
    // Duplicate ids and names: one of them counts, nothing breaks.
    let mut doubled = types();
    doubled.extend(types());
    assert_eq!(read_all(&with(doubled)).samples, 1);
    // Wrong indices and counts.
    let strings = |count: usize| vec!["root".to_owned(); count];
    for tree in [
        &[9, 0, 0][..],
        &[0, 200, 1],
        &[0, 0, 0xff, 0xff, 3],
        &[0],
        &[],
        &[0xff; 9],
        &[0, 1, 0, 77, 0],
    ] {
        let file = chunk(&[metadata_of(&strings(2), tree)]);
        let open = Chunks::new(&file)
            .next()
            .map(|c| ParsedChunk::new(&c).is_err());
        assert_eq!(open, Some(true), "{tree:?}");
    }
    // 100 000 levels.
    let deep = [0u8, 0, 1].repeat(100_000);
    let file = chunk(&[metadata_of(&strings(1), &deep)]);
    let chunk_of = Chunks::new(&file).next().unwrap();
    let error = ParsedChunk::new(&chunk_of).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::LimitExceeded(_)),
        "{error}"
    );
}

#[test]
fn endless_metadata_are_refused() {
    // A string is a byte, an element is four or five: eight megabytes of either.
    let file = chunk(&[metadata_of(&vec![String::new(); 2_000_000], &[0, 0, 0])]);
    assert!(open_error(&file).contains("limit"), "strings");
    for (name, attributes, most) in [("class", &[1u8, 2, 3][..], 70_000), ("x", &[0], 600_000)] {
        let strings: Vec<String> = ["root", name, "id", "1"].map(str::to_owned).into();
        let mut tree = vec![0, 0];
        varint::put(&mut tree, most);
        for _ in 0..most {
            tree.push(1);
            tree.extend(attributes);
            tree.push(0);
        }
        let file = chunk(&[metadata_of(&strings, &tree)]);
        assert!(open_error(&file).contains("limit"), "{name}");
    }
}

#[test]
fn recursive_and_deep_types_are_opaque() {
    let started = cpu_time();
    let mut classes = types();
    // Itself, each other, 40 levels of two fields with no bytes at the end, 100 levels.
    classes.push(class(200, "x.Self", &[], vec![field("a", 200, &[])]));
    classes.push(class(201, "x.A", &[], vec![field("b", 202, &[])]));
    classes.push(class(202, "x.B", &[], vec![field("a", 201, &[])]));
    classes.push(class(300, "x.Empty", &[], Vec::new()));
    for level in 1..=100 {
        let below = 300 + level - 1;
        classes.push(class(
            300 + level,
            "x.Level",
            &[],
            vec![field("a", below, &[]), field("b", below, &[])],
        ));
    }
    for (event_id, ty) in [(110, 200), (111, 201), (112, 300), (113, 340), (114, 400)] {
        classes.push(class(
            event_id,
            "x.Event",
            &[EVENT],
            vec![field("startTime", ids::LONG, &[]), field("x", ty, &[])],
        ));
    }
    let events: Vec<Vec<u8>> = (110..=114).map(|id| event(id, &[1, 2, 3, 4, 5])).collect();
    let mut all = vec![metadata(classes), checkpoint(0, &pools()), sample()];
    all.extend(events);
    let seen = read_all(&chunk(&all));
    assert_eq!(seen.whole, 1);
    assert!(seen.corruptions >= 5, "{seen:?}");
    assert!(
        since(started) < Duration::from_secs(5),
        "{:?}",
        since(started)
    );
}

#[test]
fn many_fields_are_read_in_linear_time() {
    let started = cpu_time();
    let mut classes = types();
    let fields = (0..200_000).map(|_| field("f", ids::INT, &[])).collect();
    classes.push(class(120, "x.Wide", &[EVENT], fields));
    let file = chunk(&[metadata(classes), event(120, &[1; 50])]);
    assert!(read_all(&file).corruptions > 0);
    assert!(
        since(started) < Duration::from_secs(10),
        "{:?}",
        since(started)
    );
}
