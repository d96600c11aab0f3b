//! Version 1 of the protocol, which every HotSpot speaks: a request is four texts, a reply is a
//! code on a line and a text.

use std::io::{self, Read, Write};

use crate::error::AttachError;

/// HotSpot refuses a longer argument.
pub const MAX_ARGUMENT_BYTES: usize = 1024;
/// More of a reply is not read: it is a few lines.
const MAX_REPLY_BYTES: u64 = 64 << 10;
/// What the VM says before the code that the agent returned.
const RETURN_CODE: &str = "return code: ";
/// What JDK 21 and later say where agents may not be loaded.
const NOT_ENABLED: &str = "Dynamic agent loading is not enabled";

/// The bytes that load an agent.
pub(crate) fn load_request(library: &str, options: &str) -> Result<Vec<u8>, AttachError> {
    for argument in [library, options] {
        if argument.len() > MAX_ARGUMENT_BYTES {
            return Err(AttachError::TooLong(
                argument.to_owned(),
                MAX_ARGUMENT_BYTES,
            ));
        }
    }
    let parts = ["1", "load", library, "true", options];
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend_from_slice(part.as_bytes());
        bytes.push(0);
    }
    Ok(bytes)
}

/// Sends a request and reads the reply to its end.
pub(crate) fn exchange(mut stream: impl Read + Write, request: &[u8]) -> io::Result<String> {
    stream.write_all(request)?;
    let mut reply = Vec::new();
    stream.take(MAX_REPLY_BYTES).read_to_end(&mut reply)?;
    Ok(String::from_utf8_lossy(&reply).into_owned())
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

    #[test]
    fn request_is_version_command_and_three_arguments() {
        let request = load_request("/a/b.so", "start,file=x").unwrap();
        assert_eq!(request, b"1\0load\0/a/b.so\0true\0start,file=x\0");
        let long = "x".repeat(MAX_ARGUMENT_BYTES + 1);
        assert!(matches!(
            load_request("/a.so", &long),
            Err(AttachError::TooLong(..))
        ));
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
