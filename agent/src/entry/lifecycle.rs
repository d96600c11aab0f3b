//! What happens at load, attach, VM start and VM end: the order of the steps, each a call into its module.

#![expect(unsafe_code, reason = "boundary: what the VM calls")]

use crate::entry::agent::{self, Agent};
use crate::entry::callbacks;
use crate::entry::commands::{self, Refusal};
use crate::entry::java_api;
use crate::guard::{OnFailure, enter};
use crate::jvm::jni::{Jni, Vm};
use crate::jvm::jvmti::Jvmti;
use crate::log;
use crate::options::{self, Command, Options};
use crate::os::{copies, process};
use crate::session::Hooks;
use fault_injection::Fault;
use jni_sys::{JNIEnv, jint, jobject};
use jvmti_sys::JvmtiEnv;

const OK: jint = 0;
const FAILED: jint = 1;
/// Answer to an attach where the environment switches the agent off.
const SWITCHED_OFF: jint = 4;
/// What the session calls here.
const HOOKS: Hooks = Hooks {
    mounts: callbacks::MOUNTS,
    before_recording: java_api::before_recording,
};
/// Said when the agent is loaded without a command.
pub(crate) const IDLE: &str = "loaded, not recording; a start begins: -agentpath:LIB=start at load, or jcmd PID JVMTI.agent_load LIB start, or AgentControl.execute(\"start\")";

/// `-agentpath`: parse, make the environment, wait for the VM.
pub(crate) fn on_load(vm: Vm, text: &str) -> jint {
    let answer = load(vm, text);
    log::settle();
    answer
}

fn load(vm: Vm, text: &str) -> jint {
    fault_injection::choose_from_environment();
    if switched_off() {
        return OK;
    }
    if agent::agent().is_some() {
        log::warn("loaded twice by -agentpath; the second set of options is ignored");
        return OK;
    }
    let environment = std::env::var(options::ENVIRONMENT).ok();
    let (options, refused) = match options::parse_with_environment(text, environment.as_deref()) {
        Ok(options) => (options, false),
        Err(error) => {
            log::error(&format!("{error}; {}", what_follows(error.strict())));
            // The agent stays loaded, so that a right `start` can follow by attach.
            (
                Options {
                    strict: error.strict(),
                    ..Options::default()
                },
                true,
            )
        }
    };
    log::configure_load(&options);
    let strict = options.strict;
    let is_idle = options.command == Command::Load && !refused;
    match prepare(vm, options) {
        Ok(_) if refused && (strict || fault_injection::is(Fault::BadOptionEndsJvm)) => FAILED,
        Ok(_) => {
            if is_idle {
                log::notice(IDLE);
            }
            OK
        }
        Err(line) => {
            log::error(&format!(
                "{line}; {}",
                if strict {
                    what_follows(true)
                } else {
                    "the JVM runs without the agent"
                }
            ));
            if strict { FAILED } else { OK }
        }
    }
}

/// Attach: the first time as `on_load` in a VM that is up, later a command to the agent that is there.
pub(crate) fn on_attach(vm: Vm, text: &str) -> jint {
    if switched_off() {
        log::settle();
        return SWITCHED_OFF;
    }
    let attached = attach(vm, text);
    match &attached {
        Ok(answer) if answer.is_empty() => {}
        Ok(answer) => log::answer(answer),
        Err(refusal) => log::error(&refusal.line()),
    }
    log::settle();
    attached.map_or_else(|refusal| refusal.code(), |_| OK)
}

/// Whether the environment says that the agent must do nothing at all, whatever the command line says. Told in one line.
fn switched_off() -> bool {
    let off = std::env::var(options::KILL_SWITCH)
        .is_ok_and(|value| !["", "0", "false"].contains(&value.as_str()));
    if off {
        log::answer(&format!("switched off by {}", options::KILL_SWITCH));
    }
    off
}

fn attach(vm: Vm, text: &str) -> Result<String, Refusal> {
    if let Some(agent) = agent::agent() {
        return commands::execute(agent, text);
    }
    let environment = std::env::var(options::ENVIRONMENT).ok();
    let options = options::parse_with_environment(text, environment.as_deref())
        .map_err(|error| Refusal::Option(error.to_string()))?;
    log::configure(&options, |_| true)
        .map_err(|why| Refusal::Option(format!("{why}; nothing was done")))?;
    let (agent, jni) = first_attach(vm, &options).map_err(Refusal::Unusable)?;
    java_api::announce(agent.jvmti, jni);
    let answer = match options.command {
        Command::Load => Ok(IDLE.into()),
        _ => commands::run(agent, &options),
    };
    // Once more: what began to use the API meanwhile found no natives.
    java_api::announce(agent.jvmti, jni);
    answer
}

/// The agent in a VM that is up already.
fn first_attach(vm: Vm, options: &Options) -> Result<(&'static Agent, Jni), String> {
    let jni = vm
        .env()
        .ok_or("the attaching thread is not known to the JVM")?;
    let agent = prepare(vm, options.clone())?;
    let thread = current_thread(jni).ok_or("the attaching thread has no Java object")?;
    agent.go_live(HOOKS, jni, thread)?;
    Ok((agent, jni))
}

/// The environment, the callbacks, the global agent. Common to load and attach.
fn prepare(vm: Vm, options: Options) -> Result<&'static Agent, String> {
    // First: an environment that nobody uses would cost each switch of a virtual thread as well.
    if let Some(path) = copies::active_copy() {
        return Err(format!(
            "another copy of the agent, {path}, is active in this process"
        ));
    }
    let jvmti = Jvmti::new(vm.raw())
        .map_err(|error| format!("this JVM gives no JVMTI environment: {error}"))?;
    let made = jvmti
        .add_capabilities()
        .map_err(|error| {
            format!("this JVM refuses the capabilities for line numbers and GC events: {error}")
        })
        .and_then(|()| {
            let made = agent::create(vm, jvmti, options);
            made.ok_or_else(|| "the agent is already loaded in this JVM".into())
        });
    let agent = made.inspect_err(|_| jvmti.dispose())?;
    copies::mark_active();
    callbacks::install(jvmti, vm_init, vm_death)
        .map_err(|error| format!("this JVM refuses the event callbacks: {error}"))?;
    Ok(agent)
}

unsafe extern "system" fn vm_init(_: JvmtiEnv, env: *mut JNIEnv, thread: jobject) {
    enter(OnFailure::DisableAgent, "VMInit", (), || {
        // SAFETY: the VM's own environment for this call.
        if let Some(jni) = unsafe { Jni::new(env) } {
            on_vm_init(jni, thread);
        }
    });
}

unsafe extern "system" fn vm_death(_: JvmtiEnv, _: *mut JNIEnv) {
    enter(OnFailure::IgnoreAndCount, "VMDeath", (), on_end);
}

/// VMInit: the VM is up, on its main thread.
fn on_vm_init(jni: Jni, thread: jobject) {
    if let Some(agent) = agent::agent() {
        begin(agent, jni, thread);
        log::settle();
    }
}

fn begin(agent: &'static Agent, jni: Jni, thread: jobject) {
    let Err(line) = begun(agent, jni, thread) else {
        return;
    };
    let strict = agent.options.strict;
    log::error(&format!("{line}; {}", what_follows(strict)));
    if strict {
        log::settle();
        end_jvm(jni);
    }
}

/// What a failure to record means for the JVM.
pub(crate) fn what_follows(strict: bool) -> &'static str {
    if strict {
        "the JVM ends (strict=true)"
    } else {
        "the JVM runs without recording"
    }
}

fn begun(agent: &'static Agent, jni: Jni, thread: jobject) -> Result<(), String> {
    agent.go_live(HOOKS, jni, thread)?;
    java_api::prepare(agent.vm, agent.jvmti, agent.options.signal.number());
    if agent.options.command == Command::Load {
        return Ok(());
    }
    match commands::run(agent, &agent.options) {
        Ok(answer) if agent.options.command == Command::Start => log::notice(&answer),
        Ok(answer) => log::answer(&answer),
        Err(_) if fault_injection::is(Fault::FailedStartEndsJvm) => std::process::abort(),
        Err(refusal) => return Err(refusal.line()),
    }
    Ok(())
}

/// The JVM is up, its `main` has not begun: ends it as Java would, with code 1. Code that came before `main` (a Java agent's) has its shutdown hooks run.
fn end_jvm(jni: Jni) -> ! {
    if let Some(system) = jni.find_class(c"java/lang/System")
        && let Some(exit) = jni.static_method_id(system, c"exit", c"(I)V")
    {
        jni.call_static_void_with(system, exit, FAILED);
    }
    process::end(FAILED) // only if that was refused
}

/// VMDeath: the last moment at which Java can be asked for names. And unload: after it, or instead of it when the VM failed to start.
pub(crate) fn on_end() {
    java_api::end();
    if let Some(session) = agent::session() {
        session.end_with_vm();
    }
    log::settle();
}

fn current_thread(jni: Jni) -> Option<jobject> {
    let class = jni.find_class(c"java/lang/Thread")?;
    let method = jni.static_method_id(class, c"currentThread", c"()Ljava/lang/Thread;")?;
    jni.call_static_object(class, method, &[])
        .filter(|thread| !thread.is_null())
}
