//! Numbers of a chip's scheduler, as data: registers and clock of its shapers, and its nodes.

use crate::PortId;

/// Registers of a chip's shapers.
///
/// ```
/// use sojourn_packet::ShaperRegisters;
/// let fine = ShaperRegisters { rate_bits: 12, burst_bits: 8, ..ShaperRegisters::default() };
/// assert_eq!(fine.clock, 1_220_000_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaperRegisters {
    /// Core clock in Hz; a shaper is refilled every 80 clocks.
    pub clock: u64,
    /// Bits of a rate's mantissa M.
    pub rate_bits: u32,
    /// Bits of a burst's mantissa m.
    pub burst_bits: u32,
    /// Rounds a mantissa that a small burst shortens to the nearest, whatever the provisioning.
    pub shortened_to_nearest: bool,
}

/// Scheduler nodes of a chip between the queues and the ports of a port group.
///
/// ```
/// use sojourn_packet::{PortId, SchedulerNodes};
/// let nodes = SchedulerNodes { group_ports: 8, count: 32 };
/// assert_eq!((nodes.group(PortId(13)), nodes.home(PortId(13))), (1, 5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedulerNodes {
    /// Ports of a group.
    pub group_ports: u16,
    /// Nodes of a group, numbered from 0.
    pub count: u8,
}

impl SchedulerNodes {
    /// The group of a port.
    pub fn group(&self, port: PortId) -> u16 {
        port.0 / self.group_ports.max(1)
    }

    /// A port's own node, that of its place in the group.
    pub fn home(&self, port: PortId) -> u8 {
        (port.0 % self.group_ports.max(1)) as u8
    }
}

impl Default for ShaperRegisters {
    /// Those of Tofino 1.
    fn default() -> ShaperRegisters {
        ShaperRegisters {
            clock: 1_220_000_000,
            rate_bits: 10,
            burst_bits: 4,
            shortened_to_nearest: false,
        }
    }
}
