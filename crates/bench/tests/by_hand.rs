//! The baseline of `by_hand.rs` behaves like `p4/tna/p4_codel.p4`.

use sojourn_bench::by_hand::P4CodelByHand;
use sojourn_bench::passes;
use sojourn_packet::{DataPlane, EgressInput, IngressInput, Packet, PortId, Time};
use std::path::Path;

#[test]
fn p4_codel_and_its_likeness_by_hand_decide_the_same() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4/tna/p4_codel.p4");
    let mut program = passes::loaded(&program).expect("it is shipped");
    let mut by_hand = P4CodelByHand::default();
    let mut dropped = 0;
    for number in 0..30_000 {
        let through = |plane: &mut dyn DataPlane| {
            let bytes = passes::frame().to_vec();
            let packet = Packet { bytes, zeros: 1_448, ..Packet::default() };
            let now = Time(1_000_000_000 + number * 121_120);
            let input = IngressInput { port: PortId(1), arrived: now, now, resubmitted: false };
            let admitted = plane.ingress(&input, packet);
            let now = now + Time(if number / 3_000 % 3 == 2 { 4_000_000 } else { 9_000_000 });
            let to = admitted.admission.unicast.expect("it is forwarded");
            let out = EgressInput { port: to, now, ..EgressInput::default() };
            plane.egress_carrying(
                &out,
                admitted.packet.expect("forwarded"),
                admitted.packet_metadata,
            )
        };
        let (one, other) = (through(&mut program).packet, through(&mut by_hand).packet);
        assert_eq!(one, other, "packet {number}");
        dropped += u32::from(one.is_none());
    }
    assert!(dropped > 50, "only {dropped} were dropped");
}
