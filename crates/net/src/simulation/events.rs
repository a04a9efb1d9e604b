//! Events outside the switches, except arrivals at hosts, encoded as two words for the event queue.
//!
//! The module must not depend on how an event is handled.

use super::node::PortRef;
use super::partition::HostPlace;
use super::slab::Slot;
use crate::event::{AsWords, EventWords};
use sojourn_switch::PortId;

/// Something that will happen outside the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A frame's last bit has reached a port of a switch, and what a switch without a program takes
    /// until the frame is at its queues has passed.
    AtSwitch(PortRef, Slot),
    /// A frame has passed its host's shaper and delay and goes onto the link.
    Departs(u16, Slot),
    /// A frame is at the end of a link to hosts on which it can have been overtaken.
    AtHosts(u16, Slot),
    /// A host may have something to do.
    Timer(HostPlace),
    /// Flows are sampled.
    Sample,
    /// Something changes: the next of the schedule.
    Change,
    /// The next action on a switch, among those supplied with data planes.
    SwitchAction,
    /// A transfer begins: the next of those that arrive at random.
    Arrival,
}

impl AsWords for Event {
    #[inline(always)]
    fn words(self) -> EventWords {
        match self {
            Event::AtSwitch(PortRef { switch, port }, slot) => {
                let port_ref = u64::from(switch) << 16 | u64::from(port.0);
                (0, port_ref << 32 | u64::from(slot.0))
            }
            Event::Timer(host) => (1, host.0.into()),
            Event::Departs(access, slot) => (2, u64::from(access) << 32 | u64::from(slot.0)),
            Event::Sample => (3, 0),
            Event::Change => (4, 0),
            Event::SwitchAction => (5, 0),
            Event::Arrival => (6, 0),
            Event::AtHosts(access, slot) => (7, u64::from(access) << 32 | u64::from(slot.0)),
        }
    }

    #[inline(always)]
    fn from_words((kind, body): EventWords) -> Event {
        let (high, low) = ((body >> 32) as u32, body as u32);
        match kind {
            0 => {
                let (switch, port) = ((high >> 16) as u16, PortId(high as u16));
                Event::AtSwitch(PortRef { switch, port }, Slot(low))
            }
            1 => Event::Timer(HostPlace(low)),
            2 => Event::Departs(high as u16, Slot(low)),
            3 => Event::Sample,
            4 => Event::Change,
            5 => Event::SwitchAction,
            6 => Event::Arrival,
            _ => Event::AtHosts(high as u16, Slot(low)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn event() -> impl Strategy<Value = Event> {
        let host = any::<u32>().prop_map(HostPlace);
        let slot = any::<u32>().prop_map(Slot);
        let port_ref =
            any::<(u16, u16)>().prop_map(|(switch, port)| PortRef { switch, port: PortId(port) });
        prop_oneof![
            (port_ref, slot.clone()).prop_map(|(port_ref, slot)| Event::AtSwitch(port_ref, slot)),
            (any::<u16>(), slot.clone()).prop_map(|(access, slot)| Event::Departs(access, slot)),
            (any::<u16>(), slot).prop_map(|(access, slot)| Event::AtHosts(access, slot)),
            host.prop_map(Event::Timer),
            Just(Event::Sample),
            Just(Event::Change),
            Just(Event::SwitchAction),
            Just(Event::Arrival),
        ]
    }

    proptest! {
        #[test]
        fn an_event_is_what_its_words_say(event in event()) {
            prop_assert_eq!(Event::from_words(event.words()), event);
        }
    }
}
