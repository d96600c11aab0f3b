//! Resolves method ids to names and lines.
//!
//! Rules:
//! 1. The writer thread resolves an id soon after the sample.
//! 2. A local reference keeps the declaring class loaded until name, descriptor and line table are
//!    copied.
//! 3. An id never changes to another method. When the class is redefined, it leads to
//!    the new version of the method, whose lines may differ. A resolved method is valid while its
//!    id leads to the same `Method`.
//! 4. The table is bounded at all times. Methods that no recent chunk used are evicted first.

use super::jni::Jni;
use super::jvmti::Jvmti;
use rustc_hash::FxHashMap;
use signal_core::handler_state::HandlerState;
use stack_walker::Memory;
use std::mem;
use std::ptr;
use std::rc::Rc;

/// Limit of cached methods, of about 300 bytes each with their line table.
pub(crate) const MAX_METHODS: usize = 16_384;

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
    /// A method whose class was unloaded, or that had no id when the stack was walked.
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

    /// Whether this is the frame between the frames of a virtual thread and those of its carrier.
    pub(crate) fn is_continuation_entry(&self) -> bool {
        self.name == "enterSpecial" && self.class == "jdk/internal/vm/Continuation"
    }

    /// Whether this is the first frame of a virtual thread's stack.
    pub(crate) fn is_continuation_root(&self) -> bool {
        self.name == "enter" && self.class == "jdk/internal/vm/Continuation"
    }
}

struct Entry {
    method: Rc<ResolvedMethod>,
    /// The `Method` that the id led to (rule 3); `None` where the VM has no checked loads.
    version: Option<usize>,
    last_used: u32,
}

/// Resolved methods by id.
#[derive(Default)]
struct Table {
    entries: FxHashMap<usize, Entry>,
    /// Counts chunks, for eviction.
    epoch: u32,
    /// Methods that may be in use were evicted, so a change of their lines would stay unnoticed.
    has_evicted_recent: bool,
}

impl Table {
    fn get(&mut self, id: usize) -> Option<Rc<ResolvedMethod>> {
        let entry = self.entries.get_mut(&id)?;
        entry.last_used = self.epoch;
        Some(entry.method.clone())
    }

    fn insert(&mut self, id: usize, method: Rc<ResolvedMethod>, version: Option<usize>) {
        if self.entries.len() >= MAX_METHODS {
            self.evict();
        }
        let entry = Entry {
            method,
            version,
            last_used: self.epoch,
        };
        self.entries.insert(id, entry);
    }

    /// Evicts what neither this chunk nor the previous one used. If that is less than half of the
    /// table, this evicts everything: otherwise each new method would scan all others.
    fn evict(&mut self) {
        let keep_from = self.epoch.saturating_sub(1);
        self.entries.retain(|_, entry| entry.last_used >= keep_from);
        if self.entries.len() > MAX_METHODS / 2 {
            self.entries.clear();
            self.has_evicted_recent = true;
        }
    }
}

/// The table of the writer thread.
pub(crate) struct Methods {
    jvmti: Jvmti,
    handler: &'static HandlerState,
    table: Table,
    null: Rc<ResolvedMethod>,
    pub(crate) unresolved: u64,
    pub(crate) null_ids: u64,
}

impl std::fmt::Debug for Methods {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Methods")
            .field("known", &self.table.entries.len())
            .finish_non_exhaustive()
    }
}

impl Methods {
    pub(crate) fn new(jvmti: Jvmti, handler: &'static HandlerState) -> Self {
        Self {
            jvmti,
            handler,
            table: Table::default(),
            null: Rc::new(ResolvedMethod::nameless("<no method id>")),
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
        if let Some(method) = self.table.get(id) {
            return method;
        }
        let version = self.version(id);
        let method = Rc::new(self.query(jni, id).unwrap_or_else(|| {
            self.unresolved += 1;
            ResolvedMethod::nameless("<unloaded>")
        }));
        self.table.insert(id, method.clone(), version);
        method
    }

    /// Resolves the methods of redefined classes again (rule 3), at the cost of one load per
    /// method. Returns whether a name or line given out before may be outdated.
    pub(crate) fn renew(&mut self, jni: Jni) -> bool {
        let changed = |(id, entry): (&usize, &Entry)| {
            let version = self.version(*id);
            (version != entry.version).then_some((*id, version))
        };
        let changed: Vec<_> = self.table.entries.iter().filter_map(changed).collect();
        let mut renewed = mem::take(&mut self.table.has_evicted_recent);
        for (id, version) in changed {
            let found = self.query(jni, id);
            if let Some(entry) = self.table.entries.get_mut(&id) {
                entry.version = version;
                // The class may be unloaded: then the previous result stays.
                if let Some(found) = found {
                    entry.method = Rc::new(found);
                    renewed = true;
                }
            }
        }
        renewed
    }

    /// The `Method` that an id leads to: up to 25 an id is the address of a word that contains it,
    /// and stays readable. Later ones are numbers, whose method is not known.
    fn version(&self, id: usize) -> Option<usize> {
        let walker = self.handler.stack_walker()?;
        if walker.has_numbered_ids() {
            return None;
        }
        walker.memory().word(id)
    }

    fn query(&self, jni: Jni, id: usize) -> Option<ResolvedMethod> {
        let id: jni_sys::jmethodID = ptr::with_exposed_provenance_mut(id);
        let class = self.jvmti.declaring_class(&jni, id).ok()?; // rule 2: held from here
        let resolved = self
            .jvmti
            .class_signature(&class)
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

    /// Starts a new chunk, for eviction by age.
    pub(crate) fn next_chunk(&mut self) {
        self.table.epoch += 1;
    }
}

/// `Ljava/lang/String;` → `java/lang/String`. The dot before the suffix of a hidden class becomes
/// `+`, so that it does not look like a package separator.
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
    fn the_line_is_that_of_the_entry_at_or_before_the_index() {
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
    fn the_table_is_bounded_and_keeps_used_methods() {
        let mut table = Table::default();
        let method = Rc::new(ResolvedMethod::nameless("m"));
        let fill = |table: &mut Table, ids: std::ops::Range<usize>| {
            for id in ids {
                table.insert(id, method.clone(), None);
                assert!(table.entries.len() <= MAX_METHODS, "{id}");
            }
        };
        // Short-lived classes, all in one chunk.
        fill(&mut table, 0..100_000);
        assert!(table.get(99_999).is_some() && table.get(0).is_none());
        assert!(
            table.has_evicted_recent,
            "evicted methods must be resolved again"
        );

        let mut table = Table::default();
        fill(&mut table, 0..MAX_METHODS);
        // The next chunks use ten of these.
        for _ in 0..3 {
            table.epoch += 1;
            assert!((0..10).all(|id| table.get(id).is_some()));
        }
        fill(&mut table, MAX_METHODS..MAX_METHODS + 100);
        assert!((0..10).all(|id| table.get(id).is_some()));
        assert_eq!(table.entries.len(), 110);
        assert!(!table.has_evicted_recent);
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
