//! Asynchronous ingress passes: submitted to the data plane and executed when they complete.
//!
//! The metadata of a packet stays here while the data plane holds its bytes. The data plane reports
//! the time of its next poll. The ingress latency follows, as for every pass.

use super::{Admitted, Event, Switch};
use crate::tm::port::Port;
use crate::tm::queued_packet::{Contents, Queued, Tag};
use sojourn_packet::{IngressInput, IngressOutput, Packet, PassId, PortId, QueueDepths, Time};
use std::collections::BTreeMap;

/// The passes that have begun and not completed.
#[derive(Default)]
pub(super) struct Passes {
    begun: u64,
    pending: BTreeMap<PassId, PendingPass>,
    /// Time of the scheduled event.
    wake: Option<Time>,
}

impl Passes {
    /// Packets whose passes have not completed.
    pub(super) fn inside(&self) -> usize {
        self.pending.len()
    }
}

/// The state of a packet whose pass has not completed.
struct PendingPass {
    input: IngressInput,
    resubmitted: u32,
    /// Without its bytes, which are in the pass.
    packet: Packet,
    tag: Tag,
}

/// The queues of all ports as a thread may read them.
struct Depths<'a> {
    ports: &'a [Port],
    index: &'a [u16],
}

impl QueueDepths for Depths<'_> {
    fn packets(&self, port: PortId, queue: u8) -> u64 {
        let index = self.index.get(usize::from(port.0)).and_then(|place| place.checked_sub(1));
        let port = index.and_then(|index| self.ports.get(usize::from(index)));
        let queue = port.and_then(|port| port.queues.get(usize::from(queue)));
        queue.map_or(0, |queue| u64::from(queue.packets()))
    }
}

impl Switch {
    /// Lets a pass begin.
    #[cold]
    pub(super) fn submit(&mut self, input: IngressInput, resubmitted: u32, mut queued: Queued) {
        let Contents { packet, packet_metadata, tag, .. } = std::mem::take(&mut *queued);
        self.places.release(queued);
        let (Some(passes), Some(plane)) = (&mut self.passes, self.plane.overlapping()) else {
            return;
        };
        let pass = PassId(passes.begun);
        passes.begun += 1;
        let name = packet.name();
        passes.pending.insert(pass, PendingPass { input, resubmitted, packet: name, tag });
        plane.submit(pass, &input, packet, packet_metadata);
        self.wake_for_passes(self.now);
    }

    /// Something inside is due; timers overtaken by an earlier one are ignored.
    #[cold]
    pub(super) fn work_off_passes(&mut self, at: Time) {
        if self.passes.as_ref().is_none_or(|passes| passes.wake != Some(at)) {
            return;
        }
        if let Some(passes) = &mut self.passes {
            passes.wake = None;
        }
        while let Some((inside, out)) = self.next_completed() {
            let PendingPass { input, resubmitted, packet: Packet { id, flow, .. }, tag } = inside;
            let (decision, left, packet_metadata) = out.into_decision();
            let mut packet = self.places.enter(Packet { id, flow, ..left }, packet_metadata);
            packet.tag = tag;
            let admitted = Admitted::nowhere(packet);
            if let Some(admitted) = self.execute(&input, resubmitted, decision, admitted) {
                self.await_admission(admitted);
            }
        }
        // Everything due is done, so a data plane that claims otherwise lets time pass.
        self.wake_for_passes(self.now + Time(1));
    }

    fn next_completed(&mut self) -> Option<(PendingPass, IngressOutput)> {
        let depths = Depths { ports: &self.ports, index: &self.port_index };
        let (pass, out) = self.plane.overlapping()?.complete(self.now, &depths)?;
        let inside = self.passes.as_mut()?.pending.remove(&pass)?;
        Some((inside, out))
    }

    /// Sets the event for what happens inside next, `earliest` or later.
    fn wake_for_passes(&mut self, earliest: Time) {
        let next = self.plane.overlapping().and_then(|plane| plane.next());
        let (Some(next), Some(passes)) = (next, &mut self.passes) else { return };
        let next = next.max(earliest);
        if passes.wake.is_none_or(|set| next < set) {
            passes.wake = Some(next);
            self.events.set(next, Event::Passes);
        }
    }
}
