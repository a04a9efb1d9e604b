//! In-band Network Telemetry of HPCC's hosts: written, read behind a UDP header, and returned.
//!
//! The layout is that of INT 2.1 in its MD mode ("INT over TCP/UDP", NPT 2), as in `p4/int/headers.p4`: the
//! host is the source and the sink, switches push what they measured. A hop has 20 bytes: queue and its
//! occupancy in bytes, egress time in ns, and of this domain the bytes that the port has sent and the rate
//! of its link in Mbit/s. A receiver returns the hops of a data segment in a header of INT's destination
//! type, which switches leave as it is. Must not depend on connections or on a congestion control.

use super::ETHERNET_HEADER_LEN;
use super::ip::{IPV4_FRONT_LEN, IPV4_HEADER_LEN, Protocol};
use super::udp::UDP_HEADER_LEN;
use sojourn_packet::{HeaderBytes, OnesComplementSum, Time};

/// UDP destination port of packets with INT, as in `p4/int/headers.p4`.
pub const INT_PORT: u16 = 5000;
/// Hops that a stack has room for, as HPCC's header (Li et al., SIGCOMM 2019, section 4.1).
pub const MAX_HOPS: usize = 5;
/// Bytes of UDP, shim and INT-MD, and of a hop.
const FIXED_LEN: usize = UDP_HEADER_LEN + SHIM_LEN + MD_LEN;
const HOP_LEN: usize = 20;
/// Bytes that a packet grows by at most.
pub const TELEMETRY_ROOM: u32 = (FIXED_LEN + MAX_HOPS * HOP_LEN) as u32;

const SHIM_LEN: usize = 4;
const MD_LEN: usize = 12;
/// Types of a shim, in the upper four bits, with NPT 2: the transport follows the stack.
const HOP_BY_HOP: u8 = 1 << 4 | NEW_UDP;
const DESTINATION: u8 = 2 << 4 | NEW_UDP;
const NEW_UDP: u8 = 2 << 2;
const VERSION: u8 = 2 << 4;
/// Queue, egress time; of the domain: bytes sent, rate of the link.
const INSTRUCTIONS: [u8; 6] = [0x14, 0x00, b'H', b'P', 0xc0, 0x00];

/// Measurements of one switch on a packet's way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hop {
    /// Bytes in the queue.
    pub queue: u32,
    /// Time of the egress pass.
    pub at: Time,
    /// Bytes that the port has sent so far, modulo 2^32.
    pub sent: u32,
    /// Rate of the port's link in Mbit/s.
    pub rate: u32,
}

/// The hops of a packet's way, the sender's first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Telemetry {
    /// Returned by the receiver of data.
    pub returned: bool,
    hops: [Hop; MAX_HOPS],
    len: usize,
}

impl Telemetry {
    /// Of hops, the sender's first; what is beyond [`MAX_HOPS`] is left out.
    ///
    /// ```
    /// use sojourn_net::wire::{Hop, Telemetry};
    /// let one = Hop { queue: 1_500, ..Hop::default() };
    /// assert_eq!(Telemetry::new(false, &[one; 7]).hops(), [one; 5]);
    /// ```
    pub fn new(returned: bool, given: &[Hop]) -> Telemetry {
        let len = given.len().min(MAX_HOPS);
        let mut hops = [Hop::default(); MAX_HOPS];
        hops[..len].copy_from_slice(&given[..len]);
        Telemetry { returned, hops, len }
    }

    /// The hops, the sender's first.
    pub fn hops(&self) -> &[Hop] {
        &self.hops[..self.len]
    }
}

/// Puts INT between the IPv4 header and the transport of a frame. `entropy` is the UDP source port, by
/// which switches choose among links of equal cost.
pub fn add_telemetry(frame: &mut HeaderBytes, telemetry: &Telemetry, entropy: u16) {
    let added = FIXED_LEN + telemetry.len * HOP_LEN;
    let total =
        u16::from_be_bytes([frame[ETHERNET_HEADER_LEN + 2], frame[ETHERNET_HEADER_LEN + 3]])
            + added as u16;
    let mut int = Vec::with_capacity(added);
    for field in [entropy, INT_PORT, total - IPV4_HEADER_LEN as u16, 0] {
        int.extend_from_slice(&field.to_be_bytes());
    }
    let kind = if telemetry.returned { DESTINATION } else { HOP_BY_HOP };
    let words = (added - UDP_HEADER_LEN - SHIM_LEN) / 4;
    let transport = frame[ETHERNET_HEADER_LEN + 9];
    int.extend_from_slice(&[kind, words as u8, 0, transport]);
    let remaining = (MAX_HOPS - telemetry.len) as u8;
    int.extend_from_slice(&[VERSION, 0, (HOP_LEN / 4) as u8, remaining]);
    int.extend_from_slice(&INSTRUCTIONS);
    int.extend_from_slice(&[0, 0]);
    for hop in telemetry.hops().iter().rev() {
        int.extend_from_slice(&hop.queue.min(0xff_ffff).to_be_bytes());
        int.extend_from_slice(&hop.at.0.to_be_bytes());
        int.extend_from_slice(&hop.sent.to_be_bytes());
        int.extend_from_slice(&hop.rate.to_be_bytes());
    }
    frame.splice(IPV4_FRONT_LEN..IPV4_FRONT_LEN, int);
    let ip = &mut frame[ETHERNET_HEADER_LEN..IPV4_FRONT_LEN];
    ip[2..4].copy_from_slice(&total.to_be_bytes());
    ip[9] = Protocol::Udp as u8;
    ip[10..12].fill(0);
    let sum = OnesComplementSum::default().bytes(ip).checksum();
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
}

/// INT in front of a transport.
pub(super) struct Stack {
    /// Bytes from the UDP header up to the transport.
    pub(super) len: usize,
    /// IP protocol of the transport.
    pub(super) protocol: u8,
    /// Absent if the hops pushed something else.
    pub(super) telemetry: Option<Telemetry>,
}

/// INT in `bytes`, the stored part of an IP packet's payload, if it is there and complete.
#[inline]
pub(super) fn find(bytes: &[u8], protocol: u8) -> Option<Stack> {
    let is_int = protocol == Protocol::Udp as u8 && bytes.get(2..4)? == INT_PORT.to_be_bytes();
    if is_int { read(bytes) } else { None }
}

#[cold]
fn read(bytes: &[u8]) -> Option<Stack> {
    let [kind, words, _, protocol] = *bytes.get(UDP_HEADER_LEN..)?.first_chunk()?;
    let len = UDP_HEADER_LEN + SHIM_LEN + usize::from(words) * 4;
    if !matches!(kind, HOP_BY_HOP | DESTINATION) || len < FIXED_LEN {
        return None;
    }
    let (fixed, stack) = bytes.get(UDP_HEADER_LEN + SHIM_LEN..len)?.split_at(MD_LEN);
    let (hops, rest) = stack.as_chunks::<HOP_LEN>();
    let known = fixed[0] & 0xf0 == VERSION && fixed[4..10] == INSTRUCTIONS && rest.is_empty();
    let telemetry = known.then(|| {
        let hops: Vec<Hop> = hops.iter().rev().map(read_hop).collect();
        Telemetry::new(kind == DESTINATION, &hops)
    });
    Some(Stack { len, protocol, telemetry })
}

fn read_hop(bytes: &[u8; HOP_LEN]) -> Hop {
    let word =
        |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    Hop {
        queue: word(0) & 0xff_ffff,
        at: Time(u64::from(word(4)) << 32 | u64::from(word(8))),
        sent: word(12),
        rate: word(16),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::IpVersion;
    use crate::wire::{
        FrameDetail, FrameTemplate, TcpSegment, Transport, addressee, flow_endpoints, read_frame,
        write_tcp,
    };
    use sojourn_packet::Packet;

    fn sent(telemetry: Option<&Telemetry>) -> Packet {
        let ends = flow_endpoints(0, IpVersion::V4);
        let mut template = FrameTemplate::new(&ends.client, &ends.server, Protocol::Tcp);
        let segment = TcpSegment { payload: 1_000, ..TcpSegment::default() };
        let mut frame = Packet { zeros: 1_000, ..Packet::default() };
        write_tcp(&mut template, (40_000, 80), &segment, FrameDetail::Whole, &mut frame.bytes);
        if let Some(telemetry) = telemetry {
            add_telemetry(&mut frame.bytes, telemetry, 40_000);
        }
        frame
    }

    #[test]
    fn what_is_put_in_front_of_a_segment_is_read_again_and_the_segment_is_unchanged() {
        let hop =
            |n: u32| Hop { queue: n, at: Time(1 << 40 | 7), sent: u32::MAX - n, rate: 100_000 };
        let plain = read_frame(&sent(None)).unwrap();
        assert_eq!(plain.telemetry, None);
        for (returned, hops) in [(false, 0), (false, 2), (true, 5)] {
            let hops: Vec<Hop> = (0..hops).map(hop).collect();
            let telemetry = Telemetry::new(returned, &hops);
            let frame = sent(Some(&telemetry));
            let read = read_frame(&frame).unwrap();
            assert_eq!(read.telemetry, Some(telemetry));
            let (Transport::Tcp(found), Transport::Tcp(expected)) =
                (read.transport, plain.transport)
            else {
                panic!("{read:?}");
            };
            assert_eq!((found, read.ports), (expected, plain.ports));
            assert_eq!(addressee(&frame), addressee(&sent(None)), "demultiplexed alike");
        }
    }

    #[test]
    fn other_instructions_are_taken_out_but_say_nothing() {
        let mut frame = sent(Some(&Telemetry::default()));
        frame.bytes[IPV4_FRONT_LEN + UDP_HEADER_LEN + SHIM_LEN + 4] = 0xfc;
        let read = read_frame(&frame).unwrap();
        assert_eq!((read.telemetry, read.ports), (None, (40_000, 80)));
    }

    #[test]
    fn a_stack_that_is_cut_short_is_a_datagram_with_a_wrong_length_or_none() {
        let whole = sent(Some(&Telemetry::new(false, &[Hop::default(); 5])));
        for len in IPV4_FRONT_LEN..IPV4_FRONT_LEN + FIXED_LEN + 5 * HOP_LEN {
            let bytes = whole.bytes[..len].to_vec();
            let zeros = whole.len().0 as u32 - len as u32;
            let frame = Packet { bytes, zeros, ..Packet::default() };
            assert!(read_frame(&frame).map_or(true, |read| read.telemetry.is_none()), "{len}");
        }
    }
}
