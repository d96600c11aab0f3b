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
//! 6. A [`LocalRef`] is what the VM has returned or passed to the calling thread. It borrows the
//!    environment, so it ends with the callback, the native or the frame that the environment was
//!    made for.
//! 7. The holder of a [`WeakRef`] deletes it once, and nobody uses a copy afterwards.

#![expect(unsafe_code, reason = "boundary to JVMTI and JNI")]

use jni::EnvUnowned;
use jni::objects::JObject;
use jni_sys::{
    JNI_OK, JNIEnv, JNIInvokeInterface_, JNINativeInterface_, JNINativeMethod, JavaVM, jfieldID,
    jmethodID, jobject, jvalue,
};
use std::ffi::{CStr, c_void};
use std::marker::PhantomData;
use std::ptr;

/// The environment of the calling thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Jni(*mut JNIEnv);

/// A local reference to an object, never null (rule 6).
#[derive(Debug)]
pub(crate) struct LocalRef<'e>(jobject, PhantomData<&'e Jni>);

impl<'e> LocalRef<'e> {
    /// Wraps a reference; `None` for null.
    ///
    /// # Safety
    /// Null, or a local reference of the calling thread, whose environment is `_env`. It is valid
    /// as long as `'e`, or until it is given to [`Jni::delete_local`].
    pub(crate) unsafe fn new(_env: &'e Jni, object: jobject) -> Option<Self> {
        (!object.is_null()).then_some(Self(object, PhantomData))
    }

    /// An argument of a native, which only the VM creates.
    pub(crate) fn of_native(env: &'e Jni, object: &'e JObject<'_>) -> Option<Self> {
        // SAFETY: rule 6; the type says so.
        unsafe { Self::new(env, object.as_raw().cast()) }
    }

    /// Its pointer, for JVMTI, or to be returned to Java.
    pub(crate) fn raw(&self) -> jobject {
        self.0
    }
}

/// A weak global reference to an object, or none (rule 7).
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeakRef(usize);

impl WeakRef {
    pub(crate) const NONE: Self = Self(0);

    fn raw(self) -> jobject {
        ptr::with_exposed_provenance_mut(self.0)
    }
}

/// An argument of a Java method.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Argument<'a> {
    Null,
    Object(&'a LocalRef<'a>),
    Boolean(bool),
    Int(i32),
    Long(i64),
}

impl Argument<'_> {
    fn raw(self) -> jvalue {
        match self {
            Self::Null => jvalue { l: ptr::null_mut() },
            Self::Object(object) => jvalue { l: object.0 },
            Self::Boolean(z) => jvalue { z },
            Self::Int(i) => jvalue { i },
            Self::Long(j) => jvalue { j },
        }
    }
}

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

/// Calls a function that returns a new local reference and can throw; `None` for null and if it
/// threw.
macro_rules! call_for_object {
    ($env:ident, $version:ident . $function:ident ( $($arg:expr),* )) => {{
        let object = call!($env, $version.$function($($arg),*));
        let has_thrown = $env.clear_exception();
        // SAFETY: rule 6.
        let object = unsafe { LocalRef::new($env, object) };
        object.filter(|_| !has_thrown)
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

    /// The calling thread.
    pub(crate) fn current_thread(&self) -> Option<LocalRef<'_>> {
        let class = self.find_class(c"java/lang/Thread")?;
        let method = self.static_method_id(&class, c"currentThread", c"()Ljava/lang/Thread;")?;
        self.call_static_object(&class, method, &[])
    }

    /// The id of a method of the JDK.
    pub(crate) fn some_method_id(self) -> Option<usize> {
        let class = self.find_class(c"java/lang/Thread")?;
        let method = self.static_method_id(&class, c"currentThread", c"()Ljava/lang/Thread;");
        self.delete_local(class);
        method.map(<*mut _>::expose_provenance)
    }

    /// A class by name with slashes, through the boot or system loader.
    pub(crate) fn find_class(&self, name: &CStr) -> Option<LocalRef<'_>> {
        call_for_object!(self, v1_2.FindClass(name.as_ptr()))
    }

    /// A class by name with dots, through a loader; `None` is the boot loader.
    pub(crate) fn class_of_loader(
        &self,
        name: &str,
        initialise: bool,
        loader: Option<&LocalRef<'_>>,
    ) -> Option<LocalRef<'_>> {
        let class = self.find_class(c"java/lang/Class")?;
        let signature = c"(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;";
        let for_name = self.static_method_id(&class, c"forName", signature)?;
        let name = self.new_string(name)?;
        let loader = loader.map_or(Argument::Null, Argument::Object);
        let arguments = [
            Argument::Object(&name),
            Argument::Boolean(initialise),
            loader,
        ];
        let found = self.call_static_object(&class, for_name, &arguments);
        self.delete_local(name);
        self.delete_local(class);
        found
    }

    /// A new class of the boot loader, from the bytes of its class file.
    pub(crate) fn define_boot_class(&self, name: &CStr, bytes: &[u8]) -> Option<LocalRef<'_>> {
        self.define_class(None, name, bytes)
    }

    /// A new class of a loader; `None` is the boot loader.
    pub(crate) fn define_class(
        &self,
        loader: Option<&LocalRef<'_>>,
        name: &CStr,
        bytes: &[u8],
    ) -> Option<LocalRef<'_>> {
        let length = i32::try_from(bytes.len()).ok()?;
        let loader = loader.map_or(ptr::null_mut(), LocalRef::raw);
        let (name, bytes) = (name.as_ptr(), bytes.as_ptr().cast());
        call_for_object!(self, v1_2.DefineClass(name, loader, bytes, length))
    }

    /// An instance field.
    pub(crate) fn field_id(
        self,
        class: &LocalRef<'_>,
        name: &CStr,
        signature: &CStr,
    ) -> Option<jfieldID> {
        let field = call!(
            self,
            v1_2.GetFieldID(class.0, name.as_ptr(), signature.as_ptr())
        );
        (!self.clear_exception() && !field.is_null()).then_some(field)
    }

    /// A static method.
    pub(crate) fn static_method_id(
        self,
        class: &LocalRef<'_>,
        name: &CStr,
        signature: &CStr,
    ) -> Option<jmethodID> {
        let method = call!(
            self,
            v1_2.GetStaticMethodID(class.0, name.as_ptr(), signature.as_ptr())
        );
        (!self.clear_exception() && !method.is_null()).then_some(method)
    }

    /// An instance method.
    pub(crate) fn method_id(
        self,
        class: &LocalRef<'_>,
        name: &CStr,
        signature: &CStr,
    ) -> Option<jmethodID> {
        let method = call!(
            self,
            v1_2.GetMethodID(class.0, name.as_ptr(), signature.as_ptr())
        );
        (!self.clear_exception() && !method.is_null()).then_some(method)
    }

    /// Calls an instance method without arguments that returns an object; `None` for null and if it
    /// threw.
    pub(crate) fn call_object(
        &self,
        object: &LocalRef<'_>,
        method: jmethodID,
    ) -> Option<LocalRef<'_>> {
        call_for_object!(self, v1_2.CallObjectMethodA(object.0, method, ptr::null()))
    }

    /// Calls a static method without arguments that returns a boolean; `false` if it threw.
    pub(crate) fn call_static_boolean(self, class: &LocalRef<'_>, method: jmethodID) -> bool {
        let result = call!(
            self,
            v1_2.CallStaticBooleanMethodA(class.0, method, ptr::null())
        );
        !self.clear_exception() && result
    }

    /// Calls a static method that returns a `long`; 0 if it threw.
    pub(crate) fn call_static_long(
        self,
        class: &LocalRef<'_>,
        method: jmethodID,
        arguments: &[Argument<'_>],
    ) -> i64 {
        let arguments: Vec<jvalue> = arguments.iter().map(|it| it.raw()).collect();
        let result = call!(
            self,
            v1_2.CallStaticLongMethodA(class.0, method, arguments.as_ptr())
        );
        if self.clear_exception() { 0 } else { result }
    }

    /// Length of an array.
    pub(crate) fn array_length(self, array: &LocalRef<'_>) -> i32 {
        call!(self, v1_2.GetArrayLength(array.0))
    }

    /// A new array of longs; `None` if the heap is full.
    pub(crate) fn new_long_array(&self, numbers: &[i64]) -> Option<LocalRef<'_>> {
        let length = i32::try_from(numbers.len()).ok()?;
        let array = call_for_object!(self, v1_2.NewLongArray(length))?;
        call!(
            self,
            v1_2.SetLongArrayRegion(array.0, 0, length, numbers.as_ptr())
        );
        Some(array)
    }

    /// A new array of ints; `None` if the heap is full.
    pub(crate) fn new_int_array(&self, numbers: &[i32]) -> Option<LocalRef<'_>> {
        let length = i32::try_from(numbers.len()).ok()?;
        let array = call_for_object!(self, v1_2.NewIntArray(length))?;
        call!(
            self,
            v1_2.SetIntArrayRegion(array.0, 0, length, numbers.as_ptr())
        );
        Some(array)
    }

    /// A new array of bytes; `None` if the heap is full.
    pub(crate) fn new_byte_array(&self, bytes: &[u8]) -> Option<LocalRef<'_>> {
        let length = i32::try_from(bytes.len()).ok()?;
        let array = call_for_object!(self, v1_2.NewByteArray(length))?;
        let bytes = bytes.as_ptr().cast();
        call!(self, v1_2.SetByteArrayRegion(array.0, 0, length, bytes));
        Some(array)
    }

    /// A new direct buffer over memory that stays mapped; `None` if the heap is full.
    pub(crate) fn new_direct_buffer(&self, base: *mut u8, length: usize) -> Option<LocalRef<'_>> {
        let length = i64::try_from(length).ok()?;
        let base = base.cast::<c_void>();
        call_for_object!(self, v1_4.NewDirectByteBuffer(base, length))
    }

    /// A new string; `None` if the heap is full.
    pub(crate) fn new_string(&self, text: &str) -> Option<LocalRef<'_>> {
        let units: Vec<u16> = text.encode_utf16().collect();
        let length = i32::try_from(units.len()).ok()?;
        call_for_object!(self, v1_2.NewString(units.as_ptr(), length))
    }

    /// The characters of a string.
    pub(crate) fn text(self, string: &LocalRef<'_>) -> String {
        let length = call!(self, v1_2.GetStringLength(string.0));
        let mut units = vec![0; usize::try_from(length).unwrap_or(0)];
        call!(
            self,
            v1_2.GetStringRegion(string.0, 0, length, units.as_mut_ptr())
        );
        String::from_utf16_lossy(&units)
    }

    /// Throws an exception of this class at the Java caller of a native: the one exception to rule
    /// 2, by contract of that native.
    pub(crate) fn throw(self, class: &CStr, message: &CStr) {
        if let Some(class) = self.find_class(class) {
            let _thrown = call!(self, v1_2.ThrowNew(class.0, message.as_ptr()));
        }
    }

    /// An element of an array of objects; `None` for null.
    pub(crate) fn array_element(&self, array: &LocalRef<'_>, index: i32) -> Option<LocalRef<'_>> {
        call_for_object!(self, v1_2.GetObjectArrayElement(array.0, index))
    }

    /// Calls a static method without result. Returns whether it returned normally.
    pub(crate) fn call_static_void(
        self,
        class: &LocalRef<'_>,
        method: jmethodID,
        arguments: &[Argument<'_>],
    ) -> bool {
        let arguments: Vec<jvalue> = arguments.iter().map(|it| it.raw()).collect();
        call!(
            self,
            v1_2.CallStaticVoidMethodA(class.0, method, arguments.as_ptr())
        );
        !self.clear_exception()
    }

    /// Calls a static method that returns an object; `None` for null and if it threw.
    pub(crate) fn call_static_object(
        &self,
        class: &LocalRef<'_>,
        method: jmethodID,
        arguments: &[Argument<'_>],
    ) -> Option<LocalRef<'_>> {
        let arguments: Vec<jvalue> = arguments.iter().map(|it| it.raw()).collect();
        let arguments = arguments.as_ptr();
        call_for_object!(
            self,
            v1_2.CallStaticObjectMethodA(class.0, method, arguments)
        )
    }

    /// Reads a static `int` field; `None` if the class has none of this name.
    pub(crate) fn static_int(self, class: &LocalRef<'_>, name: &CStr) -> Option<i32> {
        let field = call!(
            self,
            v1_2.GetStaticFieldID(class.0, name.as_ptr(), c"I".as_ptr())
        );
        if self.clear_exception() || field.is_null() {
            return None;
        }
        Some(call!(self, v1_2.GetStaticIntField(class.0, field)))
    }

    /// Whether a static field holds an object; `false` if the class has none of this name and type.
    pub(crate) fn has_static_object(
        self,
        class: &LocalRef<'_>,
        name: &CStr,
        signature: &CStr,
    ) -> bool {
        let field = call!(
            self,
            v1_2.GetStaticFieldID(class.0, name.as_ptr(), signature.as_ptr())
        );
        if self.clear_exception() || field.is_null() {
            return false;
        }
        let object = call!(self, v1_2.GetStaticObjectField(class.0, field));
        // SAFETY: rule 6.
        let object = unsafe { LocalRef::new(&self, object) };
        object.map(|object| self.delete_local(object)).is_some()
    }

    /// Whether an object is an instance of a class.
    pub(crate) fn is_instance(self, object: &LocalRef<'_>, class: &LocalRef<'_>) -> bool {
        call!(self, v1_2.IsInstanceOf(object.0, class.0))
    }

    /// Reads a field that holds an object; `None` for null.
    pub(crate) fn object_field(
        &self,
        object: &LocalRef<'_>,
        field: jfieldID,
    ) -> Option<LocalRef<'_>> {
        let object = call!(self, v1_2.GetObjectField(object.0, field));
        // SAFETY: rule 6.
        unsafe { LocalRef::new(self, object) }
    }

    /// Reads an `int` field.
    pub(crate) fn int_field(self, object: &LocalRef<'_>, field: jfieldID) -> i32 {
        call!(self, v1_2.GetIntField(object.0, field))
    }

    /// Reads a `long` field.
    pub(crate) fn long_field(self, object: &LocalRef<'_>, field: jfieldID) -> i64 {
        call!(self, v1_2.GetLongField(object.0, field))
    }

    /// Runs `body` in its own frame of local references, which are all deleted at its end. For
    /// functions that return a reference per class or thread. `body` uses only the environment
    /// that it gets: its references end with the frame.
    pub(crate) fn with_local_frame<T>(self, body: impl FnOnce(&Self) -> T) -> T {
        // More references than this still work, but `-Xcheck:jni` warns.
        const REFERENCES: i32 = 65_535;
        let pushed = call!(self, v1_2.PushLocalFrame(REFERENCES)) == JNI_OK;
        if !pushed {
            self.clear_exception();
        }
        let result = body(&Self(self.0));
        if pushed {
            call!(self, v1_2.PopLocalFrame(ptr::null_mut()));
        }
        result
    }

    /// Binds native methods of a class. Returns whether it bound all.
    pub(crate) fn register_natives(
        self,
        class: &LocalRef<'_>,
        methods: &[JNINativeMethod],
    ) -> bool {
        let count = i32::try_from(methods.len()).unwrap_or(0);
        let answer = call!(self, v1_2.RegisterNatives(class.0, methods.as_ptr(), count));
        !self.clear_exception() && answer == JNI_OK
    }

    /// The VM of the calling thread.
    pub(crate) fn vm(self) -> Option<Vm> {
        let mut vm = ptr::null_mut();
        let answer = call!(self, v1_1.GetJavaVM(&raw mut vm));
        (answer == JNI_OK && !vm.is_null()).then_some(Vm(vm))
    }

    /// A weak global reference; none if there is no memory for it.
    pub(crate) fn weak(self, object: &LocalRef<'_>) -> WeakRef {
        WeakRef(call!(self, v1_2.NewWeakGlobalRef(object.0)).expose_provenance())
    }

    /// A local reference to the object of a weak one; `None` if it is collected.
    pub(crate) fn local(&self, weak: WeakRef) -> Option<LocalRef<'_>> {
        let local = call!(self, v1_2.NewLocalRef(weak.raw()));
        // SAFETY: rule 6.
        unsafe { LocalRef::new(self, local) }
    }

    /// Whether a weak reference is one to this object.
    pub(crate) fn is_same(self, weak: WeakRef, object: &LocalRef<'_>) -> bool {
        call!(self, v1_2.IsSameObject(weak.raw(), object.0))
    }

    /// Class of an object.
    pub(crate) fn class_of(&self, object: &LocalRef<'_>) -> Option<LocalRef<'_>> {
        let class = call!(self, v1_2.GetObjectClass(object.0));
        // SAFETY: rule 6.
        unsafe { LocalRef::new(self, class) }
    }

    /// Deletes a weak reference.
    pub(crate) fn delete_weak(self, weak: WeakRef) {
        if weak.0 != 0 {
            call!(self, v1_2.DeleteWeakGlobalRef(weak.raw()));
        }
    }

    /// Deletes a local reference.
    #[expect(clippy::needless_pass_by_value, reason = "it is invalid afterwards")]
    pub(crate) fn delete_local(self, local: LocalRef<'_>) {
        call!(self, v1_2.DeleteLocalRef(local.0));
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
