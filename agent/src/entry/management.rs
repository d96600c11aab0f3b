//! The agent as a managed bean, `io.ctxagent:type=Agent`, once the VM has a platform server.
//!
//! Who creates that server binds native methods of `sun.management`. The VM posts these, a few
//! hundred in its life, so nothing of `java.management` is loaded where nobody uses it, and no
//! thread looks for it.

use crate::entry::natives;
use crate::jvm::jni::{Jni, LocalRef};
use crate::jvm::jvmti::Jvmti;
use crate::labels;
use crate::log;
use jni_sys::jmethodID;
use jvmti_sys::{Capability, Event};
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

const FACTORY: &CStr = c"java/lang/management/ManagementFactory";
const FACTORY_SIGNATURE: &str = "Ljava/lang/management/ManagementFactory;";
/// Packages of the native methods.
const PACKAGES: [&str; 2] = ["Lsun/management/", "Lcom/sun/management/"];
/// What the boot loader defines: an interface, and the class that implements it.
const CLASSES: [&CStr; 2] = [
    c"io/ctxagent/management/AgentMXBean",
    c"io/ctxagent/management/ManagedAgent",
];

/// Whether some thread has begun to register it.
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);

/// The VM is up. Where it refuses the event, there is no bean.
pub(crate) fn begin(jvmti: Jvmti, jni: Jni) {
    let watched = jvmti
        .add_capability(Capability::CAN_GENERATE_NATIVE_METHOD_BIND_EVENTS)
        .and_then(|()| jvmti.notify(Event::NATIVE_METHOD_BIND, true));
    if watched.is_err() {
        return;
    }
    // The server may be there already.
    jni.with_local_frame(|jni| {
        let classes = jvmti.loaded_classes(jni).unwrap_or_default();
        let is_factory = |class: &LocalRef<'_>| {
            let signature = jvmti.class_signature(class);
            signature.is_ok_and(|signature| signature == FACTORY_SIGNATURE)
        };
        if let Some(factory) = classes.iter().find(|class| is_factory(class)) {
            register_if_wanted(jvmti, *jni, factory);
        }
    });
}

/// `NativeMethodBind`, on the thread that is about to call the method.
pub(crate) fn on_native_method_bind(jvmti: Jvmti, jni: Jni, method: jmethodID) {
    let class = jvmti.declaring_class(&jni, method);
    let signature = class.and_then(|class| jvmti.class_signature(&class));
    if !signature.is_ok_and(|s| PACKAGES.iter().any(|package| s.starts_with(package))) {
        return;
    }
    jni.with_local_frame(|jni| {
        if let Some(factory) = jni.find_class(FACTORY) {
            register_if_wanted(jvmti, *jni, &factory);
        }
    });
}

/// Registers it if the server is there, or is being set up by this thread: it would not be there
/// otherwise but for a call of ours.
fn register_if_wanted(jvmti: Jvmti, jni: Jni, factory: &LocalRef<'_>) {
    let server = c"Ljavax/management/MBeanServer;";
    if !jni.has_static_object(factory, c"platformMBeanServer", server)
        || HAS_BEGUN.swap(true, Relaxed)
    {
        return;
    }
    let _ = jvmti.notify(Event::NATIVE_METHOD_BIND, false);
    if register(jni).is_none() && labels::has_classes() {
        log::warn("the MBean io.ctxagent:type=Agent cannot be registered");
    }
}

fn register(jni: Jni) -> Option<()> {
    let mut defined = None;
    for name in CLASSES {
        defined = Some(labels::define_boot_class(&jni, name)?);
    }
    let class = defined?;
    jni.register_natives(&class, &natives::methods_of_management());
    let method = jni.static_method_id(&class, c"register", c"()V")?;
    jni.call_static_void(&class, method, &[]).then_some(())
}
