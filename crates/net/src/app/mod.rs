//! Applications: the times and amounts of data to send. Must not depend on packets' contents,
//! windows or links.

mod arrivals;
mod bulk;
mod constant_rate;
mod on_off;
mod request_schedule;
mod rng;
mod sizes;

pub(crate) use arrivals::{Arrival, arrivals, interval};
pub(crate) use bulk::{Bulk, Cap};
pub(crate) use constant_rate::ConstantRate;
pub(crate) use on_off::{OnOff, Spans};
pub(crate) use request_schedule::{Pace, RequestSchedule};
pub(crate) use rng::{RandomStream, StreamPurpose};
pub(crate) use sizes::{ALL, Pareto, SizeTable, Sizes};
