//! Values → keys.

use super::chunk_start::put_attribute;
use super::config::Attribute;
use super::keys::{
    AttributeKey, ClassKey, MethodKey, StackKey, StateKey, ThreadGroupKey, ThreadKey,
};
use super::model::{Context, Method, StackTrace, Thread};
use super::pools::Pool;
use super::recording::Recording;
use super::storage::Storage;
use super::text;
use super::ticks::Ticks;
use crate::declare::MAX_COLUMNS;
use crate::error::{Error, ErrorKind, Result};
use crate::varint;

/// Keys are good for one [`generation`](Recording::generation). A key is `NONE` only if the table
/// of its type is full (1 GiB); events with such keys show no value.
impl<S: Storage> Recording<S> {
    /// Key of a thread.
    pub fn thread(&mut self, thread: &Thread<'_>) -> ThreadKey {
        ThreadKey(self.intern(Pool::Thread, |out| {
            text::put(out, thread.os_name);
            varint::put(out, thread.os_id);
            text::put(out, thread.java_name);
            varint::put(out, thread.java_id);
            varint::put(out, u64::from(thread.group.0));
            out.push(u8::from(thread.is_virtual));
        }))
    }

    /// Key of a thread group; `parent` may be [`ThreadGroupKey::NONE`].
    pub fn thread_group(&mut self, parent: ThreadGroupKey, name: &str) -> ThreadGroupKey {
        ThreadGroupKey(self.intern(Pool::ThreadGroup, |out| {
            varint::put(out, u64::from(parent.0));
            text::put(out, Some(name));
        }))
    }

    /// Key of a class by its name with slashes (`java/lang/String`, `[B`).
    pub fn class(&mut self, name: &str) -> ClassKey {
        let symbol = self.symbol(name);
        if symbol == 0 {
            return ClassKey::NONE;
        }
        let package = package_of(name).map_or(0, |package| self.package(package));
        ClassKey(self.intern(Pool::Class, |out| {
            // Class loader: none. Modifiers: not known. Not hidden.
            for number in [0, symbol, package, 0] {
                varint::put(out, u64::from(number));
            }
            out.push(0);
        }))
    }

    /// Key of a method.
    pub fn method(&mut self, method: &Method<'_>) -> MethodKey {
        let class = self.class(method.class).0;
        let name = self.symbol(method.name);
        let descriptor = self.symbol(text::sound_descriptor(method.descriptor));
        // A method without a class aborts two readers.
        if class == 0 || name == 0 || descriptor == 0 {
            return MethodKey::NONE;
        }
        MethodKey(self.intern(Pool::Method, |out| {
            for number in [class, name, descriptor, method.modifiers] {
                varint::put(out, u64::from(number));
            }
            out.push(u8::from(method.hidden));
        }))
    }

    /// Key of a stack. Frames without a method are left out; no frame at all = [`StackKey::NONE`].
    pub fn stack(&mut self, stack: &StackTrace<'_>) -> StackKey {
        // `jfr print` aborts on a frame without method.
        let count = stack.frames.iter().filter(|f| !f.method.is_none()).count();
        if count == 0 {
            return StackKey::NONE;
        }
        StackKey(self.intern(Pool::Stack, |out| {
            out.push(u8::from(stack.truncated));
            varint::put(out, count as u64);
            for frame in stack.frames.iter().filter(|f| !f.method.is_none()) {
                varint::put(out, u64::from(frame.method.0));
                varint::put_int(out, frame.line);
                varint::put_int(out, frame.bci);
                out.push(frame.kind as u8);
            }
        }))
    }

    /// Key of a thread state: `STATE_RUNNABLE`, `STATE_SLEEPING`, …; readers match the text.
    pub fn state(&mut self, name: &str) -> StateKey {
        StateKey(self.pools.intern_state(name))
    }

    /// Key of an attribute's value; an empty text is a value.
    pub fn attribute_value(&mut self, value: &str) -> AttributeKey {
        AttributeKey(self.intern(Pool::Attribute, |out| text::put(out, Some(value))))
    }

    /// Gives the values of the slots a number, and writes the
    /// [`context_event`](crate::declare::Schema::context_event) once per chunk and number.
    ///
    /// Slots beyond the declared columns are not recorded. No value at all = [`Context::NONE`].
    pub fn context(&mut self, at: Ticks, values: &[AttributeKey; MAX_COLUMNS]) -> Context {
        let columns = self.columns.len();
        let mut context = Context::NONE;
        context.values[..columns].copy_from_slice(&values[..columns]);
        if context == Context::NONE {
            return context;
        }
        let mut encoded = std::mem::take(&mut self.scratch);
        encoded.clear();
        context
            .values
            .iter()
            .for_each(|key| varint::put(&mut encoded, u64::from(key.0)));
        let (id, is_new) = self.contexts.intern(&encoded);
        self.scratch = encoded;
        context.id = id;
        if let Some(event) = self.config.schema.context_event.filter(|_| is_new) {
            self.event(event, at, |fields| {
                fields.key(id).columns(&context);
            });
        }
        context
    }

    /// Tells readers what a slot holds, by the
    /// [`column_event`](crate::declare::Schema::column_event), now and at the start of later
    /// chunks.
    ///
    /// With [`Columns::Auto`](super::Columns::Auto) it also names the column, in all chunks, unless
    /// it has a name that closed chunks know.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if the slot has no column.
    pub fn attribute(&mut self, at: Ticks, slot: usize, attribute: &Attribute) -> Result<()> {
        if slot >= self.columns.len() {
            return Err(Error::new(0, ErrorKind::Refused("no column for this slot")));
        }
        if self.columns.set(slot, attribute) {
            let id = self.config.schema.column_event;
            put_attribute(&mut self.events.bytes, id, at, slot, attribute);
        }
        Ok(())
    }

    fn symbol(&mut self, name: &str) -> u32 {
        self.intern(Pool::Symbol, |out| text::put_utf8(out, name))
    }

    fn package(&mut self, name: &str) -> u32 {
        let symbol = self.symbol(name);
        self.intern(Pool::Package, |out| varint::put(out, u64::from(symbol)))
    }

    fn intern(&mut self, pool: Pool, encode: impl FnOnce(&mut Vec<u8>)) -> u32 {
        self.scratch.clear();
        encode(&mut self.scratch);
        self.pools.intern(pool, &self.scratch)
    }
}

/// Package of a class; of an array, that of its elements, as the JDK writes it. JMC's rules fail on
/// a package `[Ljava/lang`.
fn package_of(class: &str) -> Option<&str> {
    let element = class.trim_start_matches('[');
    let element = if element.len() == class.len() {
        class
    } else {
        element.strip_prefix('L')?
    };
    element.rsplit_once('/').map(|(package, _)| package)
}

#[cfg(test)]
mod tests {
    use super::package_of;

    #[test]
    fn an_array_has_the_package_of_its_elements() {
        for (class, package) in [
            ("java/lang/String", Some("java/lang")),
            ("[Ljava/lang/String;", Some("java/lang")),
            ("[[Lapp/shop/Order$Line;", Some("app/shop")),
            ("NoPackage", None),
            ("[LNoPackage;", None),
            ("[B", None),
            ("[[J", None),
        ] {
            assert_eq!(package_of(class), package, "{class}");
        }
    }
}
