//! Threads that are not Java threads, by the names that HotSpot gives them (cut to 15 bytes by the kernel): they can have no label, and what they
//! use belongs to nobody.

/// What such a thread is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// Collectors.
    Gc = 0,
    /// Compilers.
    Jit = 1,
    /// The rest of the VM.
    Vm = 2,
    /// Native libraries, and what has another name.
    Native = 3,
}

impl Family {
    pub(crate) const ALL: [Self; 4] = [Self::Gc, Self::Jit, Self::Vm, Self::Native];

    pub(crate) fn of(name: &str) -> Self {
        let starts = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
        if starts(&[
            "GC ",
            "G1 ",
            "ZWorker",
            "ZDriver",
            "ZDirector",
            "ZStat",
            "ZUn",
            "XWorker",
        ]) || starts(&[
            "XDriver",
            "XDirector",
            "XStat",
            "XUn",
            "Shenandoah",
            "ParGC",
            "Concurrent Mark",
        ]) {
            Self::Gc
        } else if starts(&["C1 Compiler", "C2 Compiler", "JVMCI", "Sweeper"]) {
            Self::Jit
        } else if starts(&[
            "VM ",
            "Signal Dispatch",
            "Service Thread",
            "Monitor Deflati",
        ]) || starts(&["Notification T", "JFR "])
        {
            Self::Vm
        } else {
            Self::Native
        }
    }

    /// What stands in the first cell of its row.
    pub(crate) fn row(self) -> &'static str {
        match self {
            Self::Gc => "(GC)",
            Self::Jit => "(JIT)",
            Self::Vm => "(VM)",
            Self::Native => "(native)",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Family;

    #[test]
    fn threads_of_the_vm_are_told_apart_by_name() {
        for (name, family) in [
            ("GC Thread#3", Family::Gc),
            ("G1 Conc#0", Family::Gc),
            ("ZWorkerYoung#1", Family::Gc),
            ("C2 CompilerThre", Family::Jit),
            ("C1 CompilerThread0", Family::Jit),
            ("VM Thread", Family::Vm),
            ("Zookeeper", Family::Native),
            ("", Family::Native),
        ] {
            assert_eq!(Family::of(name), family, "{name}");
        }
        for (index, family) in Family::ALL.iter().enumerate() {
            assert_eq!(*family as usize, index);
        }
    }
}
