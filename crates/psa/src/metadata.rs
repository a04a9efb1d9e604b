//! The metadata of psa.p4: the fields that the switch writes and reads, found by name, and the
//! numbers of its two special ports.
//!
//! A program names ports by 32 bits, a switch by 16: the ports of recirculation and of the CPU are
//! the last two of the switch. Times are whole microseconds since the switch began, as in
//! `psa_switch`.

use sojourn_p4::interp::Frame;
use sojourn_p4::ir::{Layout, Slot};
use sojourn_packet::{PortId, Time};
use sojourn_target::fields::field;

/// Ports of the switch, the two special ones included.
pub(crate) const PORTS: u16 = 512;
/// The switch's number of `PSA_PORT_CPU`.
pub(crate) const CPU: PortId = PortId(PORTS - 2);
/// The switch's number of `PSA_PORT_RECIRCULATE`.
pub(crate) const RECIRCULATE: PortId = PortId(PORTS - 1);

/// `PSA_PORT_RECIRCULATE`
const PSA_RECIRCULATE: u128 = 0xffff_fffa;
/// `PSA_PORT_CPU`
const PSA_CPU: u128 = 0xffff_fffd;
/// A port that no switch has.
const NOWHERE: PortId = PortId(u16::MAX);

/// The switch's number of a program's port.
pub(crate) fn switch_port(port: u128) -> PortId {
    match port {
        PSA_RECIRCULATE => RECIRCULATE,
        PSA_CPU => CPU,
        _ => u16::try_from(port).ok().map(PortId).filter(|p| *p < CPU).unwrap_or(NOWHERE),
    }
}

/// A program's number of a switch's port.
pub(crate) fn program_port(port: PortId) -> u128 {
    match port {
        RECIRCULATE => PSA_RECIRCULATE,
        CPU => PSA_CPU,
        PortId(number) => number.into(),
    }
}

/// True if a program's port is `PSA_PORT_RECIRCULATE`.
pub(crate) fn recirculates(port: u128) -> bool {
    port == PSA_RECIRCULATE
}

/// A time in the switch's unit, us.
pub(crate) fn micros(time: Time) -> u128 {
    (time.as_nanos() / 1_000).into()
}

/// Path of a packet to a block (`PSA_PacketPath_t`), in the order of its declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum PacketPath {
    /// From a port.
    Normal = 0,
    /// From ingress to one port.
    NormalUnicast = 1,
    /// From ingress, a copy of a group.
    NormalMulticast = 2,
    /// A clone that ingress requested.
    CloneI2E = 3,
    /// A clone that egress requested.
    CloneE2E = 4,
    /// A further ingress pass.
    Resubmit = 5,
    /// Returned from egress.
    Recirculate = 6,
}

/// A field of a struct of metadata; absent if a program's own declarations lack it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Field(Option<Slot>);

impl Field {
    /// The field with this name of a struct.
    pub fn new(layout: &Layout, name: &str) -> Field {
        Field(field(layout, name))
    }

    /// Its value; 0 if it is absent.
    pub fn get(self, frame: &Frame) -> u128 {
        self.0.map_or(0, |slot| frame.get(slot))
    }

    /// True unless it is 0.
    pub fn is_set(self, frame: &Frame) -> bool {
        self.get(frame) != 0
    }

    /// Sets it to a value of its width.
    pub fn set(self, frame: &mut Frame, value: u128) {
        if let Some(slot) = self.0 {
            frame.set(slot, value);
        }
    }
}

/// Input of a parser or a control: `psa_*_parser_input_metadata_t`, `psa_*_input_metadata_t`.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)] // The fields have the names of those that they stand for.
pub(crate) struct Input {
    /// `ingress_port` or `egress_port`.
    pub port: Field,
    pub packet_path: Field,
    /// `ingress_timestamp` or `egress_timestamp`.
    pub timestamp: Field,
    pub parser_error: Field,
    pub class_of_service: Field,
    pub instance: Field,
}

impl Input {
    /// The fields of a struct of a pass, `ingress` or `egress`.
    pub fn new(layout: &Layout, pass: &str) -> Input {
        let field = |name: &str| Field::new(layout, name);
        Input {
            port: field(&format!("{pass}_port")),
            packet_path: field("packet_path"),
            timestamp: field(&format!("{pass}_timestamp")),
            parser_error: field("parser_error"),
            class_of_service: field("class_of_service"),
            instance: field("instance"),
        }
    }
}

/// Output of a control: `psa_*_output_metadata_t`.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)] // The fields have the names of those that they stand for.
pub(crate) struct Output {
    pub class_of_service: Field,
    pub clone: Field,
    pub clone_session_id: Field,
    pub drop: Field,
    pub resubmit: Field,
    pub multicast_group: Field,
    pub egress_port: Field,
}

impl Output {
    /// The fields of a struct.
    pub fn new(layout: &Layout) -> Output {
        let field = |name| Field::new(layout, name);
        Output {
            class_of_service: field("class_of_service"),
            clone: field("clone"),
            clone_session_id: field("clone_session_id"),
            drop: field("drop"),
            resubmit: field("resubmit"),
            multicast_group: field("multicast_group"),
            egress_port: field("egress_port"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_special_ports_are_the_last_two_of_the_switch_and_have_no_other_number() {
        for (number, port) in [(0, 0), (509, 509), (PSA_CPU, 510), (PSA_RECIRCULATE, 511)] {
            assert_eq!(switch_port(number), PortId(port));
            assert_eq!(program_port(PortId(port)), number);
        }
        for number in [510, 511, 512, 65_535, 65_536, 0xffff_ffff] {
            assert_eq!(switch_port(number), NOWHERE, "{number}");
        }
    }
}
