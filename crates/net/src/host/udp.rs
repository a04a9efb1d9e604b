//! The two ends of a UDP flow: a source of datagrams at a constant rate, and a sink.

use super::SenderSample;
use crate::app::ConstantRate;
use crate::report::FlowReport;
use crate::wire::{Ecn, Endpoint, FrameTemplate, Protocol, UDP_HEADER_LEN, UdpDatagram, write_udp};
use sojourn_packet::{HeaderBytes, Time};

/// The end that sends.
pub(crate) struct UdpSource {
    app: ConstantRate,
    start: Time,
    template: FrameTemplate,
    ports: (u16, u16),
    payload: u32,
}

impl UdpSource {
    /// A source of frames of `frame` bytes.
    pub(crate) fn new(
        app: ConstantRate,
        start: Time,
        frame: u32,
        local: &Endpoint,
        remote: &Endpoint,
    ) -> UdpSource {
        let template = FrameTemplate::new(local, remote, Protocol::Udp);
        let headers = (template.header_len() + UDP_HEADER_LEN) as u32;
        let payload = frame.saturating_sub(headers);
        UdpSource { app, start, template, ports: (local.port, remote.port), payload }
    }

    pub(super) fn next_timer(&self) -> Option<Time> {
        self.app.next_departure()
    }

    pub(super) fn poll_transmit(&mut self, now: Time, out: &mut HeaderBytes) -> Option<u32> {
        if !self.app.poll(now) {
            return None;
        }
        let datagram = UdpDatagram { payload: self.payload, ecn: Ecn::NotEct };
        write_udp(&mut self.template, self.ports, &datagram, out);
        Some(self.payload)
    }

    pub(super) fn sample(&self, now: Time) -> SenderSample {
        SenderSample {
            started: now >= self.start,
            ssthresh: u64::MAX,
            totals: FlowReport {
                started: self.start.0,
                segments: self.app.sent(),
                ..FlowReport::default()
            },
            ..SenderSample::default()
        }
    }
}

/// The end that receives.
pub(crate) struct UdpSink {
    /// Ours and the peer's.
    ports: (u16, u16),
    delivered: u64,
}

impl UdpSink {
    pub(crate) fn new(local: &Endpoint, remote: &Endpoint) -> UdpSink {
        UdpSink { ports: (local.port, remote.port), delivered: 0 }
    }

    pub(super) fn receive(&mut self, ports: (u16, u16), datagram: &UdpDatagram) -> bool {
        let mine = ports == (self.ports.1, self.ports.0);
        if mine {
            self.delivered += u64::from(datagram.payload);
        }
        mine
    }

    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }
}
