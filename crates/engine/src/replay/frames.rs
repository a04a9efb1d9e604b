//! Packets for the rows of a trace: IPv4 and UDP, of the row's length.

use sojourn_net::config::IpVersion;
use sojourn_net::wire::{
    FrameTemplate, Protocol, UDP_HEADER_LEN, UdpDatagram, flow_endpoints, write_udp,
};
use sojourn_packet::{FlowId, HeaderBytes, Packet, PacketId};

/// Generates frames from the first flow's sender to its receiver, as in a simulated run.
#[derive(Debug)]
pub(super) struct Frames {
    template: FrameTemplate,
    ports: (u16, u16),
    made: u64,
}

impl Frames {
    pub fn new() -> Frames {
        let ends = flow_endpoints(0, IpVersion::V4);
        Frames {
            template: FrameTemplate::new(&ends.client, &ends.server, Protocol::Udp),
            ports: (ends.client.port, ends.server.port),
            made: 0,
        }
    }

    /// A frame of `size` bytes, but at least its headers.
    pub fn make(&mut self, size: u32) -> Packet {
        let headers = (self.template.header_len() + UDP_HEADER_LEN) as u32;
        let datagram =
            UdpDatagram { payload: size.saturating_sub(headers), ..UdpDatagram::default() };
        let mut bytes = HeaderBytes::new();
        write_udp(&mut self.template, self.ports, &datagram, &[], &mut bytes);
        self.made += 1;
        Packet { id: PacketId(self.made), flow: FlowId(0), bytes, zeros: datagram.payload }
    }
}
