//! A discipline and a congestion control that are registered by this test run like the built-in
//! ones.

use serde_json::json;
use sojourn_engine::{config, simulation};
use sojourn_net::config::{Aqm, LinkSection, NetworkSection};
use sojourn_net::tcp::congestion::{self, Ack, CongestionControl, Window};
use sojourn_packet::Time;
use sojourn_switch::discipline::{
    self, Discipline, Drops, Kind, Parameter, QueueLength, Queued, Registered,
};

/// Holds a limited number of packets and drops the oldest for a new one.
#[derive(Debug)]
struct HeadDrop {
    most: u64,
    held: std::collections::VecDeque<Queued>,
}

impl Discipline for HeadDrop {
    fn enqueue(&mut self, _: Time, packet: Queued, drops: &mut Drops) {
        self.held.push_back(packet);
        if self.held.len() as u64 > self.most
            && let Some(oldest) = self.held.pop_front()
        {
            drops.push(oldest, discipline::DropKind::Aqm);
        }
    }

    fn dequeue(&mut self, _: Time, _: &mut Drops) -> Option<Queued> {
        self.held.pop_front()
    }

    fn length(&self) -> QueueLength {
        let sizes = self.held.iter().map(Queued::size);
        QueueLength {
            packets: self.held.len(),
            bytes: sizes.fold(Default::default(), |a, b| a + b),
        }
    }
}

static HEAD_DROP: Registered = Registered {
    name: "head_drop",
    summary: "drops the oldest packet",
    parameters: &[Parameter::new("most", Kind::Packets, 10, "most packets held")],
    build: |settings| {
        let most = settings.within("most", 1..=1_000)?;
        Ok(Box::new(HeadDrop { most, held: Default::default() }))
    },
};

/// A constant window.
#[derive(Debug)]
struct Constant;

impl CongestionControl for Constant {
    fn on_ack(&mut self, _: &mut Window, _: &Ack) {}

    fn reduced_threshold(&mut self, window: &Window) -> u32 {
        window.cwnd
    }
}

static CONSTANT: congestion::Registered = congestion::Registered {
    name: "constant",
    summary: "a window that never changes",
    linux: None,
    ecn_feedback: congestion::EcnFeedback::Classic,
    telemetry: false,
    start: |_| Box::new(Constant),
};

/// Four flows with a window of ten segments each through 5 Mbit/s.
fn told(parameters: &serde_json::Value) -> String {
    let flow = json!({"kind": "tcp", "rtt": 10_000_000, "congestion_control": "constant"});
    let mut aqm = json!({"kind": "native", "name": "head_drop"});
    if let (Some(aqm), Some(more)) = (aqm.as_object_mut(), parameters.as_object()) {
        aqm.extend(more.clone());
    }
    json!({
        "duration": 2_000_000_000_u64,
        "network": NetworkSection::<Aqm>::one_switch(LinkSection {
            rate: Some(5_000_000),
            ..LinkSection::bottleneck()
        }),
        "aqm": aqm,
        "flows": [flow, flow, flow, flow],
    })
    .to_string()
}

#[test]
fn a_registered_discipline_is_configured_checked_and_run() {
    let unknown = config::read(&told(&json!({}))).expect_err("not registered yet").to_string();
    assert!(unknown.contains("`constant`") && unknown.contains("`cubic`"), "{unknown}");
    discipline::REGISTRY.add(&HEAD_DROP).expect("a new name");
    congestion::REGISTRY.add(&CONSTANT).expect("a new name");

    let refused = config::read(&told(&json!({"most": 0}))).expect_err("too few").to_string();
    assert!(refused.contains("allowed is 1 to 1000 packets"), "{refused}");

    let config = config::read(&told(&json!({"most": 20}))).expect("a configuration");
    let mut run = simulation(&config).expect("a run");
    run.advance(Time::MAX, usize::MAX);
    let flows = run.take_flows();
    let largest = flows.cwnd.iter().max();
    assert_eq!(largest, Some(&14_600), "ten segments, and never more");
    let rows = run.take_packets();
    assert!(rows.len() > 500, "{} packets", rows.len());
    let longest = (0..rows.len()).map(|row| rows.dequeued[row] - rows.enqueued[row]).max();
    // Twenty full packets, and the one on the wire.
    let bound = 21 * 1_514 * 8 * 200;
    assert!(longest.is_some_and(|ns| 0 < ns && ns < bound), "{longest:?} ns");
}
