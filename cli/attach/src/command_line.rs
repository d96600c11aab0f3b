//! The command line of a JVM: its main class, its flags.

use std::path::Path;

/// Options of `java` whose value is the next word.
const WITH_VALUE: [&str; 16] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--enable-native-access",
    "--limit-modules",
    "--add-exports",
    "--add-opens",
    "--add-reads",
    "--patch-module",
    "--describe-module",
    "-d",
    "--source",
];

/// The words of `/proc/PID/cmdline`.
pub(crate) fn words(cmdline: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(cmdline);
    text.split_terminator('\0').map(str::to_owned).collect()
}

/// The class, jar or module that runs; of a program that embeds the JVM its name. `None` where an
/// argument file hides it.
pub(crate) fn main_class(words: &[String]) -> Option<String> {
    let file_name = |word: &str| {
        let name = Path::new(word).file_name();
        name.map_or_else(|| word.to_owned(), |name| name.to_string_lossy().into())
    };
    let program = file_name(words.first()?);
    if program != "java" {
        return Some(program);
    }
    let mut rest = words.iter().skip(1).map(String::as_str);
    while let Some(word) = rest.next() {
        match word {
            "-jar" => return rest.next().map(file_name),
            "-m" | "--module" => return rest.next().map(str::to_owned),
            word if WITH_VALUE.contains(&word) => drop(rest.next()),
            word if word.starts_with("--module=") => {
                return word.split_once('=').map(|(_, module)| module.to_owned());
            }
            word if word.starts_with('-') || word.starts_with('@') => {}
            // A source file is run by its path.
            word if word.contains('/') => return Some(file_name(word)),
            word => return Some(word.to_owned()),
        }
    }
    None
}

/// The last word on a flag of the JVM: `-XX:+NAME` or `-XX:-NAME`.
pub(crate) fn flag(words: &[String], name: &str) -> Option<bool> {
    let value = |word: &String| {
        let word = word.strip_prefix("-XX:")?;
        let is_on = word.starts_with('+');
        let found = word.strip_prefix(['+', '-'])?;
        (found == name).then_some(is_on)
    };
    words.iter().rev().find_map(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn main_of(line: &str) -> Option<String> {
        main_class(&words(line.replace(' ', "\0").as_bytes()))
    }

    #[test]
    fn main_class_jar_and_module_are_found() {
        for (line, main) in [
            (
                "/usr/bin/java -Xmx1g -cp a:b shop.Shop --port 80",
                "shop.Shop",
            ),
            (
                "java --add-opens java.base/java.lang=ALL-UNNAMED -jar /srv/app.jar x",
                "app.jar",
            ),
            (
                "java --add-opens=a/b=C -p mods -m app/app.Main",
                "app/app.Main",
            ),
            ("java --module=app/app.Main", "app/app.Main"),
            ("java -XX:+UseZGC /tmp/Hello.java", "Hello.java"),
            ("/opt/idea/bin/idea --started", "idea"),
        ] {
            assert_eq!(main_of(line).as_deref(), Some(main), "{line}");
        }
        assert_eq!(main_of("java @args"), None);
        assert_eq!(main_of(""), None);
    }

    #[test]
    fn last_word_on_a_flag_counts() {
        let attach = |line: &str| flag(&words(line.replace(' ', "\0").as_bytes()), "DisableAttach");
        assert_eq!(attach("-XX:+DisableAttach -XX:+Other Main"), Some(true));
        assert_eq!(attach("-XX:+DisableAttach -XX:-DisableAttach"), Some(false));
        assert_eq!(attach("-XX:+DisableAttachMechanism -Xmx1g"), None);
    }
}
