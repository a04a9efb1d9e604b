//! Runs of traffic beyond long flows, compared with values computed by hand.

use super::*;
use crate::config::{LinkSection, NetworkSection};
use crate::records::ExchangeRows;
use serde_json::{Value, json};

const MS: u64 = 1_000_000;

/// One switch with a bottleneck of that rate.
fn through(rate: u64) -> NetworkSection {
    NetworkSection::one_switch(LinkSection { rate: Some(rate), ..LinkSection::bottleneck() })
}

fn run(rate: u64, seconds: u64, flows: &[Value]) -> Simulation {
    run_of("fifo", through(rate), seconds, flows)
}

fn run_of(aqm: &str, network: NetworkSection, seconds: u64, flows: &[Value]) -> Simulation {
    let config = json!({
        "duration": seconds * 1_000 * MS, "aqm": {"kind": "native", "name": aqm},
        "network": network, "flows": flows,
    });
    let config = RunConfig::from_json(&config.to_string()).expect("a valid configuration");
    let mut run = Simulation::new(config, None).expect("a valid configuration");
    run.advance(Time::MAX, usize::MAX);
    assert!(run.finished());
    assert_eq!((run.report().stray_frames, run.report().malformed_frames), (0, 0));
    run
}

fn transfers(load: u64, size: u64) -> Value {
    json!({"kind": "transfers", "load": load, "min_size": size, "max_size": size, "rtt": 20 * MS})
}

#[test]
fn a_transfer_alone_takes_a_round_trip_to_connect_and_one_way_for_its_first_window() {
    // Ten segments are the first window; one transfer each 2 s on average is alone.
    let mut run = run(1_000_000_000, 60, &[transfers(58_000, 14_480)]);
    let rows = run.take_exchanges();
    assert!((15..=50).contains(&rows.flow.len()), "{}", rows.flow.len());
    for (started, finished) in rows.started.iter().zip(&rows.finished) {
        let took = finished - started;
        // SYN, SYN-ACK and the data: three times 10 ms, and 0.15 ms for 15 kB at 1 Gbit/s.
        assert!((30 * MS..31 * MS).contains(&took), "{took}");
    }
    assert_eq!(rows.flow, (1..=rows.flow.len() as u32).collect::<Vec<_>>());
    assert!(rows.source.iter().all(|source| *source == 0));
    let delivered = run.report().flows[0].delivered;
    assert_eq!(delivered, 14_480 * rows.flow.len() as u64);
    // Transfers have no samples: there are too many of them to follow their congestion windows.
    assert!(run.take_flows().is_empty());
}

/// The mean time of the transfers of one configured flow that came to an end, ns.
fn mean_time(rows: &ExchangeRows, of: u32) -> u64 {
    let done = (0..rows.source.len()).filter(|at| rows.source[*at] == of && rows.finished[*at] > 0);
    let times: Vec<u64> = done.map(|at| rows.finished[at] - rows.started[at]).collect();
    assert!(times.len() > 100, "{}", times.len());
    times.iter().sum::<u64>() / times.len() as u64
}

#[test]
fn transfers_with_the_earlier_deadline_overtake_where_the_lowest_rank_goes_first() {
    let with = |deadline: u64| {
        let mut flow = transfers(24_000_000, 30_000);
        flow["tcp"] = json!({"rank": {"deadline": deadline}});
        flow
    };
    let flows = [with(MS), with(500 * MS)];
    let times = |aqm| {
        let rows = run_of(aqm, through(50_000_000), 5, &flows).take_exchanges();
        [0, 1].map(|of| mean_time(&rows, of))
    };
    let ([soon, late], plain) = (times("pifo"), times("fifo"));
    assert!(2 * soon < late, "{soon} {late}");
    assert!(2 * plain[0] > plain[1] && soon < plain[0], "{plain:?}");
}

#[test]
fn timeouts_of_a_kernel_with_long_ticks_are_longer() {
    let times = [1000, 250, 100].map(|hz| {
        let mut flow = transfers(5_000_000, 14_480);
        flow["rtt"] = json!(MS);
        flow["tcp"] = json!({"min_rto": MS, "delayed_ack": MS, "hz": hz});
        let mut network = through(50_000_000);
        network.links[1].queue_limit = 6_000;
        mean_time(&run_of("fifo", network, 5, &[flow]).take_exchanges(), 0)
    });
    assert!(times.is_sorted() && times[2] > times[0] + 5 * MS, "{times:?}");
}

#[test]
fn transfers_that_are_over_leave_their_places_to_others_and_their_counts_stay() {
    // A hundred a second, each over in 50 ms and gone 0.8 s later.
    let mut run = run(1_000_000_000, 10, &[transfers(11_600_000, 14_480)]);
    let rows = run.take_exchanges();
    let done = rows.finished.iter().filter(|at| **at > 0).count() as u64;
    let report = &run.report().flows[0];
    assert!(done > 800 && (10 * done..10 * (done + 10)).contains(&report.segments));
    assert!((14_480 * done..14_480 * (done + 10)).contains(&report.delivered));
    assert_eq!(Some(&report.started), rows.started.iter().min());
    assert!(run.partitions[0].host_states.len() < 500, "places of both ends of a quarter");
}

#[test]
fn an_end_that_has_left_its_place_gets_one_for_a_frame_that_still_arrives() {
    let mut run = run(1_000_000_000, 10, &[transfers(11_600_000, 14_480)]);
    let Partition { closed_ends, demux, host_states, in_flight, .. } = &mut run.partitions[0];
    let (place, _) = demux.end(1, 0).expect("the sender of the first transfer");
    assert!(host_states.get(place.0 as usize).is_none());
    let seated = closed_ends.seated(place, host_states, in_flight, demux);
    let state = &host_states[seated.0 as usize];
    assert_eq!((state.id.flow(), state.access, state.host.listens()), (1, 0, false));
    assert!(state.host.linger().is_some());
    assert_eq!(demux.end(1, 0).map(|(place, _)| place), Some(seated));
}

#[test]
fn transfers_cut_by_the_end_of_the_run_have_no_end_time() {
    let mut run = run(1_000_000, 5, &[transfers(2_000_000, 50_000)]);
    let rows = run.take_exchanges();
    let cut = rows.finished.iter().filter(|at| **at == 0).count();
    assert!(cut > 3 && cut < rows.flow.len(), "{cut} of {}", rows.flow.len());
    // Completed ones come first, in the order of time.
    let done = &rows.finished[..rows.flow.len() - cut];
    assert!(done.iter().all(|at| *at > 0) && done.is_sorted());
}

#[test]
fn answers_come_from_in_front_of_the_bottleneck_to_whoever_asks_behind_it() {
    let asks = json!({"kind": "requests", "request": 200, "response": 14_480, "think": 100 * MS,
                      "rtt": 20 * MS});
    let mut run = run(100_000_000, 10, &[asks]);
    let rows = run.take_exchanges();
    assert!((60..=110).contains(&rows.flow.len()), "{}", rows.flow.len());
    assert_eq!(rows.number, (0..rows.flow.len() as u32).collect::<Vec<_>>());
    // Later responses fit into the window; the acknowledgement of the request goes along.
    for (started, finished) in rows.started.iter().zip(&rows.finished).filter(|(_, f)| **f > 0) {
        assert!((20 * MS..23 * MS).contains(&(finished - started)), "{started} {finished}");
    }
    let packets = run.take_packets();
    let full = packets.size.iter().filter(|size| **size == 1514).count();
    // The last response may have passed the queue only in part.
    let done = rows.finished.iter().filter(|at| **at > 0).count();
    assert!((10 * done..=10 * rows.flow.len()).contains(&full), "{full} of {done}");
    assert_eq!(run.report().flows[0].delivered % 14_480, 0);
}

#[test]
fn servers_of_an_incast_are_asked_at_the_same_instants() {
    let asks = json!({"kind": "requests", "request": 200, "response": 14_480, "every": 100 * MS,
                      "rtt": MS});
    let mut run = run(1_000_000_000, 2, &vec![asks; 8]);
    let rows = run.take_exchanges();
    for (number, started) in rows.number.iter().zip(&rows.started) {
        assert_eq!(*started, (u64::from(*number) + 1) * 100 * MS);
    }
    // The twentieth round begins with the last instant of the run.
    assert_eq!(rows.flow.len(), 8 * 20);
    assert_eq!(rows.finished.iter().filter(|at| **at == 0).count(), 8);
}

#[test]
fn a_voice_alone_arrives_as_evenly_as_it_was_sent() {
    let voice = json!({"kind": "voip", "rtt": 20 * MS});
    let six = json!({"kind": "voip", "rtt": 20 * MS, "ip_version": 6, "start": 3});
    let mut run = run(1_000_000, 2, &[voice, six]);
    let rows = run.take_datagrams();
    let of = |flow: u32| -> Vec<usize> {
        (0..rows.flow.len()).filter(|row| rows.flow[*row] == flow).collect()
    };
    for flow in [0, 1] {
        assert!((98..=100).contains(&of(flow).len()));
        let numbers: Vec<u32> = of(flow).iter().map(|row| rows.number[*row]).collect();
        assert_eq!(numbers, (0..numbers.len() as u32).collect::<Vec<_>>());
        for row in of(flow) {
            assert_eq!(
                rows.sent[row] - rows.sent[of(flow)[0]],
                u64::from(rows.number[row]) * 20 * MS
            );
            // 10 ms, and at most the time that the other voice's datagram needs at 1 Mbit/s.
            let delay = rows.received[row] - rows.sent[row];
            assert!((10 * MS..13 * MS).contains(&delay), "{delay}");
        }
    }
    // 160 bytes of voice and 12 of RTP in UDP over IPv4 and Ethernet.
    assert!(run.take_packets().size.contains(&214));
}

#[test]
fn a_source_that_is_on_a_quarter_of_the_time_sends_a_quarter() {
    let flow = json!({"kind": "udp", "rate": 8_000_000, "packet_size": 1000, "rtt": MS,
                      "on": 50 * MS, "off": 150 * MS});
    let run = run(100_000_000, 10, &[flow]);
    let sent = run.report().flows[0].segments;
    assert!(sent.abs_diff(2_500) <= 50, "{sent}");
}

#[test]
fn traffic_drawn_for_other_backends_equals_the_simulators() {
    let thinks = json!({"kind": "requests", "request": 200, "response": 1_000, "think": 100 * MS,
                        "rtt": 20 * MS, "start": 7 * MS});
    let flows = [transfers(1_000_000, 14_480), thinks];
    let config = json!({
        "duration": 5_000 * MS, "aqm": {"kind": "native", "name": "fifo"},
        "network": through(1_000_000_000), "flows": flows,
    });
    let config = RunConfig::from_json(&config.to_string()).expect("a valid configuration");
    let drawn = workload(&config);
    let mut run = Simulation::new(config, None).expect("a valid configuration");
    run.advance(Time::MAX, usize::MAX);
    let rows = run.take_exchanges();
    let of = |source: u32| -> Vec<usize> {
        (0..rows.flow.len()).filter(|row| rows.source[*row] == source).collect()
    };
    let mut started: Vec<u64> = of(0).into_iter().map(|row| rows.started[row]).collect();
    started.sort_unstable();
    assert!(started.len() > 20);
    assert_eq!(started, drawn[0].transfers.iter().map(|(at, _)| *at).collect::<Vec<_>>());
    let asked = of(1);
    // The first one waits for the handshake, each other one for the answer before it.
    assert!((drawn[1].start + 20 * MS..drawn[1].start + 21 * MS).contains(&rows.started[asked[0]]));
    for pair in asked.windows(2) {
        let think = rows.started[pair[1]] - rows.finished[pair[0]];
        assert_eq!(think, drawn[1].thinks[rows.number[pair[0]] as usize]);
    }
    assert!(asked.len() > 10 && drawn[1].thinks.iter().sum::<u64>() >= 4_900 * MS);
}

#[test]
fn traffic_that_makes_no_sense_is_refused_with_what_may_stand_there() {
    let with = |tcp: Value| {
        let mut flow = transfers(1_000, 1_000);
        flow["tcp"] = tcp;
        flow
    };
    let cases = [
        (with(json!({"hz": 200})), "200 ticks a second: Linux has 100, 250, 300 or 1000"),
        (with(json!({"rank": {"deadline": MS}})), "10000000000 ns is at most 6553500000 ns"),
        (json!({"kind": "udp", "rate": 8_000_000, "rtt": 0, "on": 5_000}), "both or neither"),
        (transfers(100_000_000_000, 100), "what makes at most 200000 transfers"),
        (json!({"kind": "requests", "request": 1, "response": 1, "rtt": 0}), "exactly one of them"),
        (json!({"kind": "voip", "rtt": 0, "payload": 4}), "flows[0].payload = 4: allowed is 8 to"),
    ];
    for (flow, message) in cases {
        let config = json!({
            "duration": 10_000 * MS, "aqm": {"kind": "native", "name": "fifo"}, "flows": [flow],
        });
        let refused = RunConfig::from_json(&config.to_string()).expect_err("a mistake").to_string();
        assert!(refused.contains(message), "{refused}");
    }
}
