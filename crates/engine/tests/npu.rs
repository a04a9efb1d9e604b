//! CoDel on one thread of a network processor, compared with the switch's own discipline.

use sojourn_engine::replay::{Replay, ReplayConfig};
use sojourn_engine::{P4Aqm, Programs, RunError, config};
use sojourn_packet::{
    Bytes, DataPlane, IngressInput, Packet, PacketMetadata, PassId, PortId, QueueDepths, Time, mix,
};
use sojourn_switch::discipline::codel;

const PACKET_TIME: u64 = 121_120;

/// `p4/npu/codel.p4` on one thread without latency.
fn program() -> P4Aqm {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../p4");
    let forward = |from: u64, to: u64| serde_json::json!({"match": {"npu.ingress_port": from}, "action": "send", "args": {"port": to}});
    let control = serde_json::json!({
        "tables": [{"name": "Wire.forward", "entries": [forward(1, 2), forward(2, 1)]}],
    });
    let figures = ["PROCESSING_MIN", "PROCESSING_MAX", "ACCESS_MIN", "ACCESS_MAX"];
    let zeros = figures.map(|name| (name.to_owned(), "0".to_owned()));
    let threads = ("THREADS".to_owned(), "1".to_owned());
    let defines = zeros.into_iter().chain([threads]).collect();
    P4Aqm {
        program: format!("{root}/npu/codel.p4"),
        include_paths: vec![format!("{root}/include")],
        control: serde_json::from_value(control).expect("a control plane"),
        defines,
        ..P4Aqm::default()
    }
}

/// A queue that grows for 0.6 s, shrinks for 2.4, so that each dropping state begins anew, and
/// oscillates.
fn depth(now: Time) -> u64 {
    let swell = if (now.0 / 600_000_000).is_multiple_of(5) { 60 } else { 10 };
    swell + mix(now.0 / 2_000_000) % 20
}

struct Depth(u64);

impl QueueDepths for Depth {
    fn packets(&self, _: PortId, _: u8) -> u64 {
        self.0
    }
}

#[test]
fn one_thread_decides_as_the_native_discipline_s_law_on_the_depth() {
    let (mut plane, _) = Programs::default().plane(&program(), 1).expect("it loads");
    let plane = plane.overlapping().expect("its passes take time");
    let (mut state, params) = (codel::State::default(), codel::Params::default());
    let mut drops = 0;
    for number in 0..400_000 {
        let now = Time(50_000 * (number + 1));
        let input = IngressInput { port: PortId(1), arrived: now, now, resubmitted: false };
        let packet = Packet { bytes: vec![0; 64], ..Packet::default() };
        plane.submit(PassId(number), &input, packet, PacketMetadata::default());
        let packets = depth(now);
        let done = plane.complete(now, &Depth(packets)).expect("it takes no time");
        let waits = Time(packets * PACKET_TIME);
        let expected = state.drops(&params, now, waits, Bytes(1514 * packets));
        assert_eq!(done.1.packet.is_none(), expected, "packet {number}");
        drops += u64::from(expected);
        assert!(state.count <= 16, "beyond 16 the program's law is an approximation");
    }
    assert!(drops > 30, "{drops}");
}

#[test]
fn a_replay_has_no_queue_that_a_thread_could_ask() {
    let aqm = config::Aqm::P4(Box::new(program()));
    let config = ReplayConfig { aqm, seed: 1, recirculation_latency: 1_000 };
    let refused = Replay::new(&config).err().expect("it is refused");
    assert!(matches!(refused, RunError::NoQueueToAsk { .. }), "{refused}");
    assert!(refused.to_string().contains("codel.p4 is for the NPU"), "{refused}");
}
