//! Frames for the disciplines' tests, and properties of every registered discipline.

use super::*;
use crate::ecn;
use proptest::prelude::*;
use sojourn_packet::{FlowId, Packet, PacketId};
use std::collections::BTreeMap;

/// The codepoints of the ECN field.
pub const NOT_ECT: u8 = 0;
/// As the scalable congestion controls of L4S send.
pub const ECT1: u8 = 1;
/// As other ECN-capable senders send.
pub const ECT0: u8 = 2;

/// An IPv4 UDP frame of a flow: the flow's number is in its source address and port.
pub fn frame(id: u64, flow: u16, codepoint: u8, size: u32) -> Packet {
    let [high, low] = flow.to_be_bytes();
    let mut packet = Packet { id: PacketId(id), flow: FlowId(flow.into()), ..Packet::default() };
    packet.bytes.extend_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00]);
    packet.bytes.extend_from_slice(&[0x45, codepoint, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0]);
    packet.bytes.extend_from_slice(&[10, 0, high, low, 10, 1, 0, 1, high, low, 0, 53, 0, 0, 0, 0]);
    packet.zeros = size - packet.bytes.len() as u32;
    packet
}

/// A packet enqueued at that nanosecond.
pub fn queued(packet: Packet, at: u64) -> Queued {
    Queued::new(packet, Time(at))
}

/// Next step of a trace: after a gap in ns, a packet arrives or one is taken.
#[derive(Clone, Debug)]
enum Step {
    Enqueue { gap: u64, flow: u16, codepoint: u8, size: u32 },
    Dequeue { gap: u64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Gaps with a few long ones, so that control laws and periodic updates come into play.
    let gap = || prop_oneof![8 => 0..200_000u64, 3 => 0..8_000_000u64, 1 => 0..200_000_000u64];
    // A flow has one codepoint, as a discipline may keep codepoints in queues of their own.
    let enqueue = (gap(), 0..8u16, 60..1514u32).prop_map(|(gap, flow, size)| Step::Enqueue {
        gap,
        flow,
        codepoint: (flow % 4) as u8,
        size,
    });
    let dequeue = gap().prop_map(|gap| Step::Dequeue { gap });
    prop::collection::vec(prop_oneof![3 => enqueue, 2 => dequeue], 1..600)
}

/// Parameters that make a discipline do everything it can in a short trace.
fn lively(registered: &Registered) -> Vec<(&'static str, u64)> {
    let values = [
        ("ecn", 1),
        ("limit", 100),
        ("limit_packets", 100),
        ("target", 500_000),
        ("interval", 5_000_000),
        ("rtt", 5_000_000),
        ("memlimit", 50_000),
        ("ce_threshold", 20_000_000),
        ("flows", 4),
        ("max_burst", 0),
        ("qdelay_ref", 500_000),
        ("alpha", 100_000),
        ("beta", 1_000_000),
        ("gentle", 1),
        ("w_q", 200_000),
    ];
    // What is a number to one discipline is a switch to another.
    let allows = |p: &Parameter, value| p.kind != Kind::Flag || value <= 1;
    let takes =
        |(name, value)| registered.parameters.iter().any(|p| p.name == name && allows(p, value));
    values.into_iter().filter(|&pair| takes(pair)).collect()
}

/// Follows a trace and checks after each step that nothing is lost, invented or changed.
struct Ledger {
    queue: Box<dyn Discipline>,
    drops: Drops,
    now: Time,
    /// Packets that have entered and not left.
    held: BTreeMap<u64, Queued>,
    /// Last packet of each flow that was sent.
    sent: BTreeMap<u32, u64>,
    /// The discipline may change the order of a flow's packets of one rank.
    reorders: bool,
}

impl Ledger {
    fn enqueue(&mut self, packet: Packet) -> Result<(), TestCaseError> {
        let packet = Queued::new(packet, self.now);
        self.held.insert(packet.packet.id.0, packet.clone());
        self.queue.enqueue(self.now, packet, &mut self.drops);
        self.settle()
    }

    fn dequeue(&mut self) -> Result<(), TestCaseError> {
        let sent = self.queue.dequeue(self.now, &mut self.drops);
        self.settle()?;
        let Some(sent) = sent else {
            prop_assert_eq!(self.queue.packets(), 0, "a queue with packets sends one");
            return Ok(());
        };
        let came = self.held.remove(&sent.packet.id.0);
        let mut expected = came.expect("what is sent came in and is sent once").packet.clone();
        if ecn::is_marked(&sent.packet) {
            prop_assert!(ecn::mark(&mut expected), "only what is capable of ECN is marked");
        }
        prop_assert_eq!(&sent.packet, &expected);
        let before = self.sent.insert(sent.packet.flow.0, sent.packet.id.0);
        let is_next = before < Some(sent.packet.id.0);
        prop_assert!(is_next || self.reorders, "a flow's packets stay in order");
        Ok(())
    }

    fn settle(&mut self) -> Result<(), TestCaseError> {
        for (packet, _) in self.drops.drain() {
            prop_assert!(self.held.remove(&packet.packet.id.0).is_some(), "dropped once");
        }
        Ok(())
    }

    fn balance(&self) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.queue.packets(), self.held.len());
        let bytes = self.held.values().fold(Bytes(0), |sum, packet| sum + packet.size());
        prop_assert_eq!(self.queue.bytes(), bytes);
        Ok(())
    }
}

fn follow(
    registered: &Registered,
    parameters: &[(&str, u64)],
    steps: &[Step],
) -> Result<(), TestCaseError> {
    let queue = build(registered.name, parameters).expect("allowed parameters");
    let (held, sent) = (BTreeMap::new(), BTreeMap::new());
    // A full queue of PACKS passes a rank on to the next one; later packets of that rank overtake.
    let reorders = registered.name == "packs";
    let (drops, now) = (Drops::default(), Time::ZERO);
    let mut ledger = Ledger { queue, drops, now, held, sent, reorders };
    for (id, step) in (0..).zip(steps) {
        match *step {
            Step::Enqueue { gap, flow, codepoint, size } => {
                ledger.now += Time(gap);
                ledger.enqueue(frame(id, flow, codepoint, size))?;
            }
            Step::Dequeue { gap } => {
                ledger.now += Time(gap);
                ledger.dequeue()?;
            }
        }
        ledger.balance()?;
    }
    while ledger.queue.packets() > 0 {
        ledger.now += Time(1_000_000);
        ledger.dequeue()?;
    }
    ledger.balance()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn every_discipline_keeps_order_and_books(steps in steps()) {
        for registered in REGISTRY.all() {
            follow(registered, &[], &steps)?;
            follow(registered, &lively(registered), &steps)?;
        }
    }

    #[test]
    fn a_discipline_does_the_same_each_time(steps in steps()) {
        for registered in REGISTRY.all() {
            let run = || {
                let mut queue = build(registered.name, &lively(registered)).unwrap();
                let (mut drops, mut now, mut out) = (Drops::default(), Time::ZERO, Vec::new());
                for (id, step) in (0..).zip(&steps) {
                    match *step {
                        Step::Enqueue { gap, flow, codepoint, size } => {
                            now += Time(gap);
                            let packet = Queued::new(frame(id, flow, codepoint, size), now);
                            queue.enqueue(now, packet, &mut drops);
                        }
                        Step::Dequeue { gap } => {
                            now += Time(gap);
                            out.extend(queue.dequeue(now, &mut drops).map(|p| p.packet.clone()));
                        }
                    }
                    out.extend(drops.drain().map(|(p, _)| p.packet.clone()));
                }
                (out, queue.counters())
            };
            prop_assert_eq!(run(), run());
        }
    }
}
