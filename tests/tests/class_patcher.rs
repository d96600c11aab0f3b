//! The class patcher on every class of `java.base`: what it reads it writes back the same, an
//! independent reader finds everything moved by exactly the prologue and some calls replaced, and the
//! JVM verifies and runs a `java.base` with a hook at every method.

mod calls;
mod hooks;
mod oracle;

use std::fs;
use std::path::Path;

use class_patcher::class_file::ClassFile;
use class_patcher::patch::{HookOutcome, patch, rebuild};
use e2e::{Jdk, Jvm, TestDir};

/// The package of the helper, which becomes one of `java.base`.
const HELPERS: &str = "io/ctxagent/patched";
/// A class that the JVM needs not for its start, given with a call that does not verify.
const BROKEN: &str = "java/util/Scanner";

/// A class of a JDK.
struct JdkClass {
    name: String,
    bytes: Vec<u8>,
}

/// What was patched in the classes of a JDK.
#[derive(Debug, Default)]
struct PatchTotals {
    /// Classes, also those without a method to hook.
    classes: usize,
    methods: usize,
    prologue_bytes: usize,
    replaced_calls: usize,
}

/// All classes of `java.base`.
fn classes(jdk: Jdk, test_dir: &TestDir) -> Vec<JdkClass> {
    let file = test_dir.file("classes");
    let program = Jvm::new(jdk, test_dir).flag("-XX:TieredStopAtLevel=1");
    program.program("ClassFiles classes").run_ok();
    let bytes = fs::read(&file).unwrap();
    fs::remove_file(file).unwrap();
    let mut rest = &bytes[..];
    let mut classes = Vec::new();
    while !rest.is_empty() {
        let name_len = u16::from_be_bytes(take(&mut rest));
        let name = take_slice(&mut rest, name_len.into());
        let name = String::from_utf8(name.to_vec()).unwrap();
        let len = u32::from_be_bytes(take(&mut rest));
        let bytes = take_slice(&mut rest, len.try_into().unwrap()).to_vec();
        classes.push(JdkClass { name, bytes });
    }
    classes
}

fn take<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    take_slice(rest, N).try_into().unwrap()
}

fn take_slice<'a>(rest: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (taken, behind) = rest.split_at(len);
    *rest = behind;
    taken
}

/// The class with some calls replaced and a hook at each of its methods.
fn patch_all(class: &JdkClass, totals: &mut PatchTotals) -> Vec<u8> {
    let parsed = ClassFile::parse(&class.bytes);
    let parsed = parsed.unwrap_or_else(|error| panic!("{}: {error}", class.name));
    assert_eq!(parsed.name(), class.name.as_bytes());
    assert!(rebuild(&parsed).unwrap() == class.bytes, "{}", class.name);
    let (replaced, calls) = calls::replace_all(&class.name, &class.bytes);
    oracle::assert_replaced(&class.name, &class.bytes, &replaced, calls);
    totals.replaced_calls += calls;
    let parsed = ClassFile::parse(&replaced).unwrap();
    let specimens = hooks::for_each_method(&parsed);
    let hooks: Vec<_> = specimens.iter().map(hooks::Specimen::hook).collect();
    let patched = patch(&parsed, &hooks, &[]);
    let patched = patched.unwrap_or_else(|error| panic!("{}: {error}", class.name));
    for outcome in &patched.outcomes {
        let HookOutcome::Inserted { prologue_bytes } = *outcome else {
            panic!("{}: {outcome:?}", class.name);
        };
        totals.methods += 1;
        totals.prologue_bytes += prologue_bytes;
    }
    totals.classes += 1;
    oracle::assert_moved(&class.name, &replaced, &patched.bytes);
    patched.bytes
}

/// Changes one of the loads in front of a call: the stack of the first prologue that begins with
/// `aload_0` has an `int` that is not there.
fn with_wrong_load(mut bytes: Vec<u8>) -> Vec<u8> {
    let load_and_call = [42, 184]; // aload_0, invokestatic
    let at = bytes.windows(2).position(|w| w == load_and_call).unwrap();
    bytes[at] = 26; // iload_0
    bytes
}

fn write(directory: &Path, name: &str, bytes: &[u8]) {
    let file = directory.join(format!("{name}.class"));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, bytes).unwrap();
}

/// Patches all classes into the directory `java.base`, and lists them in the file `names`.
fn patch_java_base(jdk: Jdk, test_dir: &TestDir) -> PatchTotals {
    let mut totals = PatchTotals::default();
    let directory = test_dir.file("java.base");
    let mut names = String::new();
    for class in classes(jdk, test_dir) {
        if class.name == "module-info" {
            continue;
        }
        let mut bytes = patch_all(&class, &mut totals);
        if class.name == BROKEN {
            bytes = with_wrong_load(bytes);
        }
        write(&directory, &class.name, &bytes);
        names.push_str(&class.name.replace('/', "."));
        names.push('\n');
    }
    fs::write(test_dir.file("names"), names).unwrap();
    totals
}

fn add_helpers(test_dir: &TestDir) {
    for class in ["Entry", "Calls"] {
        let name = format!("{HELPERS}/{class}");
        let mut built = e2e::build::class_path().split(':');
        let file = |part| Path::new(part).join(format!("{name}.class"));
        let bytes = built.find_map(|part| fs::read(file(part)).ok()).unwrap();
        write(&test_dir.file("java.base"), &name, &bytes);
    }
}

/// A JVM with the patched `java.base`, which verifies it.
fn patched_jvm(jdk: Jdk, test_dir: &TestDir) -> Jvm {
    let export = format!("java.base/{}=ALL-UNNAMED", HELPERS.replace('/', "."));
    Jvm::new(jdk, test_dir)
        .flag("-XX:+UnlockDiagnosticVMOptions")
        .flag("-XX:+BytecodeVerificationLocal")
        .flag("-XX:TieredStopAtLevel=1")
        .flag("--patch-module=java.base=java.base")
        .flag(&format!("--add-exports={export}"))
}

/// Whether each replaced call goes to the helper, and from there to what was called.
fn assert_calls_are_replaced(jdk: Jdk, test_dir: &TestDir) {
    let run = patched_jvm(jdk, test_dir).program("ReplacedCalls").run_ok();
    // One task of the pool, its queue, one of the timer, five of the ForkJoinPool.
    for line in [
        "drained: 2",
        "before: true",
        "after: true wanted, interrupted: true",
        "counts: [1, 1, 1, 1, 5]",
    ] {
        assert!(
            run.stdout.lines().any(|found| found == line),
            "{jdk}: {line}\n{}",
            run.stdout
        );
    }
    assert!(run.counter("calls") > 1_000);
}

#[test]
fn every_class_of_java_base_is_verified_with_a_hook_at_each_method() {
    for jdk in Jdk::every() {
        let test_dir = TestDir::new();
        let totals = patch_java_base(jdk, &test_dir);
        add_helpers(&test_dir);
        let run = patched_jvm(jdk, &test_dir)
            .program("LinkAll names")
            .run_ok();
        println!("{jdk}: {totals:?}\n{}", run.stdout);
        let refused: Vec<&str> = run.lines_after("refused: ").collect();
        let broken = BROKEN.replace('/', ".");
        assert!(
            refused.len() == 1 && refused[0].starts_with(&broken),
            "{refused:#?}"
        );
        let failed: Vec<&str> = run.lines_after("failed: ").collect();
        assert!(failed.is_empty(), "{failed:#?}");
        let linked = usize::try_from(run.counter("linked")).unwrap();
        assert_eq!(linked + refused.len(), totals.classes);
        assert!(run.counter("calls") > 1_000_000);
        assert!(totals.methods > 50_000, "{totals:?}");
        assert!(totals.replaced_calls > 3_000, "{totals:?}");
        assert_calls_are_replaced(jdk, &test_dir);
    }
}
