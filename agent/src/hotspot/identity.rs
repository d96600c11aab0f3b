//! Which JVM this is, and whether its AsyncGetCallTrace may be used.

use crate::jvm::jvmti::Jvmti;

/// Facts about the running VM.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Identity {
    /// `java.vm.name`.
    pub(crate) name: String,
    /// `java.vm.version`.
    pub(crate) version: String,
    /// Feature release: 17, 21, 25; 0 = unknown.
    pub(crate) feature: u32,
    /// Interim and update number: the 0 and 8 of 21.0.8.
    pub(crate) update: (u32, u32),
}

impl Identity {
    /// Reads the VM's properties.
    pub(crate) fn of(jvmti: Jvmti) -> Self {
        let get = |name| jvmti.property(name).unwrap_or_default();
        Self::parse(get(c"java.vm.name"), get(c"java.vm.version"))
    }

    /// `version` like `21.0.8+9-LTS`, `25.0.3+7`, `17.0.15+6-Debian-1`, `26-ea+12`.
    pub(crate) fn parse(name: String, version: String) -> Self {
        let mut numbers = version
            .split(|c: char| !c.is_ascii_digit() && c != '.')
            .next()
            .unwrap_or_default()
            .split('.')
            .map(|n| n.parse().unwrap_or(0));
        let mut next = || numbers.next().unwrap_or(0);
        let (feature, interim, update) = (next(), next(), next());
        Self {
            name,
            version,
            feature,
            update: (interim, update),
        }
    }

    /// Whether this is HotSpot: only there do the structures and AsyncGetCallTrace exist.
    pub(crate) fn is_hotspot(&self) -> bool {
        ["HotSpot", "OpenJDK", "Zulu", "GraalVM"]
            .iter()
            .any(|n| self.name.contains(n))
            && !self.name.contains("OpenJ9")
    }

    /// Why AsyncGetCallTrace is not used here unless asked for, `None` = it may be used.
    pub(crate) fn walker_denied(&self) -> Option<String> {
        if !self.is_hotspot() {
            return Some(format!("{} is not HotSpot", self.name));
        }
        match self.feature {
            // Two backports together make AsyncGetCallTrace violate a guarantee in 17u.
            17 if self.update < (0, 16) => Some(format!(
                "{} has JDK-8352649 (fixed in 17.0.16)",
                self.version
            )),
            // Crash while the VM checks an interpreted frame.
            21 if self.update < (0, 1) => Some(format!(
                "{} has JDK-8313796 (fixed in 21.0.1)",
                self.version
            )),
            17..=25 => None,
            0..17 => Some(format!("{} is older than 17", self.version)),
            _ => Some(format!(
                "{} is newer than 25, the last one tested",
                self.version
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Identity;

    fn hotspot(version: &str) -> Identity {
        Identity::parse("OpenJDK 64-Bit Server VM".into(), version.into())
    }

    #[test]
    fn versions_of_real_vms_are_parsed() {
        for (text, feature, update) in [
            ("21.0.8+9-LTS", 21, (0, 8)),
            ("25.0.3+7-LTS", 25, (0, 3)),
            ("17.0.15+6-Debian-1deb12u1", 17, (0, 15)),
            ("26-ea+12", 26, (0, 0)),
            ("", 0, (0, 0)),
            ("nonsense", 0, (0, 0)),
        ] {
            let id = hotspot(text);
            assert_eq!((id.feature, id.update), (feature, update), "{text}");
        }
    }

    #[test]
    fn unknown_and_crashing_builds_are_not_walked() {
        for (version, allowed) in [
            ("17.0.15+6", false),
            ("17.0.16+8", true),
            ("21+35", false),
            ("21.0.8+9", true),
            ("25.0.3+7", true),
            ("26-ea+12", false),
            ("11.0.2+9", false),
            ("", false),
        ] {
            assert_eq!(
                hotspot(version).walker_denied().is_none(),
                allowed,
                "{version}"
            );
        }
        let j9 = Identity::parse("Eclipse OpenJ9 VM".into(), "21.0.8+9".into());
        assert!(
            j9.walker_denied()
                .is_some_and(|why| why.contains("not HotSpot"))
        );
    }
}
