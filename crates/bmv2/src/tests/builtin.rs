//! Built-in programs that decide before the queue, at various clock values: their drops must not
//! depend on the clock. (Those that decide after it are replayed: `tests/test_replay.py`.)

use super::packet;
use serde_json::json;
use sojourn_control::ControlPlane;
use sojourn_packet::dataplane::{DataPlane, EgressInput, IngressInput, PortId};
use sojourn_packet::{Packet, PacketMetadata, Time};
use sojourn_target::load::{LoadOptions, load};
use sojourn_target::plane::Plane;
use std::path::Path;

const MS: u64 = 1_000_000;
/// us: wrap of 48 bits of microseconds, wrap of 32 bits, and their change of sign.
const WRAPS: [u64; 3] = [1 << 48, 1 << 32, 1 << 31];
const OUT: PortId = PortId(2);

struct Shipped {
    plane: Plane,
}

impl Shipped {
    fn new(program: &str) -> Shipped {
        let p4 = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4");
        let options = LoadOptions {
            targets: sojourn_target::Targets(&[&crate::Bmv2]),
            include_paths: vec![p4.join("include")],
            ..<_>::default()
        };
        let loaded = load(p4.join(format!("v1model/{program}.p4")), &options);
        let mut plane = loaded.unwrap_or_else(|error| panic!("{}", error.render(&<_>::default())));
        let route: ControlPlane = serde_json::from_value(json!({
            "tables": [{"name": "Router.routes", "entries": [{
                "match": {"hdr.ipv4.destination": {"value": "0x0a800000", "prefix": 9}},
                "action": "send", "args": {"port": 2, "own": 1, "next_hop": 2}}]}],
            "mirror_sessions": [{"session": 100, "port": 68}],
        }))
        .expect("a control plane");
        plane.configure(&route).expect("a route");
        Shipped { plane }
    }

    /// The packet for the queue with its metadata, unless it is dropped.
    fn ingress(
        &mut self,
        now: Time,
        packet: Packet,
        packet_metadata: PacketMetadata,
    ) -> Option<(Packet, PacketMetadata)> {
        let input = IngressInput { port: PortId(1), arrived: now, now, resubmitted: false };
        let out = self.plane.ingress_carrying(&input, packet, packet_metadata);
        Some((out.packet?, out.packet_metadata))
    }

    fn egress(&mut self, input: &EgressInput, packet: Packet, packet_metadata: PacketMetadata) {
        let out = self.plane.egress_carrying(input, packet, packet_metadata);
        if let Some(copy) = out.mirror {
            let port = PortId(68);
            let input = EgressInput { port, mirrored: true, enqueued: input.now, ..*input };
            self.egress(&input, copy.packet, copy.packet_metadata);
        } else if out.recirculate {
            let report =
                self.ingress(input.now, out.packet.expect("a report"), out.packet_metadata);
            assert!(report.is_none(), "a report ends in ingress");
        }
    }

    /// Drop decisions for packets, one each millisecond. The queue is long for three seconds and
    /// empty for the next, in which no packet arrives for a while.
    fn dropped(&mut self, begin: Time) -> Vec<bool> {
        (0..8_000_u64).map(|at| self.drops(begin, at)).collect()
    }

    fn drops(&mut self, begin: Time, at: u64) -> bool {
        let (now, long) = (begin + Time(at * MS), at / 1_000 % 4 != 3);
        if !long && at % 1_000 > 300 && at % 1_000 < 700 {
            return false;
        }
        let Some((queued, packet_metadata)) =
            self.ingress(now, packet(&datagram()), PacketMetadata::default())
        else {
            return true;
        };
        // Another packet leaves in its place: one that has waited.
        let depth = if long { 12 } else { 0 };
        let input = EgressInput {
            port: OUT,
            enqueued: now - Time(if long { 60 * MS } else { 0 }),
            dequeued: now,
            now,
            enqueue_packets: depth,
            dequeue_packets: depth,
            length: 104,
            ..EgressInput::default()
        };
        self.egress(&input, queued, packet_metadata);
        false
    }
}

/// A UDP datagram from 10.0.0.1 to 10.128.0.1.
fn datagram() -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    bytes.extend([0x45, 0, 0, 86, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 128, 0, 1]);
    let sum: u32 = bytes[14..].chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    bytes[24..26].copy_from_slice(&sum.to_be_bytes());
    bytes.extend([0, 9, 0, 9, 0, 66, 0, 0]);
    bytes.resize(100, 0);
    bytes
}

#[test]
fn drops_of_pie_pi2_and_red_do_not_depend_on_the_clock() {
    for program in ["pie", "pi2", "red"] {
        let expected = Shipped::new(program).dropped(Time::from_millis(3_600_000));
        let drops = expected.iter().filter(|dropped| **dropped).count();
        assert!((50..6_000).contains(&drops), "{program}: {drops} drops");
        for wrap in WRAPS {
            let begin = Time(wrap * 1_000) - Time::from_millis(2_500);
            let found = Shipped::new(program).dropped(begin);
            assert_eq!(found, expected, "{program}, a clock that wraps at {wrap} us");
        }
    }
}
