//! The order of steps at load, attach, VM start and VM end. Each step is a call into its module.
//!
//! Rule for `unsafe`: (1) the environment that the VM passes to a callback is valid for the calling
//! thread during the callback.

#![expect(unsafe_code, reason = "boundary: what the VM calls")]

use crate::entry::agent::{self, Agent};
use crate::entry::callbacks;
use crate::entry::commands::{self, Refusal};
use crate::entry::event_sink;
use crate::entry::java_api;
use crate::entry::management;
use crate::entry::reply;
use crate::guard::{OnFailure, enter};
use crate::jvm::exact_inlining;
use crate::jvm::jni::{Argument, Jni, Vm};
use crate::jvm::jvmti::Jvmti;
use crate::log;
use crate::options::{self, Command, Options};
use crate::os::{copies, process, stall_tolerant};
use crate::session::Hooks;
use jni_sys::{JNIEnv, jint, jobject};
use jvmti_sys::JvmtiEnv;
use std::time::Duration;

const OK: jint = 0;
const FAILED: jint = 1;
/// Return code of an attach where the environment switches the agent off.
const SWITCHED_OFF: jint = 4;
/// A VM that starts accepts an attach before it grants an environment; so long it may take.
const START_LIMIT: Duration = Duration::from_secs(10);
/// The functions of `entry` that the session calls.
const HOOKS: Hooks = Hooks {
    mounts: callbacks::MOUNTS,
    before_recording: java_api::before_recording,
    bind_jdk_events: event_sink::bind,
};
/// Message after a load without a command.
pub(crate) const IDLE: &str = "loaded, not recording; a start begins: \
     -agentpath:LIB=start at load, or jcmd PID JVMTI.agent_load LIB start, or \
     AgentControl.execute(\"start\")";

/// `-agentpath`: parses the options, creates the environment and waits for VMInit.
pub(crate) fn on_load(vm: Vm, text: &str) -> jint {
    let answer = load(vm, text, true);
    log::settle();
    answer
}

/// `at_load`: no Java code has run yet.
fn load(vm: Vm, text: &str, at_load: bool) -> jint {
    if let Some(line) = switched_off() {
        log::answer(&line);
        return OK;
    }
    if agent::agent().is_some() {
        log::warn("loaded twice by -agentpath; the second set of options is ignored");
        return OK;
    }
    let environment = std::env::var(options::ENVIRONMENT).ok();
    let (options, is_refused) = match options::parse_with_environment(text, environment.as_deref())
    {
        Ok(options) => (options, false),
        Err(error) => {
            log::error(&format!("{error}; {}", consequence(error.strict())));
            // The agent stays loaded, so that an attach can start it with correct options.
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
    let is_idle = options.command == Command::Load && !is_refused;
    let prepared = prepare(vm, options, Duration::ZERO)
        .inspect(|agent| exact_inlining::begin(agent.jvmti, at_load));
    match prepared {
        Ok(_) if is_refused && strict => FAILED,
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
                    consequence(true)
                } else {
                    "the JVM runs without the agent"
                }
            ));
            if strict { FAILED } else { OK }
        }
    }
}

/// `-javaagent`: as `on_load`, in a VM that is up. With an agent that is loaded already, a command.
pub(crate) fn on_java_agent(vm: Vm, jni: Jni, text: &str) {
    if let Some(agent) = agent::agent() {
        if agent.session().is_some() {
            on_attach(vm, text);
        } else {
            log::warn("loaded by -agentpath, too; the options of -javaagent are ignored");
        }
        return;
    }
    java_api::set_loaded_by_java();
    let code = load(vm, text, false);
    if let (Some(agent), OK) = (agent::agent(), code) {
        start(agent, jni);
        java_api::announce(agent.jvmti, jni);
    }
    log::settle();
    if code != OK {
        end_jvm(jni);
    }
}

/// `AgentControl` has loaded the library: as an attach, with the answer for the caller.
pub(crate) fn on_java_attach(vm: Vm, text: &str) -> Result<String, Refusal> {
    if let Some(line) = switched_off() {
        return Ok(line);
    }
    if agent::agent().is_none() {
        java_api::set_loaded_by_java();
    }
    let answer = commands::for_code(text, attach(vm, text));
    log::settle();
    answer
}

/// Attach: the first one loads the agent into the running VM; a later one is a command.
pub(crate) fn on_attach(vm: Vm, text: &str) -> jint {
    let (text, file) = reply::split(text);
    let (code, answer) = if let Some(line) = switched_off() {
        (SWITCHED_OFF, Ok(line))
    } else {
        match attach(vm, text) {
            Ok(answer) => (OK, Ok(answer)),
            Err(refusal) => (refusal.code(), Err(refusal.line())),
        }
    };
    reply::deliver(&answer, file);
    log::settle();
    code
}

/// A line if the environment switches the agent off, whatever the command line says.
fn switched_off() -> Option<String> {
    let is_off = std::env::var(options::KILL_SWITCH)
        .is_ok_and(|value| !["", "0", "false"].contains(&value.as_str()));
    is_off.then(|| format!("switched off by {}", options::KILL_SWITCH))
}

fn attach(vm: Vm, text: &str) -> Result<String, Refusal> {
    if let Some(agent) = agent::agent() {
        return commands::execute(agent, text);
    }
    let options = commands::parse_with_environment(text)
        .map_err(|error| Refusal::Option(error.to_string()))?;
    log::configure(&options, |_| true)
        .map_err(|why| Refusal::Option(format!("{why}; nothing was done")))?;
    let (agent, jni) = first_attach(vm, &options).map_err(Refusal::Unusable)?;
    java_api::announce(agent.jvmti, jni);
    let answer = match options.command {
        Command::Load => Ok(IDLE.into()),
        _ => commands::run(agent, &options),
    };
    // Again, for classes that began to use the API meanwhile and found no natives.
    java_api::announce(agent.jvmti, jni);
    answer
}

/// Loads the agent into a running VM.
fn first_attach(vm: Vm, options: &Options) -> Result<(&'static Agent, Jni), String> {
    let jni = vm
        .env()
        .ok_or("the attaching thread is not known to the JVM")?;
    let agent = prepare(vm, options.clone(), START_LIMIT)?;
    exact_inlining::begin(agent.jvmti, false);
    agent.go_live(HOOKS, jni)?;
    management::begin(agent.jvmti, jni);
    Ok((agent, jni))
}

/// Creates environment, callbacks and the global agent, for load and attach. The VM has an
/// environment for us within `limit`.
fn prepare(vm: Vm, options: Options, limit: Duration) -> Result<&'static Agent, String> {
    // First, because even an unused environment makes each switch of a virtual thread slower.
    if let Some(line) = other_copy() {
        return Err(line);
    }
    let jvmti = stall_tolerant::first_value(limit, || Jvmti::new(vm.raw()).ok())
        .ok_or("this JVM gives no JVMTI environment")?;
    let created = jvmti
        .add_capabilities()
        .map_err(|error| {
            format!("this JVM refuses the capabilities for line numbers and GC events: {error}")
        })
        .and_then(|()| {
            let agent = agent::create(vm, jvmti, options);
            agent.ok_or_else(|| "the agent is already loaded in this JVM".into())
        });
    let agent = created.inspect_err(|_| jvmti.dispose())?;
    copies::mark_active();
    callbacks::install(jvmti, vm_init, vm_death)
        .map_err(|error| format!("this JVM refuses the event callbacks: {error}"))?;
    Ok(agent)
}

/// A line if another copy of this library is the agent of the process.
pub(crate) fn other_copy() -> Option<String> {
    let path = copies::active_copy()?;
    Some(format!(
        "another copy of the agent, {path}, is active in this process"
    ))
}

unsafe extern "system" fn vm_init(_: JvmtiEnv, env: *mut JNIEnv, _: jobject) {
    enter(OnFailure::DisableAgent, "VMInit", (), || {
        // SAFETY: rule 1.
        if let Some(jni) = unsafe { Jni::new(env) } {
            on_vm_init(jni);
        }
    });
}

unsafe extern "system" fn vm_death(_: JvmtiEnv, _: *mut JNIEnv) {
    enter(OnFailure::IgnoreAndCount, "VMDeath", (), on_end);
}

/// VMInit: the VM is up, on its main thread. An agent that `-javaagent` has started meanwhile gets
/// it, too.
fn on_vm_init(jni: Jni) {
    if let Some(agent) = agent::agent().filter(|agent| agent.session().is_none()) {
        start(agent, jni);
        log::settle();
    }
}

fn start(agent: &'static Agent, jni: Jni) {
    let Err(line) = go_live(agent, jni) else {
        return;
    };
    let strict = agent.options.strict;
    log::error(&format!("{line}; {}", consequence(strict)));
    if strict {
        log::settle();
        end_jvm(jni);
    }
}

/// The consequence of a failure to record, for the message.
pub(crate) fn consequence(strict: bool) -> &'static str {
    if strict {
        "the JVM ends (strict=true)"
    } else {
        "the JVM runs without recording"
    }
}

fn go_live(agent: &'static Agent, jni: Jni) -> Result<(), String> {
    agent.go_live(HOOKS, jni)?;
    management::begin(agent.jvmti, jni);
    java_api::prepare(agent.vm, agent.jvmti, jni, agent.options.signal.number());
    if agent.options.command == Command::Load {
        return Ok(());
    }
    match commands::run(agent, &agent.options) {
        Ok(answer) if agent.options.command == Command::Start => log::notice(&answer),
        Ok(answer) => log::answer(&answer),
        Err(refusal) => return Err(refusal.line()),
    }
    Ok(())
}

/// Ends the JVM before `main` as Java would, with code 1. Shutdown hooks of code that ran before
/// `main` (a Java agent) run.
fn end_jvm(jni: Jni) -> ! {
    if let Some(system) = jni.find_class(c"java/lang/System")
        && let Some(exit) = jni.static_method_id(&system, c"exit", c"(I)V")
    {
        jni.call_static_void(&system, exit, &[Argument::Int(FAILED)]);
    }
    process::end(FAILED) // only if `System.exit` failed
}

/// VMDeath, the last moment at which the VM can resolve names. Also unload, which follows VMDeath,
/// or replaces it when the VM failed to start.
pub(crate) fn on_end() {
    java_api::end();
    if let Some(session) = agent::session() {
        session.end_with_vm();
    }
    log::settle();
}
