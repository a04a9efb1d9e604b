//! What an architecture adds to P4: its metadata, its externs, its idea of a pipeline.
//!
//! Above this crate a loaded program is a [`DataPlane`](sojourn_packet::DataPlane): two passes over a packet with a traffic
//! manager between them. Where packets come from, and what the queues do, is not known here.
//!
//! | part | what it is |
//! |---|---|
//! | [`Program`] | a program, compiled once: described, checked, instantiated as often as one likes |
//! | [`Target`] | what an architecture is to the rest; `shipped` is the table of them |
//! | [`load()`] | from a file to a [`Plane`] in one call |
//! | [`tna`], [`v1model`], [`npu`] | the architectures, a folder each |
//! | [`schema`] | what a program declares for its control plane, whole |
//! | [`control`] | tables, sessions, queues as a control plane sets them, as data |
//! | [`externs`] | the fixed-function blocks that both have |

#[macro_use]
mod rule;

mod arguments;
mod calls;
pub mod control;
mod deparsed;
pub mod describe;
mod digest;
pub mod externs;
mod faults;
mod fields;
mod guards;
mod hits;
mod load;
mod log;
mod memory_budget;
pub mod npu;
mod package;
mod phv;
mod plane;
pub mod profiles;
mod program;
pub mod runtime_control;
pub mod schema;
mod shipped;
pub mod snapshot;
mod sources;
pub mod state;
pub mod target;
mod text;
pub mod tna;
pub mod traced;
mod uses;
pub mod v1model;
mod visit;
pub mod watch;

pub use control::ControlPlane;
pub use describe::describe;
pub use digest::Digest;
pub use faults::{Fault, FaultKind, Faults};
pub use load::{Executor, ExponentParity, LoadError, LoadOptions, Loaded, load, load_with};
pub use plane::Plane;
pub use program::{Checked, Program};
pub use rule::{Refusal, Rule};
pub use runtime_control::RuntimeControl;
pub use schema::Schema;
use sojourn_packet::dataplane;
pub use sources::{ProgramText, SourceText, Sources};
pub use target::{Target, Targets};
