//! `standard_metadata`: the fields by name, and the units of bmv2.
//!
//! Times are whole microseconds since the switch began, depths are packets. Fields are found by
//! name, so every version of `v1model.p4` works.

use sojourn_p4::interp::Frame;
use sojourn_p4::ir::{Layout, Slot};
use sojourn_packet::Time;
use sojourn_packet::dataplane::{EgressInput, IngressInput};
use sojourn_target::fields::field;
use std::collections::HashSet;

/// Origin of a packet (`instance_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum InstanceType {
    /// From a port, or unicast from ingress.
    Normal = 0,
    /// Cloned at the end of ingress.
    IngressClone = 1,
    /// Cloned at the end of egress.
    EgressClone = 2,
    /// Returned from egress.
    Recirculated = 4,
    /// A copy of a multicast group.
    Replication = 5,
    /// A further ingress pass.
    Resubmitted = 6,
}

/// Port number that drops the packet: all ones in `egress_spec`.
pub const DROP_PORT: u128 = 511;

/// A time in the switch's unit, us.
#[inline]
pub fn micros(time: Time) -> u64 {
    time.as_nanos() / 1_000
}

/// An optional field, with the mask of its width, or of 64 bits if that is wider.
#[derive(Clone, Copy, Debug, Default)]
pub struct Field(Option<(Slot, u64)>);

impl Field {
    fn new(layout: &Layout, name: &str) -> Field {
        let widths = |slot: Slot| match layout {
            Layout::Struct { fields, .. } => fields.iter().find_map(|field| match field {
                Layout::Narrow(known, scalar) if *known == slot => {
                    Some(sojourn_p4::interp::arith::mask(scalar.width()) as u64)
                }
                _ => None,
            }),
            _ => None,
        };
        Field(field(layout, name).and_then(|slot| Some((slot, widths(slot)?))))
    }

    /// Its slot.
    pub fn slot(self) -> Option<Slot> {
        self.0.map(|(slot, _)| slot)
    }

    /// Its value; 0 if the program lacks it.
    #[inline]
    pub fn get(self, frame: &Frame) -> u128 {
        self.0.map_or(0, |(slot, _)| frame.get(slot))
    }

    /// Sets it, cut to its width, if the program has it.
    #[inline]
    pub fn set(self, frame: &mut Frame, value: u64) {
        if let Some((slot, mask)) = self.0 {
            frame.set(slot, (value & mask).into());
        }
    }

    /// The field if its slot is among these, else an absent one.
    fn only(self, slots: &HashSet<Slot>) -> Field {
        Field(self.0.filter(|(slot, _)| slots.contains(slot)))
    }
}

/// The fields of one block's `standard_metadata`.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)] // They are named for the fields.
pub struct Standard {
    pub ingress_port: Field,
    pub egress_spec: Field,
    pub egress_port: Field,
    pub instance_type: Field,
    pub packet_length: Field,
    pub enq_timestamp: Field,
    pub enq_qdepth: Field,
    pub deq_timedelta: Field,
    pub deq_qdepth: Field,
    pub ingress_global_timestamp: Field,
    pub egress_global_timestamp: Field,
    pub mcast_grp: Field,
    pub egress_rid: Field,
    pub checksum_error: Field,
    pub parser_error: Field,
    pub priority: Field,
}

impl Standard {
    /// Slots of the switch's inputs to ingress for a new packet.
    pub fn given_to_ingress(&self) -> impl Iterator<Item = Slot> {
        let given = [self.ingress_port, self.ingress_global_timestamp, self.packet_length];
        given.into_iter().filter_map(Field::slot)
    }

    /// Slots of the switch's inputs to egress.
    pub fn given_to_egress(&self) -> impl Iterator<Item = Slot> {
        let given = [
            self.egress_global_timestamp,
            self.enq_timestamp,
            self.enq_qdepth,
            self.deq_timedelta,
            self.deq_qdepth,
            self.egress_rid,
            self.egress_port,
            self.egress_spec,
            self.packet_length,
        ];
        given.into_iter().filter_map(Field::slot)
    }

    /// The switch's inputs to ingress and egress that are among some slots.
    #[must_use]
    pub fn inputs(&self, slots: &HashSet<Slot>) -> Standard {
        let mut inputs = *self;
        let fields = [
            &mut inputs.ingress_port,
            &mut inputs.ingress_global_timestamp,
            &mut inputs.packet_length,
            &mut inputs.egress_global_timestamp,
            &mut inputs.enq_timestamp,
            &mut inputs.enq_qdepth,
            &mut inputs.deq_timedelta,
            &mut inputs.deq_qdepth,
            &mut inputs.egress_rid,
            &mut inputs.egress_port,
        ];
        fields.into_iter().for_each(|field| *field = field.only(slots));
        inputs
    }

    /// Sets the inputs of ingress for a new packet of `length` bytes.
    #[inline]
    pub fn set_ingress_inputs(&self, input: &IngressInput, length: u64, frame: &mut Frame) {
        self.ingress_port.set(frame, input.port.0.into());
        self.ingress_global_timestamp.set(frame, micros(input.arrived));
        self.packet_length.set(frame, length);
    }

    /// Sets the inputs of egress for a packet of `length` bytes.
    #[inline]
    pub fn set_egress_inputs(&self, input: &EgressInput, length: u32, frame: &mut Frame) {
        self.egress_global_timestamp.set(frame, micros(input.now));
        let enqueued = micros(input.enqueued);
        self.enq_timestamp.set(frame, enqueued);
        self.enq_qdepth.set(frame, input.enqueue_packets.into());
        self.deq_timedelta.set(frame, micros(input.dequeued).saturating_sub(enqueued));
        self.deq_qdepth.set(frame, input.dequeue_packets.into());
        self.egress_rid.set(frame, input.rid.into());
        self.egress_port.set(frame, input.port.0.into());
        // Any port but the drop port; bmv2's choice, cut to nine bits.
        self.egress_spec.set(frame, DROP_PORT as u64 + 1);
        self.packet_length.set(frame, length.into());
    }

    /// The fields of the struct at `layout`.
    pub fn new(layout: &Layout) -> Standard {
        let field = |name| Field::new(layout, name);
        Standard {
            ingress_port: field("ingress_port"),
            egress_spec: field("egress_spec"),
            egress_port: field("egress_port"),
            instance_type: field("instance_type"),
            packet_length: field("packet_length"),
            enq_timestamp: field("enq_timestamp"),
            enq_qdepth: field("enq_qdepth"),
            deq_timedelta: field("deq_timedelta"),
            deq_qdepth: field("deq_qdepth"),
            ingress_global_timestamp: field("ingress_global_timestamp"),
            egress_global_timestamp: field("egress_global_timestamp"),
            mcast_grp: field("mcast_grp"),
            egress_rid: field("egress_rid"),
            checksum_error: field("checksum_error"),
            parser_error: field("parser_error"),
            priority: field("priority"),
        }
    }
}
