use super::*;

const SET: u8 = 1;
const OTHER: u8 = 1 << 1;

/// A scope that set the first value.
fn scope(first: i64, last: i64, value: u32, changed: u8) -> Scope {
    let mut values = Values::default();
    values[0] = Some(value);
    Scope {
        first,
        last,
        slots: SET,
        changed,
        values,
        outer: None,
    }
}

fn nested(mut scopes: Vec<Scope>) -> Vec<Scope> {
    nest(&mut scopes);
    scopes
}

fn first_value(scopes: &[Scope], first: i64, last: i64, slack: i64) -> Option<u32> {
    let reach = Reach { first, last, slack };
    values_in(scopes, reach)?[0]
}

#[test]
fn event_has_the_value_of_the_innermost_scope_around_it() {
    let scopes = nested(vec![
        scope(0, 100, 1, 0),
        scope(20, 40, 2, 0),
        scope(60, 70, 3, OTHER),
    ]);
    let value = |first, last| first_value(&scopes, first, last, 0);
    assert_eq!(value(5, 10), Some(1));
    assert_eq!(value(25, 30), Some(2));
    assert_eq!(value(62, 65), Some(3));
    assert_eq!(value(45, 55), Some(1), "between the inner ones");
    assert_eq!(value(90, 101), None, "the scope ends before");
    assert_eq!(value(-1, 3), None, "it begins later");
    for (first, last) in [(10, 25), (35, 50), (10, 50), (10, 80)] {
        assert_eq!(value(first, last), Some(0), "{first} to {last}: both");
    }
}

#[test]
fn time_that_may_be_off_makes_the_edges_unknown() {
    let scopes = nested(vec![scope(0, 100, 1, 0), scope(20, 40, 2, 0)]);
    let value = |first, last| first_value(&scopes, first, last, 3);
    assert_eq!(value(23, 37), Some(2));
    assert_eq!(value(22, 37), Some(0));
    assert_eq!(value(10, 16), Some(1));
    assert_eq!(value(10, 18), Some(0));
    assert_eq!(value(2, 10), None);
}

#[test]
fn value_that_changed_unseen_is_unknown() {
    let scopes = nested(vec![scope(0, 100, 1, SET), scope(20, 40, 2, 0)]);
    let value = |first, last| first_value(&scopes, first, last, 0);
    assert_eq!(value(5, 10), Some(0));
    assert_eq!(value(25, 30), Some(2), "what a scope set itself is known");
}

#[test]
fn value_that_a_scope_around_knows_better_counts() {
    let mut inner = scope(20, 40, 7, 0);
    inner.slots = OTHER;
    let mut scopes = nested(vec![scope(0, 100, 1, 0), inner]);
    assert_eq!(first_value(&scopes, 25, 30, 0), Some(1));
    scopes[0].changed = SET;
    assert_eq!(first_value(&scopes, 25, 30, 0), Some(7));
}

#[test]
fn chunks_that_follow_each_other_are_one_span() {
    let second = 1_000_000_000;
    let spans = vec![
        (second, 2 * second),
        (0, second - 1),
        (3 * second, 4 * second),
    ];
    assert_eq!(joined(spans), [(0, 2 * second), (3 * second, 4 * second)]);
}
