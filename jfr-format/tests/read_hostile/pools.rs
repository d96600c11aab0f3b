//! Checkpoints and pools that are wrong, circular or far too large.

use crate::*;

#[test]
fn checkpoint_table() {
    let events = |checkpoints: &[Vec<u8>]| {
        let mut events = vec![metadata(types()), sample()];
        events.extend(checkpoints.iter().cloned());
        chunk(&events)
    };
    let length = |event: &Vec<u8>| i64::try_from(event.len()).unwrap();
    // A chain of two: both count.
    let (a, b) = (checkpoint(0, &pools()[..4]), checkpoint(0, &pools()[4..]));
    let linked = checkpoint(-length(&a), &pools()[4..]);
    assert_eq!(
        read_all(&events(&[a.clone(), linked])),
        ReadOutcome {
            chunks: 1,
            samples: 1,
            whole: 1,
            corruptions: 0
        }
    );
    // Torn chains: to itself, before the chunk, into an event, forward. All checkpoints are taken
    // then.
    for delta in [i64::MIN, -1_000_000, -5, 1, 40, i64::MAX, -length(&a) - 1] {
        let torn = checkpoint(delta, &pools()[4..]);
        let seen = read_all(&events(&[a.clone(), torn]));
        assert_eq!(seen.whole, 1, "delta {delta}");
        assert!(seen.corruptions > 0, "delta {delta}");
    }
    // A circle of two.
    let first = checkpoint(length(&b) + 9, &pools()[..4]);
    let second = checkpoint(-length(&first), &pools()[4..]);
    let seen = read_all(&events(&[first, second]));
    assert_eq!(seen.whole, 1);
    assert!(seen.corruptions > 0);
    // Counts that lie.
    for count in [1u64 << 31, u64::MAX, 1 << 20] {
        let mut payload = vec![0, 0, 0, 0];
        varint::put(&mut payload, count);
        assert!(read_all(&events(&[event(1, &payload)])).corruptions > 0);
        let mut payload = vec![0, 0, 0, 0, 1];
        varint::put(&mut payload, ids::SYMBOL);
        varint::put(&mut payload, count);
        payload.extend([1, 3, 1, 65]);
        assert!(read_all(&events(&[event(1, &payload)])).corruptions > 0);
    }
    // Unknown type: the pools before it count.
    let mut odd = pools();
    odd.push((777_777, vec![(1, vec![1])]));
    let seen = read_all(&events(&[checkpoint(0, &odd)]));
    assert_eq!(seen.whole, 1);
    assert_eq!(seen.corruptions, 1);
    // Empty pools and missing keys are no damage.
    let mut empty = pools();
    empty.insert(0, (ids::STRING, Vec::new()));
    assert_eq!(read_all(&events(&[checkpoint(0, &empty)])).whole, 1);
    let seen = read_all(&events(&[checkpoint(0, &pools()[1..])]));
    assert_eq!((seen.samples, seen.whole, seen.corruptions), (1, 0, 0));
    // No checkpoint at all.
    assert_eq!(read_all(&events(&[])).corruptions, 0);
}

#[test]
fn older_checkpoint_wins_for_a_key() {
    let value = |v: &str| {
        let mut bytes = Vec::new();
        text(&mut bytes, v);
        bytes
    };
    let mut old = pools();
    old.last_mut().unwrap().1 = vec![(129, value("first")), (129, value("last of the old"))];
    let old = checkpoint(0, &old);
    let new = checkpoint(
        -i64::try_from(old.len()).unwrap(),
        &[(ids::VALUE, vec![(129, value("new"))])],
    );
    let file = chunk(&[metadata(types()), sample(), old, new]);
    let chunk = Chunks::new(&file).next().unwrap();
    let open = ParsedChunk::new(&chunk).unwrap();
    let sample = open.samples(|_| true).next().unwrap().unwrap();
    assert_eq!(sample.value(0), Some("last of the old"));
}

#[test]
fn long_and_circular_chains_take_linear_time() {
    let started = cpu_time();
    let mut events = vec![metadata(types()), sample()];
    let mut previous = 0i64;
    for _ in 0..50_000 {
        let next = checkpoint(-previous, &[]);
        previous = i64::try_from(next.len()).unwrap();
        events.push(next);
    }
    assert_eq!(read_all(&chunk(&events)).corruptions, 0);
    assert!(
        since(started) < Duration::from_secs(20),
        "{:?}",
        since(started)
    );
}

#[test]
fn circular_references_end() {
    let mut classes = types();
    classes.push(class(
        210,
        "x.Group",
        &[],
        vec![
            field("parent", 210, &[POOL]),
            field("name", ids::STRING, &[]),
        ],
    ));
    classes.push(class(
        130,
        "x.Event",
        &[EVENT],
        vec![
            field("startTime", ids::LONG, &[]),
            field("group", 210, &[POOL]),
        ],
    ));
    let mut entry = vec![1];
    text(&mut entry, "g");
    let file = chunk(&[
        metadata(classes),
        checkpoint(0, &[(210, vec![(1, entry)])]),
        event(130, &[1, 1]),
    ]);
    assert_eq!(read_all(&file).corruptions, 0);
    // Strings that lead to strings that lead to strings.
    let pool = (ids::STRING, vec![(1, vec![2, 1]), (2, vec![2, 1])]);
    let mut odd = types();
    odd.push(class(
        131,
        "x.Text",
        &[EVENT],
        vec![
            field("startTime", ids::LONG, &[]),
            field("text", ids::STRING, &[]),
        ],
    ));
    let file = chunk(&[
        metadata(odd),
        checkpoint(0, &[pool]),
        event(131, &[1, 2, 1]),
    ]);
    let chunk_of = Chunks::new(&file).next().unwrap();
    let open = ParsedChunk::new(&chunk_of).unwrap();
    let event = open.events_named("x.Text").next().unwrap();
    assert!(matches!(event.get("text").unwrap(), Some(Value::Null)));
}

#[test]
fn shared_symbols_are_not_copied() {
    let mut long = vec![4];
    varint::put(&mut long, 200_000);
    long.extend(std::iter::repeat_n(65u8, 200_000));
    let mut pools = pools();
    pools[1].1[1].1 = long;
    pools[3].1 = (0..200_000).map(|key| (key, vec![1, 2, 3, 0, 0])).collect();
    let file = chunk(&[metadata(types()), checkpoint(0, &pools), sample()]);
    assert_eq!(read_all(&file).whole, 1);
}
