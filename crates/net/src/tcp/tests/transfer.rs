//! Two connections and a network between them that loses arbitrary segments.

use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;

/// A client with `bytes` to send, a server, and the segments on their way.
pub(super) struct Transfer {
    pub(super) client: Connection,
    server: Connection,
    pub(super) now: Time,
    pub(super) one_way: Time,
    /// Arrival, towards the server, segment. The delay is constant, so this is a queue.
    wire: VecDeque<(Time, bool, TcpSegment)>,
    bytes: u64,
}

impl Transfer {
    pub(super) fn new(config: TcpConfig, bytes: u64) -> Transfer {
        let congestion_control = config.congestion_control;
        let server = TcpConfig {
            initial_sequence: u32::MAX - 3,
            congestion_control,
            ..TcpConfig::default()
        };
        Transfer {
            client: Connection::connect(config),
            server: Connection::listen(server),
            now: Time::ZERO,
            one_way: Time::from_millis(5),
            wire: VecDeque::new(),
            bytes,
        }
    }

    /// Lets both send; `keep` decides what the network delivers, and may mark it.
    fn send(&mut self, keep: &mut impl FnMut(bool, &mut TcpSegment) -> bool) {
        self.client.set_written(self.bytes);
        self.client.close();
        if self.server.receiver().is_finished() {
            self.server.close();
        }
        for (forward, end) in [(true, &mut self.client), (false, &mut self.server)] {
            while let Some(mut segment) = end.poll_transmit(self.now) {
                if keep(forward, &mut segment) {
                    self.wire.push_back((self.now + self.one_way, forward, segment));
                }
            }
        }
    }

    /// Runs until both ends have closed or `steps` things have happened; true if they have.
    fn run(&mut self, steps: usize, mut keep: impl FnMut(bool, &mut TcpSegment) -> bool) -> bool {
        (0..steps).any(|_| self.step(&mut keep))
    }

    /// One arrival or timer; true if both ends have closed.
    pub(super) fn step(&mut self, keep: &mut impl FnMut(bool, &mut TcpSegment) -> bool) -> bool {
        self.send(keep);
        if self.client.receiver().is_finished() && self.server.next_timer().is_none() {
            return true;
        }
        let timer = self.client.next_timer().into_iter().chain(self.server.next_timer()).min();
        let arrival = self.wire.front().map(|(at, ..)| *at);
        self.now = timer.into_iter().chain(arrival).min().expect("something is due");
        if arrival == Some(self.now) {
            let (_, forward, segment) = self.wire.pop_front().expect("a segment");
            let end = if forward { &mut self.server } else { &mut self.client };
            end.receive(self.now, &segment);
        }
        self.client.advance(self.now);
        self.server.advance(self.now);
        false
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]
    #[test]
    fn every_byte_arrives_whatever_is_lost(
        losses in proptest::collection::vec(0u8..100, 64..512), rate in 0u8..30,
        bytes in 0u64..400_000, isn: u32, new_reno: bool, timestamps: bool,
    ) {
        let control = if new_reno { CongestionControlName::new("newreno").unwrap() } else { CongestionControlName::default() };
        let config = TcpConfig {
            initial_sequence: isn, timestamps, congestion_control: control, ..TcpConfig::default()
        };
        let mut transfer = Transfer::new(config, bytes);
        let mut dice = losses.iter().cycle();
        // After 2,000 segments the network is good, so that no transfer takes for ever.
        let mut seen = 0;
        let done = transfer.run(200_000, |_, _| {
            seen += 1;
            seen > 2_000 || *dice.next().expect("a cycle") >= rate
        });
        prop_assert!(done, "stuck at {}", transfer.now);
        prop_assert_eq!(transfer.server.receiver().delivered(), bytes);
        prop_assert_eq!(transfer.client.sender().in_flight(), 0);
    }
}

#[test]
fn without_losses_nothing_is_sent_twice() {
    let mut transfer = Transfer::new(TcpConfig::default(), 3_000_000);
    let mut data = 0;
    assert!(transfer.run(100_000, |_, segment| {
        data += u64::from(segment.payload);
        true
    }));
    assert_eq!(data, 3_000_000);
    assert_eq!(transfer.client.sender().statistics().retransmits, 0);
}

#[test]
fn sequence_numbers_wrap_in_the_middle_of_a_transfer() {
    let config = TcpConfig { initial_sequence: u32::MAX - 100_000, ..TcpConfig::default() };
    let mut transfer = Transfer::new(config, 300_000);
    let mut n = 0;
    assert!(transfer.run(100_000, |forward, _| {
        n += 1;
        !(forward && n % 17 == 0)
    }));
    assert_eq!(transfer.server.receiver().delivered(), 300_000);
}

#[test]
fn one_lost_segment_costs_one_retransmission_and_no_timeout() {
    let mut transfer = Transfer::new(TcpConfig::default(), 1_000_000);
    let mut lost = false;
    assert!(transfer.run(100_000, |_, segment| {
        let unlucky = !lost && segment.seq > 200_000 && segment.payload > 0;
        lost |= unlucky;
        !unlucky
    }));
    let statistics = transfer.client.sender().statistics();
    assert_eq!((statistics.retransmits, statistics.timeouts), (1, 0));
    assert_eq!(statistics.congestion_events, 1);
}
