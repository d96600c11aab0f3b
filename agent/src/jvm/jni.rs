//! The few JNI functions that callbacks and the writer use, over the raw function table.
//!
//! Natives use the `jni` crate to read objects, and this module to create them. On a full heap that
//! crate looks up the class of the error, which fails with another error, until the stack
//! overflows.
//!
//! Rules:
//! 1. The environment belongs to the calling thread.
//! 2. After a call that can throw, a pending exception is cleared: none may reach the application.
//! 3. The function that creates a local reference deletes it, in a loop at once.
//! 4. The VM and its function tables live as long as the process. Every VM since 1.4 has the
//!    entries that are read.
//! 5. An environment that the VM returns for the calling thread is valid for it.

#![expect(unsafe_code, reason = "boundary to JVMTI and JNI")]

use jni::EnvUnowned;
use jni_sys::{
    JNI_OK, JNIEnv, JNIInvokeInterface_, JNINativeInterface_, JNINativeMethod, JavaVM, jclass,
    jfieldID, jmethodID, jobject, jvalue,
};
use std::ffi::{CStr, c_void};
use std::ptr;

/// The environment of the calling thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Jni(*mut JNIEnv);

/// The VM, usable from any thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vm(*mut JavaVM);

// SAFETY: rule 4; the invocation interface may be called from any thread.
unsafe impl Send for Vm {}
// SAFETY: rule 4, as above.
unsafe impl Sync for Vm {}

macro_rules! call {
    ($env:expr, $version:ident . $function:ident ( $($arg:expr),* )) => {{
        let table: &JNINativeInterface_ = $env.table();
        // SAFETY: rule 4.
        let function = unsafe { table.$version.$function };
        // SAFETY: rule 1; each method below passes the arguments that the specification requires.
        unsafe { function($env.0, $($arg),*) }
    }};
}

impl Jni {
    /// Wraps the environment of a callback; `None` for null.
    ///
    /// # Safety
    /// Null or the environment that the VM gave to the calling thread.
    pub(crate) unsafe fn new(env: *mut JNIEnv) -> Option<Self> {
        (!env.is_null()).then_some(Self(env))
    }

    /// The environment of a native, which only the VM creates.
    pub(crate) fn of_native(env: &EnvUnowned<'_>) -> Option<Self> {
        // SAFETY: rule 5; `EnvUnowned` cannot be sent to another thread.
        unsafe { Self::new(env.as_raw()) }
    }

    /// Its address.
    pub(crate) fn address(self) -> usize {
        self.0.expose_provenance()
    }

    fn table(&self) -> &'static JNINativeInterface_ {
        // SAFETY: rules 1 and 4: an environment points to the pointer to its function table.
        let table = unsafe { *self.0 };
        // SAFETY: rule 4.
        unsafe { &*table }
    }

    /// Clears a pending exception. Returns whether there was one.
    pub(crate) fn clear_exception(self) -> bool {
        let pending = call!(self, v1_2.ExceptionCheck());
        if pending {
            call!(self, v1_2.ExceptionClear());
        }
        pending
    }

    /// A class by name with slashes, through the boot or system loader.
    pub(crate) fn find_class(self, name: &CStr) -> Option<jclass> {
        let class = call!(self, v1_2.FindClass(name.as_ptr()));
        (!self.clear_exception() && !class.is_null()).then_some(class)
    }

    /// A new class of the boot loader, from the bytes of its class file.
    pub(crate) fn define_boot_class(self, name: &CStr, bytes: &[u8]) -> Option<jclass> {
        let length = i32::try_from(bytes.len()).ok()?;
        let class = call!(
            self,
            v1_2.DefineClass(
                name.as_ptr(),
                ptr::null_mut(),
                bytes.as_ptr().cast(),
                length
            )
        );
        (!self.clear_exception() && !class.is_null()).then_some(class)
    }

    /// An instance field.
    pub(crate) fn field_id(self, class: jclass, name: &CStr, signature: &CStr) -> Option<jfieldID> {
        let field = call!(
            self,
            v1_2.GetFieldID(class, name.as_ptr(), signature.as_ptr())
        );
        (!self.clear_exception() && !field.is_null()).then_some(field)
    }

    /// A static method.
    pub(crate) fn static_method_id(
        self,
        class: jclass,
        name: &CStr,
        signature: &CStr,
    ) -> Option<jmethodID> {
        let method = call!(
            self,
            v1_2.GetStaticMethodID(class, name.as_ptr(), signature.as_ptr())
        );
        (!self.clear_exception() && !method.is_null()).then_some(method)
    }

    /// An instance method.
    pub(crate) fn method_id(
        self,
        class: jclass,
        name: &CStr,
        signature: &CStr,
    ) -> Option<jmethodID> {
        let method = call!(
            self,
            v1_2.GetMethodID(class, name.as_ptr(), signature.as_ptr())
        );
        (!self.clear_exception() && !method.is_null()).then_some(method)
    }

    /// Calls an instance method without arguments that returns an object; `None` for null and if it
    /// threw.
    pub(crate) fn call_object(self, object: jobject, method: jmethodID) -> Option<jobject> {
        let result = call!(
            self,
            v1_2.CallObjectMethodA(object, method, ptr::null::<jvalue>())
        );
        (!self.clear_exception() && !result.is_null()).then_some(result)
    }

    /// Calls a static method without arguments that returns a boolean; `false` if it threw.
    pub(crate) fn call_static_boolean(self, class: jclass, method: jmethodID) -> bool {
        let result = call!(
            self,
            v1_2.CallStaticBooleanMethodA(class, method, ptr::null::<jvalue>())
        );
        !self.clear_exception() && result
    }

    /// Length of an array.
    pub(crate) fn array_length(self, array: jobject) -> i32 {
        call!(self, v1_2.GetArrayLength(array))
    }

    /// A new array of longs; null if the heap is full.
    pub(crate) fn new_long_array(self, numbers: &[i64]) -> jobject {
        let length = i32::try_from(numbers.len()).unwrap_or(0);
        let array = call!(self, v1_2.NewLongArray(length));
        if self.clear_exception() || array.is_null() {
            return ptr::null_mut();
        }
        call!(
            self,
            v1_2.SetLongArrayRegion(array, 0, length, numbers.as_ptr())
        );
        array
    }

    /// A new array of ints; null if the heap is full.
    pub(crate) fn new_int_array(self, numbers: &[i32]) -> jobject {
        let length = i32::try_from(numbers.len()).unwrap_or(0);
        let array = call!(self, v1_2.NewIntArray(length));
        if self.clear_exception() || array.is_null() {
            return ptr::null_mut();
        }
        call!(
            self,
            v1_2.SetIntArrayRegion(array, 0, length, numbers.as_ptr())
        );
        array
    }

    /// A new direct buffer over memory that stays mapped; null if the heap is full.
    pub(crate) fn new_direct_buffer(self, base: *mut u8, length: usize) -> jobject {
        let length = i64::try_from(length).unwrap_or(0);
        let buffer = call!(
            self,
            v1_4.NewDirectByteBuffer(base.cast::<c_void>(), length)
        );
        if self.clear_exception() {
            return ptr::null_mut();
        }
        buffer
    }

    /// A new string; null if the heap is full.
    pub(crate) fn new_string(self, text: &str) -> jobject {
        let units: Vec<u16> = text.encode_utf16().collect();
        let length = i32::try_from(units.len()).unwrap_or(0);
        let string = call!(self, v1_2.NewString(units.as_ptr(), length));
        if self.clear_exception() {
            return ptr::null_mut();
        }
        string
    }

    /// Throws an exception of this class at the Java caller of a native: the one exception to rule
    /// 2, by contract of that native.
    pub(crate) fn throw(self, class: &CStr, message: &CStr) {
        if let Some(class) = self.find_class(class) {
            let _thrown = call!(self, v1_2.ThrowNew(class, message.as_ptr()));
        }
    }

    /// An element of an array of objects; `None` for null.
    pub(crate) fn array_element(self, array: jobject, index: i32) -> Option<jobject> {
        let element = call!(self, v1_2.GetObjectArrayElement(array, index));
        (!self.clear_exception() && !element.is_null()).then_some(element)
    }

    /// Calls a static method without arguments and result. Returns whether it returned normally.
    pub(crate) fn call_static_void(self, class: jclass, method: jmethodID) -> bool {
        call!(
            self,
            v1_2.CallStaticVoidMethodA(class, method, ptr::null::<jvalue>())
        );
        !self.clear_exception()
    }

    /// Calls a static method with one `int` and no result. Returns whether it returned normally.
    pub(crate) fn call_static_void_with(
        self,
        class: jclass,
        method: jmethodID,
        number: i32,
    ) -> bool {
        let arguments = [jvalue { i: number }];
        call!(
            self,
            v1_2.CallStaticVoidMethodA(class, method, arguments.as_ptr())
        );
        !self.clear_exception()
    }

    /// Calls a static method with object arguments and an object result.
    pub(crate) fn call_static_object(
        self,
        class: jclass,
        method: jmethodID,
        arguments: &[jobject],
    ) -> Option<jobject> {
        let arguments: Vec<jvalue> = arguments.iter().map(|l| jvalue { l: *l }).collect();
        self.call_static_object_with(class, method, &arguments)
    }

    /// Calls a static method with arguments of any kind and an object result.
    pub(crate) fn call_static_object_with(
        self,
        class: jclass,
        method: jmethodID,
        arguments: &[jvalue],
    ) -> Option<jobject> {
        let result = call!(
            self,
            v1_2.CallStaticObjectMethodA(class, method, arguments.as_ptr())
        );
        (!self.clear_exception()).then_some(result)
    }

    /// Reads a `long` field.
    pub(crate) fn long_field(self, object: jobject, field: jfieldID) -> i64 {
        call!(self, v1_2.GetLongField(object, field))
    }

    /// Runs `body` in its own frame of local references, which are all deleted at its end. For
    /// functions that return a reference per class or thread.
    pub(crate) fn with_local_frame<T>(self, body: impl FnOnce() -> T) -> T {
        // More references than this still work, but `-Xcheck:jni` warns.
        const REFERENCES: i32 = 65_535;
        let pushed = call!(self, v1_2.PushLocalFrame(REFERENCES)) == JNI_OK;
        if !pushed {
            self.clear_exception();
        }
        let result = body();
        if pushed {
            call!(self, v1_2.PopLocalFrame(ptr::null_mut()));
        }
        result
    }

    /// Binds native methods of a class. Returns whether it bound all.
    pub(crate) fn register_natives(self, class: jclass, methods: &[JNINativeMethod]) -> bool {
        let count = i32::try_from(methods.len()).unwrap_or(0);
        let answer = call!(self, v1_2.RegisterNatives(class, methods.as_ptr(), count));
        !self.clear_exception() && answer == JNI_OK
    }

    /// A weak global reference; null if there is no memory for it.
    pub(crate) fn weak(self, object: jobject) -> jobject {
        call!(self, v1_2.NewWeakGlobalRef(object))
    }

    /// A local reference to the object of a weak one; `None` if it is collected.
    pub(crate) fn local(self, weak: jobject) -> Option<jobject> {
        let local = call!(self, v1_2.NewLocalRef(weak));
        (!local.is_null()).then_some(local)
    }

    /// Class of an object, as a local reference.
    pub(crate) fn class_of(self, object: jobject) -> Option<jclass> {
        let class = call!(self, v1_2.GetObjectClass(object));
        (!class.is_null()).then_some(class)
    }

    /// Deletes a weak reference.
    pub(crate) fn delete_weak(self, weak: jobject) {
        if !weak.is_null() {
            call!(self, v1_2.DeleteWeakGlobalRef(weak));
        }
    }

    /// Deletes a local reference.
    pub(crate) fn delete_local(self, local: jobject) {
        if !local.is_null() {
            call!(self, v1_2.DeleteLocalRef(local));
        }
    }
}

impl Vm {
    /// Wraps the VM that called the agent.
    ///
    /// # Safety
    /// A VM that lives as long as the process.
    pub(crate) unsafe fn new(vm: *mut JavaVM) -> Self {
        Self(vm)
    }

    /// Its pointer.
    pub(crate) fn raw(self) -> *mut JavaVM {
        self.0
    }

    fn table(self) -> &'static JNIInvokeInterface_ {
        // SAFETY: rule 4: a VM points to the pointer to its function table.
        let table = unsafe { *self.0 };
        // SAFETY: rule 4.
        unsafe { &*table }
    }

    /// The environment of the calling thread, if it is attached.
    pub(crate) fn env(self) -> Option<Jni> {
        let mut env: *mut c_void = ptr::null_mut();
        let table = self.table();
        // SAFETY: rule 4.
        let get_env = unsafe { table.v1_2.GetEnv };
        // SAFETY: rule 4; memory for the result. No handler calls this.
        let answer = unsafe { get_env(self.0, &raw mut env, jni_sys::JNI_VERSION_1_8) };
        if answer != JNI_OK {
            return None;
        }
        // SAFETY: rule 5.
        unsafe { Jni::new(env.cast()) }
    }

    /// Attaches the calling thread as a daemon: it never keeps the VM alive.
    pub(crate) fn attach_daemon(self, name: &CStr) -> Option<Jni> {
        let mut env: *mut c_void = ptr::null_mut();
        let mut arguments = jni_sys::JavaVMAttachArgs {
            version: jni_sys::JNI_VERSION_1_8,
            name: name.as_ptr().cast_mut(),
            group: ptr::null_mut(),
        };
        let table = self.table();
        // SAFETY: rule 4.
        let attach = unsafe { table.v1_4.AttachCurrentThreadAsDaemon };
        // SAFETY: rule 4; memory for the result, and arguments that the VM copies.
        let answer = unsafe { attach(self.0, &raw mut env, (&raw mut arguments).cast()) };
        if answer != JNI_OK {
            return None;
        }
        // SAFETY: rule 5.
        unsafe { Jni::new(env.cast()) }
    }

    /// Detaches the calling thread.
    pub(crate) fn detach(self) {
        let table = self.table();
        // SAFETY: rule 4.
        let detach = unsafe { table.v1_2.DetachCurrentThread };
        // SAFETY: rule 4; no effect on a thread that is not attached.
        unsafe { detach(self.0) };
    }
}

/// Text from the VM's modified UTF-8: NUL as two bytes, supplementary characters as surrogate
/// pairs. Invalid bytes become U+FFFD.
pub(crate) fn from_modified_utf8(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_owned();
    }
    let mut units: Vec<u16> = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, tail @ ..] = rest {
        let (unit, used) = match (first, tail) {
            (0..=0x7f, _) => (u16::from(*first), 1),
            (0xc0..=0xdf, [b, ..]) => ((u16::from(*first & 0x1f) << 6) | u16::from(*b & 0x3f), 2),
            (0xe0..=0xef, [b, c, ..]) => (
                (u16::from(*first & 0x0f) << 12)
                    | (u16::from(*b & 0x3f) << 6)
                    | u16::from(*c & 0x3f),
                3,
            ),
            _ => (0xfffd, 1),
        };
        units.push(unit);
        rest = rest.get(used..).unwrap_or(&[]);
    }
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::from_modified_utf8;

    #[test]
    fn modified_utf8_is_decoded() {
        assert_eq!(from_modified_utf8("plain é 日".as_bytes()), "plain é 日");
        assert_eq!(from_modified_utf8(&[b'a', 0xc0, 0x80, b'b']), "a\0b");
        assert_eq!(
            from_modified_utf8(&[0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]),
            "😀"
        );
        assert_eq!(
            from_modified_utf8(&[0xed, 0xa0, 0xbd, b'x']),
            "\u{fffd}x",
            "a lone surrogate"
        );
        assert_eq!(
            from_modified_utf8(&[0xff, 0xe1]),
            "\u{fffd}\u{fffd}",
            "garbage, cut short"
        );
    }
}
