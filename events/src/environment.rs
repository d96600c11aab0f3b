//! Where a recording was made.

/// `jdk.JVMInformation`. Arguments are recorded only if the user asked: leave them `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JvmInformation {
    /// Name of the JVM.
    pub name: Option<String>,
    /// Version of the JVM.
    pub version: Option<String>,
    /// Arguments of the JVM.
    pub arguments: Option<String>,
    /// Flags from files and environment.
    pub flags: Option<String>,
    /// Main class and its arguments.
    pub java_arguments: Option<String>,
    /// Start of the JVM, milliseconds since 1970 UTC.
    pub start_epoch_millis: u64,
    /// Process id.
    pub pid: u32,
}

/// `jdk.CPUInformation`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuInformation {
    /// Short name.
    pub cpu: Option<String>,
    /// Long name.
    pub description: Option<String>,
    /// Sockets.
    pub sockets: u32,
    /// Cores.
    pub cores: u32,
    /// Hardware threads.
    pub hardware_threads: u32,
}

/// Where the recording was made; written once per chunk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Environment {
    /// The JVM.
    pub jvm: Option<JvmInformation>,
    /// Version of the operating system.
    pub os: Option<String>,
    /// The processors.
    pub cpu: Option<CpuInformation>,
    /// System properties; only if the user asked.
    pub properties: Vec<(String, String)>,
}
