//! Connection establishment: the three-way handshake and the options that both ends negotiate.

use super::{Connection, State, settings};
use crate::tcp::accecn::{self, AccEcnCounters};
use crate::tcp::congestion::EcnFeedback;
use crate::tcp::sender::{FIRST_BYTE, Sender};
use crate::tcp::sequence::SequenceSpace;
use crate::tcp::syn_options::{Negotiated, syn_options};
use crate::tcp::syn_retransmission::AnswerEcho;
use crate::wire::{Ecn, TcpFlags, TcpSegment};
use sojourn_packet::Time;

impl Connection {
    /// Handles a segment before the connection is open. True if the segment must then also be
    /// handled as one of an open connection.
    #[cold]
    pub(super) fn opens(&mut self, now: Time, segment: &TcpSegment) -> bool {
        match self.state {
            State::Closed | State::Established => {}
            State::Listen => self.on_syn(segment),
            State::SynSent => self.on_syn_ack(now, segment),
            State::SynReceived => {
                if segment.flags.contains(TcpFlags::SYN) {
                    self.syn.pending = true;
                } else if self
                    .acknowledged_offset(segment.flags, segment.ack)
                    .is_some_and(|ack| ack >= FIRST_BYTE)
                {
                    self.establish(now, segment, self.negotiated.peer_shift);
                    return true;
                }
            }
        }
        false
    }

    #[cold]
    fn on_syn(&mut self, syn: &TcpSegment) {
        if !syn.flags.contains(TcpFlags::SYN) || syn.flags.contains(TcpFlags::ACK) {
            return;
        }
        self.agree(syn);
        self.peer_syn = Some(Box::new(*syn));
        self.state = State::SynReceived;
        self.syn.pending = true;
    }

    #[cold]
    fn on_syn_ack(&mut self, now: Time, segment: &TcpSegment) {
        let answers = segment.flags.contains(TcpFlags::SYN | TcpFlags::ACK)
            && segment.ack == self.local.number_of(FIRST_BYTE);
        if answers {
            self.agree(segment);
            // The window of a SYN is never scaled (RFC 7323 section 2.2).
            self.establish(now, segment, 0);
            self.answered = self.accurate.map(|_| segment.ecn);
            if let Some(own) = &mut self.accurate {
                // A marked SYN-ACK counts (RFC 9768 section 3.2.2.1); it is answered at once anyway.
                own.arrived(segment.ecn, 0);
            }
            self.ack_first = true;
        }
    }

    fn agree(&mut self, peer: &TcpSegment) {
        self.negotiated = Negotiated::new(&self.config, peer);
        self.remote = SequenceSpace::new(peer.seq);
        self.ts_recent = peer.options.timestamps.map_or(0, |timestamps| timestamps.value);
    }

    #[cold]
    fn establish(&mut self, now: Time, segment: &TcpSegment, shift: u8) {
        self.state = State::Established;
        self.receiver.open(now, self.negotiated.peer_mss);
        if self.uses_dctcp_echo() {
            self.receiver.enable_dctcp_echo();
        }
        self.accurate = self.negotiated.accurate.then(AccEcnCounters::new);
        let mut settings = settings(&self.config, now);
        settings.mss = self.negotiated.mss;
        settings.sack = self.negotiated.sack;
        settings.peer_window = u64::from(segment.window) << shift;
        let echo = self.answer_echo(now, segment);
        let opening = self.syn.answered(now, echo);
        settings.rtt = opening.rtt;
        if opening.congested {
            settings.initial_window = 1;
        }
        self.sender = Sender::new(&settings);
    }

    /// The timestamp that an answer to our SYN or SYN-ACK echoes.
    fn answer_echo(&self, now: Time, segment: &TcpSegment) -> Option<AnswerEcho> {
        let timestamps = segment.options.timestamps.filter(|_| self.negotiated.timestamps)?;
        let timestamp = timestamps.echo;
        let rtt = self.config.echo_of(timestamp).since(now);
        (timestamp != 0).then_some(AnswerEcho { timestamp, rtt })
    }

    #[cold]
    pub(super) fn handshake_segment(&mut self, now: Time) -> TcpSegment {
        self.syn.sent(now, self.config.timestamp(now));
        let mut segment = TcpSegment {
            seq: self.local.number_of(0),
            // Never scaled.
            window: self.config.receive_window.min(0xffff) as u16,
            ..TcpSegment::default()
        };
        if self.state == State::SynSent {
            segment.options = syn_options(&self.config, None, now, 0);
            segment.flags = TcpFlags::SYN;
            if self.config.offers_ecn() {
                segment.flags = segment.flags | TcpFlags::ECE | TcpFlags::CWR;
            }
            if self.config.uses_dctcp_echo() {
                segment.ecn = Ecn::Ect0;
            }
            if self.config.ecn_feedback() == EcnFeedback::AccEcn {
                segment.flags = segment.flags | TcpFlags::AE;
            }
        } else if let Some(syn) = self.peer_syn.as_deref() {
            let agreed = Some((&self.negotiated, syn));
            segment.options = syn_options(&self.config, agreed, now, self.ts_recent);
            segment.flags = TcpFlags::SYN | TcpFlags::ACK;
            segment.ack = self.remote.number_of(FIRST_BYTE);
            self.last_ack_sent = FIRST_BYTE;
            if self.negotiated.accurate {
                segment.flags = segment.flags | accecn::answer_to(syn.ecn);
                segment.options.acc_ecn = accecn::first_option(segment.options.room());
            } else if self.negotiated.ecn {
                segment.flags = segment.flags | TcpFlags::ECE;
            }
            if self.uses_dctcp_echo() {
                segment.ecn = Ecn::Ect0;
            }
        }
        segment
    }
}
