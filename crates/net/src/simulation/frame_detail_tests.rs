//! Tests that frames whose bytes are abstract behind the Ethernet header give the rows of whole ones.

use super::*;
use crate::records::{ExchangeRows, FlowRows, PacketRows};
use crate::report::RunReport;
use crate::wire::FrameDetail;
use serde_json::{Value, json};
use sojourn_packet::{Admission, EgressDecision, EgressFate, EgressInput, PacketMetadata};
use sojourn_packet::{IngressDecision, IngressInput};

const MS: u64 = 1_000_000;

/// Inserts seven bytes in front of packets between its passes, as a program that stores a timestamp
/// does; drops, reflects or corrupts some packets.
struct Bridge {
    declares: bool,
    passes: u32,
}

impl DataPlane for Bridge {
    fn ingress_pass(
        &mut self,
        input: &IngressInput,
        packet: &mut Packet,
        _: &mut PacketMetadata,
    ) -> IngressDecision {
        self.passes += 1;
        let (there, back) = if input.port == SENDERS { (2, 1) } else { (1, 2) };
        let port = if self.passes.is_multiple_of(389) { back } else { there };
        packet.bytes.splice(0..0, [7; 7]);
        let unicast = Some(PortId(port));
        IngressDecision::admit(Admission { unicast, ..Admission::default() })
    }

    fn egress_pass(
        &mut self,
        _: &EgressInput,
        packet: &mut Packet,
        _: &mut PacketMetadata,
    ) -> EgressDecision {
        packet.bytes.drain(..7);
        let ethernet: &mut [u8; 14] = packet.bytes.first_chunk_mut().expect("a header");
        ethernet[..12].rotate_left(6);
        match self.passes % 397 {
            0 => EgressFate::Dropped.into(),
            1 => {
                ethernet[13] ^= 0xff;
                EgressFate::Sent.into()
            }
            _ => EgressFate::Sent.into(),
        }
    }

    fn reads_ethernet_alone(&self) -> bool {
        self.declares
    }
}

/// Output of a run with a plane that does or does not declare that it reads Ethernet headers only.
fn run(declares: bool, flows: &Value) -> (PacketRows, FlowRows, ExchangeRows, RunReport) {
    let config = json!({
        "duration": 2_000 * MS, "aqm": {"kind": "native", "name": "fifo"}, "flows": flows,
    });
    let mut config = RunConfig::from_json(&config.to_string()).expect("a configuration");
    config.aqm = crate::config::Aqm::SwitchPlane;
    let plane = SwitchPlane::plain(Box::new(Bridge { declares, passes: 0 }));
    let mut run = Simulation::new(config, [plane]).expect("a valid configuration");
    let written = if declares { FrameDetail::Framed } else { FrameDetail::Whole };
    assert_eq!(run.partitions[0].written, written);
    run.advance(Time::MAX, usize::MAX);
    assert!(run.finished());
    (run.take_packets(), run.take_flows(), run.take_exchanges(), run.report())
}

#[test]
fn of_a_program_that_reads_ethernet_headers_alone_frames_are_not_needed_whole() {
    let tcp =
        |ip: u32, ecn: bool| json!({"kind": "tcp", "rtt": 10 * MS, "ip_version": ip, "ecn": ecn});
    let requests =
        json!({"kind": "requests", "request": 20_000, "response": 14_480, "think": MS, "rtt": MS});
    let mut back = tcp(4, false);
    (back["from"], back["to"]) = ("receivers".into(), "senders".into());
    let flows = json!([
        tcp(4, false),
        tcp(6, false),
        tcp(4, true),
        back,
        requests,
        {"kind": "udp", "rtt": MS, "rate": 1_000_000},
        {"kind": "transfers", "load": 2_000_000, "min_size": 5_000, "max_size": 5_000, "rtt": MS},
    ]);
    let (framed, whole) = (run(true, &flows), run(false, &flows));
    assert!(
        framed.0.len() > 10_000 && framed.2.len() > 100,
        "{} {}",
        framed.0.len(),
        framed.2.len()
    );
    assert!(framed.3.stray_frames > 100 && framed.3.flows.iter().all(|flow| flow.delivered > 0));
    assert_eq!(framed.3, whole.3);
    assert!(framed == whole, "rows differ");
}
