//! A port behind a recorded trace, judged by a model of mahimahi's `mm-link` that is written here
//! from its description: opportunities of 1,504 bytes at milliseconds, packets with four bytes of
//! TUN header in place of the Ethernet header, what is left of an opportunity is lost.

use crate::harness::*;
use proptest::prelude::*;
use sojourn_switch::tm::link_trace::LinkTrace;
use sojourn_switch::{SwitchConfig, Verdict};
use std::collections::VecDeque;

const MS: u64 = 1_000_000;

fn with_trace(trace: &[u64]) -> SwitchConfig {
    let mut counted: Vec<(u64, u32)> = Vec::new();
    for ms in trace {
        match counted.last_mut() {
            Some((last, count)) if last == ms => *count += 1,
            _ => counted.push((*ms, 1)),
        }
    }
    let mut config = config();
    config.ports[1].trace = LinkTrace::new(counted);
    assert!(config.ports[1].trace.is_some());
    config
}

/// Start and end of each packet's transmission in mahimahi, in ms: `arrivals` are times in ns and
/// IP lengths, `trace` is the file, line by line.
fn mahimahi(trace: &[u64], arrivals: &[(u64, u32)]) -> Vec<(u64, u64)> {
    let (mut line, mut base) = (0, 0);
    let mut coming = arrivals.iter().copied().peekable();
    let (mut queue, mut sent) = (VecDeque::new(), Vec::new());
    // The packet in transit: when it left the queue, and what is missing of it.
    let mut transit: Option<(u64, u32)> = None;
    while sent.len() < arrivals.len() {
        let now = base + trace[line];
        line += 1;
        if line == trace.len() {
            (line, base) = (0, base + trace[trace.len() - 1]);
        }
        while let Some((_, ip)) = coming.next_if(|(at, _)| *at < now * MS) {
            queue.push_back(ip + 4);
        }
        let mut left = 1504;
        while left > 0 {
            let Some((since, missing)) = transit.or_else(|| Some((now, queue.pop_front()?))) else {
                break;
            };
            let amount = left.min(missing);
            left -= amount;
            transit = Some((since, missing - amount)).filter(|(_, missing)| *missing > 0);
            if transit.is_none() {
                sent.push((since, now));
            }
        }
    }
    sent
}

fn trace() -> impl Strategy<Value = Vec<u64>> {
    let gaps =
        prop::collection::vec(prop_oneof![4 => Just(0u64), 4 => 1..4u64, 1 => 20..60u64], 1..40);
    (0..3u64, gaps).prop_map(|(first, gaps)| {
        let mut at = first;
        let mut lines: Vec<u64> = gaps
            .iter()
            .map(|gap| {
                at += gap;
                at
            })
            .collect();
        if at == 0 {
            lines.push(1);
        }
        lines
    })
}

proptest! {
    #[test]
    fn a_trace_sends_each_packet_when_mahimahi_does(
        trace in trace(),
        given in prop::collection::vec((prop_oneof![3 => 1..60_000u64, 1 => 1..9_000_000u64], 60..=1514u32), 1..120),
    ) {
        let mut driver = Driver::p4(with_trace(&trace), Fake::new());
        let mut at = 10_000;
        for (id, (gap, size)) in given.iter().enumerate() {
            at += gap;
            driver.receive(at, IN, packet(id as u64, *size));
        }
        driver.finish();
        let mut rows = driver.rows();
        rows.retain(|row| row.verdict == Verdict::Sent);
        prop_assert_eq!(rows.len(), given.len());
        let arrivals: Vec<_> =
            rows.iter().zip(&given).map(|(row, (_, size))| (row.enqueued.0, size - 14)).collect();
        // At the very instant of an opportunity the order of events would decide.
        prop_assume!(arrivals.iter().all(|(at, _)| at % MS != 0));
        let expected = mahimahi(&trace, &arrivals);
        let begun: Vec<u64> = rows.iter().map(|row| row.dequeued.0).collect();
        let begins: Vec<u64> = expected.iter().map(|(begins, _)| begins * MS).collect();
        prop_assert_eq!(begun, begins);
        // The line and the switch's egress take microseconds; they never take a millisecond here.
        let passed: Vec<u64> = driver.sent.iter().map(|sent| sent.end.0 / MS).collect();
        let ends: Vec<u64> = expected.iter().map(|(_, ends)| *ends).collect();
        prop_assert_eq!(passed, ends);
    }
}

#[test]
fn a_file_of_one_line_is_twelve_megabits_of_ip_a_second() {
    let mut driver = Driver::p4(with_trace(&[1]), Fake::new());
    (0..1_000).for_each(|id| driver.receive(10 + id, IN, packet(id, 1514)));
    driver.finish();
    let last = driver.rows().last().map(|row| row.dequeued.0);
    assert_eq!(last, Some(1_000 * MS));
}
