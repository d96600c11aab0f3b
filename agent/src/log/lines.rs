//! The queue between the threads that log and the thread that writes.
//!
//! Rules: (1) no file is opened or written under the lock of the queue, so a thread that logs never
//! waits for a disk or a reader; (2) the queue is bounded: lost messages are counted and reported
//! later; (3) one thread at a time takes messages.

use crate::os::stall_tolerant;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Capacity of the queue: far more than a healthy writer leaves in it.
const CAPACITY: usize = 256;

/// What goes through the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Message {
    /// Lines with their prefix.
    Text(String),
    /// Write to this file from now on, or to standard error.
    To(Option<PathBuf>),
    /// Number of messages that the full queue lost.
    Lost(u64),
}

#[derive(Debug)]
struct QueueState {
    queued: VecDeque<Message>,
    /// Messages queued so far, and those of them that are written.
    accepted: u64,
    written: u64,
    /// Messages lost and not reported yet.
    lost: u64,
    /// A thread takes messages.
    is_served: bool,
    /// Value of `written` when a wait timed out: while it is unchanged, no other caller waits.
    timed_out_at: Option<u64>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct LogQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

impl LogQueue {
    pub(super) const fn new() -> Self {
        Self {
            state: Mutex::new(QueueState {
                queued: VecDeque::new(),
                accepted: 0,
                written: 0,
                lost: 0,
                is_served: false,
                timed_out_at: None,
            }),
            changed: Condvar::new(),
        }
    }

    /// Queues a message; returns whether the caller must start a thread that takes messages.
    #[must_use]
    pub(super) fn push(&self, message: Message) -> bool {
        let mut state = self.lock();
        if state.queued.len() < CAPACITY {
            state.queued.push_back(message);
            state.accepted += 1;
        } else {
            state.lost += 1;
        }
        self.changed.notify_all();
        !std::mem::replace(&mut state.is_served, true)
    }

    /// Passes each message to `take`; never returns.
    pub(super) fn serve(&self, mut take: impl FnMut(&Message)) -> ! {
        loop {
            let mut state = self.lock();
            while state.queued.is_empty() && state.lost == 0 {
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            self.take_next(state, &mut take);
        }
    }

    /// Passes the queued messages to `take` on this thread: for when no thread can be started.
    pub(super) fn serve_queued(&self, mut take: impl FnMut(&Message)) {
        loop {
            let mut state = self.lock();
            if state.queued.is_empty() && state.lost == 0 {
                state.is_served = false;
                return;
            }
            self.take_next(state, &mut take);
        }
    }

    fn take_next(&self, mut state: MutexGuard<'_, QueueState>, take: &mut impl FnMut(&Message)) {
        let next = state.queued.pop_front();
        // The lost messages are newer than all queued ones.
        let message = next
            .clone()
            .unwrap_or_else(|| Message::Lost(std::mem::take(&mut state.lost)));
        drop(state);
        take(&message); // rule 1
        if next.is_some() {
            self.lock().written += 1;
            self.changed.notify_all();
        }
    }

    /// Waits until the messages queued so far are written; returns whether they are. It waits at
    /// most for this time, and not at all if a wait has timed out and no message was written since.
    pub(super) fn settle(&self, within: Duration) -> bool {
        let until = self.lock().accepted;
        let may_progress = |state: &QueueState| state.timed_out_at != Some(state.written);
        let ended = stall_tolerant::wait(within, |step| {
            // A wake-up by a message is not a step.
            let waited = self.changed.wait_timeout_while(self.lock(), step, |state| {
                state.written < until && may_progress(state)
            });
            let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            (state.written >= until || !may_progress(&state)).then_some(())
        });
        let mut state = self.lock();
        if ended.is_none() && state.written < until {
            state.timed_out_at = Some(state.written);
        }
        state.written >= until
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;

    const STEP: Duration = Duration::from_millis(5);

    fn text(number: usize) -> Message {
        Message::Text(number.to_string())
    }

    /// Lines with a serving thread: each message is sent to the test and waits for its permission.
    fn served() -> (&'static LogQueue, mpsc::Receiver<Message>, mpsc::Sender<()>) {
        let lines: &'static LogQueue = Box::leak(Box::new(LogQueue::new()));
        assert!(lines.push(text(0)), "no thread serves yet");
        let (sender, seen) = mpsc::channel();
        let (permit, permission) = mpsc::channel();
        thread::spawn(move || {
            lines.serve(|message| {
                let _ = sender.send(message.clone());
                let _ = permission.recv();
            })
        });
        (lines, seen, permit)
    }

    #[test]
    fn settled_messages_are_written_in_order() {
        let (lines, seen, permit) = served();
        drop(permit); // does not block
        (1..5).for_each(|number| assert!(!lines.push(text(number))));
        assert!(lines.settle(Duration::from_mins(1)));
        let all: Vec<Message> = seen.try_iter().collect();
        assert_eq!(all, (0..5).map(text).collect::<Vec<_>>());
    }

    #[test]
    fn a_full_queue_never_blocks_and_reports_its_losses_last() {
        let (lines, seen, permit) = served();
        assert_eq!(seen.recv(), Ok(text(0)));
        // The first message blocks the serving thread.
        let more = 7;
        (0..CAPACITY + more).for_each(|number| assert!(!lines.push(text(number))));
        drop(permit);
        let all: Vec<Message> = seen.iter().take(CAPACITY + 1).collect();
        let expected = (0..CAPACITY).map(text);
        let lost = Message::Lost(more as u64);
        assert_eq!(all, expected.chain([lost]).collect::<Vec<_>>());
        assert!(lines.settle(Duration::from_mins(1)));
    }

    #[test]
    fn messages_of_others_do_not_shorten_the_timeout() {
        let (lines, seen, permit) = served();
        assert_eq!(seen.recv(), Ok(text(0)));
        thread::spawn(move || {
            // More wake-ups than `settle` has steps: 12 000 in a minute, which a busy machine needs
            // for this loop. A lost message wakes the waiting thread, too.
            for number in 0..20_000 {
                let _ = lines.push(text(number));
                thread::yield_now();
            }
            drop(permit);
        });
        assert!(lines.settle(Duration::from_mins(1)));
    }

    #[test]
    fn after_a_timeout_no_caller_waits_until_a_message_is_written() {
        let (lines, seen, permit) = served();
        assert_eq!(seen.recv(), Ok(text(0)));
        assert!(!lines.settle(STEP));
        let state = || lines.lock().timed_out_at;
        assert_eq!(state(), Some(0));
        // Returns only because it does not wait.
        assert!(!lines.settle(Duration::MAX));
        drop(permit);
        assert!(!lines.push(text(1)));
        assert_eq!(seen.recv(), Ok(text(1)));
        assert!(lines.settle(Duration::from_mins(1)));
    }

    #[test]
    fn without_a_thread_the_caller_writes_the_queued_messages() {
        let lines = LogQueue::new();
        for round in 0..2 {
            assert!(lines.push(text(round)));
            let mut all = Vec::new();
            lines.serve_queued(|message| all.push(message.clone()));
            assert_eq!(all, [text(round)]);
        }
        assert!(lines.settle(STEP));
    }
}
