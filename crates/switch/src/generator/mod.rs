//! Packet generators: a trigger, and then packets in batches, each behind a header of six bytes.
//!
//! One in each pipe, with applications and a buffer for the contents of their packets. The state
//! machine takes an instant and an input and returns packets and its next instant; a switch lets
//! them enter ingress, and a replay gives them to a program. Sources: the vendor's public driver
//! (`pktgen_intf.h`, `pipe_mgr_tof_pktgen.c`, `pipe_mgr_tof2_pktgen.c`) and the headers of TNA and
//! T2NA. Must not depend on the switch.

mod config;
mod state_machine;

pub use config::{
    Application, GeneratorChange, GeneratorError, GeneratorSetting, SettingError, Trigger,
};
pub use state_machine::Generators;
