//! Queue of a program's messages to its control plane, until they are fetched.
//!
//! A message is bytes with a name and a time. Must not depend on the protocol that fetches it.

use sojourn_packet::Time;
use std::collections::VecDeque;
use std::sync::Arc;

/// Number of digests held for the control plane; a further one evicts the oldest.
const KEPT_DIGESTS: usize = 4096;

/// A message to the control plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// The `Digest` object; for v1model the type of the data.
    pub name: Arc<str>,
    /// Time at which the program sent it.
    pub at: Time,
    /// Its fields in sequence, padded with zeros in front.
    pub bytes: Box<[u8]>,
}

/// The pending messages.
#[derive(Clone, Debug, Default)]
pub struct Digests(VecDeque<Digest>);

impl Digests {
    /// Appends a digest that a packet sent.
    pub fn push(&mut self, digest: Digest) {
        if self.0.len() == KEPT_DIGESTS {
            self.0.pop_front();
        }
        self.0.push_back(digest);
    }

    /// Removes and returns all digests.
    pub fn take(&mut self) -> Vec<Digest> {
        self.0.drain(..).collect()
    }
}
