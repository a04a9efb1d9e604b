//! A switch that is a router: frames go by their destination address.
//!
//! By exact addresses, and by networks where no host has the address: whoever builds the network knows
//! all of its hosts and groups of hosts. Among several ports a hash of the flow chooses (ECMP). Stands
//! on where an IP header lies in a frame; must not know hosts, links or who chose the ports.

use crate::discipline::flow_hash;
use sojourn_packet::{Forwarder, IpHeader, Packet, PortId, mix};
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A port for each address.
///
/// ```
/// use sojourn_packet::{Packet, PortId};
/// use sojourn_switch::Routes;
/// let mut routes = Routes::default();
/// routes.set("10.0.0.2".parse()?, PortId(2));
/// let mut frame = Packet { bytes: vec![0; 34], ..Packet::default() };
/// frame.bytes[12..14].copy_from_slice(&[0x08, 0x00]);
/// frame.bytes[30..34].copy_from_slice(&[10, 0, 0, 2]);
/// assert_eq!(routes.port_for(&frame), Some(PortId(2)));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Routes {
    /// The index of each address's way.
    v4: ByAddress<u32>,
    v6: ByAddress<u128>,
    /// Few, since many addresses share one.
    ways: Vec<Way>,
    /// Few, and no two overlap.
    networks: Vec<Network>,
    /// Of the hash that chooses among several ports.
    pub(crate) seed: u64,
}

type ByAddress<A> = HashMap<A, u32, BuildHasherDefault<AddressHasher>>;

/// Hash of an address. The tables have the addresses of the network's hosts, which nobody chooses to
/// make them slow.
#[derive(Clone, Copy, Debug, Default)]
struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = mix(self.0 ^ u64::from(*byte)));
    }

    #[inline]
    fn write_u32(&mut self, address: u32) {
        self.0 = mix(u64::from(address));
    }

    #[inline]
    fn write_u128(&mut self, address: u128) {
        self.0 = mix(mix((address >> 64) as u64) ^ address as u64);
    }
}

/// The ports that lead to a destination at equal cost.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Way {
    One(PortId),
    Several(Box<[PortId]>),
}

impl Way {
    fn new(ports: &[PortId]) -> Option<Way> {
        match ports {
            [] => None,
            [one] => Some(Way::One(*one)),
            several => Some(Way::Several(several.into())),
        }
    }

    fn ports(&self) -> &[PortId] {
        match self {
            Way::One(port) => std::slice::from_ref(port),
            Way::Several(ports) => ports,
        }
    }
}

/// All addresses that begin with the same bits.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Network {
    first: IpAddr,
    bits: u8,
    way: Way,
}

impl Network {
    fn holds(&self, address: IpAddr) -> bool {
        let differ = match (self.first, address) {
            (IpAddr::V4(one), IpAddr::V4(other)) => {
                (one.to_bits() ^ other.to_bits()).leading_zeros()
            }
            (IpAddr::V6(one), IpAddr::V6(other)) => {
                (one.to_bits() ^ other.to_bits()).leading_zeros()
            }
            _ => return false,
        };
        differ >= u32::from(self.bits)
    }
}

impl Routes {
    /// Sends frames for `to` out of `port`, in place of an earlier port.
    pub fn set(&mut self, to: IpAddr, port: PortId) {
        self.set_equal(to, &[port]);
    }

    /// Sends each flow to `to` out of one of these ports, in place of earlier ports; nothing changes
    /// if there is none.
    pub fn set_equal(&mut self, to: IpAddr, ports: &[PortId]) {
        let Some(way) = Way::new(ports) else { return };
        let way = self.index_of(way);
        match to {
            IpAddr::V4(address) => self.v4.insert(address.to_bits(), way),
            IpAddr::V6(address) => self.v6.insert(address.to_bits(), way),
        };
    }

    /// The index of a way, which is added if no address has had it.
    fn index_of(&mut self, way: Way) -> u32 {
        let index = self.ways.iter().position(|known| *known == way).unwrap_or(self.ways.len());
        if index == self.ways.len() {
            self.ways.push(way);
        }
        index as u32
    }

    /// Sets the seed of the hash that chooses among several ports. Switches in a row that share one
    /// choose alike, so that a part of their links carries nothing (polarisation).
    pub fn set_hash_seed(&mut self, seed: u64) {
        self.seed = seed;
    }

    /// Sends frames for whoever has an address that begins with the same `bits` bits as `first` out
    /// of `port`, unless the address has a port of its own. Networks do not overlap.
    pub fn set_network(&mut self, first: IpAddr, bits: u8, port: PortId) {
        self.set_equal_network(first, bits, &[port]);
    }

    /// The same of several ports.
    pub fn set_equal_network(&mut self, first: IpAddr, bits: u8, ports: &[PortId]) {
        self.networks.extend(Way::new(ports).map(|way| Network { first, bits, way }));
    }

    fn network_of(&self, address: IpAddr) -> Option<&Way> {
        self.networks.iter().find(|network| network.holds(address)).map(|network| &network.way)
    }

    /// The way at an index, else that of the address's network.
    #[inline]
    fn way(&self, index: Option<&u32>, address: impl FnOnce() -> IpAddr) -> Option<&Way> {
        match index {
            Some(index) => self.ways.get(*index as usize),
            None => self.network_of(address()),
        }
    }

    /// The ports of equal cost for a frame's destination; none if it has no IP header or no host has
    /// the address.
    pub fn ports_for(&self, frame: &Packet) -> Option<&[PortId]> {
        let way = match IpHeader::find(frame)? {
            IpHeader::V4(at) => {
                let address = frame.bytes.get(at + 16..at + 20)?.try_into().ok()?;
                let address = u32::from_be_bytes(address);
                self.way(self.v4.get(&address), || Ipv4Addr::from_bits(address).into())
            }
            IpHeader::V6(at) => {
                let address = frame.bytes.get(at + 24..at + 40)?.try_into().ok()?;
                let address = u128::from_be_bytes(address);
                self.way(self.v6.get(&address), || Ipv6Addr::from_bits(address).into())
            }
        };
        way.map(Way::ports)
    }

    /// The port of a frame's destination; among several that of its flow's hash.
    pub fn port_for(&self, frame: &Packet) -> Option<PortId> {
        match self.ports_for(frame)? {
            [one] => Some(*one),
            several => several.get(chosen(flow_hash(frame, self.seed), several.len())).copied(),
        }
    }

    /// Every port that leads anywhere, each once, in order.
    fn all_ports(&self) -> Vec<PortId> {
        let networks = self.networks.iter().map(|network| &network.way);
        let addresses = self.v4.values().chain(self.v6.values());
        let ways = addresses.filter_map(|index| self.ways.get(*index as usize)).chain(networks);
        let ports: BTreeSet<PortId> = ways.flat_map(Way::ports).copied().collect();
        ports.into_iter().collect()
    }
}

/// One of so many, by the upper bits of a hash.
pub(crate) fn chosen(hash: u64, among: usize) -> usize {
    ((u128::from(hash) * among as u128) >> 64) as usize
}

impl Forwarder for Routes {
    fn port(&self, _: PortId, packet: &Packet) -> Option<PortId> {
        self.port_for(packet)
    }

    fn ports(&self) -> Vec<PortId> {
        self.all_ports()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn frame(ethertype: u16, header: &[u8]) -> Packet {
        let mut bytes = vec![0; 12];
        bytes.extend_from_slice(&ethertype.to_be_bytes());
        bytes.extend_from_slice(header);
        Packet { bytes, ..Packet::default() }
    }

    fn ipv4(to: Ipv4Addr) -> Packet {
        let mut header = [0; 20];
        header[0] = 0x45;
        header[16..].copy_from_slice(&to.octets());
        frame(0x0800, &header)
    }

    #[test]
    fn a_frame_goes_where_its_destination_is_and_nowhere_else() {
        let (here, there) =
            (Ipv4Addr::new(10, 0, 1, 1), Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 7));
        let mut routes = Routes::default();
        routes.set(IpAddr::V4(here), PortId(3));
        routes.set(IpAddr::V6(there), PortId(4));
        assert_eq!(routes.port_for(&ipv4(here)), Some(PortId(3)));
        assert_eq!(routes.port_for(&ipv4(Ipv4Addr::new(10, 0, 1, 2))), None);
        let mut header = [0; 40];
        header[24..].copy_from_slice(&there.octets());
        assert_eq!(routes.port_for(&frame(0x86dd, &header)), Some(PortId(4)));
    }

    #[test]
    fn a_network_of_addresses_goes_by_one_port_but_for_those_that_have_their_own() {
        let address = |last| Ipv4Addr::new(10, 128, 0, last);
        let mut routes = Routes::default();
        routes.set(IpAddr::V4(address(9)), PortId(3));
        routes.set_network(IpAddr::V4(address(0)), 9, PortId(4));
        assert_eq!(routes.port_for(&ipv4(address(9))), Some(PortId(3)));
        assert_eq!(routes.port_for(&ipv4(address(10))), Some(PortId(4)));
        assert_eq!(routes.port_for(&ipv4(Ipv4Addr::new(10, 127, 255, 255))), None);
        assert_eq!(routes.ports(), [PortId(3), PortId(4)]);
    }

    fn flow(to: Ipv4Addr, source_port: u16) -> Packet {
        let mut frame = ipv4(to);
        frame.bytes[23] = 6;
        frame.bytes.extend_from_slice(&source_port.to_be_bytes());
        frame.bytes.extend_from_slice(&80_u16.to_be_bytes());
        frame
    }

    #[test]
    fn flows_to_one_address_spread_over_its_ports_and_each_stays_on_its_own() {
        let to = Ipv4Addr::new(10, 0, 9, 1);
        let mut routes = Routes::default();
        routes.set_equal(IpAddr::V4(to), &[PortId(1), PortId(2), PortId(3), PortId(4)]);
        let mut loads = BTreeMap::new();
        for port in 0..4_000 {
            let frame = flow(to, port);
            let chosen = routes.port_for(&frame).expect("a port");
            assert_eq!(routes.port_for(&frame), Some(chosen));
            *loads.entry(chosen).or_insert(0) += 1;
        }
        // 1,000 each; the standard deviation of a binomial distribution is 27.
        assert!(loads.len() == 4 && loads.values().all(|load| (890..1_110).contains(load)));
    }

    #[test]
    fn a_second_stage_with_the_seed_of_the_first_uses_one_port_and_with_its_own_all() {
        let to = Ipv4Addr::new(10, 0, 9, 1);
        let with_seed = |seed| {
            let mut routes = Routes::default();
            routes.set_equal(IpAddr::V4(to), &[PortId(1), PortId(2)]);
            routes.set_hash_seed(seed);
            routes
        };
        let (first, same, other) = (with_seed(1), with_seed(1), with_seed(2));
        let arriving: Vec<Packet> = (0..1_000)
            .map(|port| flow(to, port))
            .filter(|frame| first.port_for(frame) == Some(PortId(1)))
            .collect();
        let share = |second: &Routes| {
            arriving.iter().filter(|frame| second.port_for(frame) == Some(PortId(1))).count() as f64
                / arriving.len() as f64
        };
        assert_eq!(share(&same), 1.0, "polarised");
        assert!((share(&other) - 0.5).abs() < 0.1, "{}", share(&other));
    }

    #[test]
    fn a_frame_that_ends_early_or_has_no_address_goes_nowhere() {
        let mut routes = Routes::default();
        routes.set(IpAddr::V4(Ipv4Addr::new(0, 0, 0, 0)), PortId(1));
        assert_eq!(routes.port_for(&frame(0x0800, &[0x45; 10])), None);
        assert_eq!(routes.port_for(&frame(0x0806, &[0; 28])), None);
    }
}
