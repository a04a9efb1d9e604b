//! Hosts: an application over TCP or UDP, with an address, one at each end of a flow.
//!
//! A host turns segments and datagrams into frames and back. It must not know the links or the
//! switch between it and its peer.

mod tcp;
mod udp;

pub(crate) use tcp::{ClientPlan, TcpClient, TcpServer};
pub(crate) use udp::{UdpSink, UdpSource};

use crate::report::FlowReport;
use crate::wire::{Frame, Transport};
use sojourn_packet::{HeaderBytes, Time};

/// One host.
// The large variants are the common ones; boxing them would cost a pointer chase per packet.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Host {
    TcpClient(TcpClient),
    TcpServer(TcpServer),
    UdpSource(UdpSource),
    UdpSink(UdpSink),
}

/// What a flow's sender can tell at an instant.
#[derive(Clone, Debug, Default)]
pub(crate) struct SenderSample {
    pub(crate) started: bool,
    pub(crate) cwnd: u64,
    pub(crate) ssthresh: u64,
    pub(crate) srtt: Time,
    pub(crate) in_flight: u64,
    pub(crate) totals: FlowReport,
}

impl Host {
    /// A frame for this host arrived; false if it belongs to none of its sockets.
    pub(crate) fn receive(&mut self, now: Time, frame: &Frame) -> bool {
        match (self, &frame.transport) {
            (Host::TcpClient(host), Transport::Tcp(segment)) => {
                host.receive(now, frame.ports, segment)
            }
            (Host::TcpServer(host), Transport::Tcp(segment)) => {
                host.receive(now, frame.ports, segment)
            }
            (Host::UdpSink(host), Transport::Udp(datagram)) => host.receive(frame.ports, datagram),
            _ => false,
        }
    }

    /// When [`Host::poll_transmit`] has something to do without a frame arriving.
    pub(crate) fn next_timer(&self) -> Option<Time> {
        match self {
            Host::TcpClient(host) => host.next_timer(),
            Host::TcpServer(host) => host.next_timer(),
            Host::UdpSource(host) => host.next_timer(),
            Host::UdpSink(_) => None,
        }
    }

    /// Writes the next frame to be sent at `now` and returns how many zeros follow it.
    pub(crate) fn poll_transmit(&mut self, now: Time, out: &mut HeaderBytes) -> Option<u32> {
        match self {
            Host::TcpClient(host) => host.poll_transmit(now, out),
            Host::TcpServer(host) => host.poll_transmit(now, out),
            Host::UdpSource(host) => host.poll_transmit(now, out),
            Host::UdpSink(_) => None,
        }
    }

    /// The sender's figures; nothing at a receiver.
    pub(crate) fn sample(&self, now: Time) -> SenderSample {
        match self {
            Host::TcpClient(host) => host.sample(now),
            Host::UdpSource(host) => host.sample(now),
            Host::TcpServer(_) | Host::UdpSink(_) => SenderSample::default(),
        }
    }

    /// Payload bytes handed to the application; 0 at a sender.
    pub(crate) fn delivered(&self) -> u64 {
        match self {
            Host::TcpServer(host) => host.delivered(),
            Host::UdpSink(host) => host.delivered(),
            Host::TcpClient(_) | Host::UdpSource(_) => 0,
        }
    }
}
