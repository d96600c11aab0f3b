//! File names of formats that the agent does not write; `ctxjfr` makes such files of a recording.

/// Suffixes, and the commands that make such files of a recording.
const OTHER_FORMATS: &[(&str, &str)] = &[
    (".html", FLAME_HTML),
    (".htm", FLAME_HTML),
    (".svg", FLAME_HTML),
    (".collapsed", FLAME_COLLAPSED),
    (".folded", FLAME_COLLAPSED),
    (".json", "ctxjfr flame RECORDING.jfr -o OUT.json"),
    (".txt", "ctxjfr report RECORDING.jfr --by thread"),
    (".csv", "ctxjfr report RECORDING.jfr --by thread --csv"),
    (".pb", CONVERTER),
    (".pb.gz", CONVERTER),
    (".pprof", CONVERTER),
    (".otlp", CONVERTER),
    (".jfr.gz", "gzip RECORDING.jfr"),
    (".gz", "gzip RECORDING.jfr"),
    (".zip", "gzip RECORDING.jfr"),
];
const FLAME_HTML: &str = "ctxjfr flame RECORDING.jfr -o OUT.html";
const FLAME_COLLAPSED: &str = "ctxjfr flame RECORDING.jfr -o OUT.collapsed";
const CONVERTER: &str = "jfrconv RECORDING.jfr OUT (of async-profiler)";

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
