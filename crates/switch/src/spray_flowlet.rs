//! Routers that move a flow between equal-cost ports: packet spraying and flowlets.
//!
//! Spraying takes the ports of a destination in turn, packet by packet. Flowlet switching (LetFlow,
//! NSDI 2017) draws a new port for a flow after a gap without packets. Both have state, in contrast to
//! ECMP by hash in [`Routes`], and need the time of a pass. Must not depend on hosts, links or queues.

use crate::discipline::flow_hash;
use crate::router::{Routes, chosen};
use sojourn_packet::{
    Admission, DataPlane, EgressDecision, EgressFate, EgressInput, IngressDecision, IngressInput,
    Packet, PacketMetadata, PortId, Time, mix,
};

/// Entries of the flowlet table; flows whose hashes agree in these bits share one.
const FLOWLETS: usize = 1 << 16;

/// Spreading of packets over ports of equal cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spreading {
    /// Packet by packet, in turn.
    Spray,
    /// A flow keeps its port until so long has passed without a packet of it.
    Flowlet(Time),
}

/// Routes whose ports of equal cost are chosen anew while a flow goes on.
///
/// ```
/// use sojourn_packet::{DataPlane, IngressInput, Packet, PortId, Time};
/// use sojourn_switch::{Routes, Spreading, SpreadingRoutes};
/// let mut routes = Routes::default();
/// routes.set_equal("10.0.0.2".parse()?, &[PortId(2), PortId(3)]);
/// let mut router = SpreadingRoutes::new(routes, Spreading::Spray);
/// let mut frame = Packet { bytes: vec![0; 34], ..Packet::default() };
/// frame.bytes[12..14].copy_from_slice(&[0x08, 0x00]);
/// frame.bytes[30..34].copy_from_slice(&[10, 0, 0, 2]);
/// let (port, arrived, now) = (PortId(1), Time::ZERO, Time::ZERO);
/// let input = IngressInput { port, arrived, now, resubmitted: false };
/// let mut sent = || router.ingress(&input, frame.clone()).admission.unicast;
/// assert_ne!(sent(), sent());
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Debug)]
pub struct SpreadingRoutes {
    routes: Routes,
    spreading: Spreading,
    /// Choices made so far.
    turns: u64,
    /// Of each entry: its last packet, and the turn that chose its port.
    flowlets: Vec<Option<(Time, u64)>>,
}

impl SpreadingRoutes {
    /// A router that knows these routes.
    pub fn new(routes: Routes, spreading: Spreading) -> SpreadingRoutes {
        let entries = if spreading == Spreading::Spray { 0 } else { FLOWLETS };
        SpreadingRoutes { routes, spreading, turns: 0, flowlets: vec![None; entries] }
    }

    /// Replaces the routes; flowlets keep their entries.
    pub(crate) fn set_routes(&mut self, routes: &Routes) {
        self.routes.clone_from(routes);
    }

    fn port(&mut self, now: Time, frame: &Packet) -> Option<PortId> {
        let ports = match self.routes.ports_for(frame)? {
            [one] => return Some(*one),
            several => several,
        };
        let place = match self.spreading {
            Spreading::Spray => {
                self.turns += 1;
                (self.turns % ports.len() as u64) as usize
            }
            Spreading::Flowlet(gap) => {
                let entry = flow_hash(frame, self.routes.seed) as usize % FLOWLETS;
                let turn = match self.flowlets[entry] {
                    Some((last, turn)) if now.saturating_sub(last) <= gap => turn,
                    _ => {
                        self.turns += 1;
                        self.turns
                    }
                };
                self.flowlets[entry] = Some((now, turn));
                chosen(mix(self.routes.seed ^ mix(turn)), ports.len())
            }
        };
        ports.get(place).copied()
    }
}

impl DataPlane for SpreadingRoutes {
    fn ingress_pass(
        &mut self,
        input: &IngressInput,
        packet: &mut Packet,
        _: &mut PacketMetadata,
    ) -> IngressDecision {
        let unicast = self.port(input.now, packet);
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const PORTS: [PortId; 2] = [PortId(5), PortId(6)];

    fn router(spreading: Spreading) -> SpreadingRoutes {
        let mut routes = Routes::default();
        routes.set_equal("10.0.0.9".parse().expect("an address"), &PORTS);
        SpreadingRoutes::new(routes, spreading)
    }

    fn frame(source_port: u8) -> Packet {
        let mut bytes = vec![0; 38];
        bytes[12..15].copy_from_slice(&[0x08, 0x00, 0x45]);
        bytes[23] = 6;
        bytes[30..34].copy_from_slice(&[10, 0, 0, 9]);
        bytes[35] = source_port;
        Packet { bytes, ..Packet::default() }
    }

    #[test]
    fn spraying_takes_the_ports_in_turn() {
        let mut router = router(Spreading::Spray);
        let mut count = BTreeMap::new();
        for _ in 0..1_000 {
            *count.entry(router.port(Time::ZERO, &frame(1))).or_insert(0) += 1;
        }
        assert_eq!(count, PORTS.map(|port| (Some(port), 500)).into());
    }

    #[test]
    fn a_flowlet_keeps_its_port_and_a_gap_lets_it_change() {
        let mut router = router(Spreading::Flowlet(Time::from_micros(100)));
        let at = |n: u64| Time::from_micros(n);
        let first = router.port(at(0), &frame(1));
        assert!((1..1_000).all(|n| router.port(at(100 * n), &frame(1)) == first), "no gap");
        let chosen: Vec<_> =
            (0..400).map(|n| router.port(at(200_000 + 101 * n), &frame(1))).collect();
        let on_first = chosen.iter().filter(|port| **port == first).count();
        // Half of 400; the standard deviation is 10.
        assert!((150..=250).contains(&on_first), "{on_first}");
    }
}
