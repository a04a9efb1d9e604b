//! Ethernet and IP headers in front of a transport header, written from a template.
//!
//! The template holds the fields that are constant during a connection. Each frame copies it and
//! fills in length, identification, ECN bits and the IPv4 header checksum (RFC 791, RFC 8200, RFC
//! 3168).

use super::ETHERNET_HEADER_LEN;
use super::address::{Endpoint, IpAddress};
use super::ranks::Ranks;
use super::{abstract_segment, header_prediction};
use sojourn_packet::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, HeaderBytes, OnesComplementSum};

pub(super) const IPV4_HEADER_LEN: usize = 20;
pub(super) const IPV6_HEADER_LEN: usize = 40;
/// Ethernet and IPv4 headers.
pub(super) const IPV4_FRONT_LEN: usize = ETHERNET_HEADER_LEN + IPV4_HEADER_LEN;
const HOP_LIMIT: u8 = 64;
/// In front of the traffic class.
const IPV6_VERSION: u8 = 0x60;
/// Don't fragment, offset 0: what path MTU discovery wants.
const DONT_FRAGMENT: u16 = 0x4000;

/// The ECN field of IP (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not react to marks.
    #[default]
    NotEct = 0,
    /// ECN-capable, codepoint 1.
    Ect1 = 1,
    /// ECN-capable, codepoint 0.
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
}

impl Ecn {
    pub(super) fn from_bits(bits: u8) -> Ecn {
        match bits & 3 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }
}

/// The transports that we speak, by their IP protocol number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Protocol {
    /// RFC 9293.
    Tcp = 6,
    /// RFC 768.
    Udp = 17,
}

/// Ethernet and IP headers from one endpoint to another.
#[derive(Clone, Debug)]
pub struct FrameTemplate {
    /// Behind the headers of IPv4 what the usual TCP header has in each frame ([`predicted`]).
    pub(super) bytes: [u8; header_prediction::LEN],
    /// Front of framed segments ([`compact`]).
    pub(super) front: [u8; abstract_segment::FRONT],
    len: usize,
    /// Sum of the pseudo-header; the transport's length is missing.
    pseudo: OnesComplementSum,
    /// Sum of what does not change of an IPv4 header.
    fixed: OnesComplementSum,
    identification: u16,
    /// The six upper bits of the traffic class (RFC 2474), in their place.
    dscp: u8,
    /// Of a transfer whose packets carry their rank.
    ranks: Option<Ranks>,
}

impl FrameTemplate {
    /// The headers from `local` to `remote`.
    ///
    /// # Panics
    /// If the two have addresses of different IP versions, which no configuration makes.
    pub fn new(local: &Endpoint, remote: &Endpoint, protocol: Protocol) -> FrameTemplate {
        let mut bytes = [0; header_prediction::LEN];
        bytes[0..6].copy_from_slice(&remote.mac);
        bytes[6..12].copy_from_slice(&local.mac);
        let ip = &mut bytes[ETHERNET_HEADER_LEN..];
        let (ethertype, ip_len, addresses) = match (local.ip, remote.ip) {
            (IpAddress::V4(source), IpAddress::V4(destination)) => {
                ip[0] = 0x45;
                ip[6..8].copy_from_slice(&DONT_FRAGMENT.to_be_bytes());
                ip[8] = HOP_LIMIT;
                ip[9] = protocol as u8;
                ip[12..16].copy_from_slice(&source.octets());
                ip[16..20].copy_from_slice(&destination.octets());
                (ETHERTYPE_IPV4, IPV4_HEADER_LEN, 12..20)
            }
            (IpAddress::V6(source), IpAddress::V6(destination)) => {
                ip[0] = IPV6_VERSION;
                ip[6] = protocol as u8;
                ip[7] = HOP_LIMIT;
                ip[8..24].copy_from_slice(&source.octets());
                ip[24..40].copy_from_slice(&destination.octets());
                (ETHERTYPE_IPV6, IPV6_HEADER_LEN, 8..40)
            }
            _ => panic!("a flow's two ends have the same IP version"),
        };
        let pseudo = OnesComplementSum::default().bytes(&ip[addresses]).word(protocol as u16);
        bytes[12..14].copy_from_slice(&ethertype.to_be_bytes());
        if ethertype == ETHERTYPE_IPV4 {
            header_prediction::prepare(&mut bytes);
        }
        let fixed = OnesComplementSum::default().bytes(&bytes[ETHERNET_HEADER_LEN..][..ip_len]);
        FrameTemplate {
            front: abstract_segment::front(bytes.first_chunk().expect("an Ethernet header")),
            bytes,
            len: ETHERNET_HEADER_LEN + ip_len,
            pseudo,
            fixed,
            identification: 0,
            dscp: 0,
            ranks: None,
        }
    }

    /// The same with this differentiated services code point, 0 to 63.
    pub fn with_dscp(self, dscp: u8) -> FrameTemplate {
        FrameTemplate { dscp: dscp << 2, ..self }
    }

    /// The same with ranks in the identification of IPv4.
    pub fn with_ranks(self, ranks: Ranks) -> FrameTemplate {
        FrameTemplate { ranks: Some(ranks), ..self }
    }

    /// Prepares the rank of the next frame, if this transfer has such; 0 without a payload.
    #[inline(always)]
    pub(super) fn rank_next(&mut self, seq: u32, payload: u32) {
        if let Some(ranks) = self.ranks {
            self.identification = if payload == 0 { 0 } else { ranks.rank_at(seq) };
        }
    }

    /// Bytes of Ethernet and IP headers.
    pub fn header_len(&self) -> usize {
        self.len
    }

    /// Writes the headers for `transport_len` bytes of transport header and payload, and returns
    /// the sum of the pseudo-header for the transport's checksum.
    pub(super) fn write(
        &mut self,
        out: &mut HeaderBytes,
        ecn: Ecn,
        transport_len: u16,
    ) -> OnesComplementSum {
        let begin = out.len();
        put_front(out, &self.bytes, self.len);
        let ip = &mut out[begin + ETHERNET_HEADER_LEN..];
        if self.is_ipv4() {
            let own = self.next_ipv4(ecn, transport_len);
            own.fill(ip);
            self.sum_ipv4(&own, ip);
        } else {
            let class = self.dscp | ecn as u8;
            ip[0] = IPV6_VERSION | class >> 4;
            ip[1] = class << 4;
            ip[4..6].copy_from_slice(&transport_len.to_be_bytes());
        }
        self.pseudo(transport_len)
    }

    /// The sum of the pseudo-header for the transport's checksum.
    #[inline]
    pub(super) fn pseudo(&self, transport_len: u16) -> OnesComplementSum {
        self.pseudo.word(transport_len)
    }

    pub(super) fn is_ipv4(&self) -> bool {
        self.len == IPV4_FRONT_LEN
    }

    /// Fields of the next frame's IPv4 header that differ between frames.
    #[inline(always)]
    pub(super) fn next_ipv4(&mut self, ecn: Ecn, transport_len: u16) -> OwnIpv4 {
        let identification = self.identification;
        self.identification = identification.wrapping_add(1);
        let total_len = IPV4_HEADER_LEN as u16 + transport_len;
        OwnIpv4 { class: self.dscp | ecn as u8, total_len, identification }
    }

    /// Puts the checksum into the IPv4 header of a frame.
    #[inline(always)]
    pub(super) fn sum_ipv4(&self, own: &OwnIpv4, ip: &mut [u8]) {
        let OwnIpv4 { class, total_len, identification } = *own;
        let words = u64::from(class) << 32 | u64::from(total_len) << 16 | u64::from(identification);
        ip[10..12].copy_from_slice(&self.fixed.words(words).checksum().to_be_bytes());
    }
}

/// Fields of an IPv4 header that differ between frames, except for its checksum.
pub(super) struct OwnIpv4 {
    class: u8,
    total_len: u16,
    identification: u16,
}

impl OwnIpv4 {
    /// Puts it into a header that begins as the template has it.
    #[inline(always)]
    pub(super) fn fill(&self, ip: &mut [u8]) {
        ip[1] = self.class;
        ip[2..4].copy_from_slice(&self.total_len.to_be_bytes());
        ip[4..6].copy_from_slice(&self.identification.to_be_bytes());
    }
}

/// Appends the first `len` bytes. That the whole is appended and then cut spares copying a number of
/// bytes that is not known beforehand.
pub(super) fn put_front<const N: usize>(out: &mut HeaderBytes, bytes: &[u8; N], len: usize) {
    let end = out.len() + len;
    out.extend_from_slice(bytes);
    out.truncate(end);
}
