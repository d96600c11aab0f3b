//! Kinds of threads that are not Java threads, by the names that HotSpot gives them.
//!
//! The writer puts each kind into a thread group of its own; a reader goes by the names in
//! recordings of other writers, which have no such groups.
//!
//! The names are those that threads of JDK 17, 21 and 25 have under each collector; `ParGC` and
//! `Concurrent Mark` are for recordings of older JVMs. The kernel cuts names to 15 bytes, so no
//! entry here is longer.

/// What such a thread is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VmThreadKind {
    /// Collectors.
    Gc = 0,
    /// Compilers.
    Jit = 1,
    /// The rest of the VM.
    Vm = 2,
    /// Native libraries, and what has another name.
    Native = 3,
}

/// Beginnings of names that nobody else is likely to give a thread.
const BEGINNINGS: [(VmThreadKind, &[&str]); 3] = [
    (
        VmThreadKind::Gc,
        &[
            "GC ",
            "G1 ",
            "Shenandoah ",
            "ParGC",
            "Concurrent Mark",
            "StringDedup",
        ],
    ),
    (
        VmThreadKind::Jit,
        &["C1 Compiler", "C2 Compiler", "JVMCI", "Sweeper"],
    ),
    (
        VmThreadKind::Vm,
        &[
            "VM ",
            "JFR ",
            "Signal Dispatch",
            "Service Thread",
            "Monitor Deflati",
            "Notification T",
            "Safepoint Clean",
        ],
    ),
];

/// Names that are one word, and so must be that word, up to the number of the thread. Those with X
/// are the collector ZGC of one generation in 21.
const WORDS: [(VmThreadKind, &[&str]); 2] = [
    (
        VmThreadKind::Gc,
        &[
            "ZWorker",
            "ZWorkerYoung",
            "ZWorkerOld",
            "ZDriver",
            "ZDriverMinor",
            "ZDriverMajor",
            "ZDirector",
            "ZStat",
            "ZUncommitter",
            "ZUnmapper",
            "XWorker",
            "XDriver",
            "XDirector",
            "XStat",
            "XUncommitter",
            "XUnmapper",
        ],
    ),
    // Of ZGC too, but for what the VM has to do at a safepoint.
    (VmThreadKind::Vm, &["RuntimeWorker"]),
];

/// Bytes of a thread's name that the kernel keeps.
const KERNEL_NAME_LEN: usize = 15;
/// Names that the kernel cuts, without the number of the thread.
const WHOLE_NAMES: [&str; 14] = [
    "C1 CompilerThread",
    "C2 CompilerThread",
    "JVMCI-native CompilerThread",
    "VM Periodic Task Thread",
    "VM Operation Thread",
    "JFR Thread Sampler",
    "JFR Recorder Thread",
    "Signal Dispatcher",
    "Monitor Deflation Thread",
    "Notification Thread",
    "Safepoint Cleanup Thread",
    "StringDedupThread",
    "StringDedupProcessor",
    "Shenandoah Control Thread",
];

/// The name of a thread of the VM that the kernel has cut to 15 bytes, whole but for its number;
/// any other name as it is.
pub fn whole_name(name: &str) -> &str {
    if name.len() != KERNEL_NAME_LEN {
        return name;
    }
    let whole = WHOLE_NAMES.iter().find(|whole| whole.starts_with(name));
    whole.map_or(name, |whole| whole)
}

impl VmThreadKind {
    /// All of them, in order.
    pub const ALL: [Self; 4] = [Self::Gc, Self::Jit, Self::Vm, Self::Native];

    /// The kind of a thread with this name that is not a Java thread.
    pub fn of(name: &str) -> Self {
        let begins = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
        let word = name.split('#').next().unwrap_or(name);
        let by_beginning = BEGINNINGS.iter().find(|(_, all)| begins(all));
        let found = by_beginning.or_else(|| WORDS.iter().find(|(_, all)| all.contains(&word)));
        found.map_or(Self::Native, |(kind, _)| *kind)
    }

    /// The thread group of such threads in our recordings.
    pub fn group(self) -> &'static str {
        match self {
            Self::Gc => "GC",
            Self::Jit => "JIT",
            Self::Vm => "VM",
            Self::Native => "native",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{VmThreadKind, whole_name};

    #[test]
    fn truncated_names_are_completed() {
        for (cut, whole) in [
            ("C2 CompilerThre", "C2 CompilerThread"),
            ("VM Periodic Tas", "VM Periodic Task Thread"),
            ("Shenandoah Cont", "Shenandoah Control Thread"),
            ("C2 CompilerThread0", "C2 CompilerThread0"),
            ("C2 Compiler", "C2 Compiler"),
            ("my-fifteen-long", "my-fifteen-long"),
        ] {
            assert_eq!(whole_name(cut), whole);
            assert_eq!(VmThreadKind::of(cut), VmThreadKind::of(whole), "{cut}");
        }
    }

    #[test]
    fn vm_threads_have_kinds_by_name() {
        let all: [(VmThreadKind, &[&str]); 4] = [
            (
                VmThreadKind::Gc,
                &[
                    "GC Thread#3",
                    "G1 Conc#0",
                    "G1 Main Marker",
                    "G1 Service",
                    "Shenandoah Cont",
                    "Shenandoah GC Threads#1",
                    "ZWorker#0",
                    "ZWorkerYoung#12",
                    "ZWorkerOld#0",
                    "ZDriver",
                    "ZDriverMinor",
                    "ZDirector",
                    "ZStat",
                    "ZUncommitter",
                    "ZUncommitter#0",
                    "ZUnmapper",
                    "XWorker#0",
                    "XDriver",
                    "XStat",
                    "StringDedupThre",
                ],
            ),
            (
                VmThreadKind::Jit,
                &["C1 CompilerThread0", "C2 CompilerThre", "Sweeper thread"],
            ),
            (
                VmThreadKind::Vm,
                &[
                    "VM Thread",
                    "VM Periodic Tas",
                    "JFR Thread Samp",
                    "Monitor Deflati",
                    "RuntimeWorker#0",
                    "Safepoint Clean",
                ],
            ),
            (
                VmThreadKind::Native,
                &[
                    "my-library",
                    "",
                    "Zookeeper",
                    "ZMQbg/Reaper",
                    "ZStatistics",
                    "ZWorkers",
                    "XWorkerPool#1",
                    "Shenandoah",
                ],
            ),
        ];
        for (kind, names) in all {
            for name in names {
                assert_eq!(VmThreadKind::of(name), kind, "{name}");
            }
        }
        for (index, kind) in VmThreadKind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, index);
        }
    }
}
