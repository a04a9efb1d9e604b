//! Applications: when there is something to send, and how much. They know nothing of packets'
//! contents, windows or links.

mod bulk;
mod constant_rate;

pub(crate) use bulk::Bulk;
pub(crate) use constant_rate::ConstantRate;
