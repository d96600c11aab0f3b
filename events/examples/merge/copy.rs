//! One event at a time from an open chunk to the new file, with keys and ticks of that.

use std::collections::BTreeMap;
use std::error::Error;

use ctxagent_events::{
    Allocation, GcPhasePause, JfrClock, LateLabel, Mark, MonitorEnter, ProfileEvents as _, Sample,
    Scope, WallSample,
};
use jfr_format::read::{self, Event, ParsedChunk, PoolRef, Value};
use jfr_format::write::{
    AttributeKey, ClassKey, Context, FileStorage, Frame, FrameKind, Method, Recording, StackKey,
    StackTrace, Thread, ThreadGroupKey, ThreadKey, Ticks,
};
use schema::counter::{Class, Counter};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What [`Copier::event`] takes over.
pub(crate) const COPIED: [&str; 10] = [
    "jdk.ExecutionSample",
    "profiler.WallClockSample",
    "jdk.ObjectAllocationSample",
    "jdk.JavaMonitorEnter",
    "jdk.GCPhasePause",
    "ctxagent.Stats",
    "ctxagent.LateLabel",
    "ctxagent.Scope",
    "ctxagent.JfrClock",
    "ctxagent.Mark",
];

/// Who, where and under which context: what most events have.
struct Common {
    at: Ticks,
    thread: ThreadKey,
    stack: StackKey,
    context: Context,
}

pub(crate) struct Copier {
    pub(crate) out: Recording<FileStorage>,
    /// Start of the new file.
    start_nanos: i64,
    /// Totals of counters over all parts, by name.
    totals: BTreeMap<String, i64>,
}

impl Copier {
    pub(crate) fn new(out: Recording<FileStorage>, start_nanos: i64) -> Self {
        Self {
            out,
            start_nanos,
            totals: BTreeMap::new(),
        }
    }

    pub(crate) fn ticks(&self, nanos: i64) -> Ticks {
        let since = nanos.saturating_sub(self.start_nanos).max(0);
        Ticks(since.cast_unsigned() / Ticks::NANOS)
    }

    /// Writes an event of one of the types of [`COPIED`]; gives back when it was.
    pub(crate) fn event(&mut self, open: &ParsedChunk<'_>, event: &Event<'_>) -> Result<Ticks> {
        // The values of a late label are fields of its own.
        let has_context = &*event.ty().name != "ctxagent.LateLabel";
        let sample = open.sample(event)?.filter(|_| has_context);
        let common = self.common(event, sample.as_ref())?;
        let Common { at, thread, .. } = common;
        match &*event.ty().name {
            "jdk.ExecutionSample" => self.execution_sample(&common, sample),
            "profiler.WallClockSample" => self.wall_sample(&common, sample),
            "jdk.ObjectAllocationSample" => {
                let allocation = self.allocation(&common, event)?;
                self.out.allocation_sample(&allocation);
            }
            "jdk.JavaMonitorEnter" => self.monitor_enter(&common, event)?,
            "jdk.GCPhasePause" => self.out.gc_phase_pause(&GcPhasePause {
                at,
                duration: ticks(event, "duration")?,
                thread,
                gc_id: number(event, "gcId")?,
                name: &text(event, "name")?,
            }),
            "ctxagent.Stats" => self.stat(at, event)?,
            "ctxagent.LateLabel" => self.late_label(&common, event)?,
            "ctxagent.Scope" => self.scope(&common, event)?,
            "ctxagent.JfrClock" => self.out.jfr_clock(&JfrClock {
                at,
                nanos: unsigned(event, "nanos")?,
                ticks: event.long("ticks")?.ok_or("a clock without ticks")?,
                uncertainty_nanos: unsigned(event, "uncertaintyNanos")?,
            }),
            "ctxagent.Mark" => self.mark(&common, event)?,
            name => return Err(format!("no way to write {name}").into()),
        }
        Ok(at)
    }

    fn common(&mut self, event: &Event<'_>, sample: Option<&read::Sample<'_>>) -> Result<Common> {
        let thread = match event.reference("sampledThread")? {
            Some(thread) => Some(thread),
            None => event.reference("eventThread")?,
        };
        let at = self.ticks(event.start_nanos().ok_or("an event without startTime")?);
        let mut values = [AttributeKey::NONE; 8];
        if let Some(sample) = sample {
            for (column, value) in values.iter_mut().enumerate() {
                if let Some(text) = sample.value(column) {
                    *value = self.out.attribute_value(text);
                }
            }
        }
        Ok(Common {
            at,
            thread: self.thread(thread)?,
            stack: sample
                .and_then(read::Sample::stack)
                .map(|stack| self.stack(&stack))
                .unwrap_or_default(),
            context: self.out.context(at, &values),
        })
    }

    fn execution_sample(&mut self, common: &Common, sample: Option<read::Sample<'_>>) {
        let Some(sample) = sample else { return };
        let copied = Sample {
            at: common.at,
            thread: common.thread,
            stack: common.stack,
            state: self.out.state(sample.state().unwrap_or("STATE_RUNNABLE")),
            context: common.context,
            weight: u32::try_from(sample.weight).unwrap_or(u32::MAX),
        };
        self.out.execution_sample(&copied);
    }

    fn wall_sample(&mut self, common: &Common, sample: Option<read::Sample<'_>>) {
        let Some(sample) = sample else { return };
        let state = self.out.state(sample.state().unwrap_or("STATE_RUNNABLE"));
        self.out.wall_sample(&WallSample {
            at: common.at,
            thread: common.thread,
            stack: common.stack,
            state,
            context: common.context,
            samples: u32::try_from(sample.weight).unwrap_or(u32::MAX),
        });
    }

    fn allocation(&mut self, common: &Common, event: &Event<'_>) -> Result<Allocation> {
        Ok(Allocation {
            at: common.at,
            thread: common.thread,
            stack: common.stack,
            class: self.class(event, "objectClass")?,
            bytes: unsigned(event, "weight")?,
            size_bytes: event
                .long("objectSize")?
                .and_then(|size| u64::try_from(size).ok())
                .unwrap_or(0),
            context: common.context,
        })
    }

    fn monitor_enter(&mut self, common: &Common, event: &Event<'_>) -> Result<()> {
        let enter = MonitorEnter {
            at: common.at,
            duration: ticks(event, "duration")?,
            thread: common.thread,
            stack: common.stack,
            class: self.class(event, "monitorClass")?,
            previous_owner: self.thread(event.reference("previousOwner")?)?,
            // Context ids restart in each file; only that of the event's own thread is
            // looked up.
            owner_context: 0,
            address: unsigned(event, "address")?,
            context: common.context,
        };
        self.out.monitor_enter(&enter);
        Ok(())
    }

    fn late_label(&mut self, common: &Common, event: &Event<'_>) -> Result<()> {
        let label = LateLabel {
            at: common.at,
            duration: ticks(event, "duration")?,
            thread: common.thread,
            attribute: &text(event, "attribute")?,
            before: self.value(event, "before")?,
            value: self.value(event, "value")?,
        };
        self.out.late_label(&label);
        Ok(())
    }

    fn scope(&mut self, common: &Common, event: &Event<'_>) -> Result<()> {
        self.out.scope(&Scope {
            at: common.at,
            duration: ticks(event, "duration")?,
            thread: common.thread,
            begin_nanos: unsigned(event, "beginNanos")?,
            end_nanos: unsigned(event, "endNanos")?,
            slots: number(event, "slots")?,
            changed: number(event, "changed")?,
            context: common.context,
        });
        Ok(())
    }

    fn mark(&mut self, common: &Common, event: &Event<'_>) -> Result<()> {
        self.out.mark(&Mark {
            at: common.at,
            duration: ticks(event, "duration")?,
            thread: common.thread,
            name: &text(event, "name")?,
            context: common.context,
        });
        Ok(())
    }

    fn value(&mut self, event: &Event<'_>, field: &str) -> Result<AttributeKey> {
        let text = event.reference(field)?.and_then(|value| value.resolve());
        let text = text.and_then(Value::into_text).unwrap_or_default();
        Ok(self.out.attribute_value(&text))
    }

    /// The total of the new file is that of all parts so far; of a gauge, the last one.
    fn stat(&mut self, at: Ticks, event: &Event<'_>) -> Result<()> {
        let name = text(event, "name")?;
        let value = event.long("value")?.unwrap_or(0);
        let total = self.totals.entry(name.clone()).or_default();
        *total = if is_gauge(&name) {
            value
        } else {
            *total + value
        };
        self.out.stat(at, &name, value, *total);
        Ok(())
    }

    fn class(&mut self, event: &Event<'_>, field: &str) -> Result<ClassKey> {
        let name = match event.reference(field)?.and_then(|class| class.resolve()) {
            Some(Value::Struct(class)) => class.get("name")?.and_then(Value::into_text),
            _ => None,
        };
        Ok(name.map(|name| self.out.class(&name)).unwrap_or_default())
    }

    fn thread(&mut self, thread: Option<PoolRef<'_>>) -> Result<ThreadKey> {
        let Some(Value::Struct(thread)) = thread.and_then(|thread| thread.resolve()) else {
            return Ok(ThreadKey::NONE);
        };
        let text = |name| -> Result<_> { Ok(thread.get(name)?.and_then(Value::into_text)) };
        let id = |name| -> Result<u64> {
            let id = thread.get(name)?.and_then(|id| id.as_long());
            Ok(id.unwrap_or(0).cast_unsigned())
        };
        let (os_name, java_name) = (text("osName")?, text("javaName")?);
        Ok(self.out.thread(&Thread {
            os_name: os_name.as_deref(),
            os_id: id("osThreadId")?,
            java_name: java_name.as_deref(),
            java_id: id("javaThreadId")?,
            group: ThreadGroupKey::NONE,
            is_virtual: matches!(thread.get("virtual")?, Some(Value::Boolean(true))),
        }))
    }

    fn stack(&mut self, stack: &read::Stack<'_>) -> StackKey {
        let frames: Vec<Frame> = stack.frames().map(|frame| self.frame(&frame)).collect();
        self.out.stack(&StackTrace {
            truncated: stack.is_truncated(),
            frames: &frames,
        })
    }

    fn frame(&mut self, frame: &read::Frame<'_>) -> Frame {
        let signed = |number: Option<u32>| number.and_then(|n| i32::try_from(n).ok()).unwrap_or(-1);
        let kind = FrameKind::ALL
            .iter()
            .find(|(_, text)| *text == frame.kind());
        Frame {
            method: self.out.method(&Method {
                hidden: frame.is_hidden(),
                ..Method::new(frame.class(), frame.method(), frame.descriptor(), 0)
            }),
            line: signed(frame.line()),
            bci: signed(frame.bytecode_index()),
            kind: kind.map_or(FrameKind::Interpreted, |(kind, _)| *kind),
        }
    }
}

fn text(event: &Event<'_>, name: &str) -> Result<String> {
    Ok(event.text(name)?.unwrap_or_default().into_owned())
}

fn unsigned(event: &Event<'_>, name: &str) -> Result<u64> {
    Ok(event.long(name)?.unwrap_or(0).cast_unsigned())
}

fn number(event: &Event<'_>, name: &str) -> Result<u32> {
    Ok(u32::try_from(unsigned(event, name)?)?)
}

/// A span of the clock; all parts have that of the new file.
fn ticks(event: &Event<'_>, name: &str) -> Result<Ticks> {
    Ok(Ticks(unsigned(event, name)?))
}

/// Whether a counter of `ctxagent.Stats` is a current value, not a count.
fn is_gauge(name: &str) -> bool {
    Counter::from_name(name).is_some_and(|counter| counter.class() == Class::Gauge)
}
