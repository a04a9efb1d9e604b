//! Refused configurations, and their messages.

use crate::harness::*;
use sojourn_packet::PortId;
use sojourn_packet::Rate;
use sojourn_switch::{
    CrossConnect, MirrorSession, MulticastGroup, MulticastNode, PortConfig, ShaperConfig, Switch,
    SwitchConfig, discipline,
};
use std::collections::BTreeMap;

fn refusal(change: impl FnOnce(&mut SwitchConfig)) -> String {
    let mut config = config();
    change(&mut config);
    let plane = Box::new(Fake::new());
    Switch::new(config, plane).err().expect("should have been refused").to_string()
}

#[test]
fn a_refusal_names_the_port_and_the_value() {
    let said = [
        (refusal(|c| c.ports.push(PortConfig::front(IN, Rate(1)))), "port 1 is configured twice"),
        (refusal(|c| c.ports[0].speed = Rate(0)), "port 1 has a speed of 0"),
        (refusal(|c| c.ports[1].queues.clear()), "port 2 has 0 queues; a port has 1 to 32"),
        (
            refusal(|c| c.ports[1].queues[0].priority = 8),
            "port 2 queue 0: priority is 8, allowed is 0 to 7",
        ),
        (
            refusal(|c| c.ports[1].queues[0].weight = 1024),
            "port 2 queue 0: weight is 1024, allowed is 0 to 1023",
        ),
        (
            refusal(|c| c.ports[1].shaper = Some(ShaperConfig::bits(Rate(1_000_000), 0))),
            "shaper of port 2: burst is 0, allowed is 1 to 491520",
        ),
        (refusal(|c| c.cells = 0), "the number of buffer cells must not be 0"),
        (refusal(|c| c.shapers.clock = 0), "the core clock must not be 0"),
    ];
    for (got, expected) in said {
        assert_eq!(got, expected);
    }
}

#[test]
fn sessions_and_groups_must_lead_somewhere() {
    let session = |id, port| MirrorSession::egress(id, PortId(port), 0);
    let with = |s: Vec<MirrorSession>| refusal(|c| c.mirror.sessions = s);
    assert_eq!(with(vec![session(0, 68)]), "mirror session 0 is outside 1 to 1015");
    assert_eq!(with(vec![session(1016, 68)]), "mirror session 1016 is outside 1 to 1015");
    assert_eq!(
        with(vec![session(1, 70)]),
        "a mirror session refers to port 70 queue 0, which is not configured"
    );
    assert_eq!(with(vec![session(1, 68); 2]), "mirror session 1 is defined twice");
    let node = MulticastNode { rid: 0, l1_exclusion: None, ports: vec![PortId(9)] };
    let group = MulticastGroup { id: 1, nodes: vec![node] };
    assert_eq!(
        refusal(|c| c.multicast.push(group)),
        "a multicast group refers to port 9 queue 0, which is not configured"
    );
}

#[test]
fn a_discipline_needs_its_port() {
    let refused = |port, queue| {
        let discipline = discipline::build("codel", &[]).unwrap();
        let disciplines = BTreeMap::from([((port, queue), discipline)]);
        let wire = Box::new(CrossConnect::default());
        Switch::with_disciplines(config(), wire, disciplines).err().unwrap().to_string()
    };
    let message = |place| format!("a discipline refers to {place}, which is not configured");
    assert_eq!(refused(PortId(7), 0), message("port 7 queue 0"));
    assert_eq!(refused(PortId(2), 9), message("port 2 queue 9"));
}
