//! A method as the table of hooks names it: `+ForkJoinTask.fork() ForkJoinTask`.

use class_patcher::hook::Argument;

/// Packages of classes that are named without, and are not in `java.util.concurrent`.
const PACKAGES: [(&str, &[&str]); 7] = [
    ("java/io/", &["IOException"]),
    (
        "java/lang/",
        &["Object", "Runnable", "String", "Thread", "Throwable"],
    ),
    ("java/net/", &["SocketAddress"]),
    ("java/nio/channels/", &["CompletionHandler"]),
    ("java/util/", &["Collection", "List", "TimerTask"]),
    (
        "java/util/function/",
        &[
            "BiConsumer",
            "BiFunction",
            "Consumer",
            "Function",
            "Supplier",
        ],
    ),
    (
        "sun/nio/ch/",
        &["SocketChannelImpl", "UnixAsynchronousSocketChannelImpl"],
    ),
];
const OTHERS: &str = "java/util/concurrent/";

/// A method of a class, and what of its receiver and parameters is marked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Signature {
    /// With slashes.
    pub(super) class: String,
    pub(super) method: String,
    pub(super) descriptor: String,
    /// What the helper gets.
    pub(super) passed: Vec<Argument>,
    /// The parameter that the helper's result replaces.
    pub(super) replaced: Option<u8>,
    /// Types of the parameters.
    pub(super) parameters: Vec<String>,
    /// Type of the result.
    pub(super) result: String,
    /// Only of calls: of a method that is static.
    pub(super) is_static: bool,
}

impl Signature {
    /// `None` if `text` has another form.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let after_static = text.strip_prefix("static ");
        let (called, rest) = after_static.unwrap_or(text).split_once('(')?;
        let (types, result) = rest.split_once(')')?;
        let receiver = called.strip_prefix('+');
        let (class, method) = receiver.unwrap_or(called).rsplit_once('.')?;
        let result = match result.trim() {
            "" => "V".to_owned(),
            name => type_of(name),
        };
        let mut signature = Self {
            class: class_of(class),
            method: method.to_owned(),
            descriptor: String::new(),
            passed: Vec::new(),
            replaced: None,
            parameters: Vec::new(),
            result,
            is_static: after_static.is_some(),
        };
        if receiver.is_some() {
            signature.passed.push(Argument::This);
        }
        for (place, name) in (0..).zip(types.split(',').map(str::trim)) {
            signature.add_parameter(place, name);
        }
        signature.descriptor = format!("({}){}", signature.parameters.concat(), signature.result);
        Some(signature)
    }

    fn add_parameter(&mut self, place: u8, name: &str) {
        if name.is_empty() {
            return;
        }
        if name.starts_with(['+', '*']) {
            self.passed.push(Argument::Parameter(place));
        }
        if name.starts_with('*') {
            self.replaced = Some(place);
        }
        self.parameters
            .push(type_of(name.trim_start_matches(['+', '*'])));
    }
}

/// The internal name of a class.
fn class_of(name: &str) -> String {
    if name.contains('.') {
        return name.replace('.', "/");
    }
    let listed = PACKAGES.iter().find(|(_, names)| names.contains(&name));
    let package = listed.map_or(OTHERS, |(package, _)| package);
    format!("{package}{name}")
}

/// The descriptor of a type.
fn type_of(name: &str) -> String {
    if let Some(element) = name.strip_suffix("[]") {
        return format!("[{}", type_of(element));
    }
    match name {
        "boolean" => "Z".to_owned(),
        "int" => "I".to_owned(),
        "long" => "J".to_owned(),
        class => format!("L{};", class_of(class)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_types_and_packages_are_read() {
        let parsed = Signature::parse("+java.util.Timer.sched(*TimerTask, long, +long) Future");
        let task = "Ljava/util/TimerTask;".to_owned();
        let expected = Signature {
            class: "java/util/Timer".to_owned(),
            method: "sched".to_owned(),
            descriptor: "(Ljava/util/TimerTask;JJ)Ljava/util/concurrent/Future;".to_owned(),
            passed: vec![
                Argument::This,
                Argument::Parameter(0),
                Argument::Parameter(2),
            ],
            replaced: Some(0),
            parameters: vec![task, "J".to_owned(), "J".to_owned()],
            result: "Ljava/util/concurrent/Future;".to_owned(),
            is_static: false,
        };
        assert_eq!(parsed, Some(expected));
    }

    #[test]
    fn method_without_parameters_has_none() {
        let parsed = Signature::parse("ForkJoinTask.doExec()");
        let facts = parsed.map(|parsed| (parsed.descriptor, parsed.passed, parsed.replaced));
        assert_eq!(facts, Some(("()V".to_owned(), Vec::new(), None)));
        let array = Signature::parse("Arrays.sort(Object[]) int[]");
        let descriptor = array.map(|parsed| parsed.descriptor);
        assert_eq!(descriptor.as_deref(), Some("([Ljava/lang/Object;)[I"));
        let of = Signature::parse("static t.Sockets.of(int)");
        let facts = of.map(|of| (of.class, of.descriptor, of.is_static));
        assert_eq!(
            facts,
            Some(("t/Sockets".to_owned(), "(I)V".to_owned(), true))
        );
        assert_eq!(Signature::parse("no method"), None);
        assert_eq!(Signature::parse("NoClass()"), None);
    }
}
