//! The bytes of the protocol. In version 1, which every HotSpot speaks, a request is four texts of
//! limited length; in version 2 (JDK 24 and later) the length of the whole comes first. A reply is a
//! code on a line and a text.

use std::io::{self, Read, Write};

use crate::error::AttachError;

/// HotSpot refuses a longer argument in version 1.
pub const MAX_ARGUMENT_BYTES: usize = 1024;
/// We refuse a longer one in version 2; HotSpot takes far more.
pub const MAX_LONG_ARGUMENT_BYTES: usize = 64 << 10;
/// More of a reply is not read: it is a few lines.
const MAX_REPLY_BYTES: u64 = 64 << 10;
/// What the VM says before the code that the agent returned.
const RETURN_CODE: &str = "return code: ";
/// What JDK 21 and later say where agents may not be loaded.
const NOT_ENABLED: &str = "Dynamic agent loading is not enabled";
/// What JDK 24 and later say before they have started.
const NOT_YET: &str = "Dynamic agent loading is only permitted in the live phase";

/// A version of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

impl Version {
    const fn max_argument_bytes(self) -> usize {
        match self {
            Self::One => MAX_ARGUMENT_BYTES,
            Self::Two => MAX_LONG_ARGUMENT_BYTES,
        }
    }

    /// Whether it has room for these arguments.
    pub(crate) fn fits(self, arguments: &[&str]) -> bool {
        self.check(arguments).is_ok()
    }

    fn check(self, arguments: &[&str]) -> Result<(), AttachError> {
        let limit = self.max_argument_bytes();
        let mut arguments = arguments.iter();
        match arguments.find(|argument| argument.len() > limit) {
            None => Ok(()),
            Some(long) => Err(AttachError::TooLong((*long).to_owned(), limit)),
        }
    }

    /// The bytes that load an agent.
    pub(crate) fn load_request(self, library: &str, options: &str) -> Result<Vec<u8>, AttachError> {
        self.check(&[library, options])?;
        let command = texts(&["load", library, "true", options]);
        let begin = match self {
            Self::One => texts(&["1"]),
            Self::Two => texts(&["2", &command.len().to_string()]),
        };
        Ok([begin, command].concat())
    }

    /// The version that the reply to [`version_request`] names. A VM that does not know the command
    /// has version 1.
    pub(crate) fn of_reply(reply: &str) -> Self {
        let text = reply.strip_prefix("0\n").unwrap_or_default();
        let number = text.split_whitespace().next().map(str::parse::<u32>);
        match number {
            Some(Ok(2..)) => Self::Two,
            _ => Self::One,
        }
    }
}

/// The bytes that ask for the newest version; in version 1, so that every VM answers.
pub(crate) fn version_request() -> Vec<u8> {
    texts(&["1", "getversion", "", "", ""])
}

/// Each text with a zero behind it.
fn texts(texts: &[&str]) -> Vec<u8> {
    let text = |text: &&str| [text.as_bytes(), &[0]].concat();
    texts.iter().flat_map(text).collect()
}

/// Sends a request and reads the reply to its end.
pub(crate) fn exchange(mut stream: impl Read + Write, request: &[u8]) -> io::Result<String> {
    stream.write_all(request)?;
    let mut reply = Vec::new();
    stream.take(MAX_REPLY_BYTES).read_to_end(&mut reply)?;
    Ok(String::from_utf8_lossy(&reply).into_owned())
}

/// Whether the JVM refuses only because it is starting.
pub(crate) fn is_starting(reply: &str) -> bool {
    reply.contains(NOT_YET)
}

/// The code that the agent returned.
pub(crate) fn agent_code(reply: &str) -> Result<i32, AttachError> {
    if reply.is_empty() {
        return Err(AttachError::Closed);
    }
    let bad = || AttachError::BadReply(reply.trim_end().to_owned());
    let (code, text) = reply.split_once('\n').ok_or_else(bad)?;
    let code: i32 = code.trim().parse().map_err(|_| bad())?;
    let line = text.lines().find_map(|line| line.strip_prefix(RETURN_CODE));
    // JDK 8 gives the number alone.
    let returned = line.unwrap_or(text).trim().parse();
    match returned {
        Ok(returned) if code == 0 => Ok(returned),
        _ if text.contains(NOT_ENABLED) => Err(AttachError::NoDynamicAgents),
        _ => {
            let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
            Err(AttachError::NotLoaded(lines.join(" ")))
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// As JDK 25 answers while it starts, and what is final.
    #[test]
    fn only_a_jvm_that_starts_is_asked_again() {
        assert!(is_starting(
            "1\nDynamic agent loading is only permitted in the live phase\n"
        ));
        assert!(!is_starting("1\nDynamic agent loading is not enabled.\n"));
        assert!(!is_starting("0\nreturn code: 0\n"));
    }

    #[test]
    fn request_is_version_command_and_three_arguments() {
        let request = Version::One.load_request("/a/b.so", "start,file=x");
        assert_eq!(request.unwrap(), b"1\0load\0/a/b.so\0true\0start,file=x\0");
        let request = Version::Two.load_request("/a/b.so", "start").unwrap();
        assert_eq!(request, b"2\x0024\0load\0/a/b.so\0true\0start\0");
        assert_eq!(version_request(), b"1\0getversion\0\0\0\0");
    }

    #[test]
    fn version_1_has_no_room_for_long_arguments() {
        let long = "x".repeat(MAX_ARGUMENT_BYTES + 1);
        assert!(!Version::One.fits(&["", &long]) && Version::Two.fits(&["", &long]));
        assert!(matches!(
            Version::One.load_request("/a.so", &long),
            Err(AttachError::TooLong(_, MAX_ARGUMENT_BYTES))
        ));
        assert!(Version::Two.load_request("/a.so", &long).is_ok());
    }

    #[test]
    fn version_is_the_number_or_1() {
        for (reply, version) in [
            ("0\n2", Version::Two),
            ("0\n2\n", Version::Two),
            ("0\n3 options\n", Version::Two),
            ("0\n1\n", Version::One),
            ("-1\nOperation getversion not recognized!", Version::One),
            ("0\n", Version::One),
            ("", Version::One),
        ] {
            assert_eq!(Version::of_reply(reply), version, "{reply}");
        }
    }

    #[test]
    fn code_of_the_agent_is_read() {
        assert_eq!(agent_code("0\nreturn code: 0\n").unwrap(), 0);
        assert_eq!(agent_code("0\nreturn code: 3\n").unwrap(), 3);
        assert_eq!(agent_code("0\n2\n").unwrap(), 2);
    }

    #[test]
    fn failures_are_told_apart() {
        let error = |reply: &str| agent_code(reply).unwrap_err();
        assert!(matches!(error(""), AttachError::Closed));
        assert!(matches!(error("what"), AttachError::BadReply(_)));
        assert!(matches!(error("x\ny"), AttachError::BadReply(_)));
        let text = "0\nDynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading\n";
        assert!(matches!(error(text), AttachError::NoDynamicAgents));
        let text = "0\n/a.so was not loaded.\n/a.so: failed to map segment\n";
        let why = match error(text) {
            AttachError::NotLoaded(why) => why,
            other => other.to_string(),
        };
        assert_eq!(why, "/a.so was not loaded. /a.so: failed to map segment");
    }
}
