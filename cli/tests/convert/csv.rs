//! The numbers of a line of CSV: each in its own column.

use crate::totals::cells;
use crate::{common::*, converted};

/// The sum of a column.
fn sum(text: &str, column: &str) -> u64 {
    let mut lines = text.lines().map(cells);
    let head = lines.next().unwrap();
    let place = head.iter().position(|cell| cell.as_deref() == Some(column));
    let numbers = lines.map(|line| line[place.unwrap()].clone().unwrap());
    numbers.map(|number| number.parse::<u64>().unwrap()).sum()
}

#[test]
fn samples_weight_and_value_are_three_numbers() {
    let mut shop = Shop::new();
    shop.sample(Some("/"), Some("acme"), "serve", 40);
    shop.sample(Some("/"), Some("globex"), "serve", 70);
    let dir = TestDir::new().with("w.jfr", &shop.bytes());
    let report = &dir.json(&["report", "w.jfr", "--by", "tenant", "--json"])["total"];
    let expected = ["samples", "weight", "value"].map(|name| report[name].as_u64().unwrap());
    assert_eq!(expected, [2, 110, 1_100_000_000]);
    let csv = String::from_utf8(converted(&dir, "w.jfr", "csv", &[])).unwrap();
    let found = ["samples", "weight", "value"].map(|column| sum(&csv, column));
    assert_eq!(found, expected, "{csv}");
    let csv = dir.ok(&["report", "w.jfr", "--by", "tenant", "--csv"]);
    assert_eq!(sum(&csv, "samples"), 2, "{csv}");
}
