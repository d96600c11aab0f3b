//! File names of formats that the agent does not write; `ctxjfr` makes such files of a recording.

/// Suffixes, and the commands that make such files of a recording.
const OTHER_FORMATS: &[(&str, &str)] = &[
    (".html", FLAME_HTML),
    (".htm", FLAME_HTML),
    (".svg", FLAME_HTML),
    (".collapsed", COLLAPSED),
    (".folded", COLLAPSED),
    (".json", "ctxjfr flame RECORDING.jfr -o OUT.json"),
    (".txt", "ctxjfr report RECORDING.jfr --by thread"),
    (".csv", "ctxjfr report RECORDING.jfr --by thread --csv"),
    (".pb", PPROF),
    (".pb.gz", PPROF),
    (".pprof", PPROF),
    (".otlp", "ctxjfr convert RECORDING.jfr -o otlp"),
    (".jfr.gz", "gzip RECORDING.jfr"),
    (".gz", "gzip RECORDING.jfr"),
    (".zip", "gzip RECORDING.jfr"),
];
const FLAME_HTML: &str = "ctxjfr flame RECORDING.jfr -o OUT.html";
const COLLAPSED: &str = "ctxjfr convert RECORDING.jfr -o collapsed";
const PPROF: &str = "ctxjfr convert RECORDING.jfr -o pprof";

/// Refuses a name with the suffix of another format than JFR.
pub(super) fn check(name: &str) -> Result<(), String> {
    let name = name.to_ascii_lowercase();
    let longest = OTHER_FORMATS
        .iter()
        .filter(|(suffix, _)| name.ends_with(suffix))
        .max_by_key(|(suffix, _)| suffix.len());
    match longest {
        None => Ok(()),
        Some((suffix, command)) => Err(format!(
            "the agent writes JFR, not {suffix}; name the file *.jfr and then run: {command}"
        )),
    }
}
