//! Compares every number, name, layout and signature of this crate with the `jvmti.h` of each JDK
//! found.
//!
//! A C program is written and compiled while the test runs; the C compiler checks the types, the
//! program prints the numbers. Names the older JDK does not have yet are listed in [`SINCE_21`] and
//! [`SINCE_25`]: nothing else may be missing. Without a JDK that has headers, or without a C
//! compiler, the test prints `SKIP` and why.
//!
//! One file above 500 lines: its tables list all names of the header.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test reports by panicking, and says what it compared"
)]

use std::collections::BTreeSet;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use jvmti_sys::event::{CALLBACK_SIGNATURES, CALLBACKS_LEN};
use jvmti_sys::function::TABLE_LEN;
use jvmti_sys::methods::SIGNATURES;
use jvmti_sys::{
    AddrLocationMap, Capabilities, Capability, ClassDefinition, Event, EventCallbacks, EventMode,
    ExtensionEventInfo, ExtensionFunctionInfo, FrameInfo, Function, JLocationFormat, JvmtiError,
    LineNumberEntry, LocalVariableEntry, MonitorStackDepthInfo, MonitorUsage, ParamInfo, ParamKind,
    ParamType, Phase, StackInfo, ThreadGroupInfo, ThreadInfo, TimerInfo, TimerKind, VerboseFlag,
    resource, thread_state,
};

/// Functions, events, capabilities and errors that JDK 17 does not have.
const SINCE_21: &[&str] = &[
    "SuspendAllVirtualThreads",
    "ResumeAllVirtualThreads",
    "VirtualThreadStart",
    "VirtualThreadEnd",
    "can_support_virtual_threads",
    "UNSUPPORTED_OPERATION",
    "VERSION_19",
    "VERSION_21",
];
/// The same for JDK 21.
const SINCE_25: &[&str] = &["ClearAllFramePops"];

#[expect(clippy::too_many_lines, reason = "a list")]
/// Constants of the header with their values here: all but functions, which are places in a table,
/// and capabilities, which are bits.
fn constants() -> Vec<(String, String, i64)> {
    let mut all = Vec::new();
    let mut add =
        |short: &str, c: String, value: i32| all.push((short.to_owned(), c, i64::from(value)));
    for error in JvmtiError::ALL {
        let name = error.name().unwrap();
        add(name, format!("JVMTI_ERROR_{name}"), error.0);
    }
    for event in Event::ALL {
        let name = event.name().unwrap();
        add(
            name,
            format!("JVMTI_EVENT_{}", event_constant(name)),
            event.0,
        );
    }
    add(
        "first",
        "JVMTI_MIN_EVENT_TYPE_VAL".into(),
        jvmti_sys::event::FIRST_EVENT,
    );
    for mode in EventMode::ALL {
        add("mode", format!("JVMTI_{}", mode.name().unwrap()), mode.0);
    }
    for phase in Phase::ALL {
        add(
            "phase",
            format!("JVMTI_PHASE_{}", phase.name().unwrap()),
            phase.0,
        );
    }
    for kind in ParamKind::ALL {
        add(
            "kind",
            format!("JVMTI_KIND_{}", kind.name().unwrap()),
            kind.0,
        );
    }
    for base in ParamType::ALL {
        add(
            "type",
            format!("JVMTI_TYPE_{}", base.name().unwrap()),
            base.0,
        );
    }
    for format in JLocationFormat::ALL {
        add(
            "format",
            format!("JVMTI_JLOCATION_{}", format.name().unwrap()),
            format.0,
        );
    }
    for flag in VerboseFlag::ALL {
        add(
            "verbose",
            format!("JVMTI_VERBOSE_{}", flag.name().unwrap()),
            flag.0,
        );
    }
    for timer in TimerKind::ALL {
        add(
            "timer",
            format!("JVMTI_TIMER_{}", timer.name().unwrap()),
            timer.0,
        );
    }
    for (name, value) in [
        ("VERSION_1_2", jvmti_sys::VERSION_1_2),
        ("VERSION_9", jvmti_sys::VERSION_9),
        ("VERSION_11", jvmti_sys::VERSION_11),
        ("VERSION_19", jvmti_sys::VERSION_19),
        ("VERSION_21", jvmti_sys::VERSION_21),
        ("THREAD_MIN_PRIORITY", jvmti_sys::THREAD_MIN_PRIORITY),
        ("THREAD_NORM_PRIORITY", jvmti_sys::THREAD_NORM_PRIORITY),
        ("THREAD_MAX_PRIORITY", jvmti_sys::THREAD_MAX_PRIORITY),
        ("THREAD_STATE_ALIVE", thread_state::ALIVE),
        ("THREAD_STATE_TERMINATED", thread_state::TERMINATED),
        ("THREAD_STATE_RUNNABLE", thread_state::RUNNABLE),
        (
            "THREAD_STATE_BLOCKED_ON_MONITOR_ENTER",
            thread_state::BLOCKED_ON_MONITOR_ENTER,
        ),
        ("THREAD_STATE_WAITING", thread_state::WAITING),
        (
            "THREAD_STATE_WAITING_INDEFINITELY",
            thread_state::WAITING_INDEFINITELY,
        ),
        (
            "THREAD_STATE_WAITING_WITH_TIMEOUT",
            thread_state::WAITING_WITH_TIMEOUT,
        ),
        ("THREAD_STATE_SLEEPING", thread_state::SLEEPING),
        ("THREAD_STATE_IN_OBJECT_WAIT", thread_state::IN_OBJECT_WAIT),
        ("THREAD_STATE_PARKED", thread_state::PARKED),
        ("THREAD_STATE_SUSPENDED", thread_state::SUSPENDED),
        ("THREAD_STATE_INTERRUPTED", thread_state::INTERRUPTED),
        ("THREAD_STATE_IN_NATIVE", thread_state::IN_NATIVE),
        ("RESOURCE_EXHAUSTED_OOM_ERROR", resource::OOM_ERROR),
        ("RESOURCE_EXHAUSTED_JAVA_HEAP", resource::JAVA_HEAP),
        ("RESOURCE_EXHAUSTED_THREADS", resource::THREADS),
    ] {
        add(name, format!("JVMTI_{name}"), value);
    }
    all
}

/// Sizes of structures, and where each field lies.
fn layouts() -> Vec<(&'static str, &'static str, usize)> {
    macro_rules! layout {
        ($($rust:ident $c:literal { $($field:ident $cfield:literal),* })+) => {
            vec![$(
                ($c, "", size_of::<$rust>()),
                $(($c, $cfield, std::mem::offset_of!($rust, $field)),)*
            )+]
        };
    }
    layout! {
        ThreadInfo "jvmtiThreadInfo" { name "name", priority "priority", is_daemon "is_daemon",
            thread_group "thread_group", context_class_loader "context_class_loader" }
        ThreadGroupInfo "jvmtiThreadGroupInfo" { parent "parent", name "name", max_priority
            "max_priority", is_daemon "is_daemon" }
        FrameInfo "jvmtiFrameInfo" { method "method", location "location" }
        StackInfo "jvmtiStackInfo" { thread "thread", state "state", frame_buffer "frame_buffer",
            frame_count "frame_count" }
        LineNumberEntry "jvmtiLineNumberEntry" { start_location "start_location", line_number
            "line_number" }
        LocalVariableEntry "jvmtiLocalVariableEntry" { start_location "start_location", length
            "length", name "name", signature "signature", generic_signature "generic_signature",
            slot "slot" }
        AddrLocationMap "jvmtiAddrLocationMap" { start_address "start_address", location
            "location" }
        ClassDefinition "jvmtiClassDefinition" { klass "klass", class_byte_count
            "class_byte_count", class_bytes "class_bytes" }
        MonitorUsage "jvmtiMonitorUsage" { owner "owner", entry_count "entry_count", waiter_count
            "waiter_count", waiters "waiters", notify_waiter_count "notify_waiter_count",
            notify_waiters "notify_waiters" }
        MonitorStackDepthInfo "jvmtiMonitorStackDepthInfo" { monitor "monitor", stack_depth
            "stack_depth" }
        TimerInfo "jvmtiTimerInfo" { max_value "max_value", may_skip_forward "may_skip_forward",
            may_skip_backward "may_skip_backward", kind "kind", reserved1 "reserved1", reserved2
            "reserved2" }
        ParamInfo "jvmtiParamInfo" { name "name", kind "kind", base_type "base_type", null_ok
            "null_ok" }
        ExtensionFunctionInfo "jvmtiExtensionFunctionInfo" { func "func", id "id",
            short_description "short_description", param_count "param_count", params "params",
            error_count "error_count", errors "errors" }
        ExtensionEventInfo "jvmtiExtensionEventInfo" { extension_event_index
            "extension_event_index", id "id", short_description "short_description", param_count
            "param_count", params "params" }
        Capabilities "jvmtiCapabilities" {}
    }
}

/// `ClassFileLoadHook` → `CLASS_FILE_LOAD_HOOK`, `VMInit` → `VM_INIT`.
fn event_constant(name: &str) -> String {
    let mut out = String::new();
    let chars: Vec<char> = name.chars().collect();
    for (at, &c) in chars.iter().enumerate() {
        let after_lower = at > 0 && chars[at - 1].is_lowercase();
        let before_lower = at > 0 && chars.get(at + 1).is_some_and(|n| n.is_lowercase());
        if c.is_uppercase() && (after_lower || before_lower) {
            out.push('_');
        }
        out.push(c.to_ascii_uppercase());
    }
    out
}

/// The C type of an argument written in Rust.
fn c_type(rust: &str) -> String {
    let rust = rust.trim();
    if let Some(target) = rust.strip_prefix("*mut ") {
        return format!("{}*", c_type(target));
    }
    if let Some(target) = rust.strip_prefix("*const ") {
        let target = c_type(target);
        return if target.ends_with('*') {
            format!("{target} const*")
        } else {
            format!("const {target}*")
        };
    }
    match rust {
        "..." => "...",
        "jint" => "jint",
        "jlong" => "jlong",
        "jfloat" => "jfloat",
        "jdouble" => "jdouble",
        "jobject" => "jobject",
        "jclass" => "jclass",
        "jvalue" => "jvalue",
        "jthread" => "jthread",
        "jthreadGroup" => "jthreadGroup",
        "jmethodID" => "jmethodID",
        "jfieldID" => "jfieldID",
        "jlocation" => "jlocation",
        "jrawMonitorID" => "jrawMonitorID",
        "JNIEnv" => "JNIEnv",
        "JNINativeInterface_" => "jniNativeInterface",
        "c_void" => "void",
        "c_char" => "char",
        "c_uchar" => "unsigned char",
        "Boolean" => "jboolean",
        "Event" => "jvmtiEvent",
        "EventMode" => "jvmtiEventMode",
        "EventCallbacks" => "jvmtiEventCallbacks",
        "ExtensionEventInfo" => "jvmtiExtensionEventInfo",
        "ExtensionFunctionInfo" => "jvmtiExtensionFunctionInfo",
        "Option<ExtensionEvent>" => "jvmtiExtensionEvent",
        "StartFunction" => "jvmtiStartFunction",
        "JvmtiError" => "jvmtiError",
        "Phase" => "jvmtiPhase",
        "JLocationFormat" => "jvmtiJlocationFormat",
        "VerboseFlag" => "jvmtiVerboseFlag",
        "Capabilities" => "jvmtiCapabilities",
        "AddrLocationMap" => "jvmtiAddrLocationMap",
        "ClassDefinition" => "jvmtiClassDefinition",
        "FrameInfo" => "jvmtiFrameInfo",
        "LineNumberEntry" => "jvmtiLineNumberEntry",
        "LocalVariableEntry" => "jvmtiLocalVariableEntry",
        "MonitorStackDepthInfo" => "jvmtiMonitorStackDepthInfo",
        "MonitorUsage" => "jvmtiMonitorUsage",
        "StackInfo" => "jvmtiStackInfo",
        "ThreadGroupInfo" => "jvmtiThreadGroupInfo",
        "ThreadInfo" => "jvmtiThreadInfo",
        "TimerInfo" => "jvmtiTimerInfo",
        other => panic!("no C type is known for {other}"),
    }
    .to_owned()
}

fn arguments(rust: &[&str]) -> String {
    rust.iter().fold("jvmtiEnv*".to_owned(), |list, argument| {
        format!("{list}, {}", c_type(argument))
    })
}

/// The C program: types are checked when it is compiled, each printed line is `what value`.
fn program(missing: &[&str]) -> String {
    let mut c = String::from(
        "#include <jvmti.h>\n#include <stdio.h>\n#include <stddef.h>\n#include <string.h>\n\
         typedef struct jvmtiInterface_1_ table;\n",
    );
    let has = |name: &str| !missing.contains(&name);
    for (number, name, args) in SIGNATURES.iter().filter(|(_, name, _)| has(name)) {
        let result = "jvmtiError (JNICALL *)";
        writeln!(
            c,
            "_Static_assert(__builtin_types_compatible_p(__typeof__(((table*)0)->{name}), {result}({})), \"type of function {number} {name}\");",
            arguments(args)
        )
        .unwrap();
    }
    for (number, name, args) in CALLBACK_SIGNATURES.iter().filter(|(_, name, _)| has(name)) {
        writeln!(
            c,
            "_Static_assert(__builtin_types_compatible_p(__typeof__(((jvmtiEventCallbacks*)0)->{name}), void (JNICALL *)({})), \"type of callback {number} {name}\");",
            arguments(args)
        )
        .unwrap();
    }
    c.push_str("int main(void) {\n");
    for function in Function::ALL {
        let name = function.name().unwrap();
        if has(name) {
            writeln!(
                c,
                "  printf(\"function {name} %zu\\n\", offsetof(table, {name}) / 8 + 1);"
            )
            .unwrap();
        }
    }
    for event in Event::ALL {
        let name = event.name().unwrap();
        if has(name) {
            writeln!(c, "  printf(\"callback {name} %zu\\n\", offsetof(jvmtiEventCallbacks, {name}) / 8 + 50);").unwrap();
        }
    }
    for (short, constant, _) in constants() {
        if has(&short) {
            writeln!(
                c,
                "  printf(\"constant {constant} %lld\\n\", (long long)({constant}));"
            )
            .unwrap();
        }
    }
    for capability in Capability::ALL {
        let name = capability.name().unwrap();
        if has(name) {
            writeln!(
                c,
                "  {{ jvmtiCapabilities c; unsigned char b[sizeof c]; memset(&c, 0, sizeof c); c.{name} = 1; memcpy(b, &c, sizeof c); \
                 for (size_t i = 0; i < 8 * sizeof c; i++) if (b[i / 8] >> (i % 8) & 1) printf(
                     \"capability {name} %zu\\n\", i); }}"
            )
            .unwrap();
        }
    }
    for (name, field, _) in layouts() {
        if field.is_empty() {
            writeln!(c, "  printf(\"size {name} %zu\\n\", sizeof({name}));").unwrap();
        } else {
            writeln!(
                c,
                "  printf(\"field {name}.{field} %zu\\n\", offsetof({name}, {field}));"
            )
            .unwrap();
        }
    }
    c.push_str("  printf(\"size table %zu\\n  \", sizeof(table));\n");
    c.push_str("  printf(\"\\nsize jvmtiEventCallbacks %zu\\n\", sizeof(jvmtiEventCallbacks));\n  return 0;\n}\n");
    c
}

/// What the program must print.
fn expected(missing: &[&str], newest: bool) -> BTreeSet<String> {
    let has = |name: &str| !missing.contains(&name);
    let mut lines = BTreeSet::new();
    for function in Function::ALL.iter().filter(|f| has(f.name().unwrap())) {
        lines.insert(format!(
            "function {} {}",
            function.name().unwrap(),
            function.0
        ));
    }
    for event in Event::ALL.iter().filter(|e| has(e.name().unwrap())) {
        lines.insert(format!("callback {} {}", event.name().unwrap(), event.0));
    }
    for (_, constant, value) in constants().iter().filter(|(short, ..)| has(short)) {
        lines.insert(format!("constant {constant} {value}"));
    }
    for capability in Capability::ALL.iter().filter(|c| has(c.name().unwrap())) {
        lines.insert(format!(
            "capability {} {}",
            capability.name().unwrap(),
            capability.0
        ));
    }
    for (name, field, value) in layouts() {
        lines.insert(if field.is_empty() {
            format!("size {name} {value}")
        } else {
            format!("field {name}.{field} {value}")
        });
    }
    lines.insert(format!("size table {}", 8 * TABLE_LEN));
    // JDK 17 knows 37 callbacks: the structure grew at its end.
    let callbacks = if newest {
        size_of::<EventCallbacks>()
    } else {
        8 * (CALLBACKS_LEN - 2)
    };
    lines.insert(format!("size jvmtiEventCallbacks {callbacks}"));
    lines
}

/// JDKs with headers, each real directory once.
fn jdks() -> BTreeSet<PathBuf> {
    let mut homes: Vec<PathBuf> = env::vars_os()
        .filter(|(name, _)| name.to_string_lossy().starts_with("JAVA_HOME"))
        .map(|(_, value)| PathBuf::from(value))
        .collect();
    if let Ok(entries) = fs::read_dir("/usr/lib/jvm") {
        homes.extend(entries.flatten().map(|entry| entry.path()));
    }
    homes
        .iter()
        .filter(|home| home.join("include/jvmti.h").is_file())
        .filter_map(|home| home.canonicalize().ok())
        .collect()
}

fn run(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{command:?}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(text)
}

fn version_of(header: &Path) -> i64 {
    let text = fs::read_to_string(header).unwrap();
    let (_, after) = text
        .split_once("JVMTI_VERSION = 0x")
        .expect("the header tells its version");
    // 0x30000000 + (major * 0x10000) + ...
    let (_, after) = after.split_once('(').unwrap();
    let (major, _) = after.split_once('*').unwrap();
    major.trim().parse().unwrap()
}

#[test]
fn matches_the_header() {
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".into());
    if Command::new(&compiler).arg("--version").output().is_err() {
        println!("SKIP matches_the_header: no C compiler ({compiler})");
        return;
    }
    let jdks = jdks();
    if jdks.is_empty() {
        println!("SKIP matches_the_header: no JDK with include/jvmti.h (JAVA_HOME*, /usr/lib/jvm)");
        return;
    }
    for jdk in jdks {
        let version = version_of(&jdk.join("include/jvmti.h"));
        let missing: Vec<&str> = match version {
            ..21 => SINCE_21.iter().chain(SINCE_25).copied().collect(),
            21..25 => SINCE_25.to_vec(),
            _ => Vec::new(),
        };
        let handler = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("header-{version}-{}", std::process::id()));
        fs::create_dir_all(&handler).unwrap();
        let source = handler.join("header.c");
        let binary = handler.join("header");
        fs::write(&source, program(&missing)).unwrap();
        run(Command::new(&compiler)
            .args(["-std=gnu11", "-w", "-I"])
            .arg(jdk.join("include"))
            .arg("-I")
            .arg(jdk.join("include/linux"))
            .arg(&source)
            .arg("-o")
            .arg(&binary));
        let printed = run(&mut Command::new(&binary)).unwrap();
        let printed: BTreeSet<String> = printed
            .lines()
            .map(str::trim)
            .filter(|l| !l.is_empty())
            .map(str::to_owned)
            .collect();
        let expected = expected(&missing, version >= 21);
        let wrong: Vec<_> = printed.difference(&expected).collect();
        let absent: Vec<_> = expected.difference(&printed).collect();
        assert!(
            wrong.is_empty() && absent.is_empty(),
            "JDK {version}: the header says {wrong:?}, this crate {absent:?}"
        );
        println!(
            "JDK {version}: {} facts and the C types of {} functions and {} callbacks agree",
            expected.len(),
            SIGNATURES
                .iter()
                .filter(|(_, name, _)| !missing.contains(name))
                .count(),
            CALLBACK_SIGNATURES
                .iter()
                .filter(|(_, name, _)| !missing.contains(name))
                .count()
        );
        fs::remove_dir_all(&handler).unwrap();
    }
}

/// The header must not know functions, events, capabilities or errors that this crate lacks.
#[test]
fn names_everything_the_header_names() {
    for jdk in jdks() {
        let text = fs::read_to_string(jdk.join("include/jvmti.h")).unwrap();
        let mut unknown = Vec::new();
        for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            let known = if let Some(error) = word.strip_prefix("JVMTI_ERROR_") {
                error == "MAX" || JvmtiError::ALL.iter().any(|e| e.name() == Some(error))
            } else if let Some(event) = word.strip_prefix("JVMTI_EVENT_") {
                Event::ALL
                    .iter()
                    .any(|e| e.name().map(event_constant).as_deref() == Some(event))
            } else if word.starts_with("can_") {
                Capability::ALL.iter().any(|c| c.name() == Some(word))
            } else {
                true
            };
            if !known {
                unknown.push(word);
            }
        }
        for (at, _) in text.match_indices("(JNICALL *") {
            let name = text[at + 10..].split(')').next().unwrap().trim();
            let in_table = text[..at].trim_end().ends_with("jvmtiError")
                && name.starts_with(char::is_uppercase);
            if in_table && !Function::ALL.iter().any(|f| f.name() == Some(name)) {
                unknown.push(name);
            }
        }
        assert!(unknown.is_empty(), "{}: {unknown:?}", jdk.display());
    }
}
