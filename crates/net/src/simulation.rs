//! One run: hosts, links and the switch, driven from event to event.

use crate::config::{Aqm, ConfigError, RunConfig};
use crate::records::{CapturedFrame, FlowRows, PacketRows};
use crate::report::RunReport;
use sojourn_packet::Time;
use sojourn_targets::DataPlane;

/// A run that advances in virtual time as far as it is told.
pub struct Simulation {
    config: RunConfig,
    now: Time,
    packets: PacketRows,
    flows: FlowRows,
    capture: Vec<CapturedFrame>,
}

impl Simulation {
    /// Builds the run; `plane` is the loaded and configured program of a P4 run.
    ///
    /// # Errors
    /// [`ConfigError`] if a value is not allowed, or if `plane` is there without `aqm.kind` being
    /// `p4` or the other way round.
    pub fn new(
        config: RunConfig,
        plane: Option<Box<dyn DataPlane>>,
    ) -> Result<Simulation, ConfigError> {
        config.check()?;
        match (&config.aqm, &plane) {
            (Aqm::P4(_), None) => return Err(ConfigError::PlaneMissing),
            (Aqm::Native(_), Some(_)) => return Err(ConfigError::PlaneUnexpected),
            _ => {}
        }
        Ok(Simulation {
            config,
            now: Time::ZERO,
            packets: PacketRows::default(),
            flows: FlowRows::default(),
            capture: Vec::new(),
        })
    }

    /// Runs until `until`, the end of the run, or until `max_rows` packet rows wait, whichever
    /// comes first. May be called again at once after the rows are taken.
    pub fn advance(&mut self, until: Time, max_rows: usize) {
        let end = until.min(Time(self.config.duration));
        if self.packets.len() < max_rows {
            self.now = self.now.max(end);
        }
    }

    /// The instant up to which everything has happened.
    pub fn now(&self) -> Time {
        self.now
    }

    /// True once the configured duration has passed.
    pub fn finished(&self) -> bool {
        self.now >= Time(self.config.duration)
    }

    /// Hands over the packet rows that wait.
    pub fn take_packets(&mut self) -> PacketRows {
        std::mem::take(&mut self.packets)
    }

    /// Hands over the flow samples that wait.
    pub fn take_flows(&mut self) -> FlowRows {
        std::mem::take(&mut self.flows)
    }

    /// Hands over the captured frames that wait; none unless `capture` is set.
    pub fn take_capture(&mut self) -> Vec<CapturedFrame> {
        std::mem::take(&mut self.capture)
    }

    /// The counters so far.
    pub fn report(&self) -> RunReport {
        RunReport { simulated: self.now.0, ..RunReport::default() }
    }
}
