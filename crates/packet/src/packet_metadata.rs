//! Packet metadata: data that accompanies a packet's bytes from one pass to another.
//!
//! Tofino writes it in front of the packet and parses it again. In bmv2 a packet keeps its headers
//! and metadata from ingress to egress. A switch forwards a [`PacketMetadata`] unread. Only the
//! data plane that filled it may interpret it.

use std::any::Any;
use std::fmt::Debug;

/// Metadata that a data plane attaches to a packet.
///
/// ```
/// use sojourn_packet::{PacketMetadata, Metadata};
/// #[derive(Clone, Debug)]
/// struct Queued(u32); // Whatever can be cloned and shown will do.
/// let one: Box<dyn Metadata> = Queued(7).duplicate();
/// assert_eq!(format!("{one:?}"), "Queued(7)");
/// ```
pub trait Metadata: Any + Send + Debug {
    /// Clones the metadata, for a copy of the packet.
    fn duplicate(&self) -> Box<dyn Metadata>;
}

impl<T: Any + Send + Debug + Clone> Metadata for T {
    fn duplicate(&self) -> Box<dyn Metadata> {
        Box::new(self.clone())
    }
}

/// Metadata of a packet, opaque to every part except the data plane.
///
/// ```
/// use sojourn_packet::PacketMetadata;
/// let packet_metadata = PacketMetadata::from(Box::new(7_u32));
/// assert_eq!(packet_metadata.clone().take::<u32>(), Some(Box::new(7)));
/// assert_eq!(packet_metadata.take::<u64>(), None);
/// ```
#[derive(Debug, Default)]
pub struct PacketMetadata(Option<Box<dyn Metadata>>);

impl PacketMetadata {
    /// True if there is no metadata.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The metadata, if it is a `T`.
    pub fn take<T: Metadata>(self) -> Option<Box<T>> {
        let any: Box<dyn Any> = self.0?;
        any.downcast().ok()
    }
}

impl<T: Metadata> From<Box<T>> for PacketMetadata {
    fn from(metadata: Box<T>) -> PacketMetadata {
        PacketMetadata(Some(metadata))
    }
}

impl Clone for PacketMetadata {
    fn clone(&self) -> PacketMetadata {
        // Duplicates the contents: the box itself implements the trait, too.
        PacketMetadata(self.0.as_deref().map(Metadata::duplicate))
    }
}
