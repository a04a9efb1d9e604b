//! What travels through every floor and the units it is measured in.
//!
//! Time, rates and sizes are integer newtypes; a [`Packet`] is the bytes a wire would carry plus a
//! payload that is only counted; random numbers that a seed determines; a [`DataPlane`] is what
//! decides about packets in a switch; what is chosen by name is in a [`Register`]. Where an IP header
//! lies and what its checksum is have one answer here. This crate must not know who makes, forwards or
//! reads a packet, nor what a data plane is made of.

mod checksum;
pub mod dataplane;
mod forwarder;
mod ip;
mod multithreaded;
mod packet;
mod packet_metadata;
mod pass_output;
mod program_log;
mod queue_growth;
mod registry;
mod split_mix;
mod units;

pub use checksum::OnesComplementSum;
pub use dataplane::{
    Admission, DataPlane, EgressDecision, EgressFate, EgressInput, FaultReport, IngressDecision,
    IngressInput, Mirror, MirrorDirection, PortId, Replication,
};
pub use forwarder::Forwarder;
pub use ip::{ETHERNET_HEADER_LEN, ETHERTYPE_IPV4, ETHERTYPE_IPV6, IpHeader};
pub use multithreaded::{Overlapping, PassId, QueueDepths};
pub use packet::{FlowId, HEADER_ROOM, HeaderBytes, Packet, PacketId};
pub use packet_metadata::{Carried, Luggage};
pub use pass_output::{EgressOutput, IngressOutput};
pub use program_log::{LogLine, ProgramLog};
pub use queue_growth::make_room;
pub use registry::{NameTaken, Named, Register};
pub use split_mix::{SplitMix64, mix};
pub use units::{Bytes, Rate, Time};
