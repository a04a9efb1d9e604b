//! Packet generator of a chip, as data: its numbers, and the header of the packets that it makes.
//!
//! A chip's description states the numbers, the switch generates by them, and programs parse the
//! header. This file must not depend on triggers or on time.

use crate::dataplane::PortId;

/// Bytes of the header in front of a generated packet.
pub const GENERATED_HEADER: usize = 6;
/// Bits of a pipe's number in the header.
const PIPE_BITS: u32 = 2;

/// Numbers of a chip's packet generator, one of which is in each pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketGenerator {
    /// Bits of an application's number in the header. All numbers of so many bits exist.
    pub application_bits: u32,
    /// Bytes of a pipe's buffer, which holds the contents of packets.
    pub buffer: u16,
    /// First and last port of a pipe that can generate, counted in the pipe.
    pub ports: (u16, u16),
    /// The port that generates if a configuration names none.
    pub default_port: u16,
    /// Ports of a pipe; a port's number is that of its pipe, then that in the pipe.
    pub pipe_ports: u16,
    /// Bytes of the shortest packet, without the header and the frame check sequence.
    pub shortest: u16,
    /// Leading bytes of a recirculated packet that a pattern is compared with, at most 16.
    pub pattern_bytes: usize,
    /// A pattern's packets have the compared bytes behind their header. Otherwise the last three of
    /// them are in the header, in place of the batch.
    pub repeats_pattern: bool,
}

impl PacketGenerator {
    /// Number of applications of a pipe.
    pub const fn applications(&self) -> u8 {
        1 << self.application_bits
    }

    /// Pipe of a port.
    pub const fn pipe(&self, port: PortId) -> u8 {
        (port.0 / self.pipe_ports) as u8
    }

    /// Number of a port in its pipe.
    pub const fn local(&self, port: PortId) -> u16 {
        port.0 % self.pipe_ports
    }

    /// Port with the number `local` in a pipe.
    pub const fn port(&self, pipe: u8, local: u16) -> PortId {
        PortId(pipe as u16 * self.pipe_ports + local)
    }

    /// True if the port with the number `local` in its pipe can generate.
    pub const fn generates(&self, local: u16) -> bool {
        self.ports.0 <= local && local <= self.ports.1
    }

    /// The header of a packet: pipe and application, the low 24 bits of `batch` (a batch, a port or
    /// a key), and the packet's number in its batch.
    ///
    /// ```
    /// use sojourn_packet::{GENERATED_HEADER, PacketGenerator};
    /// let chip = PacketGenerator {
    ///     application_bits: 3,
    ///     buffer: 16_384,
    ///     ports: (68, 71),
    ///     default_port: 68,
    ///     pipe_ports: 128,
    ///     shortest: 11,
    ///     pattern_bytes: 4,
    ///     repeats_pattern: false,
    /// };
    /// let header: [u8; GENERATED_HEADER] = chip.header(1, 5, 0x0102, 7);
    /// assert_eq!(header, [0x0d, 0, 1, 2, 0, 7]);
    /// ```
    pub const fn header(
        &self,
        pipe: u8,
        application: u8,
        batch: u32,
        packet: u16,
    ) -> [u8; GENERATED_HEADER] {
        let pipe = pipe & ((1 << PIPE_BITS) - 1);
        let first = pipe << self.application_bits | application & (self.applications() - 1);
        let [_, a, b, c] = batch.to_be_bytes();
        let [d, e] = packet.to_be_bytes();
        [first, a, b, c, d, e]
    }
}
