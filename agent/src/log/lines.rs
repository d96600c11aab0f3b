//! The queue between who has something to say and the thread that says it.
//!
//! Rules: (1) under the lock of the queue nothing is opened and nothing is written, so nobody who
//! says something waits for a disk or for who reads; (2) the queue is bounded: what does not fit is
//! counted, and told when there is room again; (3) one thread takes messages at a time.

use crate::os::stall_tolerant;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Messages that wait at most: far more than are said while whoever takes them is well.
const MOST: usize = 256;

/// What goes through the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Message {
    /// Lines with their prefix.
    Text(String),
    /// From now on to this file, or to standard error.
    To(Option<PathBuf>),
    /// So many messages did not fit in here.
    Lost(u64),
}

#[derive(Debug)]
struct State {
    waiting: VecDeque<Message>,
    /// Messages taken in so far, and those of them that are through.
    said: u64,
    done: u64,
    /// Not taken in, and not told yet.
    lost: u64,
    /// Somebody takes messages.
    is_served: bool,
    /// How many were through when somebody waited in vain: while it is still so, nobody else waits.
    in_vain_at: Option<u64>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Lines {
    state: Mutex<State>,
    changed: Condvar,
}

impl Lines {
    pub(super) const fn new() -> Self {
        Self {
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                said: 0,
                done: 0,
                lost: 0,
                is_served: false,
                in_vain_at: None,
            }),
            changed: Condvar::new(),
        }
    }

    /// Takes a message in; whether the caller must see to it that somebody serves.
    #[must_use]
    pub(super) fn push(&self, message: Message) -> bool {
        let mut state = self.lock();
        if state.waiting.len() < MOST {
            state.waiting.push_back(message);
            state.said += 1;
        } else {
            state.lost += 1;
        }
        self.changed.notify_all();
        !std::mem::replace(&mut state.is_served, true)
    }

    /// Gives `take` each message, for ever.
    pub(super) fn serve(&self, mut take: impl FnMut(&Message)) -> ! {
        loop {
            let mut state = self.lock();
            while state.waiting.is_empty() && state.lost == 0 {
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            self.take_next(state, &mut take);
        }
    }

    /// Gives `take` the messages that wait, on the caller's thread: where no other can be had.
    pub(super) fn serve_waiting(&self, mut take: impl FnMut(&Message)) {
        loop {
            let mut state = self.lock();
            if state.waiting.is_empty() && state.lost == 0 {
                state.is_served = false;
                return;
            }
            self.take_next(state, &mut take);
        }
    }

    fn take_next(&self, mut state: MutexGuard<'_, State>, take: &mut impl FnMut(&Message)) {
        let next = state.waiting.pop_front();
        // What was lost came after all that waits.
        let message = next
            .clone()
            .unwrap_or_else(|| Message::Lost(std::mem::take(&mut state.lost)));
        drop(state);
        take(&message); // rule 1
        if next.is_some() {
            self.lock().done += 1;
            self.changed.notify_all();
        }
    }

    /// Waits until what was said so far is through: at most for this time, and not at all where
    /// somebody waited in vain and nothing has got through since. Whether it is.
    pub(super) fn settle(&self, within: Duration) -> bool {
        let until = self.lock().said;
        let has_hope = |state: &State| state.in_vain_at != Some(state.done);
        let ended = stall_tolerant::wait(within, |step| {
            // Each message wakes us: that is no step.
            let waited = self.changed.wait_timeout_while(self.lock(), step, |state| {
                state.done < until && has_hope(state)
            });
            let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            (state.done >= until || !has_hope(&state)).then_some(())
        });
        let mut state = self.lock();
        if ended.is_none() && state.done < until {
            state.in_vain_at = Some(state.done);
        }
        state.done >= until
    }

    fn lock(&self) -> MutexGuard<'_, State> {
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

    /// Lines that are served: each message is told, and waits for a word before it is through.
    fn served() -> (&'static Lines, mpsc::Receiver<Message>, mpsc::Sender<()>) {
        let lines: &'static Lines = Box::leak(Box::new(Lines::new()));
        assert!(lines.push(text(0)), "nobody serves yet");
        let (tell, told) = mpsc::channel();
        let (go_on, word) = mpsc::channel();
        thread::spawn(move || {
            lines.serve(|message| {
                let _ = tell.send(message.clone());
                let _ = word.recv();
            })
        });
        (lines, told, go_on)
    }

    #[test]
    fn what_was_said_is_through_in_its_order_when_settle_says_so() {
        let (lines, told, go_on) = served();
        drop(go_on); // nothing holds it
        (1..5).for_each(|number| assert!(!lines.push(text(number))));
        assert!(lines.settle(Duration::from_mins(1)));
        let all: Vec<Message> = told.try_iter().collect();
        assert_eq!(all, (0..5).map(text).collect::<Vec<_>>());
    }

    #[test]
    fn who_speaks_never_waits_and_what_does_not_fit_is_counted_and_told_last() {
        let (lines, told, go_on) = served();
        assert_eq!(told.recv(), Ok(text(0)));
        // The first one hangs.
        let more = 7;
        (0..MOST + more).for_each(|number| assert!(!lines.push(text(number))));
        drop(go_on);
        let all: Vec<Message> = told.iter().take(MOST + 1).collect();
        let expected = (0..MOST).map(text);
        let lost = Message::Lost(more as u64);
        assert_eq!(all, expected.chain([lost]).collect::<Vec<_>>());
        assert!(lines.settle(Duration::from_mins(1)));
    }

    #[test]
    fn patience_is_not_used_up_by_those_who_speak_meanwhile() {
        let (lines, told, go_on) = served();
        assert_eq!(told.recv(), Ok(text(0)));
        thread::spawn(move || {
            // More often than `settle` has steps: 12 000 in a minute, which a busy machine needs
            // for this loop. What does not fit wakes the waiting thread, too.
            for number in 0..20_000 {
                let _ = lines.push(text(number));
                thread::yield_now();
            }
            drop(go_on);
        });
        assert!(lines.settle(Duration::from_mins(1)));
    }

    #[test]
    fn one_waits_in_vain_and_nobody_after_it_until_something_gets_through() {
        let (lines, told, go_on) = served();
        assert_eq!(told.recv(), Ok(text(0)));
        assert!(!lines.settle(STEP));
        let state = || lines.lock().in_vain_at;
        assert_eq!(state(), Some(0));
        // Ends only because it does not wait.
        assert!(!lines.settle(Duration::MAX));
        drop(go_on);
        assert!(!lines.push(text(1)));
        assert_eq!(told.recv(), Ok(text(1)));
        assert!(lines.settle(Duration::from_mins(1)));
    }

    #[test]
    fn where_no_thread_can_be_had_the_caller_takes_what_waits() {
        let lines = Lines::new();
        for round in 0..2 {
            assert!(lines.push(text(round)));
            let mut all = Vec::new();
            lines.serve_waiting(|message| all.push(message.clone()));
            assert_eq!(all, [text(round)]);
        }
        assert!(lines.settle(STEP));
    }
}
