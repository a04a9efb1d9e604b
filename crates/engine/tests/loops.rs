//! A looped port: its output returns as its input.

use serde_json::json;
use sojourn_control::Operation;
use sojourn_engine::control::apply;
use sojourn_engine::{Aqm, P4Aqm, Programs, StandaloneConfig, standalone};
use sojourn_packet::{Packet, PortId, Time};
use std::path::Path;

/// Number of frames that leave port 1 after one has entered it; the program forwards it to port 2,
/// and frames from port 2 to port 1.
fn left_at_port_1(loops: bool) -> usize {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let p4 = P4Aqm {
        program: root.join("tests/stf/v1model/wire.p4").display().to_string(),
        include_paths: vec![root.join("p4/include").display().to_string()],
        ..P4Aqm::default()
    };
    let ports = json!([{"id": 1}, {"id": 2, "loops": loops}]);
    let config = json!({"ports": ports, "aqm": Aqm::P4(Box::new(p4))});
    let config: StandaloneConfig = serde_json::from_value(config).expect("a configuration");
    let mut switch = standalone(&config, &Programs::default()).expect("a switch");
    let forward = |from: u16, to: u16| {
        json!({"op": "add_entry", "table": "forward", "entry": {
            "match": {"standard_metadata.ingress_port": from}, "action": "send",
            "args": {"port": to}}})
    };
    let both: Vec<Operation> =
        serde_json::from_value(json!([forward(1, 2), forward(2, 1)])).expect("operations");
    apply(&mut switch, &both, Time::ZERO).expect("they fit");
    switch.receive(Time(1), PortId(1), Packet { bytes: vec![0; 60], ..Packet::default() });
    switch.advance(Time::from_millis(1));
    let left = switch.take_transmits();
    left.filter(|transmit| transmit.port == PortId(1)).count()
}

#[test]
fn packets_that_leave_a_looped_port_return_at_it() {
    assert_eq!((left_at_port_1(false), left_at_port_1(true)), (0, 1));
}
