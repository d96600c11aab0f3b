#![doc = include_str!("../README.md")]
//!
//! # Map
//!
//! | module | holds |
//! |---|---|
//! | [`env`](mod@env) | [`JvmtiEnv`] and the table of functions |
//! | [`methods`] | one method of [`JvmtiEnv`] for each function |
//! | [`function`] | [`Function`]: every function number with its name in the specification |
//! | [`event`] | [`Event`], [`EventCallbacks`] and the types of the callbacks |
//! | [`capability`] | [`Capability`] and the 16 bytes [`Capabilities`] |
//! | [`error`] | [`JvmtiError`]: codes and names |
//! | [`types`] | plain structures and small numbers: [`Phase`], [`ThreadInfo`], [`LineNumberEntry`], … |

pub mod capability;
pub mod env;
pub mod error;
pub mod event;
pub mod function;
pub mod methods;
pub mod types;

pub use capability::{Capabilities, Capability};
pub use env::{FunctionTable, JvmtiEnv};
pub use error::JvmtiError;
pub use event::{Event, EventCallbacks};
pub use function::Function;
pub use jni_sys;
pub use types::*;
