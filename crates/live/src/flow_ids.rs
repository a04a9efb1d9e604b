//! Numbers of flows, in the order of first appearance; used in rows only.

use sojourn_packet::{FlowId, IpHeader, Packet};
use std::collections::HashMap;
use std::net::IpAddr;

/// Maximum number of distinguished flows; later ones share one number.
const MOST: usize = 1 << 16;
/// The protocols that have ports in their first four bytes: TCP, UDP, DCCP, SCTP.
const WITH_PORTS: [u8; 4] = [6, 17, 33, 132];

/// Flow key: addresses, protocol and ports; zeros where there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FlowKey {
    v6: bool,
    /// Source and destination, of four bytes each for IPv4.
    addresses: [u8; 32],
    /// Protocol of the IP header.
    pub protocol: u8,
    ports: [u8; 4],
}

impl FlowKey {
    /// Key of a frame, if it is IP.
    pub fn new(frame: &Packet) -> Option<FlowKey> {
        key(frame)
    }

    /// Source address.
    pub fn source(&self) -> IpAddr {
        self.address(0)
    }

    /// Destination address.
    pub fn destination(&self) -> IpAddr {
        self.address(1)
    }

    /// Source and destination port; zeros for a protocol without ports.
    pub fn ports(&self) -> (u16, u16) {
        let [a, b, c, d] = self.ports;
        (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))
    }

    fn address(&self, place: usize) -> IpAddr {
        let bytes = |from: usize| self.addresses[from];
        match self.v6 {
            true => {
                let at = place * 16;
                IpAddr::from(std::array::from_fn::<u8, 16, _>(|byte| bytes(at + byte)))
            }
            false => {
                let at = place * 4;
                IpAddr::from(std::array::from_fn::<u8, 4, _>(|byte| bytes(at + byte)))
            }
        }
    }
}

/// The flows of a run.
///
/// ```
/// use sojourn_live::{FlowKey, Flows};
/// use sojourn_packet::{FlowId, Packet};
/// let arp = Packet { bytes: vec![0; 60], ..Packet::default() };
/// assert_eq!(FlowKey::new(&arp), None);
/// assert_eq!(Flows::default().number(&arp), FlowId(0));
/// ```
#[derive(Debug, Default)]
pub struct Flows(HashMap<FlowKey, u32>);

impl Flows {
    /// Number of a packet's flow: 0 for all that are not IP, and from 1 on by addresses, protocol
    /// and ports.
    pub fn number(&mut self, frame: &Packet) -> FlowId {
        let Some(key) = key(frame) else { return FlowId(0) };
        let next = self.0.len() as u32 + 1;
        if self.0.len() < MOST {
            return FlowId(*self.0.entry(key).or_insert(next));
        }
        FlowId(self.0.get(&key).copied().unwrap_or(next))
    }

    /// Distinguished flows, in the order of their numbers from 1 on.
    pub fn told_apart(&self) -> Vec<FlowKey> {
        let mut found: Vec<_> = self.0.iter().map(|(key, number)| (*number, *key)).collect();
        found.sort_unstable_by_key(|&(number, _)| number);
        found.into_iter().map(|(_, key)| key).collect()
    }
}

fn key(frame: &Packet) -> Option<FlowKey> {
    let mut key = FlowKey::default();
    let (addresses, protocol, behind) = match IpHeader::find(frame)? {
        IpHeader::V4(at) => {
            let header = frame.bytes.get(at..at + 20)?;
            (&header[12..20], header[9], at + usize::from(header[0] & 15) * 4)
        }
        IpHeader::V6(at) => {
            key.v6 = true;
            let header = frame.bytes.get(at..at + 40)?;
            (&header[8..40], header[6], at + 40)
        }
    };
    key.addresses[..addresses.len()].copy_from_slice(addresses);
    key.protocol = protocol;
    if WITH_PORTS.contains(&protocol)
        && let Some(ports) = frame.bytes.get(behind..behind + 4)
    {
        key.ports.copy_from_slice(ports);
    }
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn udp(from: u16) -> Packet {
        let mut bytes = vec![0; 12];
        bytes.extend([0x08, 0x00, 0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0]);
        bytes.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        bytes.extend(from.to_be_bytes());
        bytes.extend([0, 53]);
        Packet { bytes, ..Packet::default() }
    }

    #[test]
    fn flows_are_numbered_as_they_appear() {
        let mut flows = Flows::default();
        let numbers: Vec<_> = [9, 8, 9, 7].map(|port| flows.number(&udp(port)).0).into();
        assert_eq!(numbers, [1, 2, 1, 3]);
        let told = flows.told_apart();
        assert_eq!(told.iter().map(|key| key.ports().0).collect::<Vec<_>>(), [9, 8, 7]);
        assert_eq!(told[0].destination().to_string(), "10.0.0.2");
    }

    #[test]
    fn frames_that_are_not_ip_or_end_early_have_number_zero() {
        let mut flows = Flows::default();
        let mut cut = udp(1);
        cut.bytes.truncate(20);
        let arp = Packet { bytes: vec![0x08; 42], ..Packet::default() };
        assert_eq!((flows.number(&cut), flows.number(&arp)), (FlowId(0), FlowId(0)));
    }
}
