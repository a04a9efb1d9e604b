//! Hosts: an application over TCP or UDP, with an address, one at each end of a flow.
//!
//! A host turns segments and datagrams into frames and back. Must not depend on the links or the
//! switch between it and its peer.

mod request_response;
mod tcp;
mod time_wait;
mod udp;

pub(crate) use request_response::{ExchangeSizes, Requester, Responder};
pub(crate) use tcp::{ClientPlan, ExpectedTransfer, TcpClient, TcpServer};
pub(crate) use time_wait::ClosedEnd;
pub(crate) use udp::{UdpApp, UdpSink, UdpSource};

use crate::report::FlowReport;
use crate::tcp::SegmentForm;
use crate::wire::{Frame, FrameDetail, Telemetry, Transport};
use sojourn_packet::{HeaderBytes, Time};

/// The receiver of a host's frames.
pub(crate) trait FrameSink {
    /// An empty buffer for the headers of a frame.
    fn buffer(&mut self) -> HeaderBytes;

    /// Sends a frame: its headers, in such a buffer, and how many zeros follow them.
    fn send(&mut self, headers: HeaderBytes, zeros: u32);
}

/// One host.
// The large variants are the common ones; boxing them would cost a pointer chase per packet.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Host {
    TcpClient(TcpClient),
    TcpServer(TcpServer),
    UdpSource(UdpSource),
    UdpSink(UdpSink),
    Requester(Requester),
    Responder(Responder),
    /// Of a transfer that is over.
    Closed(ClosedEnd),
    /// Placeholder of a source of transfers, each of which has hosts of its own, and of an end that has gone.
    Idle,
}

/// The result of delivering a frame to a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Received {
    /// True if the frame is for one of the host's sockets.
    pub(crate) matched: bool,
    /// The frame completed an exchange or a datagram.
    pub(crate) completed: bool,
}

/// A transfer, or a request with its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exchange {
    /// Number within its flow.
    pub(crate) number: u32,
    /// Bytes of the transfer or the response.
    pub(crate) size: u64,
    /// Time at which its connection was opened, or the request written.
    pub(crate) started: Time,
    /// Arrival of the last byte; zero if it is missing.
    pub(crate) finished: Time,
}

/// A voice's datagram that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Datagram {
    pub(crate) number: u32,
    pub(crate) sent: Time,
    pub(crate) received: Time,
}

/// Sample of a flow's sender.
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
    /// True for the end to which the other opens the connection.
    pub(crate) fn listens(&self) -> bool {
        matches!(self, Host::TcpServer(_) | Host::Responder(_))
    }

    /// A frame for this host arrived.
    pub(crate) fn receive(&mut self, now: Time, frame: &Frame) -> Received {
        match (self, &frame.transport) {
            (host, Transport::Tcp(segment)) => {
                let received = host.receive_tcp(now, frame.ports, segment);
                if let Some(telemetry) = frame.telemetry.as_ref().filter(|_| received.matched) {
                    host.on_telemetry(telemetry);
                }
                received
            }
            (Host::UdpSink(host), Transport::Udp(datagram)) => {
                let matched = host.receive(now, frame.ports, datagram);
                Received { matched, completed: host.has_completed() }
            }
            _ => Received::default(),
        }
    }

    /// INT was in front of the last segment.
    #[cold]
    fn on_telemetry(&mut self, telemetry: &Telemetry) {
        let socket = match self {
            Host::TcpClient(host) => host.socket_mut(),
            Host::TcpServer(host) => host.socket_mut(),
            Host::Requester(host) => host.socket_mut(),
            Host::Responder(host) => host.socket_mut(),
            Host::UdpSource(_) | Host::UdpSink(_) | Host::Closed(_) | Host::Idle => return,
        };
        socket.on_telemetry(telemetry);
    }

    /// The same of a segment.
    #[inline(always)]
    pub(crate) fn receive_tcp(
        &mut self,
        now: Time,
        ports: (u16, u16),
        segment: impl SegmentForm,
    ) -> Received {
        let (matched, completed) = match self {
            Host::TcpClient(host) => (host.receive(now, ports, segment), false),
            Host::TcpServer(host) => (host.receive(now, ports, segment), host.has_completed()),
            Host::Requester(host) => (host.receive(now, ports, segment), host.has_completed()),
            Host::Responder(host) => (host.receive(now, ports, segment), false),
            Host::Closed(host) => (host.receive(ports, segment), false),
            Host::UdpSource(_) | Host::UdpSink(_) | Host::Idle => (false, false),
        };
        Received { matched, completed }
    }

    /// [`Host::receive_tcp`], then [`Host::transmit`], with what both answer.
    // The kind is tested once, not for each: a processor cannot predict the next host.
    #[inline(never)]
    pub(crate) fn receive_and_transmit(
        &mut self,
        now: Time,
        (ports, segment): ((u16, u16), impl SegmentForm),
        written: FrameDetail,
        out: &mut impl FrameSink,
    ) -> (Received, Option<Time>) {
        match self {
            Host::TcpClient(host) => {
                let matched = host.receive(now, ports, segment);
                host.transmit(now, written, out);
                (Received { matched, completed: false }, host.next_timer())
            }
            Host::TcpServer(host) => {
                let matched = host.receive(now, ports, segment);
                host.transmit(now, written, out);
                (Received { matched, completed: host.has_completed() }, host.next_timer())
            }
            host => {
                let received = host.receive_tcp(now, ports, segment);
                (received, host.transmit(now, written, out))
            }
        }
    }

    /// Time of the next [`Host::transmit`] without an arriving frame.
    #[inline(always)]
    pub(crate) fn next_timer(&self) -> Option<Time> {
        match self {
            Host::TcpClient(host) => host.next_timer(),
            Host::TcpServer(host) => host.next_timer(),
            Host::UdpSource(host) => host.next_timer(),
            Host::Requester(host) => host.next_timer(),
            Host::Responder(host) => host.next_timer(),
            Host::UdpSink(_) | Host::Closed(_) | Host::Idle => None,
        }
    }

    /// Sends all frames that are to be sent at `now`; then [`Host::next_timer`].
    #[inline]
    pub(crate) fn transmit(
        &mut self,
        now: Time,
        written: FrameDetail,
        out: &mut impl FrameSink,
    ) -> Option<Time> {
        match self {
            Host::TcpClient(host) => {
                host.transmit(now, written, out);
                host.next_timer()
            }
            Host::TcpServer(host) => {
                host.transmit(now, written, out);
                host.next_timer()
            }
            Host::UdpSource(host) => {
                host.transmit(now, out);
                host.next_timer()
            }
            Host::Requester(host) => {
                host.transmit(now, written, out);
                host.next_timer()
            }
            Host::Responder(host) => {
                host.transmit(now, written, out);
                host.next_timer()
            }
            Host::Closed(host) => {
                host.transmit(now, written, out);
                None
            }
            Host::UdpSink(_) | Host::Idle => None,
        }
    }

    /// The sender's figures; nothing at a receiver.
    pub(crate) fn sample(&self, now: Time) -> SenderSample {
        match self {
            Host::TcpClient(host) => host.sample(now),
            Host::UdpSource(host) => host.sample(now),
            Host::Responder(host) => host.sample(),
            Host::TcpServer(_)
            | Host::UdpSink(_)
            | Host::Requester(_)
            | Host::Closed(_)
            | Host::Idle => SenderSample::default(),
        }
    }

    /// Payload bytes delivered to the application; 0 at a sender.
    pub(crate) fn delivered(&self) -> u64 {
        match self {
            Host::TcpServer(host) => host.delivered(),
            Host::UdpSink(host) => host.delivered(),
            Host::Requester(host) => host.delivered(),
            Host::TcpClient(_)
            | Host::UdpSource(_)
            | Host::Responder(_)
            | Host::Closed(_)
            | Host::Idle => 0,
        }
    }

    /// The transfer or response that the last frame completed.
    pub(crate) fn take_exchange(&mut self) -> Option<Exchange> {
        match self {
            Host::TcpServer(host) => host.take_exchange(),
            Host::Requester(host) => host.take_exchange(),
            _ => None,
        }
    }

    /// The transfer or request that is under way.
    pub(crate) fn unfinished(&self) -> Option<Exchange> {
        match self {
            Host::TcpServer(host) => host.unfinished(),
            Host::Requester(host) => host.unfinished(),
            _ => None,
        }
    }

    /// How long it stays as it is, of an end of a transfer that is over; nothing of any other host.
    pub(crate) fn linger(&self) -> Option<Time> {
        match self {
            Host::TcpClient(host) => host.linger(),
            Host::TcpServer(host) => host.linger(),
            Host::Closed(host) => Some(host.linger()),
            _ => None,
        }
    }

    /// What remains of an end of a transfer that is over; nothing of any other host.
    pub(crate) fn into_closed(self) -> Option<ClosedEnd> {
        match self {
            Host::TcpClient(host) => Some(ClosedEnd::new(host.into_socket())),
            Host::TcpServer(host) => Some(ClosedEnd::new(host.into_socket())),
            Host::Closed(host) => Some(host),
            _ => None,
        }
    }

    /// The datagram of a voice that the last frame was.
    pub(crate) fn take_datagram(&mut self) -> Option<Datagram> {
        match self {
            Host::UdpSink(host) => host.take_datagram(),
            _ => None,
        }
    }
}
