//! Advanced flow control: a program's requests to pause or resume a queue.
//!
//! A request takes effect a fixed delay after its deparser. A paused queue takes packets and gives
//! none; packets that the scheduler has taken go out. Must not depend on the form of a request.

use super::{Event, Switch};
use crate::statistics::FlowControlStatistics;
use sojourn_packet::{FlowControl, Time};
use std::collections::VecDeque;

/// The requests under way.
#[derive(Debug)]
pub(super) struct FlowControlRequests {
    delay: Time,
    /// In the order of their effect.
    under_way: VecDeque<(Time, FlowControl)>,
    pub statistics: FlowControlStatistics,
}

impl FlowControlRequests {
    pub fn new(delay: Time) -> FlowControlRequests {
        let statistics = FlowControlStatistics { delay, ..FlowControlStatistics::default() };
        FlowControlRequests { delay, under_way: VecDeque::new(), statistics }
    }
}

impl Switch {
    /// A deparser writes a request at `written`.
    #[cold]
    pub(super) fn request_flow_control(&mut self, request: FlowControl, written: Time) {
        let requests = &mut self.flow_control;
        let at = written + requests.delay;
        // Ingress and egress have latencies of their own, so a later request may come first.
        let place = requests.under_way.partition_point(|(other, _)| *other <= at);
        requests.under_way.insert(place, (at, request));
        self.events.set(at, Event::FlowControl);
    }

    /// The oldest request takes effect.
    pub(super) fn change_flow(&mut self) {
        let Some((_, request)) = self.flow_control.under_way.pop_front() else { return };
        let number = usize::from(request.queue);
        let found = self.find_port(request.port);
        let index = found.filter(|index| number < self.ports[*index].queues.len());
        let statistics = &mut self.flow_control.statistics;
        let Some(index) = index else {
            statistics.no_queue += 1;
            return;
        };
        match request.pause {
            true => statistics.paused += 1,
            false => statistics.resumed += 1,
        }
        self.ports[index].pause(number, request.pause);
        self.serve(index);
    }
}
