//! What all natives use.

use crate::entry::agent::session;
use crate::entry::commands::Refusal;
use crate::jvm::jni::Jni;
use crate::session::components::Components;
use jni::EnvUnowned;
use jni::errors::LogErrorAndDefault;
use jni::objects::{JObjectArray, JString};
use jni::sys::jobject;
use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;

pub(crate) const NULL: jobject = ptr::null_mut();

/// Natives to be registered: name and signature in Java, function.
macro_rules! methods {
    ($($name:literal $signature:literal $function:ident;)*) => {
        vec![$(method($name, $signature, $function as *const ())),*]
    };
}
pub(super) use methods;

pub(super) fn live() -> Option<&'static Components> {
    Some(&session()?.components)
}

/// The text of a Java string; `None` after a JNI error.
pub(crate) fn text<'l>(env: &mut EnvUnowned<'l>, string: &JString<'l>) -> Option<String> {
    with_env(env, |env| string.try_to_string(env).map(Some))
}

/// The same for an array.
pub(super) fn texts<'l>(
    env: &mut EnvUnowned<'l>,
    strings: &JObjectArray<'l, JString<'l>>,
) -> Option<Vec<String>> {
    with_env(env, |env| {
        let mut texts = Vec::new();
        for index in 0..strings.len(env)? {
            texts.push(strings.get_element(env, index)?.try_to_string(env)?);
        }
        Ok(Some(texts))
    })
}

/// Runs `body` with an environment of the `jni` crate; a JNI error gives the default. That crate
/// catches panics without counting them, so this passes them to the guard.
fn with_env<'l, T: Default>(
    env: &mut EnvUnowned<'l>,
    body: impl FnOnce(&mut jni::Env<'l>) -> jni::errors::Result<T>,
) -> T {
    let mut panic = None;
    let value = env
        .with_env(|env| {
            catch_unwind(AssertUnwindSafe(|| body(env))).unwrap_or_else(|caught| {
                panic = Some(caught);
                Ok(T::default())
            })
        })
        .resolve::<LogErrorAndDefault>();
    match panic {
        Some(caught) => resume_unwind(caught),
        None => value,
    }
}

/// A native to be registered.
pub(crate) fn method(
    name: &'static CStr,
    signature: &'static CStr,
    address: *const (),
) -> jni_sys::JNINativeMethod {
    jni_sys::JNINativeMethod {
        name: name.as_ptr().cast_mut(),
        signature: signature.as_ptr().cast_mut(),
        fnPtr: address.cast_mut().cast(),
    }
}

/// What a command is for Java: its answer, or an exception.
pub(crate) fn answer(jni: Jni, outcome: Result<String, Refusal>) -> jobject {
    match outcome {
        Ok(answer) => jni.new_string(&answer).map_or(NULL, |text| text.raw()),
        Err(refusal) => {
            throw(jni, &refusal);
            NULL
        }
    }
}

fn throw(jni: Jni, refusal: &Refusal) {
    let message = jni::strings::JNIString::from(refusal.line());
    let class = match refusal {
        Refusal::Option(_) => c"java/lang/IllegalArgumentException",
        Refusal::State(_) | Refusal::Unusable(_) => c"java/lang/IllegalStateException",
    };
    jni.throw(class, message.as_cstr());
}
