//! Output of a pass: the decision together with the packet and all results.
//!
//! It serves callers that own a single packet: an asynchronous pass, a replay, a test. A switch
//! leaves its packets in place and needs the decision alone.

use crate::dataplane::{
    Admission, EgressDecision, EgressFate, FlowControl, IngressDecision, Mirror,
};
use crate::packet::Packet;
use crate::packet_metadata::PacketMetadata;

/// Result of an ingress pass.
#[derive(Clone, Debug, Default)]
pub struct IngressOutput {
    /// Packet for the traffic manager, bridged headers in front; absent if it has no destination.
    pub packet: Option<Packet>,
    /// Destinations.
    pub admission: Admission,
    /// At most one mirrored copy.
    pub mirror: Option<Mirror>,
    /// The packet to pass ingress once more, on Tofino with resubmit data in front.
    pub resubmit: Option<Packet>,
    /// Metadata of `packet` or `resubmit` in addition to its bytes.
    pub packet_metadata: PacketMetadata,
    /// True if the parser ended in an error.
    pub parser_rejected: bool,
    /// A queue to pause or resume.
    pub flow_control: Option<FlowControl>,
}

impl IngressOutput {
    /// Output of a decision about a packet that the pass has modified in place.
    pub fn new(
        decision: IngressDecision,
        packet: Packet,
        packet_metadata: PacketMetadata,
    ) -> IngressOutput {
        let IngressDecision { admission, resubmit, mirror, parser_rejected, flow_control } =
            decision;
        let mirror = mirror.map(|mirror| *mirror);
        let out = IngressOutput {
            admission,
            mirror,
            parser_rejected,
            flow_control,
            ..IngressOutput::default()
        };
        match resubmit {
            true => IngressOutput { resubmit: Some(packet), packet_metadata, ..out },
            false if admission.is_nowhere() => out,
            false => IngressOutput { packet: Some(packet), packet_metadata, ..out },
        }
    }

    /// The decision, and its packet; an empty one if the packet is gone.
    pub fn into_decision(self) -> (IngressDecision, Packet, PacketMetadata) {
        let IngressOutput {
            packet,
            mut admission,
            mirror,
            resubmit,
            packet_metadata,
            parser_rejected,
            flow_control,
        } = self;
        if packet.is_none() {
            admission = Admission::default();
        }
        let (resubmit, packet) = (resubmit.is_some(), resubmit.or(packet).unwrap_or_default());
        let mirror = mirror.map(Box::new);
        let decision =
            IngressDecision { admission, resubmit, mirror, parser_rejected, flow_control };
        (decision, packet, packet_metadata)
    }
}

/// Result of an egress pass.
///
/// ```
/// use sojourn_packet::{PacketMetadata, EgressFate, EgressOutput, Packet};
/// let out = |fate: EgressFate| EgressOutput::new(fate.into(), Packet::default(), PacketMetadata::default());
/// assert!(out(EgressFate::Sent).packet.is_some());
/// assert!(out(EgressFate::Dropped).packet.is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct EgressOutput {
    /// The packet to send, if it was not dropped.
    pub packet: Option<Packet>,
    /// True if `packet` goes back to ingress instead of to its port's wire.
    pub recirculate: bool,
    /// Metadata of a recirculated packet in addition to its bytes.
    pub packet_metadata: PacketMetadata,
    /// At most one mirrored copy, made also of a dropped packet.
    pub mirror: Option<Mirror>,
    /// True if the parser rejected the packet.
    pub parser_rejected: bool,
    /// A queue to pause or resume.
    pub flow_control: Option<FlowControl>,
}

impl EgressOutput {
    /// Output of a decision about a packet that the pass has modified in place.
    pub fn new(
        decision: EgressDecision,
        packet: Packet,
        packet_metadata: PacketMetadata,
    ) -> EgressOutput {
        let EgressDecision { fate, mirror, parser_rejected, flow_control } = decision;
        let mirror = mirror.map(|mirror| *mirror);
        let out = EgressOutput { mirror, parser_rejected, flow_control, ..EgressOutput::default() };
        match fate {
            EgressFate::Dropped => out,
            EgressFate::Sent => EgressOutput { packet: Some(packet), ..out },
            EgressFate::Recirculated => {
                EgressOutput { packet: Some(packet), recirculate: true, packet_metadata, ..out }
            }
        }
    }

    /// The decision, and its packet; an empty one if the packet is gone.
    pub fn into_decision(self) -> (EgressDecision, Packet, PacketMetadata) {
        let EgressOutput {
            packet,
            recirculate,
            packet_metadata,
            mirror,
            parser_rejected,
            flow_control,
        } = self;
        let fate = match &packet {
            None => EgressFate::Dropped,
            Some(_) if recirculate => EgressFate::Recirculated,
            Some(_) => EgressFate::Sent,
        };
        let mirror = mirror.map(Box::new);
        (
            EgressDecision { fate, mirror, parser_rejected, flow_control },
            packet.unwrap_or_default(),
            packet_metadata,
        )
    }
}
