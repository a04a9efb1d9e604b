//! Packets, their units, and the interface of a data plane: the common base of all crates.
//!
//! - Time, rates and sizes are integer newtypes.
//! - A [`Packet`] is the bytes on the wire plus a payload that is only counted.
//! - Random numbers are determined by a seed.
//! - A [`DataPlane`] decides about packets in a switch.
//! - A [`Registry`] holds the choices that are made by name.
//! - The offset of an IP header and its checksum are computed in one place.
//!
//! This crate must not depend on the code that creates, forwards or reads packets, nor on the
//! implementation of a data plane.

mod checksum;
pub mod dataplane;
mod forwarder;
mod generator;
mod ip;
mod multithreaded;
mod packet;
mod packet_metadata;
mod pass_output;
mod program_log;
mod queue_growth;
mod registry;
mod shaper_registers;
mod split_mix;
mod units;

pub use checksum::OnesComplementSum;
pub use dataplane::{
    Admission, DataPlane, DepthReport, EgressDecision, EgressFate, EgressInput, FaultReport,
    FlowControl, IngressDecision, IngressInput, Mirror, MirrorDirection, MirrorOverrides, PortId,
    Replication, ReportMode, WordOrder,
};
pub use forwarder::Forwarder;
pub use generator::{GENERATED_HEADER, PacketGenerator};
pub use ip::{ETHERNET_HEADER_LEN, ETHERTYPE_IPV4, ETHERTYPE_IPV6, IpHeader};
pub use multithreaded::{Overlapping, PassId, QueueDepths};
pub use packet::{FlowId, HEADER_ROOM, HeaderBytes, Packet, PacketId};
pub use packet_metadata::{Metadata, PacketMetadata};
pub use pass_output::{EgressOutput, IngressOutput};
pub use program_log::{LogLine, ProgramLog};
pub use queue_growth::make_room;
pub use registry::{NameTaken, Named, Registry};
pub use shaper_registers::{SchedulerNodes, ShaperRegisters};
pub use split_mix::{SplitMix64, mix};
pub use units::{Bytes, Rate, Time};
