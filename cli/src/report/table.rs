//! The table of a report.

use super::rows::Row;
use crate::collect::Sum;
use crate::filter::Unit;
use crate::output::Output;
use crate::statistics::share;
use crate::text;

/// Widest cell of a value.
const MAX_PLACES: usize = 60;

/// What the column after the keys shows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Column {
    /// Sums.
    Sum(Unit),
    /// CPU time per time, of so many nanoseconds.
    Cores(u64),
}

impl Column {
    fn unit(self) -> Unit {
        match self {
            Self::Sum(unit) => unit,
            Self::Cores(_) => Unit::Cpu,
        }
    }

    fn head(self) -> &'static str {
        match self {
            Self::Sum(unit) => unit.head(),
            Self::Cores(_) => "cores",
        }
    }

    fn show(self, value: u64) -> String {
        match self {
            Self::Sum(unit) => unit.show(value),
            Self::Cores(nanos) => format!("{:.2}", share(value, nanos)),
        }
    }
}

/// Keys, a column, shares.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    keys: usize,
    column: Column,
}

impl Table {
    pub(crate) fn new(keys: &[String], column: Column) -> Self {
        let mut head: Vec<String> = keys
            .iter()
            .map(|key| text::terminal(key).into_owned())
            .collect();
        head.extend([column.head(), "share"].map(str::to_owned));
        if column.unit().is_sampled() {
            head.push("95 % interval".to_owned());
        }
        head.push("samples".to_owned());
        Self {
            rows: vec![head],
            keys: keys.len(),
            column,
        }
    }

    /// The lines: `limit` rows with a label (0: all), all others, and what is not shown.
    pub(crate) fn lines(mut self, rows: &[Row], limit: usize, output: &Output) -> Vec<String> {
        let (named, rest): (Vec<&Row>, Vec<&Row>) =
            rows.iter().partition(|row| !row.is_unlabelled());
        let shown = if limit == 0 { named.len() } else { limit };
        for row in named.iter().take(shown) {
            let values = row.key.values.iter();
            let values = values.map(|value| output.clean(value.as_deref().unwrap_or("-")));
            self.push(values.collect(), row);
        }
        for row in rest {
            let mut cells = vec![String::new(); row.key.values.len()];
            cells[0] = row.key.name_without_values();
            self.push(cells, row);
        }
        output.fit(&mut self.rows, 0..self.keys, MAX_PLACES);
        let mut lines = output.table(&self.rows, self.keys);
        if named.len() > shown {
            let mut hidden = Sum::default();
            let more = named.iter().skip(shown);
            more.for_each(|row| hidden.add(&row.sum));
            let more = format!(
                " ... and {} more rows with {} (--limit 0 shows all)",
                named.len() - shown,
                self.column.show(hidden.value)
            );
            lines.push(output.dim(&more));
        }
        lines
    }

    fn push(&mut self, mut cells: Vec<String>, row: &Row) {
        cells.push(self.column.show(row.sum.value));
        cells.push(text::percent(row.share));
        if let Some((low, high)) = row.interval {
            cells.push(format!("{:.1} – {}", low * 100.0, text::percent(high)));
        }
        cells.push(text::thousands(row.sum.samples));
        self.rows.push(cells);
    }
}
