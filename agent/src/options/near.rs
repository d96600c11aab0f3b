//! Text for messages: the nearest known word, and user text made printable on one line.

/// Maximum number of characters of user text in a message.
const SHOWN_CHARS: usize = 60;

/// `text` for a one-line message: truncated, control characters escaped.
pub(super) fn shown(text: &str) -> String {
    let mut out: String = text.chars().take(SHOWN_CHARS).flat_map(escaped).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        out.push('…');
    }
    out
}

/// Escapes characters that move the cursor or change the direction of the line.
fn escaped(c: char) -> Box<dyn Iterator<Item = char>> {
    let direction =
        matches!(c, '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    if c.is_control() || direction {
        Box::new(c.escape_unicode())
    } else {
        Box::new(std::iter::once(c))
    }
}

/// The candidate with the smallest edit distance to `name`, if it is close enough.
pub(super) fn nearest(
    name: &str,
    candidates: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    // A text longer than every name by more than the limit is close to none; this also bounds the
    // work.
    if name.len() > 32 {
        return None;
    }
    let name = name.to_ascii_lowercase();
    candidates
        .map(|candidate| (distance(&name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Edit distance with swaps of neighbours (optimal string alignment).
pub(super) fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &from) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &to) in b.iter().enumerate() {
            let mut best = (last[j] + usize::from(from != to))
                .min(last[j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && from == b[j - 1] && a[i - 1] == to {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_insertions_deletions_replacements_and_swaps() {
        for (a, b, steps) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("ab", "ba", 1),
            ("file", "fiel", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(a, b), steps, "{a} {b}");
        }
    }
}
