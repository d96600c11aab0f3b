//! `/proc/PID/maps`: the libraries of a process.

use std::path::{Path, PathBuf};

/// The kernel adds this to a file that has no name any more.
const DELETED: &str = " (deleted)";

/// The libraries that matter, by path as the process sees them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Mappings {
    files: Vec<PathBuf>,
}

impl Mappings {
    /// The kernel's paths begin at the root of a mount namespace; where `root` is that of the
    /// process (`chroot`).
    pub(crate) fn parse(text: &str, root: &Path) -> Self {
        let mut files: Vec<PathBuf> = Vec::new();
        for line in text.lines() {
            // Address, rights, offset, device, inode; the path may have blanks.
            let path = line.find('/').map(|at| &line[at..]);
            let path = path.map(|path| Path::new(path.strip_suffix(DELETED).unwrap_or(path)));
            let path = path.map(|path| below(root, path));
            if let Some(path) = path.filter(|path| files.last() != Some(path)) {
                files.push(path);
            }
        }
        Self { files }
    }

    /// The first file whose name fits.
    pub(crate) fn find(&self, is_wanted: impl Fn(&str) -> bool) -> Option<&Path> {
        let fits = |path: &&PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(&is_wanted)
        };
        self.files.iter().find(fits).map(PathBuf::as_path)
    }

    /// The library of the VM.
    pub(crate) fn vm(&self) -> Option<&Path> {
        self.find(|name| name == "libjvm.so")
    }

    /// OpenJ9 has a `libjvm.so` too, that leads to its own libraries.
    pub(crate) fn is_open_j9(&self) -> bool {
        self.find(|name| name.starts_with("libj9vm")).is_some()
    }

    /// The loader of musl is its C library; where it is a link, to this name. That of glibc is
    /// `libc.so.6`.
    pub(crate) fn is_musl(&self) -> bool {
        let is_musl = |name: &str| name.starts_with("ld-musl-") || name == "libc.so";
        self.find(is_musl).is_some()
    }
}

/// A path from the root of a mount namespace, from `root` in there.
pub(crate) fn below(root: &Path, path: &Path) -> PathBuf {
    match path.strip_prefix(root) {
        Ok(rest) => Path::new("/").join(rest),
        Err(_) => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Mappings {
        Mappings::parse(text, Path::new("/"))
    }

    #[test]
    fn paths_begin_at_the_root_of_the_process() {
        let maps = "7f00-7f01 r-xp 00000000 fd:00 12 /box/lib/server/libjvm.so\n";
        let vm = |root: &str| {
            Mappings::parse(maps, Path::new(root))
                .vm()
                .map(Path::to_owned)
        };
        assert_eq!(vm("/box"), Some("/lib/server/libjvm.so".into()));
        assert_eq!(vm("/bo"), Some("/box/lib/server/libjvm.so".into()));
    }

    #[test]
    fn libraries_are_found_by_name_also_when_deleted() {
        let maps = "7f00-7f01 r-xp 00000000 fd:00 12 /opt/my jdk/lib/server/libjvm.so\n\
            7f01-7f02 r--p 00000000 fd:00 12 /opt/my jdk/lib/server/libjvm.so\n\
            7f02-7f03 rw-p 00000000 00:00 0 \n\
            7f03-7f04 r-xp 00000000 fd:00 14 /tmp/a/libctxagent.so (deleted)\n\
            7f04-7f05 r-xp 00000000 00:00 0 [vdso]\n";
        let mappings = parse(maps);
        assert_eq!(mappings.files.len(), 2);
        assert_eq!(
            mappings.vm(),
            Some(Path::new("/opt/my jdk/lib/server/libjvm.so"))
        );
        let agent = mappings.find(|name| name.starts_with("libctxagent"));
        assert_eq!(agent, Some(Path::new("/tmp/a/libctxagent.so")));
        assert!(!mappings.is_open_j9() && !mappings.is_musl());
    }

    #[test]
    fn other_vms_and_c_libraries_are_recognized() {
        let line = |name: &str| format!("7f00-7f01 r-xp 00000000 fd:00 12 /lib/{name}\n");
        assert!(parse(&line("libj9vm29.so")).is_open_j9());
        assert!(parse(&line("ld-musl-x86_64.so.1")).is_musl());
        assert!(parse(&line("x86_64-linux-musl/libc.so")).is_musl());
        assert!(!parse(&line("x86_64-linux-gnu/libc.so.6")).is_musl());
    }
}
