//! Data planes that only choose ports: a wire or a router.
//!
//! They have no state, take no time of their own and never read a packet again after the queue, so
//! a switch need not wait for their passes. Must not depend on ports or queues.

use crate::dataplane::{
    Admission, DataPlane, EgressDecision, EgressFate, EgressInput, IngressDecision, IngressInput,
    PortId,
};
use crate::packet::Packet;
use crate::packet_metadata::PacketMetadata;
use std::any::Any;

/// Chooses a packet's output port, independent of time and of earlier packets.
///
/// ```
/// use sojourn_packet::{DataPlane, Forwarder, IngressInput, Packet, PortId, Time};
/// /// Everything leaves by port 9.
/// struct Uplink;
/// impl Forwarder for Uplink {
///     fn port(&self, _: PortId, _: &Packet) -> Option<PortId> {
///         Some(PortId(9))
///     }
///     fn ports(&self) -> Vec<PortId> {
///         vec![PortId(9)]
///     }
/// }
/// let (port, arrived, now) = (PortId(1), Time::ZERO, Time::ZERO);
/// let input = IngressInput { port, arrived, now, resubmitted: false };
/// let out = Uplink.ingress(&input, Packet::default());
/// assert_eq!(out.admission.unicast, Some(PortId(9)));
/// ```
pub trait Forwarder: Any + Send {
    /// Output port of a packet that came in by a port; `None` if it has no route.
    fn port(&self, came_by: PortId, packet: &Packet) -> Option<PortId>;

    /// Output port of all packets from an input port, if it does not depend on the packet.
    fn peer(&self, _came_by: PortId) -> Option<PortId> {
        None
    }

    /// All ports that may be chosen, so that a switch without one of them reports it at the start.
    fn ports(&self) -> Vec<PortId>;
}

impl<F: Forwarder> DataPlane for F {
    fn ingress_pass(
        &mut self,
        input: &IngressInput,
        packet: &mut Packet,
        _: &mut PacketMetadata,
    ) -> IngressDecision {
        let unicast = self.port(input.port, packet);
        IngressDecision::admit(Admission { unicast, ..Admission::default() })
    }

    fn egress_pass(
        &mut self,
        _: &EgressInput,
        _: &mut Packet,
        _: &mut PacketMetadata,
    ) -> EgressDecision {
        EgressFate::Sent.into()
    }

    fn forwarder(&self) -> Option<&dyn Forwarder> {
        Some(self)
    }
}
