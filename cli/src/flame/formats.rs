//! The formats of a flame graph: page and JSON.

use serde_json::json;
use sha2::{Digest, Sha256};

use super::tree::Tree;
use crate::args::FlameArgs;
use crate::collect::{Collected, TypeSums};
use crate::filter::Unit;
use crate::text;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// What every format is made of.
pub(super) struct Graph<'a> {
    pub(super) args: &'a FlameArgs,
    pub(super) unit: Unit,
    pub(super) total: &'a TypeSums,
    /// Names of the event types.
    pub(super) types: &'a [String],
    pub(super) collected: &'a Collected,
    pub(super) tree: &'a Tree,
}

/// The data of the page and of `--json`.
pub(super) fn data(graph: &Graph<'_>) -> serde_json::Value {
    let Graph {
        args,
        total,
        collected,
        tree,
        ..
    } = graph;
    let files: Vec<String> = args
        .files
        .iter()
        .map(|file| {
            file.file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    // Texts are escaped here, so that the page has nothing to decide.
    let frames: Vec<serde_json::Value> = tree
        .frames
        .iter()
        .map(|frame| json!([text::terminal(&frame.text), frame.kind as u8]))
        .collect();
    let flat = tree.flat();
    let title = args.title.clone().unwrap_or_else(|| files.join(", "));
    json!({
        "schema": "ctxjfr.flame.1", "title": title, "files": files, "by": args.by,
        "where": args.filter.filters, "events": graph.types,
        "samples": total.total.samples, "unit": graph.unit.name(), "value": total.total.value,
        "covered_ns": collected.covered_nanos(), "interval_ns": collected.interval_nanos,
        "interval_assumed": collected.interval_guessed, "folded": tree.threshold() > 0,
        "damaged": !collected.outcome.damages.is_empty(), "damages": collected.outcome.damages,
        "frames": frames, "nodes": flat.nodes, "kinds": flat.kinds, "folded_values": flat.folded,
    })
}

/// The page. Its policy allows no request, and only our script and style, by their hashes.
pub(super) fn page(graph: &Graph<'_>) -> String {
    let data = data(graph);
    let title = data["title"].as_str().unwrap_or_default();
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; \
         base-uri 'none'; form-action 'none'",
        base64(&Sha256::digest(SCRIPT)),
        base64(&Sha256::digest(STYLE)),
    );
    // One pass over the template: no inserted text can bring in another mark.
    let mut page = String::new();
    for (number, part) in PAGE.split("@@").enumerate() {
        match (number % 2, part) {
            (0, text) => page.push_str(text),
            (_, "POLICY") => page.push_str(&policy),
            (_, "TITLE") => page.push_str(&text::html(title)),
            (_, "STYLE") => page.push_str(STYLE),
            (_, "SCRIPT") => page.push_str(SCRIPT),
            (_, "DATA") => page.push_str(&text::json(&data)),
            (_, other) => page.push_str(other),
        }
    }
    page
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group
            .iter()
            .fold(0u32, |bits, &byte| bits << 8 | u32::from(byte))
            << (8 * (3 - group.len()));
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit) & 63) as usize;
            text.push(if digit > group.len() {
                '='
            } else {
                char::from(ALPHABET[index])
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_vectors_of_rfc_4648() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn page_has_every_unit() {
        for unit in Unit::ALL {
            let entry = format!("{}: [", unit.name());
            assert!(SCRIPT.contains(&entry), "{entry}");
        }
    }

    #[test]
    fn template_has_five_marks() {
        let marks: Vec<&str> = PAGE.split("@@").skip(1).step_by(2).collect();
        assert_eq!(marks, ["POLICY", "TITLE", "STYLE", "DATA", "SCRIPT"]);
        assert!(!SCRIPT.contains("</") && !STYLE.contains("</"));
    }
}
