//! A configured run in virtual time: loads its programs into the simulator's switches.

use crate::RunError;
use crate::config::{Aqm, P4Aqm, RunConfig};
use crate::load::{Programs, Watched};
use sojourn_net::Simulation;
use sojourn_net::config::invalid;
use sojourn_switch::Switch;

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
/// The first program that cannot be loaded or configured, or an error of the network's
/// configuration.
pub fn simulation(config: &RunConfig) -> Result<Simulation, RunError> {
    simulation_with(config, &Programs::default())
}

/// [`simulation`] with compiled programs.
///
/// ```
/// use sojourn_engine::{Programs, config, simulation_with};
/// let compiled = Programs::new([]); // Those that several runs share.
/// let config = config::read(
///     r#"{
///         "duration": 1000000,
///         "aqm": {"kind": "native", "name": "fifo"},
///         "flows": [{"kind": "tcp", "rtt": 20000000}]
///     }"#,
/// )?;
/// assert!(!simulation_with(&config, &compiled)?.finished());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As for [`simulation`].
pub fn simulation_with(config: &RunConfig, programs: &Programs) -> Result<Simulation, RunError> {
    Ok(watched_simulation(config, programs)?.0)
}

/// [`simulation_with`], with the requested observations of each program.
///
/// ```
/// use sojourn_engine::{Aqm, P4Aqm, Programs, Watched, WatchedRegisters, config};
/// use sojourn_engine::watched_simulation;
/// use sojourn_packet::Time;
/// # let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
/// let p4 = P4Aqm {
///     program: root.join("p4/tna/codel_act.p4").display().to_string(),
///     include_paths: vec![root.join("p4/include").display().to_string()],
///     control: serde_json::from_value(serde_json::json!({
///         "tables": [{"name": "Ingress.forward", "entries": [
///             {"match": {"ig_intr_md.ingress_port": 1}, "action": "send", "args": {"port": 2}},
///             {"match": {"ig_intr_md.ingress_port": 2}, "action": "send", "args": {"port": 1}},
///         ]}],
///         "mirror_sessions": [{"session": 100, "port": 68, "max_length": 100}],
///     }))?,
///     trace: vec!["dropping[0]".into()],
///     ..P4Aqm::default()
/// };
/// let config = serde_json::json!({
///     "duration": 500_000_000_u64, "aqm": Aqm::P4(Box::new(p4)),
///     "flows": [{"kind": "tcp", "rtt": 20_000_000}],
/// });
/// let (mut run, watched): (_, Vec<Watched>) =
///     watched_simulation(&config::read(&config.to_string())?, &Programs::default())?;
/// run.advance(Time::MAX, usize::MAX);
/// let mut registers = WatchedRegisters::new(watched);
/// let rows = registers.take();
/// assert!(!rows.is_empty() && registers.names()[0].contains("dropping"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

/// Builds an idle switch like one of a run, by its place in the network, with another program.
///
/// ```
/// use sojourn_engine::{P4Aqm, Programs, config, switch_with_program};
/// let config = config::read(
///     r#"{
///         "duration": 1000000,
///         "aqm": {"kind": "native", "name": "fifo"},
///         "flows": [{"kind": "tcp", "rtt": 20000000}]
///     }"#,
/// )?;
/// let switch = switch_with_program(&config, 0, P4Aqm::default(), &Programs::default());
/// assert!(switch.is_err(), "a native discipline is no program that another can replace");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As for [`simulation`]; also if there is no such switch, or it runs no program.
pub fn switch_with_program(
    config: &RunConfig,
    place: u16,
    program: P4Aqm,
    programs: &Programs,
) -> Result<Switch, RunError> {
    let mut config = config.clone();
    let missing = || invalid("switch", place.to_string(), "the place of a switch with a program");
    let switch = config.network.switches.get_mut(usize::from(place)).ok_or_else(missing)?;
    let before = switch.aqm.as_ref().unwrap_or(&config.aqm);
    let Aqm::P4(before) = before else { return Err(missing().into()) };
    let P4Aqm { math_unit, executor, discipline, .. } = (**before).clone();
    switch.aqm = Some(Aqm::P4(Box::new(P4Aqm { math_unit, executor, discipline, ..program })));
    let (run, _) = watched_simulation(&config, programs)?;
    run.into_switch(place).ok_or_else(|| missing().into())
}
