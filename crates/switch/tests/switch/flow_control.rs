//! Requests of a program, and of the control plane, to pause and resume queues.

use crate::harness::*;
use sojourn_packet::{EgressOutput, FlowControl, Packet, Time};
use sojourn_switch::{Change, QueueChange};

/// Egress of packet `id` writes the request.
fn request(id: u64, pause: bool) -> impl Fn(&sojourn_packet::EgressInput, Packet) -> EgressOutput {
    move |_: &_, packet: Packet| {
        let asks = packet.id.0 == id;
        let request = FlowControl { port: OUT, queue: 0, pause };
        EgressOutput { flow_control: asks.then_some(request), ..pass(packet) }
    }
}

#[test]
fn a_paused_queue_takes_packets_and_gives_none() {
    let mut driver = Driver::p4(config(), Fake::new().egress(request(1, true)));
    (1..=6).for_each(|id| driver.receive(0, IN, packet(id, 1514)));
    driver.finish();
    // The first leaves at 600 and asks 500 ns later; a slot of 1,230 ns is free before 625 have passed.
    assert_eq!(driver.sent.len(), 1);
    let statistics = driver.switch.statistics();
    assert_eq!((statistics.flow_control.paused, statistics.flow_control.no_queue), (1, 0));
    assert_eq!(statistics.ports[1].queues[0].packets, 5);
}

#[test]
fn packets_of_the_delay_are_past_the_scheduler() {
    let mut config = config();
    config.flow_control_delay = Time(1_000);
    let mut driver = Driver::p4(config, Fake::new().egress(request(1, true)));
    (1..=6).for_each(|id| driver.receive(0, IN, packet(id, 1514)));
    driver.finish();
    // 600 + 500 + 1,000 is behind the second at 1,831.
    assert_eq!(driver.sent.len(), 2);
}

#[test]
fn a_resumed_queue_goes_on_and_a_queue_that_does_not_exist_is_counted() {
    let egress = |_: &_, packet: Packet| {
        let port = if packet.id.0 == 2 { sojourn_packet::PortId(400) } else { OUT };
        let request = FlowControl { port, queue: 0, pause: packet.id.0 == 1 };
        EgressOutput { flow_control: Some(request), ..pass(packet) }
    };
    let resume = |input: &sojourn_packet::IngressInput, packet: Packet| {
        let late = packet.id.0 == 9 && input.now.0 > 0;
        let request = FlowControl { port: OUT, queue: 0, pause: false };
        sojourn_packet::IngressOutput {
            flow_control: late.then_some(request),
            ..to(OUT, 0, packet)
        }
    };
    let mut driver = Driver::p4(config(), Fake::new().egress(egress).ingress(resume));
    (1..=3).for_each(|id| driver.receive(0, IN, packet(id, 1514)));
    driver.receive(50_000, IN, packet(9, 60));
    driver.finish();
    let control = driver.switch.statistics().flow_control;
    assert_eq!((driver.sent.len(), control.paused, control.no_queue), (4, 1, 1));
    assert!(driver.sent[1].start > Time(50_000));
}

/// The control plane pauses or resumes all queues.
fn set_paused(paused: bool) -> Change {
    Change::Queues(QueueChange { paused: Some(paused), ..QueueChange::default() })
}

#[test]
fn the_control_plane_pauses_a_queue_and_resumes_it() {
    let mut driver = Driver::p4(config(), Fake::new());
    driver.switch.change(Time::ZERO, &set_paused(true)).unwrap();
    (1..=3).for_each(|id| driver.receive(0, IN, packet(id, 1514)));
    driver.run_until(50_000);
    assert_eq!(driver.sent.len(), 0);
    driver.switch.change(Time(50_000), &set_paused(false)).unwrap();
    driver.finish();
    assert_eq!(driver.sent.len(), 3);
    assert!(driver.sent[0].start >= Time(50_000));
}

#[test]
fn a_reverted_pause_lets_packets_pass_again() {
    let mut driver = Driver::p4(config(), Fake::new());
    let replaced = driver.switch.change(Time::ZERO, &set_paused(true)).unwrap();
    driver.switch.revert(replaced);
    driver.receive(0, IN, packet(1, 1514));
    driver.finish();
    assert_eq!(driver.sent.len(), 1);
}

#[test]
fn a_program_does_not_resume_what_the_control_plane_has_paused() {
    let mut config = config();
    config.ports[1].queues[0].paused = true;
    let resume = |_: &sojourn_packet::IngressInput, packet: Packet| {
        let request = FlowControl { port: OUT, queue: 0, pause: false };
        sojourn_packet::IngressOutput { flow_control: Some(request), ..to(OUT, 0, packet) }
    };
    let mut driver = Driver::p4(config, Fake::new().ingress(resume));
    driver.receive(0, IN, packet(1, 1514));
    driver.finish();
    assert_eq!((driver.sent.len(), driver.switch.statistics().flow_control.resumed), (0, 1));
}
