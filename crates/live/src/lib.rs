//! Live switch: a switch between real interfaces, in real time.
//!
//! Consists of sockets, a clock and one thread. The thread owns the
//! [`Switch`](sojourn_switch::Switch) and drives it in real time, as the simulator does in virtual
//! time: it passes arriving frames to the switch, runs its timers, and transmits its output. Must
//! not depend on P4, TCP or scenarios, nor on the consumer of the rows.
//!
//! ```
//! use sojourn_live::{Interface, Link, Live, LivePort, Options, cpu_port};
//! use sojourn_packet::{PortId, Rate};
//! use sojourn_switch::{PortConfig, Switch, SwitchConfig, CrossConnect};
//! use std::sync::mpsc::channel;
//!
//! // Both ports end in this process; `open("eth0")` would be an interface.
//! let (left, into) = cpu_port(Box::new(|_| true))?;
//! let (out, arrived) = channel();
//! let (right, _) = cpu_port(Box::new(move |frame| out.send(frame).is_ok()))?;
//! let port = |id, interface: Box<dyn Interface>| LivePort {
//!     id: PortId(id),
//!     interface,
//!     shapes: false,
//!     link: Link::default(),
//! };
//! let mut config = SwitchConfig::default();
//! config.ports = [1, 2].map(|id| PortConfig::front(PortId(id), Rate(1_000_000_000))).to_vec();
//! let switch = Switch::new(config, Box::new(CrossConnect::between(PortId(1), PortId(2))))?;
//! let options = Options { realtime: false, ..Options::default() };
//! let live = Live::start(switch, vec![port(1, Box::new(left)), port(2, Box::new(right))], options)?;
//!
//! assert!(into.send(vec![7; 60]));
//! assert_eq!(arrived.recv()?, vec![7; 60]);
//! let sent = live.handle().with(|switch, _| switch.statistics().sent.packets);
//! assert_eq!(sent, Some(1));
//! live.stop().expect("it has not panicked");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod af_packet;
mod clock;
mod cpu;
mod delay_line;
mod error;
mod flow_ids;
mod interface;
mod packet_id;
mod report;
mod runner;
mod syscalls;
mod tap;
mod tx_delay;
mod waker;

pub use af_packet::PacketSocket;
pub use clock::Clock;
pub use cpu::{CpuPort, CpuSender, Take, cpu_port};
pub use delay_line::{DelayClass, DelayLine, Prefix, Way};
pub use error::LiveError;
pub use flow_ids::{FlowKey, Flows};
pub use interface::{Arrival, Interface, is_up, open};
pub use packet_id::identity;
pub use report::{LiveReport, PortReport};
pub use runner::{
    Arrived, Direction, End, Link, Live, LiveHandle, LivePort, Options, WayChange, Work,
};
pub use tx_delay::{Lateness, Percentiles};
