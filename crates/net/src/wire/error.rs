//! Errors of reading a frame, for all its layers.

use thiserror::Error;

/// Reason why a host cannot read a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// A header ends before it should.
    #[error("the frame ends inside a header")]
    Truncated,
    /// A length field contradicts the frame or another field.
    #[error("a length field is wrong")]
    Length,
    /// Neither IPv4 nor IPv6, or neither TCP nor UDP, or a fragment.
    #[error("a protocol that this host does not speak")]
    Protocol,
    /// The IPv4, TCP or UDP checksum is wrong.
    #[error("a checksum is wrong")]
    Checksum,
    /// The list of TCP options is broken.
    #[error("the TCP options are malformed")]
    Options,
}
