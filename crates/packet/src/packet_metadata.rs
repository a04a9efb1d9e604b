//! Packet metadata: data that accompanies a packet's bytes from one pass to another.
//!
//! Tofino writes it in front of the packet and parses it again. In bmv2 a packet keeps its headers
//! and metadata from ingress to egress. A switch forwards a [`Carried`] unread. Only the data plane
//! that filled it knows its content.

use std::any::Any;
use std::fmt::Debug;

/// Something that a data plane lets a packet carry.
///
/// ```
/// use sojourn_packet::{Carried, Luggage};
/// #[derive(Clone, Debug)]
/// struct Queued(u32); // Whatever can be cloned and shown will do.
/// let one: Box<dyn Luggage> = Queued(7).duplicate();
/// assert_eq!(format!("{one:?}"), "Queued(7)");
/// ```
pub trait Luggage: Any + Send + Debug {
    /// The same once more, for a copy of the packet.
    fn duplicate(&self) -> Box<dyn Luggage>;
}

impl<T: Any + Send + Debug + Clone> Luggage for T {
    fn duplicate(&self) -> Box<dyn Luggage> {
        Box::new(self.clone())
    }
}

/// What goes with a packet, opaque to whoever carries it.
///
/// ```
/// use sojourn_packet::Carried;
/// let carried = Carried::from(Box::new(7_u32));
/// assert_eq!(carried.clone().take::<u32>(), Some(Box::new(7)));
/// assert_eq!(carried.take::<u64>(), None);
/// ```
#[derive(Debug, Default)]
pub struct Carried(Option<Box<dyn Luggage>>);

impl Carried {
    /// True if nothing is carried.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// What is carried, if it is a `T`.
    pub fn take<T: Luggage>(self) -> Option<Box<T>> {
        let any: Box<dyn Any> = self.0?;
        any.downcast().ok()
    }
}

impl<T: Luggage> From<Box<T>> for Carried {
    fn from(luggage: Box<T>) -> Carried {
        Carried(Some(luggage))
    }
}

impl Clone for Carried {
    fn clone(&self) -> Carried {
        // Of what is in the box: the box itself could be carried, too.
        Carried(self.0.as_deref().map(Luggage::duplicate))
    }
}
