//! A program that loops forever on a switch whose passes take no time: the switch reports it and
//! continues to serve other packets.

use serde_json::json;
use sojourn_engine::{Aqm, P4Aqm, Programs, StandaloneConfig, standalone};
use sojourn_packet::{Packet, PortId, Time};
use std::path::Path;

const PROGRAM: &str = r"
#include <core.p4>
#include <v1model.p4>
struct headers_t {}
struct metadata_t {}
parser P(packet_in p, out headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    state start { transition accept; }
}
control Nothing(inout headers_t h, inout metadata_t m) { apply {} }
control Forward(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    apply { s.egress_spec = 2; if (s.packet_length == 61) { INGRESS; } }
}
control Out(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    apply { if (s.packet_length == 61) { EGRESS; } }
}
control Write(packet_out p, in headers_t h) { apply {} }
V1Switch(P(), Nothing(), Forward(), Out(), Nothing(), Write()) main;
";

#[test]
fn a_program_that_loops_forever_is_reported_by_name_and_other_packets_pass() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (ingress, egress, by) in [
        ("resubmit_preserving_field_list(0)", "{}", "resubmitted from port 3"),
        ("{}", "recirculate_preserving_field_list(0)", "recirculated from egress at port 2"),
        ("{}", "clone(CloneType.E2E, 7)", "copied by mirror session 7"),
    ] {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("round.p4");
        std::fs::write(&file, PROGRAM.replace("INGRESS", ingress).replace("EGRESS", egress))
            .expect("written");
        let p4 = P4Aqm {
            program: file.display().to_string(),
            include_paths: vec![root.join("p4/include").display().to_string()],
            ..P4Aqm::default()
        };
        let ports = json!([{"id": 1}, {"id": 2}, {"id": 3}]);
        let config = json!({"ports": ports, "aqm": Aqm::P4(Box::new(p4))});
        let config: StandaloneConfig = serde_json::from_value(config).expect("a configuration");
        let mut switch = standalone(&config, &Programs::default()).expect("a switch");
        let session = sojourn_switch::MirrorSession::egress(7, PortId(2), 0);
        switch.set_mirror_session(session).expect("a session");
        let mut receive = |at: u64, port, length| {
            let frame = Packet { bytes: vec![0; length], ..Packet::default() };
            switch.receive(Time::from_millis(at), PortId(port), frame);
            switch.advance(Time::from_millis(at + 1));
            let out = switch.take_transmits().count();
            (out, switch.faults())
        };
        assert_eq!(receive(1, 1, 60), (1, Vec::new()), "{by}");
        let (_, told) = receive(10, 3, 61);
        assert_eq!((told.len(), told[0].kind), (1, "rounds"), "{by}");
        assert!(told[0].first.contains(by), "{told:?}");
        assert_eq!(receive(20, 1, 60).0, 1, "{by}");
    }
}
