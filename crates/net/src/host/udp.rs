//! The two ends of a UDP flow: a source of datagrams, and a sink.
//!
//! A voice is a source of equally spaced datagrams with RTP headers, by which its sink identifies
//! them.

use super::{Datagram, FrameSink, SenderSample};
use crate::app::{ConstantRate, OnOff};
use crate::report::FlowReport;
use crate::wire::{
    Ecn, Endpoint, FrameTemplate, Protocol, RTP_HEADER_LEN, Rtp, UDP_HEADER_LEN, UdpDatagram,
    write_udp,
};
use sojourn_packet::Time;

/// Timing of datagrams.
pub(crate) enum UdpApp {
    /// At one rate.
    Constant(ConstantRate),
    /// At one rate for a while, then not at all for a while.
    OnOff(OnOff),
    /// Equally spaced, with RTP headers; samples of one datagram.
    Voice(ConstantRate, u32),
}

impl UdpApp {
    fn next_departure(&self) -> Option<Time> {
        match self {
            UdpApp::Constant(app) | UdpApp::Voice(app, _) => app.next_departure(),
            UdpApp::OnOff(app) => app.next_departure(),
        }
    }

    fn poll(&mut self, now: Time) -> bool {
        match self {
            UdpApp::Constant(app) | UdpApp::Voice(app, _) => app.poll(now),
            UdpApp::OnOff(app) => app.poll(now),
        }
    }

    fn sent(&self) -> u64 {
        match self {
            UdpApp::Constant(app) | UdpApp::Voice(app, _) => app.sent(),
            UdpApp::OnOff(app) => app.sent(),
        }
    }

    /// The header of the datagram that was sent last.
    fn rtp(&self) -> Option<Rtp> {
        let UdpApp::Voice(app, samples) = self else { return None };
        let number = app.sent().saturating_sub(1) as u32;
        Some(Rtp { sequence: number as u16, timestamp: number.wrapping_mul(*samples) })
    }
}

/// The end that sends.
pub(crate) struct UdpSource {
    app: UdpApp,
    start: Time,
    template: FrameTemplate,
    ports: (u16, u16),
    payload: u32,
    /// First bytes of each payload, if it is not a voice's.
    begins: Vec<u8>,
    ecn: Ecn,
}

impl UdpSource {
    /// A source of frames of `frame` bytes.
    pub(crate) fn new(
        app: UdpApp,
        start: Time,
        frame: u32,
        local: &Endpoint,
        remote: &Endpoint,
    ) -> UdpSource {
        let template = FrameTemplate::new(local, remote, Protocol::Udp);
        let headers = (template.header_len() + UDP_HEADER_LEN) as u32;
        let payload = frame.saturating_sub(headers);
        let ports = (local.port, remote.port);
        UdpSource { app, start, template, ports, payload, begins: Vec::new(), ecn: Ecn::NotEct }
    }

    /// The same with packets of this code point and ECN field, whose payloads begin with `begins`.
    pub(crate) fn marked(self, dscp: u8, ecn: Ecn, begins: Vec<u8>) -> UdpSource {
        UdpSource { template: self.template.with_dscp(dscp), begins, ecn, ..self }
    }

    pub(super) fn next_timer(&self) -> Option<Time> {
        self.app.next_departure()
    }

    pub(super) fn transmit(&mut self, now: Time, out: &mut impl FrameSink) {
        while self.app.poll(now) {
            let rtp = self.app.rtp();
            let datagram = UdpDatagram { payload: self.payload, ecn: self.ecn, rtp };
            let mut headers = out.buffer();
            write_udp(&mut self.template, self.ports, &datagram, &self.begins, &mut headers);
            let written = rtp.map_or(self.begins.len(), |_| RTP_HEADER_LEN) as u32;
            out.send(headers, self.payload - written);
        }
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
    /// A voice's own schedule, and the number after the highest that came.
    voice: Option<(ConstantRate, u64)>,
    arrived: Option<Datagram>,
}

impl UdpSink {
    /// `voice` is the source's schedule, if each of its datagrams is to be followed.
    pub(crate) fn new(voice: Option<ConstantRate>, local: &Endpoint, remote: &Endpoint) -> UdpSink {
        let voice = voice.map(|schedule| (schedule, 0));
        UdpSink { ports: (local.port, remote.port), delivered: 0, voice, arrived: None }
    }

    pub(super) fn receive(&mut self, now: Time, ports: (u16, u16), datagram: &UdpDatagram) -> bool {
        let mine = ports == (self.ports.1, self.ports.0);
        if !mine {
            return false;
        }
        self.delivered += u64::from(datagram.payload);
        if let (Some((schedule, next)), Some(rtp)) = (&mut self.voice, datagram.rtp) {
            // The number nearest to the one expected that has these low 16 bits.
            let ahead = rtp.sequence.wrapping_sub(*next as u16) as i16;
            let number = next.saturating_add_signed(i64::from(ahead));
            *next = (*next).max(number + 1);
            let sent = schedule.departure(number);
            self.arrived = Some(Datagram { number: number as u32, sent, received: now });
        }
        true
    }

    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    pub(super) fn has_completed(&self) -> bool {
        self.arrived.is_some()
    }

    pub(super) fn take_datagram(&mut self) -> Option<Datagram> {
        self.arrived.take()
    }
}
