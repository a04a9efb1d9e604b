//! Intrinsic metadata: data exchanged between the fixed parts of the chip and a program.
//!
//! Two forms. In front of a packet, as bits in the order of the chip's headers, for the parsers to
//! extract; and as fields of structs, by name, for the controls. Units are the chip's: times are
//! nanoseconds of one 48-bit counter, queue depths are cells (TNA p. 32-33).

use super::chip::{Front, INGRESS_INTRINSIC_BYTES};
use super::validity::{INVALID, has_valid_bit};
pub use sojourn_target::Clock;
pub use sojourn_target::fields::field;

use sojourn_p4::interp::Frame;
use sojourn_p4::ir::{Layout, Slot};
use sojourn_p4::types::Type;
#[cfg(test)]
use sojourn_packet::Time;
use sojourn_packet::dataplane::{EgressInput, IngressInput};

/// Values of the fields in front of packets: the chip's widths and the clock of the run.
#[derive(Clone, Copy, Debug)]
pub struct FrontFields {
    /// The chip's counter.
    pub clock: Clock,
    chip: Front,
}

impl FrontFields {
    /// Of a chip whose counter is `clock`.
    pub fn new(chip: &Front, clock: Clock) -> FrontFields {
        FrontFields { clock, chip: *chip }
    }

    /// Bytes that the ingress parser finds in front of a packet, eight in each word: intrinsic
    /// metadata, and the port's, which its control plane has set in its first eight bytes. A
    /// resubmitted packet brings bytes of its own instead of those.
    #[inline]
    pub fn ingress(&self, input: &IngressInput, port_metadata: u64) -> [u64; 4] {
        let port = u64::from(input.port.0 & 0x1ff) << 48;
        let resubmitted = u64::from(input.resubmitted) << 63;
        [resubmitted | port | self.clock.global(input.arrived), port_metadata, 0, 0]
    }

    /// Appends it.
    #[inline]
    pub fn write_ingress(&self, input: &IngressInput, port_metadata: u64, out: &mut Vec<u8>) {
        let words = self.ingress(input, port_metadata).map(u64::to_be_bytes);
        let own = if input.resubmitted { 0 } else { self.chip.port_metadata };
        out.extend_from_slice(&words.as_flattened()[..INGRESS_INTRINSIC_BYTES + own]);
    }

    /// Bytes that the egress parser finds in front of a packet, each field filled up to bytes: a word of
    /// eight bytes, the last one of fewer.
    // A call, because a program seldom reads more than one of the words; inlined, all of them are made.
    #[inline(never)]
    pub fn egress(&self, input: &EgressInput, word: u8) -> u64 {
        let depth = |cells: u32| u64::from(cells.min(0x7_ffff));
        let mask = (1 << self.chip.queue_time_bits) - 1;
        let enqueued = || self.clock.enqueued(input.enqueued) & mask;
        match word {
            0 => {
                u64::from(input.port.0 & 0x1ff) << 48
                    | depth(input.enqueue_depth) << 24
                    | u64::from(input.enqueue_congestion & 3) << 16
                    | enqueued() >> 16
            }
            1 => {
                enqueued() << 48
                    | depth(input.dequeue_depth) << 24
                    | u64::from(input.dequeue_congestion & 3) << 16
                    | u64::from(input.pool_congestion) << 8
                    | (self.in_queue(input) & mask) >> 24
            }
            2 => {
                (self.in_queue(input) & mask) << 40
                    | u64::from(input.rid) << 24
                    | u64::from(input.rid_first) << 16
                    | self.chip.egress_queue(input.port.0, input.queue) << 8
                    | u64::from(input.cos & 7)
            }
            _ => u64::from(input.deflected) << 56 | u64::from(input.length as u16) << 40,
        }
    }

    fn in_queue(&self, input: &EgressInput) -> u64 {
        self.clock.in_queue(input.dequeued.saturating_sub(input.enqueued))
    }

    /// Appends it.
    pub fn write_egress(&self, input: &EgressInput, out: &mut Vec<u8>) {
        let words = [0, 1, 2, 3].map(|word| self.egress(input, word).to_be_bytes());
        out.extend_from_slice(&words.as_flattened()[..self.chip.egress]);
    }
}

/// Role of a unit's parameter in the architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// `packet_in` or `packet_out`.
    Packet,
    /// The program's headers: the first other parameter.
    Headers,
    /// The program's metadata: the second.
    Metadata,
    /// `ingress_intrinsic_metadata_t` or its egress sister.
    Intrinsic,
    /// `..._from_parser_t`
    FromParser,
    /// `..._for_deparser_t`
    ForDeparser,
    /// `ingress_intrinsic_metadata_for_tm_t`
    ForTrafficManager,
    /// `egress_intrinsic_metadata_for_output_port_t`
    ForPort,
    /// `ghost_intrinsic_metadata_t`
    Ghost,
}

impl Role {
    /// The role of a parameter of an intrinsic type.
    pub fn of_type(ty: &Type) -> Option<Role> {
        let (Type::Struct(fields) | Type::Header(fields)) = ty else { return None };
        if &*fields.name == "ghost_intrinsic_metadata_t" {
            return Some(Role::Ghost);
        }
        let name = fields.name.strip_prefix("ingress").or(fields.name.strip_prefix("egress"))?;
        Some(match name {
            "_intrinsic_metadata_t" => Role::Intrinsic,
            "_intrinsic_metadata_from_parser_t" => Role::FromParser,
            "_intrinsic_metadata_for_deparser_t" => Role::ForDeparser,
            "_intrinsic_metadata_for_tm_t" => Role::ForTrafficManager,
            "_intrinsic_metadata_for_output_port_t" => Role::ForPort,
            _ => return None,
        })
    }
}

/// The slots of a struct's fields that have a valid bit.
pub fn fields_with_valid_bit(layout: &Layout) -> Vec<Slot> {
    let (Layout::Struct { ty, .. } | Layout::Header { ty, .. }) = layout else { return Vec::new() };
    let (Type::Struct(declared) | Type::Header(declared)) = ty else { return Vec::new() };
    let names = declared.fields.iter().map(|declared| &*declared.name);
    names.filter(|name| has_valid_bit(name)).filter_map(|name| field(layout, name)).collect()
}

/// A field that the chip reads after a pass; absent if the program does not have the parameter.
#[derive(Clone, Copy, Debug, Default)]
pub struct IntrinsicField(pub Option<Slot>);

impl IntrinsicField {
    /// The field of this name in `layout`.
    pub fn new(layout: Option<&Layout>, name: &str) -> IntrinsicField {
        IntrinsicField(layout.and_then(|layout| field(layout, name)))
    }

    /// Its value; none if it has a valid bit that is off, or does not exist.
    #[inline]
    pub fn get(self, frame: &Frame) -> Option<u128> {
        let value = frame.get(self.0?);
        (value & INVALID == 0).then_some(value)
    }

    /// Its value, 0 if there is none.
    #[inline]
    pub fn or_zero(self, frame: &Frame) -> u128 {
        self.get(frame).unwrap_or(0)
    }

    /// Sets it, if it exists.
    #[inline]
    pub fn set(self, frame: &mut Frame, value: u128) {
        if let Some(slot) = self.0 {
            frame.set(slot, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::{TOFINO1, TOFINO2};
    use sojourn_packet::dataplane::PortId;

    fn first() -> FrontFields {
        FrontFields::new(&TOFINO1.front, Clock::default())
    }

    fn second() -> FrontFields {
        FrontFields::new(&TOFINO2.front, Clock::default())
    }

    #[test]
    fn an_egress_packet_starts_with_27_bytes_in_the_chips_order() {
        let input = EgressInput {
            port: PortId(0x101),
            queue: 0x1f,
            cos: 5,
            enqueued: Time(0x12345),
            dequeued: Time(0x12345 + 0x2_0001),
            enqueue_depth: 0x7_0001,
            dequeue_depth: 3,
            enqueue_congestion: 2,
            dequeue_congestion: 1,
            pool_congestion: 0xe4,
            rid: 0xabcd,
            rid_first: true,
            length: 1518,
            ..EgressInput::default()
        };
        let mut out = Vec::new();
        first().write_egress(&input, &mut out);
        let expected = [
            0x01, 0x01, 0x07, 0x00, 0x01, 2, 0x00, 0x01, 0x23, 0x45, 0, 0, 3, 1, 0xe4, 0x00, 0x02,
            0x00, 0x01, 0xab, 0xcd, 1, 0x1f, 5, 0, 0x05, 0xee,
        ];
        assert_eq!(out, expected);
        assert_eq!(out.len(), 27);
    }

    #[test]
    fn an_ingress_packet_starts_with_port_and_mac_time_and_room_for_port_metadata() {
        let input = IngressInput {
            port: PortId(0x144),
            arrived: Time(0x1_0203_0405),
            now: Time(0),
            resubmitted: false,
        };
        let mut out = Vec::new();
        first().write_ingress(&input, 0x0a0b, &mut out);
        assert_eq!(out[..8], [0x01, 0x44, 0, 1, 2, 3, 4, 5]);
        assert_eq!(out[8..], [0, 0, 0, 0, 0, 0, 0x0a, 0x0b]);
        out.clear();
        let again = IngressInput { resubmitted: true, ..input };
        first().write_ingress(&again, 0x0a0b, &mut out);
        assert_eq!(out[..2], [0x81, 0x44]);
        assert_eq!(out.len(), 8);
    }

    #[test]
    fn on_tofino_2_queue_times_have_32_bits_and_the_queue_counts_in_its_port_group() {
        let input = EgressInput {
            port: PortId(0x103),
            queue: 2,
            enqueued: Time(0x1_1234_5678),
            dequeued: Time(0x1_1234_5678 + 0x0403_0201),
            length: 1518,
            ..EgressInput::default()
        };
        let mut out = Vec::new();
        second().write_egress(&input, &mut out);
        assert_eq!(out.len(), 28);
        assert_eq!(out[6..10], [0x12, 0x34, 0x56, 0x78]);
        assert_eq!(out[15..19], [0x04, 0x03, 0x02, 0x01]);
        assert_eq!(out[22], 3 * 16 + 2);
        assert_eq!(out[25..], [0x05, 0xee, 0]);
        out.clear();
        let came =
            IngressInput { port: PortId(9), arrived: Time(5), now: Time(5), resubmitted: false };
        second().write_ingress(&came, 0x0a0b, &mut out);
        assert_eq!(out.len(), 32);
        assert_eq!(out[..8], [0, 9, 0, 0, 0, 0, 0, 5]);
        assert_eq!(out[14..18], [0x0a, 0x0b, 0, 0]);
    }

    #[test]
    fn the_queues_timestamps_are_shifted_and_wrap_at_18_bits() {
        let word = |timestamp_shift, enqueued| {
            let clock = Clock { offset: Time(0), timestamp_shift };
            let fields = FrontFields::new(&TOFINO1.front, clock);
            let input = EgressInput { enqueued, dequeued: enqueued, ..EgressInput::default() };
            fields.egress(&input, 1) >> 48
        };
        assert_eq!(word(0, Time(262_144 + 5)), 5);
        assert_eq!(word(9, Time(262_144 + 5)), 512);
    }

    #[test]
    fn the_global_counter_has_48_bits_and_a_configured_start() {
        let clock = Clock { offset: Time((1 << 48) - 1), timestamp_shift: 0 };
        assert_eq!(clock.global(Time(0)), (1 << 48) - 1);
        assert_eq!(clock.global(Time(1)), 0);
    }
}
