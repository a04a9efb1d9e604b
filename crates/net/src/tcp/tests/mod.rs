//! Connections driven by hand with a simulated clock, as in packetdrill: inputs, expected outputs
//! and their times. The unit tests of single parts are next to those parts.

mod bbr;
mod closing;
mod ecn;
mod handshake;
mod loss_probe;
mod packetdrill;
mod prague;
mod receiving;
mod recovery;
mod sending;
mod spurious;
mod timeouts;
mod transfer;

use super::{Connection, TcpConfig};
use crate::config::CongestionControlName;
use crate::wire::{SackBlocks, TcpFlags, TcpOptions, TcpSegment, Timestamps};
use sojourn_packet::Time;

/// Payload of a full segment with timestamps.
const MSS: u32 = 1448;
/// The peer's initial sequence number; ours is 0, so offsets are sequence numbers.
const PEER: u32 = 5_000;
const ACK: TcpFlags = TcpFlags::ACK;
/// Segments that a fresh receiver acknowledges one by one.
const QUICK: u32 = 16;

fn ms(n: u64) -> Time {
    Time::from_millis(n)
}

/// The sequence number of the `n`-th full segment of our data.
fn seq(n: u32) -> u32 {
    1 + n * MSS
}

/// One connection and the clock.
struct Drill {
    end: Connection,
    now: Time,
}

impl Drill {
    fn new(end: Connection) -> Drill {
        Drill { end, now: Time::ZERO }
    }

    /// A client whose handshake took `rtt` and whose application always has more to send.
    fn sender(config: TcpConfig, rtt: Time) -> Drill {
        let mut drill = Drill::quiet_sender(config, rtt);
        drill.end.set_written(u64::MAX);
        drill
    }

    /// The same with an application that has not written anything yet.
    fn quiet_sender(config: TcpConfig, rtt: Time) -> Drill {
        let mut drill = Drill::new(Connection::connect(config));
        drill.one();
        drill.at(rtt);
        drill.inject(syn_ack(full_offer()));
        assert_eq!(drill.one().flags, ACK, "the handshake's last segment");
        drill
    }

    /// The same without SACK, and therefore without loss probes: only the timer repairs losses.
    fn plain_sender(config: TcpConfig, rtt: Time) -> Drill {
        Drill::sender(TcpConfig { sack: false, ..config }, rtt)
    }

    /// A server that has accepted a connection at time zero.
    fn receiver(config: TcpConfig) -> Drill {
        let mut drill = Drill::new(Connection::listen(config));
        let options = full_offer();
        drill.inject(TcpSegment { seq: PEER, flags: TcpFlags::SYN, options, ..peer(0) });
        drill.one();
        drill.inject(peer(1));
        drill.nothing();
        drill
    }

    /// The same after the first [`QUICK`] segments, which are acknowledged one by one.
    fn settled_receiver(config: TcpConfig) -> Drill {
        let mut drill = Drill::receiver(config);
        for n in 0..QUICK {
            drill.data(n);
            assert_eq!(drill.one().ack, PEER + seq(n + 1));
        }
        drill
    }

    /// Moves the clock to `now`.
    fn at(&mut self, now: Time) {
        assert!(now >= self.now);
        self.now = now;
        self.end.advance(now);
    }

    /// Moves the clock to the connection's next timer and returns that instant.
    fn timer(&mut self) -> Time {
        let at = self.end.next_timer().expect("a timer is running");
        self.at(at.max(self.now));
        self.now
    }

    fn inject(&mut self, segment: TcpSegment) {
        self.end.receive(self.now, &segment);
    }

    /// Acknowledges everything below `ack`, echoing the present timestamp.
    fn ack(&mut self, ack: u32) {
        self.ack_with(ack, &[]);
    }

    /// The same with SACK blocks.
    fn ack_with(&mut self, ack: u32, sack: &[(u32, u32)]) {
        let mut options = peer_options(self.now);
        sack.iter().for_each(|(left, right)| options.sack.push(*left, *right));
        self.inject(TcpSegment { ack, options, ..peer(1) });
    }

    /// A full segment of the peer's data, the `n`-th.
    fn data(&mut self, n: u32) {
        let options = peer_options(self.now);
        self.inject(TcpSegment { seq: PEER + seq(n), payload: MSS, options, ..peer(1) });
    }

    /// Exactly one segment comes out.
    fn one(&mut self) -> TcpSegment {
        let segment = self.end.poll_transmit(self.now).expect("a segment");
        self.nothing();
        segment
    }

    /// No segment comes out.
    fn nothing(&mut self) {
        assert_eq!(self.end.poll_transmit(self.now), None, "at {}", self.now);
    }

    /// Everything that comes out now.
    fn all(&mut self) -> Vec<TcpSegment> {
        std::iter::from_fn(|| self.end.poll_transmit(self.now)).collect()
    }

    /// The sequence numbers of everything that comes out now, which must be full segments.
    fn sent(&mut self) -> Vec<u32> {
        let all = self.all();
        assert!(all.iter().all(|segment| segment.payload == MSS));
        all.iter().map(|segment| segment.seq).collect()
    }

    /// The window in whole segments.
    fn window(&self) -> u64 {
        self.end.sender().window() / u64::from(MSS)
    }
}

/// A segment of the peer's with sequence number `offset` of its stream and no timestamps.
fn peer(offset: u32) -> TcpSegment {
    let (seq, ack) = (PEER + offset, 1);
    TcpSegment { seq, ack, flags: ACK, window: 0xffff, ..TcpSegment::default() }
}

/// The peer's clock shows the present millisecond, and it echoes ours without delay.
fn peer_options(now: Time) -> TcpOptions {
    let ticks = (now.0 / 1_000_000) as u32;
    let timestamps = Some(Timestamps { value: ticks, echo: ticks });
    TcpOptions { timestamps, ..TcpOptions::default() }
}

/// Options of a modern peer.
fn full_offer() -> TcpOptions {
    TcpOptions {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 0, echo: 0 }),
        sack: SackBlocks::default(),
        acc_ecn: None,
    }
}

fn syn_ack(options: TcpOptions) -> TcpSegment {
    TcpSegment { flags: TcpFlags::SYN | ACK, options, ..peer(0) }
}

fn new_reno() -> TcpConfig {
    TcpConfig {
        congestion_control: CongestionControlName::new("newreno").unwrap(),
        ..TcpConfig::default()
    }
}
