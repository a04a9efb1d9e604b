//! Agenda of a switch in virtual time: requests that wait for their instant, and work on the switch.
//!
//! A server executes a request once the driver of the switch has admitted it
//! ([`Agenda::admit_next`]). From then on the driver executes the work of that request
//! ([`Agenda::execute`]) until the server has answered. The agenda must not depend on a clock or on
//! a protocol.

use crate::device::Work;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// An item of work for the driver.
pub enum Task {
    /// Work on the switch.
    Switch(Work),
    /// A frame that enters the switch by the controller's port.
    Frame(Vec<u8>),
}

/// Permission to execute a request, which ends when this is dropped.
pub struct Turn(Arc<Agenda>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.state().active = false;
        self.0.changed.notify_all();
    }
}

/// Requests and work, shared by a server and the driver of its switch.
#[derive(Default)]
pub struct Agenda {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Requests in the order of their arrival.
    waiting: VecDeque<oneshot::Sender<Turn>>,
    tasks: VecDeque<Task>,
    /// A request is admitted and not yet answered.
    active: bool,
    /// Number of requests so far.
    arrived: u64,
    ended: bool,
}

impl Agenda {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of requests so far, and of those that wait.
    pub fn requests(&self) -> (u64, usize) {
        let state = self.state();
        (state.arrived, state.waiting.len())
    }

    /// Puts a request behind those that wait; the receiver gets its turn. Once the agenda has
    /// ended, it gets none.
    pub fn request(&self) -> oneshot::Receiver<Turn> {
        let (sender, receiver) = oneshot::channel();
        let mut state = self.state();
        if !state.ended {
            state.arrived += 1;
            state.waiting.push_back(sender);
        }
        receiver
    }

    /// Admits the request that has waited longest. False if none waits.
    pub fn admit_next(self: &Arc<Self>) -> bool {
        let Some(next) = self.state().waiting.pop_front() else { return false };
        // A client may have withdrawn its request: the turn then ends here.
        drop(next.send(self.begin()));
        true
    }

    /// Begins work of the server's own.
    pub fn begin(self: &Arc<Self>) -> Turn {
        self.state().active = true;
        Turn(self.clone())
    }

    /// Executes tasks until none is left and no turn is running.
    pub fn execute(&self, mut with: impl FnMut(Task)) {
        while let Some(task) = self.next_task() {
            with(task);
        }
    }

    fn next_task(&self) -> Option<Task> {
        let mut state = self.state();
        loop {
            let task = state.tasks.pop_front();
            if task.is_some() || !state.active || state.ended {
                return task;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Adds a task. False if the agenda has ended.
    pub fn put(&self, task: Task) -> bool {
        let mut state = self.state();
        if state.ended {
            return false;
        }
        state.tasks.push_back(task);
        drop(state);
        self.changed.notify_all();
        true
    }

    /// Ends the agenda: it takes no request and no task from here on.
    pub fn end(&self) {
        let mut state = self.state();
        state.ended = true;
        let (waiting, tasks) =
            (std::mem::take(&mut state.waiting), std::mem::take(&mut state.tasks));
        drop(state);
        self.changed.notify_all();
        drop((waiting, tasks));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(task: Task) -> Vec<u8> {
        match task {
            Task::Frame(frame) => frame,
            Task::Switch(_) => panic!("a frame was put"),
        }
    }

    #[test]
    fn requests_are_admitted_one_by_one_in_the_order_of_their_arrival() {
        let agenda = Arc::new(Agenda::default());
        let (mut first, mut second) = (agenda.request(), agenda.request());
        assert_eq!(agenda.requests(), (2, 2));
        assert!(agenda.admit_next());
        let turn = first.try_recv().expect("the first is admitted");
        assert!(second.try_recv().is_err());
        let worker = std::thread::spawn({
            let agenda = agenda.clone();
            move || {
                assert!(agenda.put(Task::Frame(vec![1])));
                drop(turn);
            }
        });
        let mut seen = Vec::new();
        agenda.execute(|task| seen.push(frame(task)));
        worker.join().unwrap();
        agenda.execute(|task| seen.push(frame(task)));
        assert_eq!(seen, [[1]]);
        assert_eq!(agenda.requests(), (2, 1));
    }

    #[test]
    fn a_request_that_its_client_withdraws_does_not_hold_the_switch() {
        let agenda = Arc::new(Agenda::default());
        drop(agenda.request());
        assert!(agenda.admit_next());
        agenda.execute(|_| panic!("there is no task"));
        assert!(!agenda.admit_next());
    }

    #[test]
    fn an_agenda_that_has_ended_takes_nothing() {
        let agenda = Arc::new(Agenda::default());
        let mut waiting = agenda.request();
        let running = agenda.begin();
        agenda.end();
        assert!(waiting.try_recv().is_err() && agenda.request().try_recv().is_err());
        assert!(!agenda.put(Task::Frame(Vec::new())));
        agenda.execute(|_| panic!("there is no task"));
        drop(running);
    }
}
