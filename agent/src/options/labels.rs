//! The value of `labels`: where labels come from without a change of the application, `route`,
//! `otel`, `mdc:NAME`, joined with `+`.

use super::names::check_attribute_name;
use super::near::shown;
use super::types::LabelSource;
use schema::limits::ATTRIBUTE_SLOTS;

/// Kinds of sources that have a word of their own.
const GROUPS: [&str; 2] = ["route", "otel"];

/// What `labels` asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// The operation: route or method of the request that a server handles.
    pub route: bool,
    /// Trace and span id of OpenTelemetry.
    pub otel: bool,
    /// Names in the diagnostic context of loggers that become attributes.
    pub names: Vec<String>,
}

impl Labels {
    /// The bits of the sources that give these.
    pub fn bits(&self) -> u32 {
        let is_wanted = |source: &LabelSource| match source.group() {
            "route" => self.route,
            "otel" => self.otel,
            _ => !self.names.is_empty(),
        };
        let wanted = LabelSource::ALL.into_iter().filter(is_wanted);
        wanted.fold(0, |bits, source| bits | source.bit())
    }
}

pub(super) fn parse(text: &str) -> Result<Labels, String> {
    let mut labels = Labels::default();
    for word in text.split('+') {
        match (word, word.strip_prefix("mdc:")) {
            ("none", _) => labels = Labels::default(),
            ("auto", _) => (labels.route, labels.otel) = (true, true),
            ("route", _) => labels.route = true,
            ("-route", _) => labels.route = false,
            ("otel", _) => labels.otel = true,
            ("-otel", _) => labels.otel = false,
            (_, Some(name)) => add_name(&mut labels.names, name)?,
            _ => return Err(unknown(word)),
        }
    }
    Ok(labels)
}

fn add_name(names: &mut Vec<String>, name: &str) -> Result<(), String> {
    check_attribute_name(name).map_err(|problem| format!("name '{}' {problem}", shown(name)))?;
    if names.len() == ATTRIBUTE_SLOTS {
        return Err(format!(
            "at most {ATTRIBUTE_SLOTS} names are allowed, '{name}' is one too many"
        ));
    }
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
    Ok(())
}

fn unknown(word: &str) -> String {
    format!(
        "'{}' is unknown; allowed: auto, none, {}, mdc:NAME",
        shown(word),
        GROUPS.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_add_up() {
        let all = parse("auto+mdc:tenant+mdc:user+mdc:tenant+-otel").expect("fine");
        assert!(all.route && !all.otel);
        assert_eq!(all.names, ["tenant", "user"]);
        assert_eq!(parse("auto+none"), Ok(Labels::default()));
        assert_eq!(Labels::default().bits(), 0);
        assert_ne!(all.bits(), 0);
    }

    #[test]
    fn other_words_are_refused() {
        for (text, reason) in [
            ("", "'' is unknown"),
            ("routes", "'routes' is unknown; allowed: auto, none, route"),
            ("mdc", "'mdc' is unknown"),
            ("mdc:", "name ''"),
            ("mdc:weight", "name 'weight'"),
            (
                "mdc:a+mdc:b+mdc:c+mdc:d+mdc:e+mdc:f+mdc:g+mdc:h+mdc:i",
                "'i' is one too many",
            ),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
