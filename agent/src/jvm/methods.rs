//! Method ids → names, while the class is held.
//!
//! Rules: (1) called on the writer thread soon after the sample was taken; (2) the declaring class is held by a local reference until name,
//! descriptor and line table are copied; (3) on 17 to 25 an id is never given to another method, so what was resolved once stays true; (4) the table is
//! bounded: what no recent chunk used goes first.

use super::jni::Jni;
use super::jvmti::Jvmti;
use rustc_hash::FxHashMap;
use std::ptr;
use std::rc::Rc;

/// Methods kept at most. About 300 bytes each with their line table.
const MAX_METHODS: usize = 16_384;

/// A method as recordings show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResolvedMethod {
    /// `java/lang/String`.
    pub(crate) class: String,
    pub(crate) name: String,
    pub(crate) descriptor: String,
    pub(crate) modifiers: u32,
    /// (first bytecode index, line), ascending.
    lines: Vec<(i32, i32)>,
}

impl ResolvedMethod {
    /// A method whose class was gone, or that had no id when the stack was walked.
    fn nameless(name: &str) -> Self {
        Self {
            class: "ctxagent/Unresolved".into(),
            name: name.into(),
            descriptor: "()V".into(),
            modifiers: 0,
            lines: Vec::new(),
        }
    }

    /// Source line of a bytecode index, -1 = unknown.
    pub(crate) fn line(&self, bci: i32) -> i32 {
        if bci < 0 {
            return -1;
        }
        let after = self.lines.partition_point(|(start, _)| *start <= bci);
        after
            .checked_sub(1)
            .and_then(|i| self.lines.get(i))
            .map_or(-1, |(_, line)| *line)
    }

    /// Whether this is the frame where a virtual thread's own frames end and its carrier's begin.
    pub(crate) fn is_continuation_entry(&self) -> bool {
        self.name == "enterSpecial" && self.class == "jdk/internal/vm/Continuation"
    }

    /// Whether this is the frame that a virtual thread's stack begins with, when nothing of it is frozen.
    pub(crate) fn is_continuation_root(&self) -> bool {
        self.name == "enter" && self.class == "jdk/internal/vm/Continuation"
    }
}

struct Entry {
    method: Rc<ResolvedMethod>,
    last_used: u32,
}

/// The table of the writer thread.
pub(crate) struct Methods {
    jvmti: Jvmti,
    table: FxHashMap<usize, Entry>,
    null: Rc<ResolvedMethod>,
    /// Counts chunks, for eviction.
    epoch: u32,
    pub(crate) unresolved: u64,
    pub(crate) null_ids: u64,
}

impl std::fmt::Debug for Methods {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Methods")
            .field("known", &self.table.len())
            .finish_non_exhaustive()
    }
}

impl Methods {
    pub(crate) fn new(jvmti: Jvmti) -> Self {
        Self {
            jvmti,
            table: FxHashMap::default(),
            null: Rc::new(ResolvedMethod::nameless("<no method id>")),
            epoch: 0,
            unresolved: 0,
            null_ids: 0,
        }
    }

    /// The method of an id from a walked stack.
    pub(crate) fn resolve(&mut self, jni: Jni, id: usize) -> Rc<ResolvedMethod> {
        if id == 0 {
            self.null_ids += 1;
            return self.null.clone();
        }
        if let Some(entry) = self.table.get_mut(&id) {
            entry.last_used = self.epoch;
            return entry.method.clone();
        }
        let method = Rc::new(self.look_up(jni, id).unwrap_or_else(|| {
            self.unresolved += 1;
            ResolvedMethod::nameless("<unloaded>")
        }));
        self.table.insert(
            id,
            Entry {
                method: method.clone(),
                last_used: self.epoch,
            },
        );
        method
    }

    fn look_up(&self, jni: Jni, id: usize) -> Option<ResolvedMethod> {
        let id: jni_sys::jmethodID = ptr::with_exposed_provenance_mut(id);
        let class = self.jvmti.declaring_class(id).ok()?; // rule 2: held from here
        let resolved = self
            .jvmti
            .class_signature(class)
            .ok()
            .zip(self.jvmti.method_name(id).ok())
            .map(|(signature, method)| ResolvedMethod {
                class: class_name(&signature),
                name: method.name,
                descriptor: method.descriptor,
                modifiers: method.modifiers,
                lines: sorted(self.jvmti.line_table(id)),
            });
        jni.delete_local(class);
        resolved
    }

    /// A chunk has ended: forgets what was not used for long, if there is too much.
    pub(crate) fn next_chunk(&mut self) {
        self.epoch += 1;
        if self.table.len() > MAX_METHODS {
            let keep_from = self.epoch.saturating_sub(2);
            self.table.retain(|_, entry| entry.last_used >= keep_from);
        }
        if self.table.len() > MAX_METHODS {
            self.table.clear(); // all in use in two chunks: resolved again on sight
        }
    }
}

/// `Ljava/lang/String;` → `java/lang/String`. Hidden classes keep their suffix after the dot, as `+`, so that the name stays one.
fn class_name(signature: &str) -> String {
    signature
        .strip_prefix('L')
        .and_then(|s| s.strip_suffix(';'))
        .unwrap_or(signature)
        .replace('.', "+")
}

fn sorted(mut lines: Vec<(i32, i32)>) -> Vec<(i32, i32)> {
    lines.sort_unstable();
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_an_index_is_that_of_the_entry_at_or_before_it() {
        let mut m = ResolvedMethod::nameless("m");
        assert_eq!(m.line(0), -1, "no table");
        m.lines = sorted(vec![(10, 7), (0, 5), (4, 6)]);
        assert_eq!(
            [m.line(0), m.line(3), m.line(4), m.line(10), m.line(99)],
            [5, 5, 6, 7, 7]
        );
        assert_eq!(
            [m.line(-1), m.line(-3)],
            [-1, -1],
            "no index, native method"
        );
    }

    #[test]
    fn class_names_are_as_in_class_files() {
        assert_eq!(class_name("Ljava/lang/String;"), "java/lang/String");
        assert_eq!(
            class_name("Lapp/A$$Lambda.0x00007f;"),
            "app/A$$Lambda+0x00007f"
        );
        assert_eq!(class_name("[I"), "[I");
    }
}
