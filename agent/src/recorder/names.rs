//! Keys of the current chunk for the data that samples refer to: threads, methods, stacks, classes.

use crate::jvm::jni::Jni;
use crate::jvm::methods::{MAX_METHODS, Methods, ResolvedMethod};
use crate::jvm::raw_frame::RawFrame;
use crate::options::Options;
use crate::recorder::sources::{RecordingStatus, Sources};
use crate::threads::ThreadRef;
use ctxagent_events::{ProfileEvents as _, whole_name};
use jfr_format::write::{
    ClassKey, FileStorage, Frame, FrameKind, Method, MethodKey, Recording, StackKey, StackTrace,
    StateKey, Thread, ThreadGroupKey, ThreadKey,
};
use rustc_hash::FxHashMap;
use signal_core::counters::Counter;
use signal_core::slots::{BROKEN, FROZEN, SWITCHING};
use signal_core::walk;
use std::sync::Arc;

/// Bytecode index of the walkers for native methods.
const NATIVE_METHOD_BCI: i32 = -3;
/// Modifier bit of native methods.
const ACC_NATIVE: u32 = 0x0100;
/// Class, name and descriptor of the method that stands for [`FROZEN`].
const CONTINUATION_ENTRY: (&str, &str, &str) = (
    "jdk/internal/vm/Continuation",
    "enterSpecial",
    "(Ljdk/internal/vm/Continuation;ZZ)V",
);
/// The same of the one that stands for [`SWITCHING`].
const SWITCH: (&str, &str, &str) = ("ctxagent/VirtualThread", "suspending_or_resuming", "()V");
/// Private, static, native.
const STAND_IN_MODIFIERS: u32 = 0x010a;

/// Maximum number of frames cached within a chunk: 1.5 MiB.
const MAX_FRAMES: usize = 32_768;

type File = Recording<FileStorage>;

/// A walk's outcome.
#[derive(Debug, Clone, Copy)]
pub(super) struct Walk<'a> {
    pub(super) thread: ThreadRef,
    /// Frames walked, or a code of `walk`.
    pub(super) outcome: i32,
    /// `FROZEN`, `BROKEN`, `SWITCHING`.
    pub(super) flags: u32,
    /// Topmost first.
    pub(super) frames: &'a [RawFrame],
}

/// The role of a frame in the stack of a virtual thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Its own frames end here and its carrier's start.
    ContinuationEntry,
    /// Its first frame.
    ContinuationRoot,
    Other,
}

/// The last frame of a walk.
enum Oldest {
    /// The frame in which a virtual thread runs on its carrier; without the root above it, frames
    /// are missing.
    ContinuationEntry {
        below_root: bool,
    },
    /// The root of a virtual thread, read in the heap.
    ContinuationRoot,
    Other,
}

/// A frame as written to the file.
#[derive(Debug, Clone, Copy)]
struct NamedFrame {
    frame: Frame,
    role: Role,
}

/// Keys of the current chunk. Simple hashing is safe: no outsider chooses the numbers.
#[derive(Debug, Default)]
struct Keys {
    generation: Option<u32>,
    threads: FxHashMap<(u64, i64), ThreadKey>,
    methods: FxHashMap<usize, MethodKey>,
    states: FxHashMap<&'static str, StateKey>,
    /// Whole frames: one lookup each, instead of three for method, line and key.
    frames: FxHashMap<RawFrame, NamedFrame>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Names {
    sources: Sources,
    jni: Jni,
    methods: Methods,
    keys: Keys,
    walked: Vec<Frame>,
    depth: usize,
    status: Arc<RecordingStatus>,
}

impl Names {
    pub(super) fn new(
        sources: Sources,
        jni: Jni,
        options: &Options,
        status: Arc<RecordingStatus>,
    ) -> Self {
        let methods = Methods::new(sources.jvmti, sources.handler);
        Self {
            sources,
            jni,
            methods,
            keys: Keys::default(),
            walked: Vec::new(),
            depth: usize::from(options.stack_depth),
            status,
        }
    }

    /// Number of frames without a method id since the start.
    pub(super) fn frames_without_id(&self) -> u64 {
        self.methods.null_ids
    }

    /// Methods of redefined classes have other lines from now on.
    pub(super) fn follow_redefinitions(&mut self) {
        if self.methods.renew(self.jni) {
            self.keys.frames.clear();
        }
    }

    /// Starts a new chunk: methods that no recent chunk used are dropped.
    pub(super) fn next_chunk(&mut self) {
        self.methods.next_chunk();
    }

    /// Starts a new file, and with it a chunk: all keys are new.
    pub(super) fn next_file(&mut self) {
        self.keys = Keys::default();
        self.next_chunk();
    }

    /// Keys are valid for one chunk only.
    fn keys(&mut self, file: &File) -> &mut Keys {
        let generation = Some(file.generation());
        if self.keys.generation != generation {
            self.keys = Keys {
                generation,
                ..Keys::default()
            };
        }
        &mut self.keys
    }

    /// The key of a thread state, by its name in the JDK's recordings.
    pub(super) fn state(&mut self, file: &mut File, name: &'static str) -> StateKey {
        if let Some(key) = self.keys(file).states.get(name) {
            return *key;
        }
        let key = file.state(name);
        self.keys.states.insert(name, key);
        key
    }

    /// The key of a class, by its signature, like `Ljava/lang/String;` or `[I`; of none if it is
    /// empty.
    pub(super) fn class(file: &mut File, signature: &str) -> ClassKey {
        if signature.is_empty() {
            return ClassKey::NONE;
        }
        let name = signature
            .strip_prefix('L')
            .and_then(|rest| rest.strip_suffix(';'));
        file.class(name.unwrap_or(signature))
    }

    pub(super) fn thread(&mut self, file: &mut File, thread: ThreadRef) -> ThreadKey {
        let logical = if thread.is_virtual {
            thread.logical_tid
        } else {
            0
        };
        let known = (thread.serial, logical);
        if let Some(key) = self.keys(file).threads.get(&known) {
            return *key;
        }
        let key = self.new_thread(file, thread);
        self.keys.threads.insert(known, key);
        key
    }

    fn new_thread(&self, file: &mut File, thread: ThreadRef) -> ThreadKey {
        if !thread.is_virtual {
            self.sources.threads.refresh(self.jni, thread.serial);
        }
        let info = self.sources.threads.info(thread.serial);
        let unsigned = |n: i64| u64::try_from(n).unwrap_or(0);
        let (name, os_id, platform_id) = info
            .as_ref()
            .map_or(("?", 0, 0), |i| (i.name.as_str(), i.os_tid, i.java_tid));
        // The name of a virtual thread is in the heap, out of reach; its id identifies it.
        let (name, os_id, java_id) = if thread.is_virtual {
            ("", 0, thread.logical_tid)
        } else {
            (name, os_id, platform_id)
        };
        let native_group = info.as_ref().and_then(|i| i.group);
        let is_java = native_group.is_none();
        // The kernel has cut the names of the VM's own threads.
        let name = if is_java { name } else { whole_name(name) };
        let group = native_group.map_or(ThreadGroupKey::NONE, |name| {
            file.thread_group(ThreadGroupKey::NONE, name)
        });
        file.thread(&Thread {
            os_name: Some(name),
            os_id: unsigned(i64::from(os_id)),
            java_name: is_java.then_some(name),
            java_id: unsigned(java_id),
            group,
            is_virtual: thread.is_virtual,
        })
    }

    /// The stack, cut at the end of a virtual thread's own frames; or one frame that names the
    /// reason why there is none.
    pub(super) fn stack(&mut self, file: &mut File, walk: &Walk<'_>) -> StackKey {
        if walk.thread.logical_tid == 0 {
            return file.synthetic_stack("not_a_Java_thread");
        }
        if let Some(reason) = walk::reason(walk.outcome) {
            return file.synthetic_stack(reason);
        }
        self.keys(file);
        let mut truncated = walk.frames.len() >= self.depth;
        self.status
            .counters
            .add_many(Counter::StackTruncatedDepth, u64::from(truncated));
        self.walked.clear();
        if walk.flags & SWITCHING != 0 {
            self.walked.push(stand_in(file, SWITCH));
        }
        match self.name_frames(file, walk.frames) {
            Oldest::ContinuationEntry { below_root } => {
                truncated = !below_root;
                self.status
                    .counters
                    .add_many(Counter::StackTruncatedVirtual, u64::from(truncated));
            }
            Oldest::ContinuationRoot => self.walked.push(stand_in(file, CONTINUATION_ENTRY)),
            Oldest::Other => {}
        }
        if walk.flags & FROZEN != 0 {
            truncated = true;
            self.status.counters.add(Counter::StackTruncatedVirtual);
            self.walked.push(stand_in(file, CONTINUATION_ENTRY));
        }
        truncated |= walk.flags & BROKEN != 0;
        self.status
            .counters
            .replace(Counter::StackNullMethods, self.methods.null_ids);
        self.status
            .counters
            .replace(Counter::StackUnresolvedMethods, self.methods.unresolved);
        file.stack(&StackTrace {
            truncated,
            frames: &self.walked,
        })
    }

    /// Appends the frames to `walked`, down to the frame in which a virtual thread runs on its
    /// carrier: the oldest entry, as continuations within others have theirs. A walk that ends at
    /// the root has none of the carrier's frames.
    fn name_frames(&mut self, file: &mut File, frames: &[RawFrame]) -> Oldest {
        let mut above = Role::Other;
        let mut entry = None;
        for frame in frames {
            let named = self.named(file, *frame);
            self.walked.push(named.frame);
            if named.role == Role::ContinuationEntry {
                entry = Some((self.walked.len(), above == Role::ContinuationRoot));
            }
            above = named.role;
        }
        match (above, entry) {
            (Role::ContinuationRoot, _) => Oldest::ContinuationRoot,
            (_, Some((length, below_root))) => {
                // The frames below are the carrier's.
                self.walked.truncate(length);
                Oldest::ContinuationEntry { below_root }
            }
            (_, None) => Oldest::Other,
        }
    }

    fn named(&mut self, file: &mut File, frame: RawFrame) -> NamedFrame {
        if let Some(named) = self.keys.frames.get(&frame) {
            return *named;
        }
        let named = self.name(file, frame);
        // Not cached: the method may get its id later, and each frame without one counts.
        if frame.id != 0 {
            if self.keys.frames.len() >= MAX_FRAMES {
                self.keys.frames.clear();
            }
            self.keys.frames.insert(frame, named);
        }
        named
    }

    fn name(&mut self, file: &mut File, frame: RawFrame) -> NamedFrame {
        let method = self.methods.resolve(self.jni, frame.id);
        let native =
            frame.bci == NATIVE_METHOD_BCI || (frame.bci < 0 && method.modifiers & ACC_NATIVE != 0);
        let line = if native { -1 } else { method.line(frame.bci) };
        let key = self.keys.methods.get(&frame.id).copied();
        let key = key.unwrap_or_else(|| {
            let named = Method::new(
                &method.class,
                &method.name,
                &method.descriptor,
                method.modifiers,
            );
            let key = file.method(&named);
            if self.keys.methods.len() >= MAX_METHODS {
                self.keys.methods.clear();
            }
            self.keys.methods.insert(frame.id, key);
            key
        });
        NamedFrame {
            frame: Frame {
                method: key,
                line,
                bci: frame.bci.max(-1),
                kind: kind_of(frame.kind, native),
            },
            role: role_of(&method),
        }
    }
}

fn role_of(method: &ResolvedMethod) -> Role {
    if method.is_continuation_entry() {
        Role::ContinuationEntry
    } else if method.is_continuation_root() {
        Role::ContinuationRoot
    } else {
        Role::Other
    }
}

/// A frame that was not walked: where a virtual thread runs on its carrier, or is moved.
fn stand_in(file: &mut File, (class, name, descriptor): (&str, &str, &str)) -> Frame {
    let method = Method::new(class, name, descriptor, STAND_IN_MODIFIERS);
    Frame {
        method: file.method(&method),
        line: -1,
        bci: -1,
        kind: FrameKind::Native,
    }
}

/// The name of a frame kind in a recording.
fn kind_of(kind: u32, native: bool) -> FrameKind {
    if native {
        FrameKind::Native
    } else if kind == stack_walker::FrameKind::Interpreted as u32 {
        FrameKind::Interpreted
    } else if kind == stack_walker::FrameKind::Inlined as u32 {
        FrameKind::Inlined
    } else {
        FrameKind::Jit
    }
}
