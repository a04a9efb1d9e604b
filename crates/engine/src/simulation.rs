//! A configured run in virtual time: its programs loaded and put into the simulator's switches.

use crate::RunError;
use crate::config::{Aqm, RunConfig};
use crate::load::{Programs, Watched};
use sojourn_net::Simulation;

/// Builds a run: loads and configures a program for each switch that has one.
///
/// ```
/// use sojourn_engine::{config, simulation};
/// use sojourn_packet::Time;
/// let config = config::read(
///     r#"{
///         "duration": 500000000,
///         "aqm": {"kind": "native", "name": "pie"},
///         "flows": [{"kind": "tcp", "rtt": 20000000}]
///     }"#,
/// )?;
/// let mut run = simulation(&config)?;
/// run.advance(Time::MAX, usize::MAX);
/// assert!(run.finished() && run.take_packets().len() > 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// `examples/tcp_over_p4.rs` does it with a P4 program.
///
/// # Errors
/// The first program that cannot be loaded or configured, or what the network refuses.
pub fn simulation(config: &RunConfig) -> Result<Simulation, RunError> {
    simulation_with(config, &Programs::default())
}

/// [`simulation`] with programs that are compiled already.
///
/// # Errors
/// As for [`simulation`].
pub fn simulation_with(config: &RunConfig, programs: &Programs) -> Result<Simulation, RunError> {
    Ok(watched_simulation(config, programs)?.0)
}

/// [`simulation_with`], with what is seen of each program that something is to be seen of.
///
/// # Errors
/// As for [`simulation`].
pub fn watched_simulation(
    config: &RunConfig,
    programs: &Programs,
) -> Result<(Simulation, Vec<Watched>), RunError> {
    let (planes, watched): (Vec<_>, Vec<_>) = programs.planes_watched(config)?.into_iter().unzip();
    let run = Simulation::new(config.with_aqms(Aqm::on_switch), planes)?;
    Ok((run, watched.into_iter().flatten().collect()))
}
