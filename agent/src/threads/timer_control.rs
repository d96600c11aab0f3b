//! Starts and stops the CPU timers of all threads (`engine=tick`).

use super::directory::ThreadDirectory;
use crate::os::timers;

impl ThreadDirectory {
    /// Gives every thread its timer: the live ones at once, others when they start. Returns whether
    /// any has got one.
    pub(crate) fn start_timers(&self, signal: i32) -> bool {
        let mut state = self.lock();
        let before = state.timers.counts().created;
        state.timers.start(signal);
        let records: Vec<_> = self.records(&state).collect();
        for record in records {
            state.timers.arm(&self.handler.engine, record);
        }
        let has_any = state.timers.counts().created > before;
        self.unlock(state);
        has_any
    }

    /// Whether each thread needs a timer.
    pub(crate) fn needs_timers(&self) -> bool {
        self.lock().timers.is_started()
    }

    /// Deletes all timers; none are created until the next start.
    pub(crate) fn stop_timers(&self) {
        let mut state = self.lock();
        state.timers.stop();
        self.records(&state).for_each(timers::delete);
    }
}
