//! `p4/tna/p4_codel.p4` with its control plane, written by hand in Rust: the baseline for compiled
//! code.
//!
//! It implements the processing of the program and the chip around it, and no more: a wire between
//! ports 1 and 2, the bridge header, two registers per port, the math unit's curve as a table of
//! its mantissas.

use sojourn_packet::{
    Admission, DataPlane, EgressDecision, EgressFate, EgressInput, IngressDecision, IngressInput,
    Packet, PacketMetadata, PortId,
};

const TARGET: u32 = 5_000_000;
const INTERVAL: u32 = 100_000_000;
const ETHERNET: usize = 14;
const BRIDGE: usize = 7;
/// 1 / sqrt(x) for mantissas from 0 to 15, as in `common/control_law.p4` for INTERVAL.
const CURVE: [u32; 16] =
    [0x46, 0x48, 0x4b, 0x4e, 0x52, 0x56, 0x5a, 0x60, 0x66, 0x6f, 0x79, 0x87, 0, 0, 0, 0];

#[derive(Clone, Copy, Default)]
struct Port {
    dropping: bool,
    drop_next: u32,
    count: u32,
}

/// The hand-written baseline.
pub struct P4CodelByHand {
    ports: [Port; 512],
}

impl Default for P4CodelByHand {
    fn default() -> P4CodelByHand {
        P4CodelByHand { ports: [Port::default(); 512] }
    }
}

fn low48(time: u64) -> u64 {
    time & ((1 << 48) - 1)
}

/// INTERVAL / sqrt(count), with the math unit's four mantissa bits.
fn spacing(count: u32) -> u32 {
    let leading = (31 - count.leading_zeros().min(31)).next_multiple_of(2);
    let mantissa = (u64::from(count) << 3 >> leading) & 15;
    (CURVE[15 - mantissa as usize] << 20) >> (leading / 2)
}

impl DataPlane for P4CodelByHand {
    fn ingress_pass(
        &mut self,
        input: &IngressInput,
        packet: &mut Packet,
        _: &mut PacketMetadata,
    ) -> IngressDecision {
        let to = match input.port {
            PortId(1) => PortId(2),
            PortId(2) => PortId(1),
            _ => return IngressDecision::default(),
        };
        if packet.bytes.len() < ETHERNET {
            return IngressDecision { parser_rejected: true, ..IngressDecision::default() };
        }
        let mut bytes = Vec::with_capacity(BRIDGE + packet.bytes.len());
        bytes.push(0);
        bytes.extend_from_slice(&low48(input.now.as_nanos()).to_be_bytes()[2..]);
        bytes.extend_from_slice(&packet.bytes);
        packet.bytes = bytes;
        IngressDecision::admit(Admission { unicast: Some(to), ..Admission::default() })
    }

    fn egress_pass(
        &mut self,
        input: &EgressInput,
        packet: &mut Packet,
        _: &mut PacketMetadata,
    ) -> EgressDecision {
        let Some(front) = packet.bytes.first_chunk::<{ BRIDGE + ETHERNET }>() else {
            return EgressDecision { parser_rejected: true, ..EgressDecision::default() };
        };
        let arrival = u64::from_be_bytes(*front.first_chunk().unwrap_or(&[0; 8])) >> 8;
        let now = input.now.as_nanos() as u32;
        let violation = now.wrapping_sub(arrival as u32) >= TARGET;
        let Some(port) = self.ports.get_mut(usize::from(input.port.0)) else {
            return EgressFate::Dropped.into();
        };
        let first = violation && !port.dropping;
        port.dropping = violation;
        let mut due = false;
        if first {
            (port.drop_next, port.count) = (now.wrapping_add(INTERVAL), 1);
        } else if now > port.drop_next {
            port.drop_next = port.drop_next.wrapping_add(spacing(port.count));
            port.count += 1;
            due = true;
        }
        if due && violation {
            return EgressFate::Dropped.into();
        }
        packet.bytes = packet.bytes[BRIDGE..].to_vec();
        EgressFate::Sent.into()
    }
}
